import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chargeReference, parseOrderReference } from '../../src/domain/order-reference.ts';

describe('parseOrderReference', () => {
  it.each(['A', 'ORDER-1001', 'a'.repeat(50), '𝕏'.repeat(50), 'with space inside'])('takes %s', (text) => {
    expect(parseOrderReference(` ${text} `)).toEqual({ ok: true, value: text });
  });

  it('refuses 51 characters and says how many there are', () => {
    const result = parseOrderReference('a'.repeat(51));
    expect(result).toMatchObject({ ok: false, problem: expect.stringContaining('51 characters') });
  });

  it.each(['', '   ', 'zero\u200bwidth', 'tab\tinside', 'right\u202eto-left', 'half an emoji \ud83d'])(
    'refuses %j',
    (text) => {
      expect(parseOrderReference(text).ok).toBe(false);
    },
  );
});

function sha256(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

describe('chargeReference', () => {
  it('is the base32 of RFC 4648 in lower case, the same for the same view, and a valid order reference', () => {
    const foobar = new TextEncoder().encode('foobarfoobarfoobar');
    const reference = chargeReference('any', () => foobar);
    expect(reference).toBe('pay-mzxw6ytbojtg633cmfzgm33pmj');
    expect(parseOrderReference(reference)).toEqual({ ok: true, value: reference });
  });

  it('differs for 50,000 views, down to the last bit of the hash that it uses', () => {
    const all = Array.from({ length: 50_000 }, (_, index) => chargeReference(`V${index}`, sha256));
    expect(new Set(all).size).toBe(all.length);
    const [zeros, lastBit] = [new Uint8Array(32), new Uint8Array(32)];
    lastBit[16] = 0b0100_0000;
    expect(chargeReference('V', () => lastBit)).not.toBe(chargeReference('V', () => zeros));
  });

  it('refuses a hash that is too short to be unique', () => {
    expect(() => chargeReference('V', () => new Uint8Array(16))).toThrow(RangeError);
    expect(() => chargeReference('V', () => new Uint8Array(17))).not.toThrow();
  });
});
