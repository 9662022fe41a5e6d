import { describe, expect, it } from 'vitest';
import {
  document,
  isNode,
  operations,
  requestOf,
  resolve,
  responseOf,
  valueAt,
  type Node,
} from './document.ts';
import { problemsOf } from './validator.ts';

type Example = { at: string; schemaAt: string; value: unknown };

/** Every `example` and `examples` that stands beside a `schema` anywhere in the document. */
function examplesIn(node: unknown, pointer: string): Example[] {
  if (typeof node !== 'object' || node === null) return [];
  const below = Object.entries(node).flatMap(([key, value]) =>
    examplesIn(value, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  if (!isNode(node) || !isNode(node['schema'])) return below;
  const schemaAt = `${pointer}/schema`;
  const single = 'example' in node ? [{ at: `${pointer}/example`, schemaAt, value: node['example'] }] : [];
  const named = Object.entries((node['examples'] ?? {}) as Node).map(([name, example]) => ({
    at: `${pointer}/examples/${name}`,
    schemaAt,
    value: resolve(example)['value'],
  }));
  return [...below, ...single, ...named];
}

const examples = examplesIn(document, '');

describe('every example', () => {
  it.each(examples)('conforms to its schema: $at', ({ schemaAt, value }) => {
    expect(problemsOf(schemaAt, value)).toEqual([]);
  });

  it('is found: in requests, answers, events, parameters and headers', () => {
    const places = ['/paths/', '/webhooks/', '/components/requestBodies/', '/components/responses/'];
    const all = [...places, '/components/parameters/', '/components/headers/'];
    expect(all.filter((place) => !examples.some(({ at }) => at.startsWith(place)))).toEqual([]);
  });
});

describe('every operation', () => {
  it.each(operations)('has an example of its request: $method $path', (operation) => {
    const request = requestOf(operation);
    expect(request === undefined || Object.keys(request.examples).length > 0).toBe(true);
    expect(operation.webhook && request === undefined).toBe(false);
  });

  it.each(operations.filter(({ webhook }) => !webhook))(
    'has an example of its answer: $method $path',
    (operation) => {
      expect(Object.keys(responseOf(operation, '200')?.examples ?? {})).not.toEqual([]);
    },
  );

  it.each(operations)('has an example of each parameter: $method $path', ({ node }) => {
    for (const parameter of (node['parameters'] ?? []) as unknown[]) {
      expect(resolve(parameter)).toHaveProperty('example');
    }
  });
});

const schemas = '/components/schemas';

function chargeAnswer(): Node {
  const pointer =
    '/paths/~1v1~1checkout~1tokenized-card-payment/post/responses/200/content/application~1json/examples/approved/value/data';
  return valueAt(document, pointer) as Node;
}

const order = { amount: '5000.00', currency: 'NGN', customerEmail: 'payer@customer.example' };

describe('the schemas', () => {
  it.each([
    ['amount with one decimal', 'SavedCardChargeOrder', { ...order, amount: '5000.0' }],
    ['amount as a number', 'CheckoutOrder', { ...order, amount: 5000 }],
    ['reference of 51 characters', 'CheckoutOrder', { ...order, orderReference: 'x'.repeat(51) }],
    ['missing email', 'SavedCardChargeOrder', { amount: '1.00', currency: 'NGN' }],
    ['currency other than NGN', 'Account', { currency: 'USD' }],
    ['bvn of 10 characters', 'Account', { bvn: '0000000000' }],
    ['createdAt with milliseconds', 'Account', { createdAt: '2026-01-05T09:30:00.000Z' }],
    ['terminal time without milliseconds', 'Terminal', { createdAt: '2026-01-05T09:30:00Z' }],
    ['boolean where the string "true" is told', 'EventData', { order: { isTokenizedCardPayment: true } }],
    ['OTP without a transactionId', 'OtpRequest', { otp: '0000', orderReference: 'INV-1' }],
    [
      'saveCard',
      'CardDetailRequest',
      { cardDetails: '', key: '', orderReference: 'O', deviceInformation: {}, saveCard: true },
    ],
    [
      'transactionId without otpRequired',
      'SavedCardChargeResult',
      { ...chargeAnswer(), transactionId: 'TXN-1' },
    ],
    ['otpRequired without transactionId', 'SavedCardChargeResult', { ...chargeAnswer(), otpRequired: true }],
  ])('refuse: %s', (_what, schema, value) => {
    expect(problemsOf(`${schemas}/${schema}`, value)).not.toEqual([]);
  });

  it('accept a transaction of an unknown status, kind and direction', () => {
    const value = { status: 'REVERSED', type: 'other', entryType: 'DEBIT', source: 'x' };
    expect(problemsOf(`${schemas}/Transaction`, value)).toEqual([]);
  });
});
