import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  document,
  operationNamed,
  operations,
  parametersOf,
  requestOf,
  resolve,
  responseOf,
  valueAt,
  type Node,
  type Operation,
} from './document.ts';

/** The specification's own text is read here: the OpenAPI rendering is held against it, row by row. */
const text = readFileSync(new URL('../../openapi/specification.md', import.meta.url), 'utf8');

/** The rows of the first table after these words, each by its cells; code marks are dropped. */
function tableAfter(words: string): string[][] {
  const [, after] = text.split(words);
  if (after === undefined) throw new Error(`The specification does not say: ${words}`);
  const lines = after.slice(after.indexOf('\n|') + 1).split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

type Section = { method: string; path: string; words: string };

/** What the text says of each endpoint, from its bold heading to the next. */
const sections = text.split(/\n(?=\*\*[A-Z]+(?: and [A-Z]+)? \{base_url\})/).flatMap((part): Section[] => {
  const [, methods = '', path = ''] = /^\*\*([A-Z]+(?: and [A-Z]+)?) \{base_url\}(\S+)\*\*/.exec(part) ?? [];
  const [words = ''] = part.split(/\n#/);
  return methods
    .split(' and ')
    .filter((method) => method !== '')
    .map((method) => ({ method: method.toLowerCase(), path, words }));
});

const sandbox = tableAfter('### Sandbox endpoints').map(([, call = '']) => {
  const [method = '', path = ''] = call.split(' ');
  return { method: method.toLowerCase(), path, original: path.replace('/sandbox/', '/v1/') };
});
const events = tableAfter('The service sends webhooks').map(([event = '']) => event);

function operationAt(method: string, path: string): Operation {
  const found = operations.find((one) => one.method === method && one.path === path);
  if (!found) throw new Error(`The document has no ${method} ${path}`);
  return found;
}

describe('the operations', () => {
  it('are those of the specification, none missing and none invented', () => {
    const told = [
      ...sections.map(({ method, path }) => `${method} ${path}`),
      ...sandbox.map(({ method, path }) => `${method} ${path}`),
      ...events.map((event) => `post ${event}`),
    ];
    expect(sections.length).toBeGreaterThan(12);
    expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(told.toSorted());
  });

  const told = sections.filter(({ words }) => /[Bb]earer|Authorization/.test(words));

  it('say nothing of Authorization in the text where the shape is not shown, and at the revocation alone', () => {
    const untold = sections.filter((section) => !told.includes(section));
    expect(untold.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'post /v1/auth/token/revoke',
      'get /v1/checkout/tokenized-card-data',
      'delete /v1/checkout/tokenized-card-data',
    ]);
  });

  it.each(told)('take Authorization and accountId as told: $method $path', ({ method, path, words }) => {
    const operation = operationAt(method, path);
    const isOpen = /[Nn]o (?:bearer|Authorization)/.test(words);
    expect(operation.node['security']).toEqual(isOpen ? [] : [{ BearerAuth: [] }]);
    const takesAccount = /[Hh]eaders?:? [^.]*`?accountId`?/.test(words) && !/or accountId header/.test(words);
    const headers = parametersOf(operation).filter((parameter) => parameter['in'] === 'header');
    expect(headers.map(({ name }) => name)).toEqual(takesAccount ? ['accountId'] : []);
  });

  it.each(sections)('take the query told, and no other: $method $path', ({ method, path, words }) => {
    const [sentence = ''] = /Query[^\n]*/.exec(words) ?? [];
    const asked = Array.from(sentence.matchAll(/`(\w+)`/g), ([, name]) => name);
    const query = parametersOf(operationAt(method, path)).filter((parameter) => parameter['in'] === 'query');
    expect(query.map(({ name }) => name)).toEqual(asked);
  });

  it.each(sandbox)('of the sandbox take and answer what production does: $method $path', (row) => {
    const [own, original] = [operationAt(row.method, row.path), operationAt(row.method, row.original)];
    expect(own.node['security']).toEqual(original.node['security']);
    expect(requestOf(own)?.schema).toEqual(requestOf(original)?.schema);
    const [path] = own.pointer.split(/\/\w+$/);
    expect((valueAt(document, `${path}/servers`) as Node[]).map(({ url }) => url)).toEqual(['{sandbox_url}']);
  });

  it.each(operations.filter(({ webhook }) => !webhook))('answer the statuses told: $method $path', (one) => {
    const told = tableAfter('HTTP status responses declared').map(([status]) => status);
    expect(Object.keys(one.node['responses'] as Node)).toEqual(['200', ...told]);
  });
});

/** The schema at a dotted path of properties. */
function fieldAt(schema: unknown, path: string): Node {
  let node = merged(schema);
  for (const name of path.split('.').filter((part) => part !== '')) {
    node = merged((node['properties'] as Node)[name]);
  }
  return node;
}

/** One schema without references and without allOf, as far as names and lengths go. */
function merged(schema: unknown): Node {
  const { allOf = [], oneOf = [], ...own } = resolve(schema);
  const parts = [...(allOf as unknown[]), ...(oneOf as Node[]).filter(({ type }) => type !== 'null')];
  const all = [...parts.map(merged), own];
  const properties = Object.assign({}, ...all.map((part) => part['properties'] ?? {})) as Node;
  return { ...(Object.assign({}, ...all) as Node), properties };
}

const schemas = (document['components'] as { schemas: Node }).schemas;
const event = (name: string): unknown =>
  valueAt(document, `/webhooks/${name}/post/requestBody/content/application~1json/schema`);

const tables: [name: string, heading: string, schema: unknown][] = [
  ['the envelope', '### Response envelope', schemas['Envelope']],
  ['an account', '### Account\n', schemas['Account']],
  ['a saved card', '### Saved card', schemas['SavedCard']],
  ['a transaction', '### Transaction record', schemas['Transaction']],
  ['a checkout order', '(create a checkout order)', schemas['CheckoutOrderRequest']],
  ['an event', 'Known payload fields', event('payment_success')],
];

describe.each(tables)('the fields of %s', (_name, heading, schema) => {
  const rows = tableAfter(heading);
  const names = rows.map(([name = '']) => name);

  it('are those of its table, none missing and none invented', () => {
    const parents = new Set(names.map((name) => name.split('.').slice(0, -1).join('.')));
    for (const parent of parents) {
      const depth = parent === '' ? 0 : parent.split('.').length;
      const told = names
        .filter((name) => parent === '' || name.startsWith(`${parent}.`))
        .map((name) => name.split('.')[depth]);
      const has = Object.keys(fieldAt(schema, parent)['properties'] as Node);
      expect(new Set(has)).toEqual(new Set(told));
    }
  });

  it('have the lengths told', () => {
    const differing = rows.filter(([name = '', ...cells]) => {
      const { minLength = 0, maxLength } = fieldAt(schema, name);
      const words = cells.join(' ');
      const [, least = 0, most] = /(?:(\d+) to )?(\d+) characters/.exec(words) ?? [];
      const isExact = !/to \d+ characters/.test(words);
      return most !== undefined && (+most !== maxLength || (!isExact && +least !== minLength));
    });
    expect(differing).toEqual([]);
  });
});

describe('a saved-card charge', () => {
  const examples = Object.values(responseOf(operationNamed('chargeSavedCard'), '200')?.examples ?? {}) as {
    code: string;
    data: { status: boolean; otpRequired: boolean; message: string };
  }[];

  it('has an example of each outcome', () => {
    const told = tableAfter('null on rejection) }').map(([code = '', status, otp]) =>
      [code.replaceAll('"', ''), status, otp].join(' '),
    );
    const shown = examples.map(({ code, data }) => [code, data.status, data.otpRequired].join(' '));
    expect(told.length).toBe(4);
    expect([...new Set(shown)].toSorted()).toEqual(told.toSorted());
  });

  it('has an example of each rejection, word for word', () => {
    const told = tableAfter('Saved-card charge rejections').map(([message]) => message);
    const shown = examples.filter(({ code }) => code === '400').map(({ data }) => data.message);
    expect(told.length).toBe(5);
    expect(new Set(shown)).toEqual(new Set(told));
  });
});

function notShownIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = (node as Node)['x-not-shown'];
  return [
    ...(own === undefined ? [] : ([own].flat() as string[])),
    ...Object.values(node).flatMap(notShownIn),
  ];
}

describe('what is not shown', () => {
  const told = [...new Set(notShownIn(document).map((words) => words.trim()))];

  it('is marked in the specification’s own words', () => {
    expect(told.filter((words) => !text.includes(words))).toEqual([]);
  });

  it('is marked wherever the specification says so, and the rest is no part of an HTTP interface', () => {
    const left = told.reduce((rest, words) => rest.replaceAll(words, ''), text);
    const lines = left.split('\n').filter((line) => line.includes('not shown'));
    expect(lines).toEqual([]);
  });
});
