import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signaturePresetNames as presets, type SignaturePreset } from '../../src/config/webhook-settings.ts';
import {
  signaturePresets,
  signatureProblem,
  signDelivery,
  verifySignature,
  type SignatureScheme,
} from '../../src/webhooks/signature.ts';
import { parseSignatureTemplate } from '../../src/webhooks/signature-template.ts';

const nowMs = Date.UTC(2026, 8, 29, 10, 51, 44);

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

function why(...args: Parameters<typeof verifySignature>): string {
  const verdict = verifySignature(...args);
  return verdict.kind === 'invalid' ? verdict.why : 'valid';
}

describe('verifySignature', () => {
  it.each(presets)('accepts what signDelivery signs with %s, and says what that covers', (preset) => {
    const scheme = signaturePresets[preset];
    const headers = signDelivery(scheme, secrets[preset], event, nowMs);
    expect(verifySignature(scheme, [secrets[preset]], { headers, body: event }, nowMs)).toEqual(
      preset === 'field-concatenation'
        ? {
            kind: 'valid',
            covers: 'fields',
            pointers: ['/event_type', '/data/order/orderReference', '/data/order/orderId'],
            atMs: nowMs,
          }
        : { kind: 'valid', covers: 'body' },
    );
  });

  it.each(presets)('accepts any of several secrets while one is rotated, and no other, with %s', (preset) => {
    const scheme = signaturePresets[preset];
    const other =
      preset === 'standard-webhooks' ? 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' : 'another secret';
    const headers = signDelivery(scheme, secrets[preset], event, nowMs);
    const request = { headers, body: event };
    expect(why(scheme, [other, secrets[preset]], request, nowMs)).toBe('valid');
    expect(why(scheme, [secrets[preset], other], request, nowMs)).toBe('valid');
    expect(why(scheme, [other], request, nowMs)).toBe('the signature is not one of ours');
  });

  it.each(presets)('refuses everything without a secret or a scheme: %s', (preset) => {
    const scheme = signaturePresets[preset];
    const headers = signDelivery(scheme, secrets[preset], event, nowMs);
    expect(why(undefined, [secrets[preset]], { headers, body: event }, nowMs)).toBe(
      'no signature scheme is configured',
    );
    expect(why(scheme, [], { headers, body: event }, nowMs)).toBe('no secret is configured');
    expect(why(scheme, [''], { headers, body: event }, nowMs)).toContain('secret 1 of 1 is empty');
    expect(why(scheme, [secrets[preset], ''], { headers, body: event }, nowMs)).toContain(
      'secret 2 of 2 is empty',
    );
  });

  it.each(presets)('refuses a header that stands twice, is empty or is missing: %s', (preset) => {
    const scheme = signaturePresets[preset];
    const headers = signDelivery(scheme, secrets[preset], event, nowMs);
    for (const [name, value] of Object.entries(headers)) {
      expect(
        why(
          scheme,
          [secrets[preset]],
          { headers: { ...headers, [name]: [value, value] }, body: event },
          nowMs,
        ),
      ).toBe(`header ${name} is there more than once`);
      for (const nothing of ['', undefined, []]) {
        const request = { headers: { ...headers, [name]: nothing }, body: event };
        expect(why(scheme, [secrets[preset]], request, nowMs)).toMatch(/is missing|no signature header/);
      }
    }
  });

  it.each(presets.filter((preset) => preset !== 'static-token'))(
    'refuses anything altered on its way: %s',
    (preset) => {
      const scheme = signaturePresets[preset];
      const headers = signDelivery(scheme, secrets[preset], event, nowMs);
      const names = Object.keys(headers);
      fc.assert(
        fc.property(
          fc.constantFrom(...names),
          fc.nat(),
          fc.integer({ min: 1, max: 255 }),
          (name, at, flip) => {
            const bytes = Buffer.from(headers[name] ?? '', 'latin1');
            const index = at % bytes.length;
            bytes[index] = (bytes[index] ?? 0) ^ flip;
            const altered = { ...headers, [name]: bytes.toString('latin1') };
            const verdict = verifySignature(
              scheme,
              [secrets[preset]],
              { headers: altered, body: event },
              nowMs,
            );
            // In hex, a letter's case bit says nothing; blanks round a list or pair are no part of it.
            const isSame = altered[name]?.toLowerCase() === headers[name]?.toLowerCase();
            expect(verdict.kind === 'invalid' || (isSame && scheme.encoding === 'hex')).toBe(true);
          },
        ),
      );
    },
  );

  it.each(['raw-body', 'timestamped-pairs', 'standard-webhooks'] as const)(
    'refuses a body with one byte changed, added or taken away: %s',
    (preset) => {
      const scheme = signaturePresets[preset];
      fc.assert(
        fc.property(
          fc.uint8Array({ minLength: 1, maxLength: 300 }),
          fc.nat(),
          fc.integer({ min: 1, max: 255 }),
          (bytes, at, flip) => {
            const body = Buffer.from(bytes);
            const headers = signDelivery(scheme, secrets[preset], body, nowMs);
            const index = at % body.length;
            const changed = Buffer.from(body);
            changed[index] = (changed[index] ?? 0) ^ flip;
            const others = [changed, body.subarray(0, index), Buffer.concat([body, Buffer.from([flip])])];
            expect(why(scheme, [secrets[preset]], { headers, body }, nowMs)).toBe('valid');
            for (const other of others) {
              expect(why(scheme, [secrets[preset]], { headers, body: other }, nowMs)).not.toBe('valid');
            }
          },
        ),
      );
    },
  );

  it('never throws, whatever the headers and the body hold', () => {
    const value = fc.oneof(fc.string(), fc.array(fc.string(), { maxLength: 3 }), fc.constant(undefined));
    const names = [
      'x-webhook-signature',
      'x-webhook-token',
      'webhook-signature',
      'webhook-id',
      'webhook-timestamp',
    ];
    const headers = fc.dictionary(
      fc.constantFrom(...names, 'x-webhook-timestamp', '__proto__', 'constructor'),
      value,
    );
    fc.assert(
      fc.property(fc.constantFrom(...presets), headers, fc.uint8Array(), (preset, headers, bytes) => {
        const request = { headers, body: Buffer.from(bytes) };
        expect(why(signaturePresets[preset], [secrets[preset]], request, nowMs)).not.toBe('valid');
      }),
    );
  });

  it('takes the first header that is there, even when a later one would fit', () => {
    const scheme = signaturePresets['raw-body'];
    const { 'x-webhook-signature': signature = '' } = signDelivery(scheme, 'secret', event, nowMs);
    expect(why(scheme, ['secret'], { headers: { 'x-signature': signature }, body: event }, nowMs)).toBe(
      'valid',
    );
    const both = { 'x-webhook-signature': 'no', 'x-signature': signature };
    expect(why(scheme, ['secret'], { headers: both, body: event }, nowMs)).not.toBe('valid');
  });

  it('reads a signature led by its algorithm as a pair', () => {
    const scheme: SignatureScheme = {
      ...signaturePresets['raw-body'],
      place: { kind: 'pair', key: 'sha256' },
    };
    const signature = createHmac('sha256', 'secret').update(event).digest('hex');
    const headers = { 'x-signature': `sha256=${signature}` };
    expect(why(scheme, ['secret'], { headers, body: event }, nowMs)).toBe('valid');
  });

  it('accepts SHA-512, hex and base64 keys, and capital hex', () => {
    const key = Buffer.from('00ff10a1b2c3', 'hex');
    const signature = createHmac('sha512', key).update(event).digest('hex').toUpperCase();
    const request = { headers: { 'x-signature': signature }, body: event };
    const scheme: SignatureScheme = {
      ...signaturePresets['raw-body'],
      algorithm: 'sha512',
      secretEncoding: 'hex',
    };
    expect(why(scheme, [key.toString('hex')], request, nowMs)).toBe('valid');
    expect(why({ ...scheme, secretEncoding: 'base64' }, [key.toString('base64')], request, nowMs)).toBe(
      'valid',
    );
    expect(why(scheme, ['00ff1'], request, nowMs)).toBe('secret 1 of 1 is empty or not written as hex');
  });

  it('accepts one of two v1 pairs, and refuses a time that stands twice', () => {
    const scheme = signaturePresets['timestamped-pairs'];
    const { 'x-webhook-signature': carried = '' } = signDelivery(scheme, 'secret', event, nowMs);
    function verdictOf(header: string): string {
      return why(scheme, ['secret'], { headers: { 'x-webhook-signature': header }, body: event }, nowMs);
    }
    expect(verdictOf(`v1=${'0'.repeat(64)},${carried}`)).toBe('valid');
    expect(verdictOf(carried.replace(',', ' , '))).toBe('valid');
    expect(verdictOf(`${carried},t=1`)).toBe('pair t is there more than once');
    expect(verdictOf(carried.replace('v1=', 'v0='))).toContain('carries no signature');
  });

  it('is not slowed down by a header full of signatures', () => {
    const scheme = signaturePresets['timestamped-pairs'];
    const headers = { 'x-webhook-signature': `t=${nowMs / 1000}${',v1=00'.repeat(2_600)}` };
    expect(why(scheme, ['secret'], { headers, body: event }, nowMs)).toBe('the signature is not one of ours');
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
  ] as const)('reads a time in %s: %s is %s', (unit, written, expected) => {
    const source = { kind: 'header', name: 'x-at' } as const;
    const scheme: SignatureScheme = {
      ...signaturePresets['raw-body'],
      template: template('{header:x-at}.{body}'),
      timestamp: { source, unit, toleranceSeconds: 60 },
    };
    const signature = createHmac('sha256', 'secret').update(`${written}.`).update(event).digest('hex');
    const request = { headers: { 'x-at': written, 'x-signature': signature }, body: event };
    expect(why(scheme, ['secret'], request, nowMs)).toContain(expected);
  });

  it('reads a time from the signed body', () => {
    const scheme: SignatureScheme = {
      ...signaturePresets['raw-body'],
      timestamp: { source: { kind: 'json', pointer: '/at' }, unit: 'ms', toleranceSeconds: 60 },
    };
    const body = Buffer.from(`{"at":${nowMs}}`);
    const headers = signDelivery(scheme, 'secret', body, nowMs);
    expect(why(scheme, ['secret'], { headers, body }, nowMs)).toBe('valid');
    expect(why(scheme, ['secret'], { headers, body }, nowMs + 60_001)).toBe('the timestamp is too old');
  });

  it('names no secret and no value in its reasons', () => {
    for (const preset of presets) {
      const scheme = signaturePresets[preset];
      const headers = signDelivery(scheme, secrets[preset], event, nowMs);
      for (const name of Object.keys(headers)) {
        const reason = why(
          scheme,
          [secrets[preset]],
          { headers: { ...headers, [name]: 'canary:value' }, body: event },
          nowMs,
        );
        expect(reason).not.toBe('valid');
        expect(reason).not.toContain('canary');
        expect(reason).not.toContain(secrets[preset]);
      }
    }
  });
});

describe('signatureProblem', () => {
  it.each(presets)('finds nothing wrong with %s and a secret', (preset) => {
    expect(signatureProblem(signaturePresets[preset], [secrets[preset]])).toBeUndefined();
  });

  it.each([
    ['{header:x-id}', 'the template covers neither the body nor a field of it'],
    ['', 'the template covers neither the body nor a field of it'],
    ['{body}', 'the timestamp (header x-at) is not part of what is signed'],
  ])('says why a template of “%s” can accept nothing', (words, expected) => {
    const scheme: SignatureScheme = {
      ...signaturePresets['raw-body'],
      template: template(words),
      timestamp: { source: { kind: 'header', name: 'x-at' }, unit: 's', toleranceSeconds: 60 },
    };
    expect(signatureProblem(scheme, ['secret'])).toBe(expected);
    expect(
      why(scheme, ['secret'], { headers: { 'x-at': '1', 'x-signature': '00' }, body: event }, nowMs),
    ).toBe(expected);
    expect(() => signDelivery(scheme, 'secret', event, nowMs)).toThrow(expected);
  });

  const time = { source: { kind: 'header', name: 'x-at' }, unit: 's', toleranceSeconds: 60 } as const;

  it.each([
    ['two fields', '{json:/event_type}:{json:/data/order/orderReference}{json:/data/order/orderId}'],
    ['a field and a header that is no time', '{header:x-at}:{json:/data/order/orderReference}{header:x-id}'],
    ['a field and a time with more after it', '{json:/data/order/orderReference}{header:x-at}:{json:/x}'],
  ])('refuses a template in which nothing parts %s', (_what, words) => {
    const scheme: SignatureScheme = {
      ...signaturePresets['raw-body'],
      template: template(words),
      timestamp: time,
    };
    expect(signatureProblem(scheme, ['secret'])).toContain(
      'nothing stands between field /data/order/orderReference and ',
    );
  });

  it.each(['{header:x-at}{json:/a}', '{json:/a}:{json:/b}{header:x-at}', '{header:x-at}{header:x-id}{body}'])(
    'finds nothing wrong with %s, where a time or the body tells itself apart',
    (words) => {
      const scheme: SignatureScheme = {
        ...signaturePresets['raw-body'],
        template: template(words),
        timestamp: time,
      };
      expect(signatureProblem(scheme, ['secret'])).toBeUndefined();
    },
  );

  it('says that a pair cannot be read beside a signature that is all of its header', () => {
    const scheme: SignatureScheme = {
      ...signaturePresets['timestamped-pairs'],
      place: { kind: 'whole' },
    };
    expect(signatureProblem(scheme, ['secret'])).toContain('the place of the signature is not a pair');
  });
});
