import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { nearestWord } from '../domain/wording.ts';
import { policySchema, type Policy } from './policy.ts';
import { fileErrorCode } from './readers.ts';

export type PolicyResult = { kind: 'read'; policy: Policy } | { kind: 'refused'; problems: string[] };

const usualFix = 'copy payops.example.yml and fill it in, or name yours in PAYOPS_FILE';

/**
 * The policy file's content, or all its problems, each with the file's path. `fix`: what to do if the file can't be
 * read. Never throws.
 */
export function readPolicy(path: string, fix = usualFix): PolicyResult {
  let source: string;
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
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

function refused(problems: string[]) {
  return { kind: 'refused' as const, problems };
}

function yamlProblem(path: string, message: string, code?: string): string {
  const [line = ''] = message.split('\n');
  const words = line.replace(/[:.]$/, '') || 'not YAML';
  const isAlias = code === 'BAD_ALIAS' || words.startsWith('Unresolved alias');
  const fix = isAlias ? " A bare * begins a YAML alias: write '*' in quotes." : '';
  return `${path}: ${words}.${fix}`;
}

/** One node of the policy file's JSON Schema. */
type SchemaNode = {
  properties?: Record<string, SchemaNode>;
  additionalProperties?: SchemaNode | boolean;
  items?: SchemaNode;
  oneOf?: SchemaNode[];
};

/** The keys that are valid at a node, each with the node below it. */
function keysOf({
  properties = {},
  items,
  additionalProperties,
  oneOf = [],
}: SchemaNode): Record<string, SchemaNode> {
  if (items) return keysOf(items);
  if (typeof additionalProperties === 'object') return keysOf(additionalProperties);
  return Object.assign({}, ...oneOf.map(keysOf), properties) as Record<string, SchemaNode>;
}

/**
 * What is wrong with a key that zod refused. For an unknown key: a similar key of its level, the level where it
 * belongs, or else all keys of its level.
 */
function keyProblem(key: string, path: readonly PropertyKey[]): string {
  let [parent, level]: [Record<string, SchemaNode>, Record<string, SchemaNode>] = [
    {},
    keysOf(z.toJSONSchema(policySchema, { io: 'input' }) as SchemaNode),
  ];
  let name: string | undefined;
  for (const part of path) {
    const next = level[String(part)];
    if (next) [parent, level, name] = [level, keysOf(next), String(part)];
  }
  const names = Object.keys(level);
  // Known, but of another kind of approval rule.
  if (names.includes(key)) return ' doesn’t go with the keys beside it: take it out.';
  // YAML ends the value at the comma.
  if (/^\d+$/.test(key)) return ' is not a setting. Write an amount without a comma.';
  const nearest = names.find((part) => part.startsWith(`${key}_`)) ?? nearestWord(key, names);
  if (nearest !== undefined) return ` is not a setting. Did you mean ${nearest}?`;
  const inner = names.find((part) => key in keysOf(level[part] ?? {}));
  if (inner !== undefined) return ` is not a setting. It belongs under ${inner}.`;
  if (name !== undefined && key in parent)
    return ` is not a setting. It belongs beside ${name}, not under it.`;
  return ` is not a setting. What stands here: ${names.join(', ')}.`;
}

function policyProblems(path: string, issue: z.core.$ZodIssue): string[] {
  const at = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') {
    return [`${path}: ${at || 'the file'} ${issueWords(issue)}.`];
  }
  return issue.keys.map((key) => {
    const full = at ? `${at}.${key}` : key;
    return `${path}: ${full}${keyProblem(key, issue.path)}`;
  });
}

/** Messages instead of zod's type names, which people who write YAML may not know. */
const shapes: Readonly<Record<string, string>> = {
  array: 'must be a list: [one, another], or a dash before each',
  object: 'must be keys, each with a colon and its value',
  record: 'must be names, each with a colon and what belongs to it',
};

function issueWords(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  const isPlain = issue.code === 'invalid_type' && issue.message.startsWith('Invalid input');
  const words = isPlain ? (shapes[issue.expected] ?? 'must be something else') : issue.message;
  if (issue.input !== undefined) return words;
  return isPlain || words === 'must be text' ? 'is missing' : `is missing: it ${words}`;
}
