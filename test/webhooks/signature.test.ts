import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signaturePresetNames as presets, type SignaturePreset } from '../../src/config/webhook-settings.ts';
import { exactBytes, type SignatureScheme, type SignedRequest } from '../../src/webhooks/signed-delivery.ts';
import { createVerifier, signatureProblem } from '../../src/webhooks/signature.ts';
import { parseSignatureTemplate } from '../../src/webhooks/signature-template.ts';
import { presetScheme } from '../../src/webhooks/webhook-settings.ts';
import { signDelivery } from '../support/sign-delivery.ts';

// That no change of a request can forge a signature is tested in `test/hostile/requests`.

const nowMs = Date.UTC(2026, 8, 29, 10, 51, 44);
const rawBody = presetScheme('raw-body');
const standard = presetScheme('standard-webhooks');

function template(words: string) {
  const reading = parseSignatureTemplate(words);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.value;
}

const event = Buffer.from(
  JSON.stringify({
    event_type: 'payment_failed',
    data: { order: { orderReference: 'ref-1', orderId: 'ord-1', amount: '5000.00' } },
  }),
);

const secrets: Record<SignaturePreset, string> = {
  'raw-body': 'raw secret',
  'static-token': 'a-long-token',
  'timestamped-pairs': 'pairs secret',
  'standard-webhooks': 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'field-concatenation': 'fields secret',
};

function verdictOf(scheme: SignatureScheme | undefined, of: string[], request: SignedRequest, atMs = nowMs) {
  return createVerifier(scheme, of)(request, atMs);
}

function why(...args: Parameters<typeof verdictOf>): string {
  const verdict = verdictOf(...args);
  return verdict.kind === 'invalid' ? verdict.why : 'valid';
}

it.each([
  ['Bearer a-long-token', 'valid'],
  ['bearer  a-long-token', 'valid'],
  ['a-long-token', 'valid'],
  ['Bearer another', 'the signature is not one of ours'],
  ['Digest a-long-token', 'the signature is not one of ours'],
])('a static token may come as authorization: %s (%s)', (authorization, verdict) => {
  const scheme = presetScheme('static-token');
  expect(why(scheme, ['a-long-token'], { headers: { authorization }, body: event })).toBe(verdict);
  const signedIt = { ...presetScheme('raw-body'), headers: ['authorization'] };
  const signature = signDelivery(signedIt, 'raw secret', event, nowMs)['authorization'] ?? '';
  const headers = { authorization: `Bearer ${signature}` };
  expect(why(signedIt, ['raw secret'], { headers, body: event })).toBe('the signature is not one of ours');
});

describe.each(presets)('a delivery signed by %s', (preset) => {
  const scheme = presetScheme(preset);
  const secret = secrets[preset];
  const headers = signDelivery(scheme, secret, event, nowMs);

  it('is valid, and the verdict says what the signature covers', () => {
    const fields = ['/event_type', '/data/order/orderReference', '/data/order/orderId'];
    const covered =
      preset === 'field-concatenation'
        ? { covers: 'fields', pointers: fields, atMs: nowMs }
        : { covers: 'body' };
    expect(signatureProblem(scheme, [secret])).toBeUndefined();
    expect(verdictOf(scheme, [secret], { headers, body: event })).toEqual({ kind: 'valid', ...covered });
  });

  it('is valid under any of several secrets, for a rotation, and under no other', () => {
    const request = { headers, body: event };
    const other = preset === 'standard-webhooks' ? 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' : 'another';
    expect(why(scheme, [other, secret], request)).toBe('valid');
    expect(why(scheme, [secret, other], request)).toBe('valid');
    expect(why(scheme, [other], request)).toBe('the signature is not one of ours');
  });

  it('is invalid without a secret or a scheme', () => {
    const request = { headers, body: event };
    expect(why(undefined, [secret], request)).toBe('no signature scheme is configured');
    expect(why(scheme, [], request)).toBe('no secret is configured');
    expect(why(scheme, [''], request)).toContain('secret 1 of 1 is empty');
    expect(why(scheme, [secret, ''], request)).toContain('secret 2 of 2 is empty');
  });

  it('is invalid if a header is repeated, empty or missing, and the reason shows no value', () => {
    for (const [name, value] of Object.entries(headers)) {
      const changed = (to: string | string[] | undefined) =>
        why(scheme, [secret], { headers: { ...headers, [name]: to }, body: event });
      expect(changed([value, value])).toBe(`header ${name} is there more than once`);
      for (const nothing of ['', undefined, []]) {
        expect(changed(nothing)).toMatch(/is missing|no signature header/);
      }
      const reason = changed('canary:value');
      expect(reason).not.toBe('valid');
      expect(reason).not.toContain('canary');
      expect(reason).not.toContain(secret);
    }
  });
});

describe('a signature', () => {
  it('never makes the verifier throw, with any headers and body', () => {
    const value = fc.oneof(fc.string(), fc.array(fc.string(), { maxLength: 3 }), fc.constant(undefined));
    const names = ['x-webhook-signature', 'x-webhook-token', 'webhook-signature', 'webhook-id'];
    const times = ['webhook-timestamp', 'x-webhook-timestamp', '__proto__', 'constructor'];
    const headers = fc.dictionary(fc.constantFrom(...names, ...times), value);
    fc.assert(
      fc.property(fc.constantFrom(...presets), headers, fc.uint8Array(), (preset, headers, bytes) => {
        const request = { headers, body: Buffer.from(bytes) };
        expect(why(presetScheme(preset), [secrets[preset]], request)).not.toBe('valid');
      }),
    );
  });

  it('is read from the first of the headers that is present, even if a later one would fit', () => {
    const { 'x-webhook-signature': signature = '' } = signDelivery(rawBody, 'secret', event, nowMs);
    expect(why(rawBody, ['secret'], { headers: { 'x-signature': signature }, body: event })).toBe('valid');
    const both = { 'x-webhook-signature': 'no', 'x-signature': signature };
    expect(why(rawBody, ['secret'], { headers: both, body: event })).not.toBe('valid');
  });

  it('may be SHA-512 in upper-case hex, with a key in hex or base64', () => {
    const key = Buffer.from('00ff10a1b2c3', 'hex');
    const signature = createHmac('sha512', key).update(event).digest('hex').toUpperCase();
    const request = { headers: { 'x-signature': signature }, body: event };
    const scheme: SignatureScheme = { ...rawBody, algorithm: 'sha512', secretEncoding: 'hex' };
    expect(why(scheme, [key.toString('hex')], request)).toBe('valid');
    expect(why({ ...scheme, secretEncoding: 'base64' }, [key.toString('base64')], request)).toBe('valid');
    expect(why(scheme, ['00ff1'], request)).toBe('secret 1 of 1 is empty or not written as hex');
  });

  it('may be one of two v1 pairs, but its time must not be repeated', () => {
    const scheme = presetScheme('timestamped-pairs');
    const { 'x-webhook-signature': carried = '' } = signDelivery(scheme, 'secret', event, nowMs);
    const says = (header: string) =>
      why(scheme, ['secret'], { headers: { 'x-webhook-signature': header }, body: event });
    expect(says(`v1=${'0'.repeat(64)},${carried}`)).toBe('valid');
    expect(says(`${carried},v1=${'0'.repeat(64)}`)).toBe('valid');
    expect(says(carried.replace(',', ' , '))).toBe('valid');
    expect(says(`${carried},t=1`)).toBe('pair t is there more than once');
    expect(says(carried.replace('v1=', 'v0='))).toContain('carries no signature');
    // A header full of signatures must not slow it down.
    expect(says(`t=${nowMs / 1000}${',v1=00'.repeat(2_600)}`)).toBe('the signature is not one of ours');
  });

  it.each([
    ['s', '1790679104', 'valid'],
    ['s', '1790679104.5', 'not readable'],
    ['s', ' 1790679104', 'not readable'],
    ['s', '-1', 'not readable'],
    ['ms', '1790679104000', 'valid'],
    ['ms', '1790679104', 'too old'],
    ['iso', '2026-09-29T10:51:44Z', 'valid'],
    ['iso', '2026-09-29T11:51:44.123+01:00', 'valid'],
    ['iso', '2026-09-29T10:51:44', 'not readable'],
    ['iso', '2026-13-29T10:51:44Z', 'not readable'],
    ['iso', 'Tue, 29 Sep 2026 10:51:44 GMT', 'not readable'],
  ] as const)('reads its time in %s: %s is %s', (unit, written, expected) => {
    const source = { kind: 'header', name: 'x-at' } as const;
    const scheme: SignatureScheme = {
      ...rawBody,
      template: template('{header:x-at}.{body}'),
      timestamp: { source, unit, toleranceSeconds: 60 },
    };
    const signature = createHmac('sha256', 'secret').update(`${written}.`).update(event).digest('hex');
    const request = { headers: { 'x-at': written, 'x-signature': signature }, body: event };
    expect(why(scheme, ['secret'], request)).toContain(expected);
  });

  it('may have its time in the signed body', () => {
    const scheme: SignatureScheme = {
      ...rawBody,
      timestamp: { source: { kind: 'json', name: '/at' }, unit: 'ms', toleranceSeconds: 60 },
    };
    const body = Buffer.from(`{"at":${nowMs}}`);
    const headers = signDelivery(scheme, 'secret', body, nowMs);
    expect(why(scheme, ['secret'], { headers, body })).toBe('valid');
    expect(why(scheme, ['secret'], { headers, body }, nowMs + 60_001)).toBe('the timestamp is too old');
  });

  it.each([
    ['hex', '00fFaB', [0x00, 0xff, 0xab]],
    ['base64', '/w==', [0xff]],
    ['base64', '/w', [0xff]],
    ['base64', '_-8=', [0xff, 0xef]],
    ['base64', '_-8', [0xff, 0xef]],
    ['base64', '/-8=', []],
    ...['f', 'ffg0', 'ff ', 'šš', 'aš', '0\u{130}'].map((text) => ['hex', text, []] as const),
    ...['aGk!', 'a Gk', 'š'].map((text) => ['base64', text, []] as const),
  ] as const)('decodes in %s, %j strictly', (encoding, text, bytes) => {
    expect(exactBytes(text, encoding)).toEqual(Buffer.from(bytes));
  });
});

describe('Standard Webhooks', () => {
  const vectors = [
    {
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: '1614265330',
      body: '{"test": 2432232314}',
      signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    {
      secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
      id: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
      timestamp: '1649367553',
      body: '{"email":"test@example.com","username":"test_user"}',
      signature: 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
    },
  ];

  it.each(vectors)(
    'accepts the public vector $id, also in a list, but no part of it and only within the tolerance',
    (vector) => {
      const { secret, signature } = vector;
      const atMs = Number(vector.timestamp) * 1000;
      const says = (written: string, at = atMs, key = secret) => {
        const headers = {
          'webhook-id': vector.id,
          'webhook-timestamp': vector.timestamp,
          'webhook-signature': written,
        };
        return why(standard, [key], { headers, body: Buffer.from(vector.body) }, at);
      };
      const other = 'Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';
      expect(says(signature)).toBe('valid');
      expect(says(signature, atMs, secret.slice('whsec_'.length))).toBe('valid');
      expect(says([`v1,${other}`, `v2,${other}`, signature].join(' '))).toBe('valid');
      expect(says(signature.replace('v1,', 'v2,'))).toContain('no signature where');
      expect(says(signature.slice(0, 8))).toBe('the signature is not one of ours');
      expect(says('v1,')).toBe('the signature is not one of ours');
      expect(says(signature, atMs + 300_000)).toBe('valid');
      expect(says(signature, atMs + 300_001)).toBe('the timestamp is too old');
      expect(says(signature, atMs - 300_001)).toBe('the timestamp is too far ahead');
    },
  );

  it('accepts everything that its own library signs', () => {
    const keys = fc.uint8Array({ minLength: 24, maxLength: 64 });
    fc.assert(
      fc.property(keys, fc.stringMatching(/^msg_[A-Za-z0-9]{1,30}$/), fc.json(), (key, id, text) => {
        const secret = Buffer.from(key).toString('base64');
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': String(nowMs / 1000),
          'webhook-signature': new Webhook(secret).sign(id, new Date(nowMs), text),
        };
        expect(why(standard, [secret], { headers, body: Buffer.from(text) })).toBe('valid');
      }),
    );
  });
});

describe('a signature over fields', () => {
  const scheme: SignatureScheme = {
    ...rawBody,
    template: template('{json:/kind}:{json:/at}:{json:/reference}:{json:/id}'),
  };

  function judged(signed: string, body: string | Buffer) {
    const headers = { 'x-signature': createHmac('sha256', 'secret').update(signed).digest('hex') };
    return verdictOf(scheme, ['secret'], { headers, body: Buffer.from(body) });
  }
  function says(signed: string, body: string | Buffer): string {
    const verdict = judged(signed, body);
    return verdict.kind === 'invalid' ? verdict.why : 'valid';
  }

  it.each([
    ['{"kind":"a","reference":"b"}', 'a::b:'],
    ['{"kind":"a","at":null,"reference":"null","id":""}', 'a:::'],
    ['{"kind":true,"reference":12345678901234567890,"id":5000.00}', 'true::12345678901234567890:5000.00'],
    ['{"kind":"á","at":"2026-09-29T10:51:44Z","id":"x:y"}', 'á:2026-09-29T10:51:44Z::x:y'],
  ])('joins %s to %s', (body, signed) => {
    expect(says(signed, body)).toBe('valid');
  });

  it.each([
    ['separators', ['', 'a', ':', 'a:', ':a']],
    ['times', ['a', '2026-09-29T10', '2026-09-29T10:51', '2026-09-29T10:51:44Z', '51', '44Z']],
  ])('fits at most one set of fields: values with %s', (_what, pieces) => {
    const bodies = pieces.flatMap((kind) =>
      pieces.flatMap((at) =>
        pieces.flatMap((reference) => pieces.map((id) => ({ kind, at, reference, id }))),
      ),
    );
    const joined = bodies.map((body) => [body.kind, body.at, body.reference, body.id].join(':'));
    const accepted = joined.filter((text, at) => says(text, JSON.stringify(bodies[at])) === 'valid');
    expect(new Set(accepted).size).toBe(accepted.length);
    expect(accepted.length).toBeGreaterThan(0);
    expect(new Set(joined).size).toBeLessThan(joined.length);
  });

  it.each([
    [
      'text moved from one field to the next',
      'a::b:c:d',
      '{"kind":"a","reference":"b:c","id":"d"}',
      '/reference',
    ],
    [
      'fields cut out of a signed time',
      'a:2026-09-29T10:51:44Z:INV-1:7',
      '{"kind":"a","at":"2026-09-29T10","reference":"51","id":"44Z:INV-1:7"}',
      '/at',
    ],
  ])('refuses %s', (_what, signed, body, field) => {
    expect(says(signed, body)).toBe(`field ${field} cannot be told from what is signed after it`);
  });

  it.each([
    ['a repeated key', '{"kind":"a","reference":"b","reference":"b"}', 'a key stands twice'],
    ['an object for a text', '{"kind":"a","reference":{"x":"b"}}', 'field /reference is no plain text'],
    ['an array for a text', '{"kind":"a","reference":["b"]}', 'field /reference is no plain text'],
    ['a lone surrogate', String.raw`{"kind":"a","reference":"\ud800"}`, 'field /reference is no plain text'],
    ['text that is not JSON', 'a::b:', 'not JSON'],
    ['an empty body', '', 'not JSON'],
    ['no UTF-8', Buffer.from('{"kind":"a","reference":"b","x":"\xff"}', 'latin1'), 'not JSON in UTF-8'],
  ])('refuses %s', (_name, body, reason) => {
    expect(says('a::b:', body)).toContain(reason);
  });

  it('accepts any content in unsigned fields, and names the signed ones', () => {
    expect(judged('a::b:', '{"kind":"a","reference":"b","amount":"9.99"}')).toEqual({
      kind: 'valid',
      covers: 'fields',
      pointers: ['/kind', '/at', '/reference', '/id'],
    });
  });
});

describe('signatureProblem', () => {
  const timestamp = { source: { kind: 'header', name: 'x-at' }, unit: 's', toleranceSeconds: 60 } as const;

  it.each([
    ['{header:x-id}', 'the template covers neither the body nor a field of it'],
    ['', 'the template covers neither the body nor a field of it'],
    ['{body}', 'the timestamp (header x-at) is not part of what is signed'],
    ['{json:/a}:{json:/b}{json:/c}:{header:x-at}', 'nothing stands between field /b and field /c'],
    ['{header:x-at}:{json:/a}{header:x-id}', 'nothing stands between field /a and header x-id'],
    ['{json:/a}{header:x-at}:{json:/x}', 'nothing stands between field /a and header x-at'],
    ['{pair:t}.{header:x-at}.{body}', 'the place of the signature is not a pair'],
    ['{header:x-at}{json:/a}', undefined],
    ['{json:/a}:{json:/b}{header:x-at}', undefined],
    ['{header:x-at}{header:x-id}{body}', undefined],
  ])('of a template of “%s” is %s', (words, expected) => {
    const scheme: SignatureScheme = { ...rawBody, template: template(words), timestamp };
    const found = signatureProblem(scheme, ['secret']);
    expect(found ?? 'none').toContain(expected ?? 'none');
    const request = { headers: { 'x-at': '1', 'x-signature': '00' }, body: event };
    expect(why(scheme, ['secret'], request)).toBe(found ?? 'the timestamp is too old');
  });

  it('reports a time in an unsigned field', () => {
    const source = { kind: 'json', name: '/at' } as const;
    const scheme = { ...rawBody, template: template('{json:/b}'), timestamp: { ...timestamp, source } };
    expect(signatureProblem(scheme, ['secret'])).toContain('(field /at) is not part');
  });
});
