import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referenceOfEventKey } from '../../src/domain/payment-event.ts';
import {
  defaultEventPointers,
  parseEvent,
  readEventPointers,
  type EventPointers,
} from '../../src/webhooks/event.ts';
import type { Coverage } from '../../src/webhooks/signature-template.ts';

const wholeBody: Coverage = { covers: 'body' };

function parse(body: unknown, coverage = wholeBody, pointers: EventPointers = defaultEventPointers) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return parseEvent(bytes, pointers, coverage);
}

function keyOf(body: unknown, coverage = wholeBody): string {
  const found = parse(body, coverage);
  return found.kind === 'event' ? found.event.key : found.key;
}

function fingerprintOf(body: unknown): string {
  const found = parse(body);
  if (found.kind !== 'event') throw new Error(found.kind);
  return found.fingerprint;
}

function eventOf(body: unknown, coverage = wholeBody) {
  const found = parse(body, coverage);
  if (found.kind !== 'event') throw new Error(found.kind);
  return found.event;
}

const order = (fields: string) =>
  `{"event":"payment_failed","data":{"order":{"orderReference":"r",${fields}}}}`;

const failed = {
  event_type: 'payment_failed',
  requestId: 'req-1',
  data: {
    order: {
      orderReference: 'ref-1',
      orderId: 'ord-1',
      customerId: 'cus-1',
      customerEmail: 'jane@example.com',
      amount: '5000.00',
      currency: 'NGN',
      isTokenizedCardPayment: 'true',
    },
    transaction: { transactionId: 'tx-secret' },
    message: 'Insufficient funds',
  },
};

describe('parseEvent', () => {
  it('reads the specification’s fields, and the others in their usual places', () => {
    expect(eventOf(failed)).toEqual({
      kind: 'payment_failed',
      key: 'payment_failed/order/ref-1',
      orderReference: 'ref-1',
      orderId: 'ord-1',
      transactionId: 'tx-secret',
      customerId: 'cus-1',
      customerEmail: 'jane@example.com',
      amountMinor: 500_000,
      currency: 'NGN',
      reason: 'Insufficient funds',
      isSavedCardCharge: true,
    });
  });

  it.each([
    ...['event_type', 'event', 'eventType', 'type'].map(
      (name) => [`{"${name}":"payment_failed","id":"1"}`, { kind: 'payment_failed' }] as const,
    ),
    ['{"event":"payment_success","tokenizedCardData":{"tokenKey":"t"}}', { savedCard: { tokenKey: 't' } }],
    [
      '{"event":"payment_success","data":{"tokenizedCardData":{"tokenKey":"t"}}}',
      { savedCard: { tokenKey: 't' } },
    ],
    [
      '{"event":"payment_success","data":[{"tokenizedCardData":[{"tokenKey":"t"}]}]}',
      { savedCard: { tokenKey: 't' } },
    ],
    [
      '{"event":"payment_success","tokenizedCardData":{},"data":{"tokenizedCardData":{"tokenKey":"t"}}}',
      { savedCard: { tokenKey: 't' }, cardSaved: undefined },
    ],
    ['{"event":"payment_failed","tokenizedCardData":{"cardType":"Visa"}}', { savedCard: undefined }],
    ['{"event":"payment_failed","tokenizedCardData":null}', { savedCard: undefined }],
    [order('"isTokenizedCardPayment":"true"'), { isSavedCardCharge: true }],
    [order('"isTokenizedCardPayment":true'), { isSavedCardCharge: true }],
    [order('"isTokenizedCardPayment":"False"'), { isSavedCardCharge: false }],
    [order('"isTokenizedCardPayment":"yes"'), { isSavedCardCharge: undefined }],
    [order('"isTokenizedCardPayment":null'), { isSavedCardCharge: undefined }],
    [order('"amount":"5000.00"'), { amountMinor: 500_000 }],
    [order('"amount":"5000.0"'), { amountMinor: 500_000 }],
    [order('"amount":5000'), { amountMinor: 500_000 }],
    [order('"amount":5000.5'), { amountMinor: 500_050 }],
    [order('"amount":"five"'), { amountMinor: undefined }],
    [order('"amount":1e3'), { amountMinor: undefined }],
    [order('"amount":-5'), { amountMinor: undefined }],
    [order('"orderId":12345678901234567890'), { orderId: '12345678901234567890' }],
  ] as const)('reads %s as %o', (body, expected) => {
    const event = eventOf(body);
    expect({
      ...Object.fromEntries(Object.keys(expected).map((name) => [name, undefined])),
      ...event,
    }).toEqual(expect.objectContaining(expected));
  });

  it('reads all of a saved card, but never a full card number', () => {
    const tokenizedCardData = {
      tokenKey: 'tok',
      cardType: 'Visa',
      tokenExpiryDate: '12/30',
      cardPan: '4111111111111111',
      customerEmail: 'jane@example.com',
    };
    const event = eventOf({
      ...failed,
      tokenizedCardData,
      data: { message: 'card 4111 1111 1111 1111 refused' },
    });
    expect(event.savedCard).toEqual({ ...tokenizedCardData, cardPan: '1111' });
    expect(event.reason).toBeUndefined();
    expect(JSON.stringify(parse({ ...failed, tokenizedCardData }))).not.toContain('4111111111111111');
  });

  it.each([
    ['a first payment without card data', { data: { order: { isTokenizedCardPayment: 'false' } } }, true],
    ['card data without a token', { tokenizedCardData: { cardType: 'Visa' } }, true],
    ['card data that says N/A', { tokenizedCardData: { tokenKey: 'N/A', cardType: 'n/a' } }, true],
    [
      'a first payment with a token',
      {
        data: { order: { isTokenizedCardPayment: 'false' } },
        tokenizedCardData: { tokenKey: 'tok' },
      },
      false,
    ],
    ['the charge of a saved card', { data: { order: { isTokenizedCardPayment: 'true' } } }, false],
    ['a payment that does not say what it is', {}, false],
  ])('knows from %s whether a token is missing', (_what, more, isMissing) => {
    const body = { event_type: 'payment_success', requestId: 'e1', ...more };
    expect(eventOf(body).cardSaved).toEqual(isMissing ? { kind: 'no_token' } : undefined);
    expect(eventOf({ ...body, event_type: 'payment_failed' })).not.toHaveProperty('cardSaved');
  });

  it('takes the first pointer with a value', () => {
    const pointers = { ...defaultEventPointers, orderReference: ['/a', '/b', '/c'] };
    const found = parse({ event: 'payment_failed', a: '', b: 'null', c: 'ref' }, wholeBody, pointers);
    expect(found).toMatchObject({ event: { orderReference: 'ref' } });
  });

  it.each([
    ['empty', ''],
    ['not JSON', 'payment_failed'],
    ['an array', '[]'],
    ['a text', '"payment_failed"'],
    ['null', 'null'],
    ['without a kind', '{"data":{}}'],
    ['with an object for a kind', '{"event":{"type":"x"}}'],
  ])('keeps a body that is %s as unreadable, under the hash of its bytes', (_name, body) => {
    expect(parse(body)).toMatchObject({
      kind: 'unknown',
      eventKind: 'unreadable',
      key: expect.stringMatching(/^body\/[0-9a-f]{40}$/),
    });
    expect(keyOf(body)).not.toBe(keyOf(`${body} `));
  });

  it('keeps another kind as unknown, keyed by the body’s hash: its id may not identify the event', () => {
    const opened = { event: 'dispute_opened', id: 'D-1' };
    expect(parse(opened)).toMatchObject({ kind: 'unknown', eventKind: 'dispute_opened' });
    expect(keyOf(opened)).toBe(keyOf({ ...opened }));
    for (const other of [
      { ...opened, event: 'dispute_lost' },
      { ...opened, stage: 2 },
    ]) {
      expect(keyOf(other)).not.toBe(keyOf(opened));
    }
  });

  it('reads a body with broken UTF-8, like a name in Latin-1, only if all of it is signed', () => {
    const body = Buffer.from(order('"amount":"10.00"},"message":"Solde insuffisant, José","of":{'), 'latin1');
    const found = parseEvent(body, defaultEventPointers, wholeBody);
    expect(found).toMatchObject({
      event: { orderReference: 'r', amountMinor: 1000, reason: 'Solde insuffisant, Jos\uFFFD' },
    });
    const fields: Coverage = { covers: 'fields', pointers: ['/event', '/data/order/orderReference'] };
    expect(parseEvent(body, defaultEventPointers, fields)).toMatchObject({ eventKind: 'unreadable' });
  });

  it('makes no key of a reference with a broken character: another order’s may look the same', () => {
    const [one = '', other = ''] = ['Ñ-1', 'Ó-1'].map((reference) => {
      const text = `{"event":"payment_failed","data":{"order":{"orderReference":"${reference}"}}}`;
      const found = parseEvent(Buffer.from(text, 'latin1'), defaultEventPointers, wholeBody);
      return found.kind === 'event' ? found.event.key : '';
    });
    expect(one).toMatch(/^body\//);
    expect(one).not.toBe(other);
  });

  it('never throws, and always makes a key', () => {
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc
        .record({ event: fc.constant('payment_failed'), data: fc.jsonValue() })
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(body, (text) => {
        expect(keyOf(text)).toMatch(/^[a-z_]+\/./);
      }),
    );
  });
});

describe('the key of an event', () => {
  it('is the same for a repeat with another event id', () => {
    expect(keyOf({ ...failed, requestId: 'req-2' })).toBe(keyOf(failed));
  });

  it('differs between failure and success of one reference', () => {
    expect(keyOf({ ...failed, event_type: 'payment_success' })).not.toBe(keyOf(failed));
  });

  it('falls back from reference to transaction, to the sender’s id, to the body', () => {
    const withoutReference = { event: 'payment_failed', id: 'e1', data: { transactionId: 'tx-secret' } };
    expect(keyOf(withoutReference)).toMatch(/^payment_failed\/transaction\/[0-9a-f]{40}$/);
    expect(keyOf({ ...withoutReference, id: 'e2' })).toBe(keyOf(withoutReference));
    expect(keyOf({ event: 'payment_failed', id: 'e1' })).toMatch(/^id\/[0-9a-f]{40}$/);
    expect(keyOf({ event: 'payment_failed' })).toMatch(/^body\/[0-9a-f]{40}$/);
  });

  it.each(['', ' ', '\t', ' N/A '])(
    'takes %j for no reference, so that events with it stay apart',
    (none) => {
      const withNone = (transactionId: string) => ({
        event: 'payment_failed',
        data: { order: { orderReference: none }, transactionId },
      });
      expect(eventOf(withNone('tx-1'))).not.toHaveProperty('orderReference');
      expect(keyOf(withNone('tx-1'))).not.toBe(keyOf(withNone('tx-2')));
    },
  );

  it('never holds a transaction id, nor a malformed reference', () => {
    expect(keyOf({ event: 'payment_failed', data: { transactionId: 'tx-secret' } })).not.toContain(
      'tx-secret',
    );
    const long = 'x'.repeat(60);
    const key = keyOf({ event: 'payment_failed', data: { order: { orderReference: long } } });
    expect(key).toMatch(/^payment_failed\/order-hash\/[0-9a-f]{40}$/);
  });
});

describe('an event with one of the service’s own names', () => {
  const kinds = { 'refund.completed': 'payment_given_back', 'charge.failed': 'payment_failed' } as const;
  const read = (body: object) =>
    parseEvent(Buffer.from(JSON.stringify(body)), defaultEventPointers, wholeBody, kinds);
  const order = { orderReference: 'ORDER-1', amount: '5000.00', currency: 'NGN' };
  const keyFor = (id: string, amount: string, eventId: string) => {
    const transaction = { transactionId: id };
    const found = read({
      event: 'refund.completed',
      eventId,
      data: { order: { ...order, amount }, transaction },
    });
    return found.kind === 'event' ? found.event.key : '';
  };

  it('has the kind in the settings, in upper or lower case; the specification’s names keep their meaning', () => {
    const failed = read({ event: 'Charge.Failed', data: { order } });
    expect(failed).toMatchObject({
      event: { kind: 'payment_failed', key: 'payment_failed/order/ORDER-1' },
    });
    expect(read({ event: 'payment_success', data: { order } })).toMatchObject({
      event: { kind: 'payment_success' },
    });
    expect(read({ event: 'constructor', data: { order } }).kind).toBe('unknown');
  });

  it('has one key per refund of an order, by transaction and amount, and the same key for a repeat', () => {
    const first = keyFor('TXN-1', '1000.00', 'evt-1');
    expect(keyFor('TXN-1', '1000.0', 'evt-2')).toBe(first);
    expect(new Set([first, keyFor('TXN-2', '1000.00', 'e'), keyFor('TXN-1', '400.00', 'e')]).size).toBe(3);
    expect(referenceOfEventKey(first)).toBe('ORDER-1');
    expect(first).not.toContain('TXN');
  });
});

describe('the fingerprint of an event', () => {
  it('is the same for a repeat with another event id and another spelling of the amount', () => {
    const again = {
      ...failed,
      requestId: 'other',
      data: { ...failed.data, order: { ...failed.data.order, amount: 5000 } },
    };
    expect(fingerprintOf(again)).toBe(fingerprintOf(failed));
  });

  it.each([
    ['amount', { ...failed.data, order: { ...failed.data.order, amount: '5000.01' } }],
    ['unreadable amount', { ...failed.data, order: { ...failed.data.order, amount: 'much' } }],
    ['currency', { ...failed.data, order: { ...failed.data.order, currency: 'USD' } }],
    ['reason', { ...failed.data, message: 'Expired card' }],
  ])('differs with the %s', (_name, data) => {
    expect(keyOf({ ...failed, data })).toBe(keyOf(failed));
    expect(fingerprintOf({ ...failed, data })).not.toBe(fingerprintOf(failed));
  });
});

describe('parseEvent where fields alone are signed', () => {
  const signed: Coverage = {
    covers: 'fields',
    pointers: ['/event_type', '/data/order/orderId', '/requestId'],
  };
  const withReference: Coverage = {
    covers: 'fields',
    pointers: ['/event_type', '/data/order/orderReference'],
  };

  it('uses nothing that is not signed', () => {
    expect(eventOf(failed, withReference)).toEqual({
      kind: 'payment_failed',
      key: 'payment_failed/order/ref-1',
      orderReference: 'ref-1',
    });
  });

  it('makes no key of an unsigned reference, so that a forged event can’t take a real one’s key', () => {
    const event = eventOf(failed, signed);
    expect(event).toEqual({
      kind: 'payment_failed',
      key: expect.stringMatching(/^id\//),
      orderId: 'ord-1',
      referenceHint: failed.data.order.orderReference,
    });
    const forged = {
      ...failed,
      data: { ...failed.data, order: { ...failed.data.order, orderReference: 'victim' } },
    };
    expect(keyOf(forged, signed)).toBe(event.key);
  });

  it('keeps the signed time of an event whose reference is not signed', () => {
    const atMs = 1_800_000_000_000;
    expect(eventOf(failed, { ...signed, atMs }).signedAtMs).toBe(atMs);
    expect(eventOf(failed, { ...withReference, atMs })).not.toHaveProperty('signedAtMs');
  });

  it('does not find a value in an array if the signed field was missing', () => {
    const emptied = { event_type: 'payment_failed', data: [{ order: { orderReference: 'victim' } }] };
    expect(parse(emptied, withReference)).toMatchObject({ kind: 'unknown', eventKind: 'unreadable' });
    expect(eventOf(emptied).orderReference).toBe('victim');
  });

  it('does not take the kind from an unsigned place', () => {
    expect(parse({ event: 'payment_success' }, withReference)).toMatchObject({
      kind: 'unknown',
      eventKind: 'unreadable',
    });
  });

  it('keeps an event without a signed identity as unreadable, so that others aren’t dropped as its repeats', () => {
    const kindOnly: Coverage = { covers: 'fields', pointers: ['/event_type'] };
    expect(parse(failed, kindOnly)).toMatchObject({
      kind: 'unknown',
      eventKind: 'unreadable',
      why: 'nothing that is signed tells this event from another',
    });
    const sister = { ...failed, data: { order: { orderReference: 'ref-2' } } };
    expect(keyOf(failed, kindOnly)).not.toBe(keyOf(sister, kindOnly));
  });

  it('keys an unknown kind by the signed fields, so that changes of unsigned ones can’t multiply it', () => {
    const other = { ...failed, event_type: 'payment_reversed' };
    expect(keyOf({ ...other, padding: 1 }, withReference)).toBe(keyOf(other, withReference));
    expect(keyOf(other, withReference)).toMatch(/^fields\//);
  });
});

describe('readEventPointers', () => {
  it('puts the settings’ pointers before the built-in ones', () => {
    const pointers = readEventPointers({ amount: '/payload/total', reason: ['/why', '/data/why'] });
    if (!pointers.ok) throw new Error(pointers.problem);
    expect(pointers.value.amount).toEqual(['/payload/total', ...defaultEventPointers.amount]);
    expect(pointers.value.reason.slice(0, 2)).toEqual(['/why', '/data/why']);
    expect(pointers.value.kind).toEqual(defaultEventPointers.kind);
  });

  it.each([
    [{ amonut: '/x' }, '“amonut” is no field'],
    [{ constructor: '/x' }, '“constructor” is no field'],
    [{ amount: 'data.amount' }, '“amount” needs JSON pointers'],
    [{ amount: [''] }, '“amount” needs JSON pointers'],
    [{ amount: { at: '/x' } }, '“amount” needs JSON pointers'],
  ])('names what is wrong with %o', (settings, words) => {
    const pointers = readEventPointers(settings);
    expect(pointers.ok ? '' : pointers.problem).toContain(words);
  });
});
