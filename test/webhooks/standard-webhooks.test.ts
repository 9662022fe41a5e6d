import * as fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signaturePresets, signDelivery, verifySignature } from '../../src/webhooks/signature.ts';

const nowMs = Date.UTC(2026, 8, 29, 10, 51, 44);
const standard = signaturePresets['standard-webhooks'];

function why(...args: Parameters<typeof verifySignature>): string {
  const verdict = verifySignature(...args);
  return verdict.kind === 'invalid' ? verdict.why : 'valid';
}

describe('verifySignature with Standard Webhooks’ public vectors', () => {
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

  function request(vector: (typeof vectors)[number], signature = vector.signature) {
    const headers = {
      'webhook-id': vector.id,
      'webhook-timestamp': vector.timestamp,
      'webhook-signature': signature,
    };
    return { headers, body: Buffer.from(vector.body) };
  }

  it.each(vectors)('accepts $id, with and without the whsec_ prefix', (vector) => {
    const atMs = Number(vector.timestamp) * 1000;
    expect(verifySignature(standard, [vector.secret], request(vector), atMs)).toEqual({
      kind: 'valid',
      covers: 'body',
    });
    expect(why(standard, [vector.secret.slice(6)], request(vector), atMs)).toBe('valid');
  });

  it.each(vectors)('finds the right signature of $id in a list of several versions', (vector) => {
    const atMs = Number(vector.timestamp) * 1000;
    const other = 'Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';
    const list = [`v1,${other}`, `v2,${other}`, vector.signature, `v1,${other}`].join(' ');
    expect(why(standard, [vector.secret], request(vector, list), atMs)).toBe('valid');
    const wrongVersion = vector.signature.replace('v1,', 'v2,');
    expect(why(standard, [vector.secret], request(vector, wrongVersion), atMs)).toContain(
      'no signature where',
    );
  });

  it.each(vectors)('refuses $id cut short, without its parts, or out of time', (vector) => {
    const atMs = Number(vector.timestamp) * 1000;
    const refused = 'the signature is not one of ours';
    expect(why(standard, [vector.secret], request(vector, vector.signature.slice(0, 8)), atMs)).toBe(refused);
    expect(why(standard, [vector.secret], request(vector, 'v1,'), atMs)).toBe(refused);
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      const { headers, body } = request(vector);
      const rest = Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
      expect(why(standard, [vector.secret], { headers: rest, body }, atMs)).toMatch(
        /missing|no signature header/,
      );
    }
    expect(why(standard, [vector.secret], request(vector), atMs + 300_000)).toBe('valid');
    expect(why(standard, [vector.secret], request(vector), atMs + 300_001)).toBe('the timestamp is too old');
    expect(why(standard, [vector.secret], request(vector), atMs - 300_001)).toBe(
      'the timestamp is too far ahead',
    );
  });
});

describe('verifySignature beside the standardwebhooks library', () => {
  const key = fc
    .uint8Array({ minLength: 24, maxLength: 64 })
    .map((bytes) => Buffer.from(bytes).toString('base64'));
  const body = fc.json();
  const id = fc.stringMatching(/^msg_[A-Za-z0-9]{1,30}$/);

  it('accepts what the library signs', () => {
    fc.assert(
      fc.property(key, id, body, (secret, id, text) => {
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': String(nowMs / 1000),
          'webhook-signature': new Webhook(secret).sign(id, new Date(nowMs), text),
        };
        expect(why(standard, [secret], { headers, body: Buffer.from(text) }, nowMs)).toBe('valid');
      }),
    );
  });

  it('signs what the library accepts', () => {
    fc.assert(
      fc.property(key, body, (secret, text) => {
        // The library reads the machine's own clock.
        const headers = signDelivery(standard, secret, Buffer.from(text), Date.now());
        expect(new Webhook(secret).verify(text, headers)).toEqual(JSON.parse(text));
      }),
    );
  });
});
