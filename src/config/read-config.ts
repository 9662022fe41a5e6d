import { readFileSync, statSync } from 'node:fs';
import type { z } from 'zod';
import type { Merchant } from '../domain/merchant.ts';
import { nearestWord, parsed, problem, type Parsed } from '../domain/wording.ts';
import type { Config, SettingsCheck } from './config.ts';
import { cautions, contradictions } from './contradictions.ts';
import {
  isMerchantVariable,
  merchantSettings,
  strayVariables,
  withOwnVariables,
  type MerchantSettings,
} from './read-merchants.ts';
import { readPolicy } from './read-policy.ts';
import { fileErrorCode, type Setting } from './readers.ts';
import { withServiceSet, type Variables } from './service-sets.ts';
import { settings, variableName, type SettingValues } from './settings.ts';

/**
 * `warnings` alone don't refuse the configuration. They are returned beside problems too: a misspelt name may be why a
 * setting is missing.
 */
export type ConfigResult =
  | { kind: 'read'; config: Config; warnings: string[] }
  | { kind: 'refused'; problems: string[]; warnings: string[] };

/**
 * Variables with these prefixes can only be meant for the bot, so an unknown one is reported. CARD_ is not among them:
 * a payments team's other programs may use it, and a misspelling of the bot's one CARD_ setting is found by similarity.
 */
const ownPrefixes = [
  'SLACK_',
  'PAYMENTS_',
  'WEBHOOK_',
  'PAYOPS_',
  'REDIS_',
  'SEALING_',
  'CHARGE_',
  'SAVED_CARDS_',
];

/** Names shorter than this are never suggested: HOST and PORT are too similar to HOME and POST. */
const shortestGuess = 6;

/**
 * Reads the environment and the policy file. Returns the whole configuration, or all problems at once, each naming the
 * setting and what to write. No message holds a secret. Reads files, opens nothing else.
 */
export function readConfig(given: Variables, checks: readonly SettingsCheck[] = []): ConfigResult {
  const withSet = withServiceSet(given, isSecretName);
  const variables = withSet.ok ? withSet.value : given;
  const problems: string[] = withSet.ok ? [] : [withSet.problem];
  const read = readSettings(variables, problems);
  const { warnings, ...misspelt } = findMisspelt(variables);
  const file = readPolicy(read.payopsFile);
  problems.push(...misspelt.problems, ...(file.kind === 'refused' ? file.problems : []));
  const shared = (file.kind === 'read' ? { ...read, policy: file.policy } : read) as Config;
  const allChecks = [...contradictions, ...checks];
  const merchants = readAccounts(shared, variables, problems);
  const [first = {}, ...further] = merchants;
  const config = { ...shared, ...first };
  problems.push(...runChecks(allChecks, config));
  warnings.push(...runChecks(cautions, config));
  for (const own of further) {
    const whole = { ...shared, ...own };
    addForAccount(problems, runChecks(allChecks, whole), own.merchant);
    addForAccount(warnings, runChecks(cautions, whole), own.merchant);
  }
  warnings.push(...openSecretFiles(variables));
  if (problems.length > 0) return { kind: 'refused', problems, warnings };
  const configs = further.map((own) => Object.freeze({ ...shared, ...own }));
  return {
    kind: 'read',
    config: Object.freeze({ ...config, ...(merchants.length > 0 ? { further: configs } : {}) }),
    warnings,
  };
}

/**
 * Adds what the checks found about a further account, with the names of its own variables; leaves out what they said of
 * the first account in the same words, because the accounts share that setting.
 */
function addForAccount(known: string[], found: readonly string[], merchant: Merchant): void {
  for (const words of found) {
    const own = withOwnVariables(merchant, words);
    if (own !== words) known.push(own);
    else if (!known.includes(words)) known.push(`Account ${merchant.name}: ${words}`);
  }
}

function readSettings(variables: Variables, problems: string[]): SettingValues {
  const found = Object.entries<Setting>(settings).flatMap(([key, setting]) => {
    const reading = readSetting(variableName(key), setting, variables);
    if (reading.ok) return [[key, reading.value] as const];
    problems.push(reading.problem);
    return [];
  });
  // Each value came from its own setting's reader, so the types fit.
  return Object.fromEntries(found) as SettingValues;
}

/**
 * The settings so far, without the policy file, for a person who is still setting the bot up. Drops unreadable ones.
 */
export function readIncomplete(given: Variables): Config {
  const withSet = withServiceSet(given, isSecretName);
  return readSettings(withSet.ok ? withSet.value : given, []) as Config;
}

/** The configuration with these variables changed. A blank variable counts as absent. */
export function withSettings(config: Config, changes: Readonly<Record<string, string>>): Parsed<Config> {
  const read: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries<Setting>(settings)) {
    const name = variableName(key);
    if (!Object.hasOwn(changes, name)) continue;
    const reading = readSetting(name, setting, changes);
    if (!reading.ok) return reading;
    read[key] = reading.value;
  }
  return parsed({ ...config, ...read });
}

/** Returns the problems that the checks find. Drops a check that reads a setting whose value was unreadable. */
function runChecks(checks: readonly SettingsCheck[], config: Config): string[] {
  const unreadable = new Error('A setting could not be read.');
  const guarded = new Proxy(config, {
    get(all, key) {
      if (!(key in all) && (key in settings || key === 'policy')) throw unreadable;
      return all[key as keyof Config];
    },
  });
  return checks.flatMap((check) => {
    try {
      return check(guarded) || [];
    } catch (error) {
      if (error === unreadable) return [];
      throw error;
    }
  });
}

/** Each account's own settings, in the policy file's order. Adds its problems to `problems`. */
function readAccounts(shared: Config, variables: Variables, problems: string[]): MerchantSettings[] {
  const { policy, paymentsAccountId } = shared as Partial<Config>;
  const accounts = policy?.accounts ?? [];
  const present = Object.keys(variables).filter((name) => blankIsAbsent(variables[name]) !== undefined);
  problems.push(...strayVariables(present, accounts));
  const [first] = accounts;
  if (first && paymentsAccountId !== undefined && paymentsAccountId !== first.account_id) {
    problems.push(
      `PAYMENTS_ACCOUNT_ID is another account than accounts.0 of ${shared.payopsFile}: what the bot has on record is the first one’s, so put its account first, or take the setting out.`,
    );
  }
  return merchantSettings(accounts, shared, (key, variable) => {
    const reading = readSetting(variable, settings[key], variables);
    if (reading.ok) return reading.value;
    problems.push(reading.problem);
    return undefined;
  });
}

/** All secrets, of all accounts, which the log must strike out. */
export function secretsOf(config: Config): string[] {
  const names = Object.entries<Setting>(settings).filter(([, setting]) => setting.secret);
  const all = [config, ...(config.further ?? [])].flatMap((one) => {
    const values = new Map<string, unknown>(Object.entries(one));
    return names.flatMap(([name]) => values.get(name) ?? []).filter((value) => typeof value === 'string');
  });
  return [...new Set(all)];
}

const byVariable = new Map(
  Object.entries<Setting>(settings).map(([key, setting]) => [variableName(key), setting]),
);

/** Whether a variable holds a secret or the path of its file, for the bot or for one account. */
export function isSecretName(name: string): boolean {
  const [plain = ''] = name.split('__');
  return byVariable.get(plain.replace(/_FILE$/, ''))?.secret === true;
}

/** Whether a variable is one of the bot's own, not of a single account. */
export function isSettingName(name: string): boolean {
  return byVariable.has(name) || byVariable.get(name.replace(/_FILE$/, ''))?.secret === true;
}

export function defaultOf(name: string): string | undefined {
  return byVariable.get(name)?.fallback;
}

function readSetting(name: string, setting: Setting, variables: Variables): Parsed<unknown> {
  const written = setting.secret ? readSecret(name, variables) : parsed(blankIsAbsent(variables[name]));
  if (!written.ok) return written;
  const text = written.value ?? setting.fallback;
  if (text === undefined) return parsed(undefined);
  const result = setting.read.safeParse(text);
  if (result.success) return parsed(result.data);
  // `docker run --env-file` and Kubernetes keep quotation marks in the value; Node and Compose keep only curly ones.
  const hint = /^["'“”„‘’«]/.test(text) ? '; leave the quotation marks out' : '';
  return problem(`${name} ${firstMessage(result.error)}${hint}.`);
}

function readSecret(name: string, variables: Variables): Parsed<string | undefined> {
  const direct = blankIsAbsent(variables[name]);
  const fileName = `${name}_FILE`;
  const path = blankIsAbsent(variables[fileName]);
  if (path === undefined) return parsed(direct);
  if (direct !== undefined) return problem(`${name} and ${fileName} are both set: keep one of them.`);
  try {
    return parsed(blankIsAbsent(readFileSync(path, 'utf8').replace(/\r?\n$/, '')));
  } catch (error) {
    return problem(`${fileName} names a file that cannot be read (${fileErrorCode(error)}): ${path}.`);
  }
}

/** Warns of secret files that every user of the machine may read. */
function openSecretFiles(variables: Variables): string[] {
  const names = Object.keys(variables).filter((name) => name.endsWith('_FILE') && isSecretName(name));
  return names.flatMap((name) => {
    const path = blankIsAbsent(variables[name]);
    const mode = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mode;
    if (path === undefined || mode === undefined || (mode & 0o004) === 0) return [];
    return [`Every user of this machine may read ${path} (${name}): chmod 600 ${path}`];
  });
}

function blankIsAbsent(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function firstMessage(error: z.ZodError): string {
  return error.issues[0]?.message ?? 'is not readable';
}

/**
 * Looks for unknown variables. A name that resembles a setting is a problem if it has one of our prefixes; otherwise it
 * may be another program's, so it is only a warning.
 */
function findMisspelt(variables: Variables): { problems: string[]; warnings: string[] } {
  const problems: string[] = [];
  const warnings: string[] = [];
  const names = [...byVariable].flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]));
  const guesses = names.filter((name) => name.length >= shortestGuess);
  for (const name of Object.keys(variables)) {
    if (isSettingName(name) || isMerchantVariable(name)) continue;
    const isOwn = ownPrefixes.some((prefix) => name.startsWith(prefix));
    const nearest = nearestWord(name, guesses);
    if (nearest !== undefined) {
      const words = `${name} is not a setting. Did you mean ${nearest}?`;
      if (isOwn) problems.push(words);
      // If the similar setting is set as well, this one is probably not a misspelling of it.
      else if (blankIsAbsent(variables[nearest]) === undefined) warnings.push(words);
    } else if (isOwn) {
      warnings.push(`${name} is not a setting of Payops and is ignored; docs/settings.md lists them all.`);
    }
  }
  return { problems, warnings };
}
