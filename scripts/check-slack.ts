/**
 * `npm run check:slack -- --channel C0123ABCD [--person U0123ABCD] [--manifest manifest.yml]`: does in a real workspace, with
 * the bot's settings and over the bot's code, what can be done without a finger: docs/first-workspace.md tells of the rest.
 * Posts into the channel that is named and nowhere else, with a person into their direct messages and Home too; takes all
 * of it away again; prints a table for a report. Ends with 0 when nothing is broken, 1 when something is, 2 when it was not
 * understood, 5 when a setting is wrong.
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
// All of the bot, which who mistyped needs not wait for.
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
