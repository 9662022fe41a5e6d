import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { stringify } from 'yaml';
import { isSecretName } from '../../config/read-config.ts';
import { errorCode } from '../../domain/failure.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import type { Changes } from './draft.ts';

/**
 * A line that Node and Compose both read as this value; undefined: there is none. Compose expands $ except in single
 * quotes, reads backslashes before a closing quote and in double quotes as escapes, and knows no backticks.
 */
function envLine(name: string, value: string): string | undefined {
  const ways = [
    ...(/\$|^['"`]/.test(value) ? [] : [value]),
    ...(/'|\\$/.test(value) ? [] : [`'${value}'`]),
    ...(/["$\\]/.test(value) ? [] : [`"${value}"`]),
  ];
  return ways.map((written) => `${name}=${written}`).find((line) => parseEnv(`${line}\n`)[name] === value);
}

/**
 * The .env file's text with these settings changed; other lines stay, and blank settings are removed. A problem if a
 * value would not be read back unchanged, like one over several lines.
 */
export function envWith(before: string, changes: Changes, heading: string): Parsed<string> {
  const isChanged = (line: string): boolean => {
    const [, name = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line) ?? [];
    return Object.hasOwn(changes, name);
  };
  const kept = before
    .split(/(?<=\n)/)
    .filter((line) => !isChanged(line))
    .join('');
  const named = Object.entries(changes).filter(([, value]) => value !== '');
  const lines = named.map(([name, value]) => envLine(name, value));
  const gap = kept === '' || kept.endsWith('\n\n') ? '' : kept.endsWith('\n') ? '\n' : '\n\n';
  const text = named.length === 0 ? kept : `${kept}${gap}# ${heading}\n${lines.join('\n')}\n`;
  const expected = { ...parseEnv(before), ...changes };
  const read = parseEnv(text);
  const names = new Set([...Object.keys(expected), ...Object.keys(read)]);
  const wrong = [...names].filter((name) => (expected[name] ?? '') !== (read[name] ?? ''));
  return wrong.length === 0
    ? parsed(text)
    : problem(`${wrong.join(', ')} cannot be written into it; do it by hand.`);
}

/** The changed settings for the screen, without secrets. */
export function shownSettings(changes: Changes): string {
  const lines = Object.entries(changes).map(([name, value]) => {
    if (value === '') return `${name} taken out`;
    return `${name}=${isSecretName(name) ? '(secret)' : value}`;
  });
  return lines.join('\n');
}

/** Settings of one merchant: addresses, ids, secrets, and how the bot runs. */
const ofOneMerchant =
  /^PAYMENTS_(?:SERVICE|BASE_URL|SANDBOX_URL|ENVIRONMENT|ACCOUNT_\w+|PARENT_\w+|TIMEOUT_SECONDS)$/;
const ofTheService =
  /^(?:PAYMENTS_|SAVED_CARDS_|WEBHOOK_(?:SIGN|SECRET_ENCODING|TIMESTAMP|TOLERANCE|EVENT_POINTERS|KINDS))/;

/** The settings that are the same for every merchant of the service. Leaves out values that contain a secret. */
export function serviceSettings(changes: Changes, secrets: readonly string[]): Changes {
  const shared = Object.entries(changes).filter(
    ([name, value]) =>
      ofTheService.test(name) &&
      !ofOneMerchant.test(name) &&
      !isSecretName(name) &&
      value !== '' &&
      !secrets.some((secret) => value.includes(secret)),
  );
  return Object.fromEntries(shared);
}

/** The people and channels for the policy file. */
export type PolicyAnswers = {
  channels: { alerts: string; desk?: string; ops?: string };
  members: readonly string[];
};

export function policyText({ channels, members }: PolicyAnswers): string {
  const policy = { channels, roles: { agents: { users: [...members], may: ['*'] } } };
  return `# yaml-language-server: $schema=docs/payops.schema.json\n# docs/policy.md has roles, limits and approvals. Anyone without a role is refused.\n${stringify(policy)}`;
}

/**
 * Writes the file. Keeps an existing one under another name, which it returns: one that no earlier run has used, so
 * that the first file of all is never lost. Throws the file system's errors.
 */
export function writeOver(path: string, text: string, mode: number): string | undefined {
  const target = existsSync(path) ? realpathSync(path) : path;
  let old = `${path}.before-connect`;
  for (let run = 2; existsSync(old); run += 1) old = `${path}.before-connect-${run}`;
  const fresh = `${target}.new-${process.pid}`;
  const before = existsSync(target) ? readFileSync(target) : undefined;
  if (before) writeFileSync(old, before, { mode, flag: 'wx' });
  writeFileSync(fresh, text, { mode });
  try {
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh);
    // A file that is mounted by itself, as containers do, can be written but not replaced.
    if (errorCode(error) !== 'EBUSY') throw error;
    writeFileSync(target, text);
  }
  return before && old;
}
