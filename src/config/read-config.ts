import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { nearestWord } from '../domain/nearest-word.ts';
import { policySchema, type Policy } from './policy.ts';
import { settings, variableName, type Environment, type Setting } from './settings.ts';

/** Everything the program is told from outside, frozen. */
export type Config = Environment & { readonly policy: Policy };

export type ConfigResult =
  | { kind: 'read'; config: Config; warnings: string[] }
  | { kind: 'refused'; problems: string[] };

/** What a part of the program finds wrong with its own settings, beyond what each says by itself. */
export type SettingsCheck = (settings: Environment) => string[];

type Variables = Readonly<Record<string, string | undefined>>;

/** Prefixes that are ours alone, so that an unknown name under one of them is a mistake worth naming. */
const ownPrefixes = ['SLACK_', 'PAYMENTS_', 'WEBHOOK_', 'PAYOPS_', 'REDIS_', 'SEALING_'];

/**
 * Reads the environment and the policy file. Either the whole configuration, or every problem at once,
 * each naming the setting and what to write; no message repeats a secret. Reads files, opens nothing else.
 */
export function readConfig(variables: Variables, checks: readonly SettingsCheck[] = []): ConfigResult {
  const problems: string[] = [];
  const warnings: string[] = [];
  const entries = Object.entries<Setting>(settings).map(([key, setting]) => {
    return [key, readSetting(variableName(key), setting, variables, problems)] as const;
  });
  // Each value came out of its own setting's reader, so the whole has the table's types.
  const environment = Object.fromEntries(entries) as Environment;
  nameMisspelt(variables, problems, warnings);
  problems.push(...checks.flatMap((check) => check(environment)));
  if (problems.length === 0) problems.push(...findContradictions(environment));
  const policy = readPolicy(environment.payopsFile ?? 'payops.yml', problems);
  if (problems.length > 0 || !policy) return { kind: 'refused', problems };
  return { kind: 'read', config: Object.freeze({ ...environment, policy }), warnings };
}

/** Every secret's text, for the log to strike out wherever it turns up. */
export function secretsOf(config: Config): string[] {
  const names = Object.entries<Setting>(settings).filter(([, setting]) => setting.secret);
  const values = new Map<string, unknown>(Object.entries(config));
  return names.flatMap(([name]) => values.get(name) ?? []).filter((value) => typeof value === 'string');
}

function readSetting(name: string, setting: Setting, variables: Variables, problems: string[]): unknown {
  const text = readText(name, setting, variables, problems) ?? setting.fallback;
  if (text === undefined) return undefined;
  const result = setting.read.safeParse(text);
  if (result.success) return result.data;
  problems.push(`${name} ${firstMessage(result.error)}.`);
  return undefined;
}

function readText(
  name: string,
  setting: Setting,
  variables: Variables,
  problems: string[],
): string | undefined {
  const direct = blankIsAbsent(variables[name]);
  const fileName = `${name}_FILE`;
  const path = setting.secret ? blankIsAbsent(variables[fileName]) : undefined;
  if (path === undefined) return direct;
  if (direct !== undefined) {
    problems.push(`${name} and ${fileName} are both set: keep one of them.`);
    return undefined;
  }
  try {
    return blankIsAbsent(readFileSync(path, 'utf8').replace(/\r?\n$/, ''));
  } catch (error) {
    problems.push(`${fileName} names a file that cannot be read (${fileErrorCode(error)}): ${path}.`);
    return undefined;
  }
}

function blankIsAbsent(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

function fileErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function firstMessage(error: z.ZodError): string {
  return error.issues[0]?.message ?? 'is not readable';
}

function nameMisspelt(variables: Variables, problems: string[], warnings: string[]): void {
  const names = Object.entries<Setting>(settings).flatMap(([key, setting]) => {
    const name = variableName(key);
    return setting.secret ? [name, `${name}_FILE`] : [name];
  });
  const known = new Set(names);
  for (const name of Object.keys(variables)) {
    if (known.has(name) || !ownPrefixes.some((prefix) => name.startsWith(prefix))) continue;
    const nearest = nearestWord(name, names);
    if (nearest) problems.push(`${name} is not a setting. Did you mean ${nearest}?`);
    else warnings.push(`${name} is not a setting of Payops and is ignored; docs/settings.md lists them all.`);
  }
}

/** What must hold between settings; told only when each of them is readable by itself. */
function findContradictions(environment: Environment): string[] {
  const rules: [broken: boolean, words: string][] = [
    [
      !environment.slackBotToken,
      'SLACK_BOT_TOKEN is missing: the bot token of the Slack app, which starts with xoxb-.',
    ],
    [
      environment.slackMode === 'http' && !environment.slackSigningSecret,
      'SLACK_SIGNING_SECRET is missing: it is needed in SLACK_MODE=http (Slack app › Basic Information).',
    ],
    [
      environment.slackMode === 'socket' && !environment.slackAppToken,
      'SLACK_APP_TOKEN is missing: it is needed in SLACK_MODE=socket (Slack app › Basic Information › App-Level Tokens).',
    ],
    [
      environment.paymentsEnvironment === 'live' && !environment.paymentsBaseUrl,
      'PAYMENTS_BASE_URL is missing: the production address of the payments service.',
    ],
    [
      environment.paymentsEnvironment === 'sandbox' && !environment.paymentsSandboxUrl,
      'PAYMENTS_SANDBOX_URL is missing: the test address of the payments service, needed while PAYMENTS_ENVIRONMENT is sandbox (the default).',
    ],
    [!environment.paymentsAccountId, 'PAYMENTS_ACCOUNT_ID is missing: the merchant account’s id, a UUID.'],
    [
      !environment.paymentsStaticToken && !environment.paymentsTokenIssueBody,
      'PAYMENTS_TOKEN_ISSUE_BODY is missing: the JSON body that obtains an access token, or set PAYMENTS_STATIC_TOKEN.',
    ],
    [
      environment.redisUrl !== undefined && !environment.sealingKeys,
      'SEALING_KEYS is missing: replicas on one Redis must share the keys that seal secrets (k1:$(openssl rand -base64 32)).',
    ],
    [
      environment.workLeaseSeconds < 3 * environment.paymentsTimeoutSeconds,
      'WORK_LEASE_SECONDS must be at least three times PAYMENTS_TIMEOUT_SECONDS, or work is taken over while it is still being done.',
    ],
    [
      environment.webhookSignaturePreset !== undefined && !environment.webhookSecrets?.length,
      'WEBHOOK_SECRETS is missing: WEBHOOK_SIGNATURE_PRESET is set, and without a secret every delivery would be refused.',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, words]) => words);
}

function readPolicy(path: string, problems: string[]): Policy | undefined {
  const source = readPolicyText(path, problems);
  if (source === undefined) return undefined;
  const document = parseDocument(source, { prettyErrors: true });
  if (document.errors.length > 0) {
    problems.push(
      ...document.errors.map((error) => `${path}: ${error.message.split('\n')[0] ?? 'not YAML'}`),
    );
    return undefined;
  }
  const result = policySchema.safeParse(document.toJS() ?? {}, { reportInput: true });
  if (result.success) return result.data;
  problems.push(...result.error.issues.flatMap((issue) => policyProblems(path, issue)));
  return undefined;
}

function readPolicyText(path: string, problems: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const fix = 'copy payops.example.yml and fill it in, or name yours in PAYOPS_FILE';
    problems.push(`The policy file ${path} cannot be read (${fileErrorCode(error)}): ${fix}.`);
    return undefined;
  }
}

const policyKeys = ['channels', 'roles', 'alerts', 'successes', 'ops', 'users', 'groups', 'may'];

function policyProblems(path: string, issue: z.core.$ZodIssue): string[] {
  const at = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') {
    const words = issue.code === 'invalid_type' && issue.input === undefined ? 'is missing' : issue.message;
    return [`${path}: ${at || 'the file'} ${words}.`];
  }
  return issue.keys.map((key) => {
    const nearest = nearestWord(key, policyKeys);
    const full = at ? `${at}.${key}` : key;
    return `${path}: ${full} is not a setting.${nearest ? ` Did you mean ${nearest}?` : ''}`;
  });
}
