import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chargeReference, parseOrderReference } from '../../src/domain/order-reference.ts';

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

describe('chargeReference', () => {
  it('is the same for the same view, and a valid order reference', () => {
    const reference = chargeReference('V0123456789', sha256);
    expect(reference).toBe(chargeReference('V0123456789', sha256));
    expect(reference).toMatch(/^pay-[a-z2-7]{26}$/);
    expect(parseOrderReference(reference)).toEqual({ ok: true, value: reference });
  });

  it('is the base32 of RFC 4648, in lower case', () => {
    const foobar = new TextEncoder().encode('foobarfoobarfoobar');
    expect(chargeReference('any', () => foobar)).toBe('pay-mzxw6ytbojtg633cmfzgm33pmj');
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
