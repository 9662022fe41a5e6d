import { describe, expect, it } from 'vitest';
import {
  document,
  operationNamed,
  operations,
  parametersOf,
  requestOf,
  resolve,
  responseOf,
  textOf,
  valueAt,
  type Node,
  type Operation,
} from './document.ts';
import { lacking } from './evidence.ts';
import { queryOf, shapeOf } from './shape.ts';
import { endpoints, tags, type SpecEndpoint } from './spec-endpoints.ts';
import { chargeOutcomes, httpStatuses, limits, rejections, states } from './spec-outcomes.ts';
import { sandboxBehaviours, sandboxEndpoints } from './spec-sandbox.ts';
import { endpointRules, events, notShown } from './spec-sentences.ts';
import {
  account,
  cellsOf,
  checkoutOrderBody,
  eventFields,
  fieldsOf,
  responseEnvelope,
  savedCard,
  transaction,
} from './spec-tables.ts';

const schemas = document['components'] as { schemas: Node };

const calls = operations.filter(({ webhook }) => !webhook);

describe('the fields of', () => {
  const tables = [
    { name: 'Envelope', table: responseEnvelope, extra: { '': 'object', data: 'object or null, open' } },
    {
      name: 'Account',
      table: account,
      extra: {
        '': 'object',
        'banks[]': 'object',
        'banks[].bankAccountNumber': 'string, exactly 10 characters',
        'banks[].bankName': 'string',
        'banks[].bankAccountName': 'string',
      },
    },
    { name: 'SavedCard', table: savedCard, extra: { '': 'object' } },
    { name: 'Transaction', table: transaction, extra: { '': 'object' } },
    {
      name: 'CheckoutOrderRequest',
      table: checkoutOrderBody,
      extra: { '': 'object', 'order.allowedPaymentMethods[]': 'string' },
    },
  ];

  it.each(tables)(
    '$name are those of its table, none missing and none invented',
    ({ name, table, extra }) => {
      expect(shapeOf(schemas.schemas[name])).toEqual({ ...fieldsOf(table), ...extra });
    },
  );

  const described = [...tables, { name: 'PaymentSuccessEvent', table: eventFields }].flatMap(
    ({ name, table }) => table.rows.map(({ row }) => ({ name, row })),
  );

  it.each(described)('$name carry the words of the row $row', ({ name, row }) => {
    const cells = cellsOf(row);
    const words = (cells.at(-1) ?? '').toLowerCase();
    if (words === '' || words === 'see below.') return;
    const field = fieldAt(schemas.schemas[name], cells[0] ?? '');
    expect(textOf(field, 'description').toLowerCase()).toContain(words);
  });
});

function fieldAt(schema: unknown, path: string): Node {
  let node = resolve(schema);
  for (const name of path.split('.')) node = resolve((node['properties'] as Node)[name]);
  return node;
}

describe('the operations', () => {
  it('are those of the specification, none missing and none invented', () => {
    const told = [
      ...endpoints.map(({ method, path }) => `${method} ${path}`),
      ...sandboxEndpoints.rows.map(({ row }) => sandboxKey(row)),
      ...events.rows.map(({ event }) => `post ${event}`),
    ];
    expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(told.toSorted());
  });

  it('stand under the specification’s group names, in its order', () => {
    expect((document['tags'] as Node[]).map(({ name }) => name)).toEqual(tags);
    for (const { node } of calls) expect(tags).toContain((node['tags'] as string[]).join());
  });

  it('inherit no security: each says its own', () => {
    expect(document['security']).toBeUndefined();
    for (const { node } of operations) expect(node).toHaveProperty('security');
  });
});

function sandboxKey(row: string): string {
  const [method = '', path = ''] = (cellsOf(row)[1] ?? '').split(' ');
  return `${method.toLowerCase()} ${path}`;
}

const rateLimitHeaders = ['X-Rate-Limit-Limit', 'X-Rate-Limit-Remaining', 'X-Rate-Limit-Window'];

describe.each(endpoints)('$method $path', (endpoint) => {
  const operation = operationNamed(endpoint.operation);

  it('stands there under its group', () => {
    expect(operation).toMatchObject({ method: endpoint.method, path: endpoint.path });
    expect(operation.node['tags']).toEqual([endpoint.tag]);
  });

  it('takes Authorization and accountId exactly as told', () => {
    expect(headersOf(operation)).toEqual(headersTold(endpoint));
  });

  it('takes the query told, and no other parameter', () => {
    expect(queryOf(operation)).toEqual(endpoint.query);
    const places = parametersOf(operation).map((parameter) => parameter['in']);
    expect(places.filter((place) => place !== 'query' && place !== 'header')).toEqual([]);
  });

  it('takes the request body told', () => {
    const request = requestOf(operation);
    expect(request && shapeOf(request.schema)).toEqual(endpoint.request);
    const body = operation.node['requestBody'];
    expect(body === undefined || resolve(body)['required'] === true).toBe(true);
  });

  it('answers 200 as told', () => {
    expect(shapeOf(responseOf(operation, '200')?.schema)).toEqual(endpoint.response);
  });

  it('shows the outer status in its examples exactly where the specification lists it', () => {
    for (const example of Object.values(responseOf(operation, '200')?.examples ?? {})) {
      expect('status' in (example as Node)).toBe(endpoint.status);
    }
  });

  it('carries the rate-limit headers exactly where told', () => {
    const headers = Object.keys(answerOf(operation, '200')['headers'] ?? {});
    expect(headers).toEqual(endpoint.rateLimited ? rateLimitHeaders : []);
  });

  it('is reached at the production address', () => {
    const production = endpoint.path.startsWith('/v1/checkout/')
      ? ['{base_url}']
      : ['{base_url}', '{sandbox_url}'];
    expect(serversOf(operation)).toEqual(production);
  });
});

function answerOf(operation: Operation, status: string): Node {
  return resolve((operation.node['responses'] as Node)[status]);
}

function headersOf(operation: Operation): Node {
  const headers = parametersOf(operation).filter((parameter) => parameter['in'] === 'header');
  return {
    security: operation.node['security'],
    headers: headers.map(({ name, required, schema }) => ({ name, required, schema })),
  };
}

function headersTold({ bearer, accountId }: SpecEndpoint): Node {
  const schema = accountId === 'uuid' ? { type: 'string', format: 'uuid' } : { type: 'string' };
  return {
    security: bearer ? [{ BearerAuth: [] }] : [],
    headers: accountId === 'none' ? [] : [{ name: 'accountId', required: true, schema }],
  };
}

function serversOf(operation: Operation): unknown[] {
  const own = valueAt(document, operation.pointer.replace(/\/\w+$/, '/servers'));
  return ((own ?? document['servers']) as Node[]).map(({ url }) => url);
}

describe('BearerAuth', () => {
  it('is the only scheme: a bearer token', () => {
    const { securitySchemes } = document['components'] as { securitySchemes: Node };
    expect(Object.keys(securitySchemes)).toEqual(['BearerAuth']);
    expect(securitySchemes['BearerAuth']).toMatchObject({ type: 'http', scheme: 'bearer' });
  });
});

describe('the servers', () => {
  it('are production and sandbox, each named by its variable', () => {
    const servers = document['servers'] as { url: string; variables: Node }[];
    expect(servers.map(({ url, variables }) => [url, Object.keys(variables)])).toEqual([
      ['{base_url}', ['base_url']],
      ['{sandbox_url}', ['sandbox_url']],
    ]);
  });

  it('have the version the specification tells', () => {
    expect(document['info']).toMatchObject({ version: '1.0.0' });
  });
});

describe.each(sandboxEndpoints.rows)('sandbox row $row', ({ row, operation: name, repeats }) => {
  const operation = operationNamed(name);
  const original = operationNamed(repeats);

  it('stands there, at the sandbox address alone', () => {
    expect(`${operation.method} ${operation.path}`).toBe(sandboxKey(row));
    expect(serversOf(operation)).toEqual(['{sandbox_url}']);
  });

  it('takes and answers what its production endpoint does', () => {
    expect(operation.node['tags']).toEqual(original.node['tags']);
    expect(headersOf(operation)).toEqual(headersOf(original));
    expect(queryOf(operation)).toEqual(queryOf(original));
    expect(requestOf(operation)?.schema).toEqual(requestOf(original)?.schema);
    const told = shapeOf(responseOf(original, '200')?.schema);
    const otpRequired = repeats === 'chargeSavedCard' ? { 'data.otpRequired': 'boolean, always false' } : {};
    expect(shapeOf(responseOf(operation, '200')?.schema)).toEqual({ ...told, ...otpRequired });
  });
});

describe('the HTTP statuses', () => {
  it.each(calls)('are 200 and those of the table: $method $path', (operation) => {
    const told = httpStatuses.rows.map(({ row }) => cellsOf(row)[0]);
    expect(Object.keys(operation.node['responses'] as Node)).toEqual(['200', ...told]);
    for (const { row } of httpStatuses.rows) {
      const [status = '', meaning = ''] = cellsOf(row);
      const answer = answerOf(operation, status);
      expect(textOf(answer, 'description').toLowerCase()).toContain(meaning);
      expect(shapeOf(responseOf(operation, status)?.schema)).toEqual({ '': 'object, open, not shown' });
    }
  });
});

describe('the rate-limit headers', () => {
  it('are on every 200 that has them: two counts and a window told as text', () => {
    const { headers } = document['components'] as { headers: Record<string, Node> };
    expect(Object.entries(headers).map(([name, { required }]) => [name, required])).toEqual(
      rateLimitHeaders.map((name) => [name, true]),
    );
    expect(headers['X-Rate-Limit-Limit']?.['description']).toBe('Requests allowed in the period.');
    expect(headers['X-Rate-Limit-Remaining']?.['description']).toBe('Requests left.');
    expect(headers['X-Rate-Limit-Window']?.['schema']).toEqual({ type: 'string' });
  });

  it('are told, with the reason, not to be declared on the terminal list', () => {
    const description = textOf(operationNamed('listTerminals').node, 'description');
    expect(description).toContain('Terminals is a group of its own');
  });
});

describe('the events', () => {
  it.each(events.rows)('$row', ({ event, says, fields }) => {
    const body = resolve(valueAt(document, `/webhooks/${event}/post/requestBody`));
    expect(body['description']).toBe(says);
    const known: Record<string, string> = { ...fields, ...fieldsOf(eventFields) };
    if (event === 'payment_success') Object.assign(known, fieldsOf(savedCard, 'tokenizedCardData.'));
    else delete known['tokenizedCardData'];
    const content = body['content'] as { 'application/json': { schema: Node } };
    expect(shapeOf(content['application/json'].schema)).toEqual(known);
  });

  it('are answered with any 2xx, and refused with a 4xx', () => {
    for (const { event } of events.rows) {
      const responses = valueAt(document, `/webhooks/${event}/post/responses`) as Node;
      expect(Object.keys(responses)).toEqual(['2XX', '4XX']);
    }
  });
});

describe('the row', () => {
  const rows = [states, chargeOutcomes, rejections, limits].flatMap(({ rows }) => rows);
  it.each(rows)('$row', ({ shown }) => {
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.flatMap(lacking)).toEqual([]);
  });
});

describe('the sentence', () => {
  it.each([...sandboxBehaviours, ...endpointRules])('$words', ({ shown }) => {
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.flatMap(lacking)).toEqual([]);
  });
});

describe('the charge examples', () => {
  it('are one for each outcome and rejection, and no other', () => {
    const told = [...chargeOutcomes.rows, ...rejections.rows].flatMap(({ shown }) =>
      shown.flatMap((evidence) => ('answers' in evidence ? [evidence.answers] : [])),
    );
    const present = Object.keys(responseOf(operationNamed('chargeSavedCard'), '200')?.examples ?? {});
    expect(present.toSorted()).toEqual([...new Set(told)].toSorted());
  });
});

describe('what is not shown', () => {
  it.each(notShown.flatMap(({ words, at }) => at.map((pointer) => ({ words, pointer }))))(
    'stays open at $pointer: $words',
    ({ words, pointer }) => {
      const node = valueAt(document, pointer) as Node;
      expect([node['x-not-shown']].flat().join(' ')).toContain(words);
    },
  );

  it('is marked nowhere else', () => {
    const told = notShown.flatMap(({ at }) => at);
    expect(markedIn(document, '').toSorted()).toEqual([...new Set(told)].toSorted());
  });
});

function markedIn(node: unknown, pointer: string): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const below = Object.entries(node).flatMap(([key, value]) =>
    markedIn(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  return 'x-not-shown' in node ? [pointer, ...below] : below;
}
