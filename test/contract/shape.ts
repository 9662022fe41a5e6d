import { isNode, parametersOf, resolve, type Node, type Operation } from './document.ts';

const patterns: Record<string, string> = {
  '^\\d+\\.\\d{2}$': 'two decimal places',
  '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$': 'UTC to the second',
  '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}(Z|[+-]\\d{2}:\\d{2})$': 'with milliseconds',
};

/**
 * Keywords that the words below tell, or that constrain nothing a field table could name. `if` is the
 * transactionId rule of the charge result, which examples.test.ts exercises.
 */
const known = new Set(
  `type format minLength maxLength pattern enum const maximum properties required items additionalProperties
   contentMediaType contentSchema description x-not-shown
   if then else`.split(/\s+/),
);

/**
 * Every field of a schema by its dotted path ("results[].banks[].bankName"; '' is the body itself), each
 * told in words that leave out no constraint: an unknown keyword is an error, so nothing hides.
 */
export function shapeOf(schema: unknown): Record<string, string> {
  const shape: Record<string, string> = {};
  collect(shape, schema, { path: '', required: false });
  return shape;
}

function collect(
  shape: Record<string, string>,
  schema: unknown,
  at: { path: string; required: boolean },
): void {
  if (schema === false) {
    shape[at.path] = 'never';
    return;
  }
  const flat = flatten(schema);
  shape[at.path] = describeField(flat, at.required);
  const required = (flat['required'] ?? []) as string[];
  for (const [name, property] of Object.entries((flat['properties'] ?? {}) as Node)) {
    const path = at.path === '' ? name : `${at.path}.${name}`;
    collect(shape, property, { path, required: required.includes(name) });
  }
  if (flat['items'] !== undefined) collect(shape, flat['items'], { path: `${at.path}[]`, required: false });
}

/** One schema without $ref, allOf or a oneOf with null. */
function flatten(schema: unknown): Node {
  const { allOf, oneOf, ...own } = resolve(schema);
  let flat: Node = own;
  for (const part of (allOf ?? []) as unknown[]) flat = merge(flatten(part), flat);
  if (oneOf === undefined) return flat;
  const [first, second, ...more] = oneOf as Node[];
  if (more.length > 0 || second?.['type'] !== 'null') throw new Error('oneOf is only known as "or null"');
  const value = flatten(first);
  return merge(flat, { ...value, type: [value['type'], 'null'] });
}

/** Both hold: the base (first) narrowed by the refinement (second). */
function merge(first: Node, second: Node): Node {
  const merged: Node = { ...first, ...second };
  const types = [first, second].flatMap(({ type }) => (type === undefined ? [] : [[type].flat()]));
  const [base, narrow] = types;
  if (base && narrow) merged['type'] = base.filter((type) => narrow.includes(type));
  merged['required'] = [first, second].flatMap(({ required }) => (required ?? []) as string[]);
  const properties: Node = { ...(first['properties'] as Node) };
  for (const [name, property] of Object.entries((second['properties'] ?? {}) as Node)) {
    properties[name] = name in properties ? merge(flatten(properties[name]), flatten(property)) : property;
  }
  if (Object.keys(properties).length > 0) merged['properties'] = properties;
  return merged;
}

/** The keywords of a flat schema that have words. */
type Told = {
  type?: string | string[];
  format?: string;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  enum?: string[];
  const?: boolean;
  maximum?: number;
  contentMediaType?: string;
};

/** "string, exactly 20 characters, required, not shown": every constraint of one flat schema. */
function describeField(flat: Node, required: boolean): string {
  const unknown = Object.keys(flat).filter((keyword) => !known.has(keyword));
  if (unknown.length > 0) throw new Error(`The words for ${unknown.join()} are missing in describeField`);
  const told = flat as Told;
  const words = [
    told.type === undefined ? 'anything' : [told.type].flat().join(' or '),
    told.format,
    lengthWords(told),
    told.pattern && (patterns[told.pattern] ?? told.pattern),
    told.enum && `one of ${told.enum.join(' ')}`,
    told.const === undefined ? undefined : `always ${told.const}`,
    told.maximum === undefined ? undefined : `at most ${told.maximum}`,
    told.contentMediaType === 'application/json' ? 'JSON text' : told.contentMediaType,
    openWords(flat),
    required ? 'required' : undefined,
    flat['x-not-shown'] === undefined ? undefined : 'not shown',
  ];
  return words.filter((word) => word !== undefined).join(', ');
}

function lengthWords({ minLength: least, maxLength: most }: Told): string | undefined {
  if (least === undefined) return most === undefined ? undefined : `up to ${most} characters`;
  return least === most ? `exactly ${least} characters` : `${least} to ${most} characters`;
}

/** Envelope.data is open until an endpoint names its fields; events stay open beside theirs. */
function openWords(flat: Node): string | undefined {
  if (flat['additionalProperties'] === undefined) return undefined;
  if (flat['additionalProperties'] !== true) throw new Error('A schema is open or says nothing');
  const named = isNode(flat['properties']);
  return named && flat['x-not-shown'] === undefined ? undefined : 'open';
}

/** The operation's query parameters as "query limit" → words. */
export function queryOf(operation: Operation): Record<string, string> {
  const query = parametersOf(operation).filter((parameter) => parameter['in'] === 'query');
  return Object.fromEntries(
    query.map(({ name, required, schema }) => {
      const words = shapeOf(schema)[''] ?? '';
      return [`query ${name as string}`, required === true ? `${words}, required` : words];
    }),
  );
}
