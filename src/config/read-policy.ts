import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { nearestWord } from '../domain/nearest-word.ts';
import { policySchema, type Policy } from './policy.ts';
import { fileErrorCode } from './readers.ts';

export type PolicyResult = { kind: 'read'; policy: Policy } | { kind: 'refused'; problems: string[] };

/** The policy file's content, or all that is wrong with it, each problem led by the file's path. Never throws. */
export function readPolicy(path: string): PolicyResult {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    const fix = 'copy payops.example.yml and fill it in, or name yours in PAYOPS_FILE';
    return refused([`The policy file ${path} cannot be read (${fileErrorCode(error)}): ${fix}.`]);
  }
  const document = parseDocument(source, { prettyErrors: true });
  if (document.errors.length > 0) {
    return refused(document.errors.map(({ code, message }) => yamlProblem(path, message, code)));
  }
  let content: unknown;
  try {
    content = document.toJS();
  } catch (error) {
    return refused([yamlProblem(path, error instanceof Error ? error.message : '')]);
  }
  const result = policySchema.safeParse(content ?? {}, { reportInput: true });
  if (result.success) return { kind: 'read', policy: result.data };
  return refused(result.error.issues.flatMap((issue) => policyProblems(path, issue)));
}

function refused(problems: string[]): PolicyResult {
  return { kind: 'refused', problems };
}

function yamlProblem(path: string, message: string, code?: string): string {
  const [line = ''] = message.split('\n');
  const words = line.replace(/[:.]$/, '') || 'not YAML';
  const isAlias = code === 'BAD_ALIAS' || words.startsWith('Unresolved alias');
  const fix = isAlias ? " A bare * begins a YAML alias: write '*' in quotes." : '';
  return `${path}: ${words}.${fix}`;
}

const topKeys = ['channels', 'accounts', 'routes', 'daily_summary', 'timezone', 'approvals', 'roles'];
const keysOf: Readonly<Record<string, readonly string[]>> = {
  channels: ['alerts', 'successes', 'desk', 'ops'],
  roles: ['users', 'groups', 'may', 'accounts', 'channels', 'limits'],
  limits: ['per_charge', 'per_agent_per_day', 'per_card_per_day'],
  accounts: ['name', 'account_id', 'parent_id', 'environment', 'base_url', 'label', 'colour', 'channels'],
  routes: [
    'name',
    'when',
    'to',
    'mention',
    'severity',
    'quiet_hours',
    'mute_until',
    'digest_after',
    'continue',
  ],
  when: [
    'event',
    'environment',
    'account',
    'saved_card',
    'currency',
    'amount_from',
    'amount_to',
    'customer_id',
    'email_domain',
    'reason',
  ],
  daily_summary: ['channel', 'at', 'tz'],
  quiet_hours: ['from', 'to', 'tz'],
  approvals: ['channel', 'expire_minutes', 'rules'],
  rules: ['what', 'currency', 'amount_from', 'needed', 'account'],
};

/** What may be meant there; first what belongs there, then what belongs elsewhere and was put in the wrong place. */
function keysNear(path: readonly PropertyKey[]): string[] {
  const place = path.findLast((part) => typeof part === 'string' && Object.hasOwn(keysOf, part));
  const here = place === undefined ? topKeys : (keysOf[String(place)] ?? []);
  return [...here, ...topKeys, ...Object.values(keysOf).flat()];
}

function policyProblems(path: string, issue: z.core.$ZodIssue): string[] {
  const at = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') {
    return [`${path}: ${at || 'the file'} ${issueWords(issue)}.`];
  }
  return issue.keys.map((key) => {
    const nearest = nearestWord(key, keysNear(issue.path));
    const full = at ? `${at}.${key}` : key;
    return `${path}: ${full} is not a setting.${nearest ? ` Did you mean ${nearest}?` : ''}`;
  });
}

function issueWords(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is missing';
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}
