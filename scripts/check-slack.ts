/**
 * `npm run check:slack -- --channel C0123ABCD [--person U0123ABCD] [--manifest manifest.yml]`: checks in a real
 * workspace, with the bot's settings and code, all that needs no person's hand; docs/first-workspace.md has the rest.
 * Posts only into the named channel and, with a person, into their direct messages and Home; removes all of it; prints a
 * table for a report. Exit codes: 0 nothing broken, 1 something broken, 2 wrong usage, 5 a wrong setting.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { openLog, readSettings } from '../src/cli/read-settings.ts';
import { stateSigns } from '../src/features/doctor/doctor.ts';
import { version } from '../src/http/metrics.ts';

const { values } = parseArgs({
  options: {
    channel: { type: 'string' },
    person: { type: 'string' },
    manifest: { type: 'string', default: 'manifest.yml' },
  },
});
const { channel, person, manifest } = values;
if (
  channel === undefined ||
  !/^[CG][A-Z0-9]{6,}$/.test(channel) ||
  !/^[UW][A-Z0-9]{6,}$/.test(person ?? 'U000000')
) {
  console.error('Say where it may post: npm run check:slack -- --channel C0123ABCD [--person U0123ABCD]');
  process.exit(2);
}
// Loads the bot only now: a mistyped option should fail at once.
const { checkWorkspace, tableOf } = await import('./workspace-checks.ts');
const settings = readSettings(process.env, 'Nothing was done.');
if (settings.kind === 'refused') {
  console.error(settings.words);
  process.exit(5);
}
const { config } = settings;
const findings = await checkWorkspace({
  config,
  channel,
  person,
  manifest: parse(readFileSync(manifest, 'utf8')) as unknown,
  log: openLog(config, 'error', (text) => void process.stderr.write(text)),
  now: Date.now,
  paceMs: 1_200,
});
const mode = config.slackMode === 'socket' ? 'Socket Mode' : 'HTTP';
console.log(`Payops ${version()}, Node ${process.version}, ${mode}, ${new Date().toISOString()}\n`);
console.log(tableOf(findings, stateSigns));
process.exitCode = findings.some(({ state }) => state === 'problem') ? 1 : 0;
