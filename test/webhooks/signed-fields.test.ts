import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signaturePresets, verifySignature, type SignatureScheme } from '../../src/webhooks/signature.ts';
import { parseSignatureTemplate } from '../../src/webhooks/signature-template.ts';

const nowMs = Date.UTC(2026, 8, 29, 10, 51, 44);

function template(words: string) {
  const reading = parseSignatureTemplate(words);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.value;
}

function why(...args: Parameters<typeof verifySignature>): string {
  const verdict = verifySignature(...args);
  return verdict.kind === 'invalid' ? verdict.why : 'valid';
}

function headersFor(signed: string) {
  return { 'x-signature': createHmac('sha256', 'secret').update(signed).digest('hex') };
}

describe('verifySignature over fields', () => {
  const scheme: SignatureScheme = {
    ...signaturePresets['raw-body'],
    template: template('{json:/kind}:{json:/at}:{json:/reference}:{json:/id}'),
  };

  function verdictOf(signed: string, body: string): string {
    return why(scheme, ['secret'], { headers: headersFor(signed), body: Buffer.from(body) }, nowMs);
  }

  it.each([
    ['{"kind":"a","reference":"b"}', 'a::b:'],
    ['{"kind":"a","at":null,"reference":"null","id":""}', 'a:::'],
    ['{"kind":true,"reference":12345678901234567890,"id":5000.00}', 'true::12345678901234567890:5000.00'],
    ['{"kind":"á","at":"2026-09-29T10:51:44Z","id":"x:y"}', 'á:2026-09-29T10:51:44Z::x:y'],
  ])('joins %s to %s', (body, signed) => {
    expect(verdictOf(signed, body)).toBe('valid');
  });

  it('refuses a meaning moved from one field into the next', () => {
    expect(verdictOf('a::b:c:d', '{"kind":"a","reference":"b","id":"c:d"}')).toBe('valid');
    expect(verdictOf('a::b:c:d', '{"kind":"a","reference":"b:c","id":"d"}')).toBe(
      'field /reference cannot be told from what is signed after it',
    );
  });

  it.each([
    ['separators', ['', 'a', ':', 'a:', ':a']],
    ['times', ['a', '2026-09-29T10', '2026-09-29T10:51', '2026-09-29T10:51:44Z', '51', '44Z']],
  ])('accepts at most one set of fields for one signature: values with %s', (_what, pieces) => {
    const bodies = pieces.flatMap((kind) =>
      pieces.flatMap((at) =>
        pieces.flatMap((reference) => pieces.map((id) => ({ kind, at, reference, id }))),
      ),
    );
    const joined = bodies.map((body) => [body.kind, body.at, body.reference, body.id].join(':'));
    const accepted = joined.filter((text, at) => verdictOf(text, JSON.stringify(bodies[at])) === 'valid');
    expect(new Set(accepted).size).toBe(accepted.length);
    expect(accepted.length).toBeGreaterThan(0);
    expect(new Set(joined).size).toBeLessThan(joined.length);
  });

  it('refuses fields that were cut out of a signed time', () => {
    const signed = 'a:2026-09-29T10:51:44Z:INV-1:7';
    const told = '{"kind":"a","at":"2026-09-29T10:51:44Z","reference":"INV-1","id":"7"}';
    expect(verdictOf(signed, told)).toBe('valid');
    const moved = '{"kind":"a","at":"2026-09-29T10","reference":"51","id":"44Z:INV-1:7"}';
    expect(verdictOf(signed, moved)).toBe('field /at cannot be told from what is signed after it');
  });

  it.each([
    ['a key that stands twice', '{"kind":"a","reference":"b","reference":"b"}', 'a key stands twice'],
    [
      'an object where text is signed',
      '{"kind":"a","reference":{"x":"b"}}',
      'field /reference is no plain text',
    ],
    ['an array where text is signed', '{"kind":"a","reference":["b"]}', 'field /reference is no plain text'],
    ['half a character', String.raw`{"kind":"a","reference":"\ud800"}`, 'field /reference is no plain text'],
    ['text that is not JSON', 'a::b:', 'not JSON'],
    ['an empty body', '', 'not JSON'],
  ])('refuses %s', (_name, body, reason) => {
    expect(verdictOf('a::b:', body)).toContain(reason);
  });

  it('refuses a body that is not UTF-8 even when the signed fields are whole', () => {
    const body = Buffer.concat([
      Buffer.from('{"kind":"a","reference":"b","x":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    expect(why(scheme, ['secret'], { headers: headersFor('a::b:'), body }, nowMs)).toContain(
      'not JSON in UTF-8',
    );
  });

  it('lets the unsigned rest of the body be anything, and says so', () => {
    const body = Buffer.from('{"kind":"a","reference":"b","amount":"9.99"}');
    expect(verifySignature(scheme, ['secret'], { headers: headersFor('a::b:'), body }, nowMs)).toEqual({
      kind: 'valid',
      covers: 'fields',
      pointers: ['/kind', '/at', '/reference', '/id'],
    });
  });
});
