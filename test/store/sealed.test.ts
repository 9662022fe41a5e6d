import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SealBroken } from '../../src/store/store.ts';
import { createSealer } from '../../src/store/sealed.ts';

const old = { id: 'old', key: Buffer.alloc(32, 1) };
const current = { id: 'new', key: Buffer.alloc(32, 2) };
const secret = 'tok_live_4f9a';

describe('createSealer', () => {
  it('opens what it sealed, for any text and context', () => {
    const sealer = createSealer([current]);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (context, plain) => {
        expect(sealer.open(context, sealer.seal(context, plain))).toBe(plain);
      }),
    );
  });

  it('shows nothing of the text, and never gives the same sealed text twice', () => {
    const sealer = createSealer([current]);
    const sealed = sealer.seal('charge:1', secret);
    expect(sealed).toMatch(/^new\.[\w-]+$/);
    expect(Buffer.from(sealed.slice(4), 'base64url').includes(secret)).toBe(false);
    expect(sealer.seal('charge:1', secret)).not.toBe(sealed);
  });

  it('does not open under another context, with another key, or without the key', () => {
    const sealed = createSealer([current]).seal('charge:1', secret);
    expect(() => createSealer([current]).open('charge:2', sealed)).toThrow(SealBroken);
    expect(() => createSealer([{ ...old, id: 'new' }]).open('charge:1', sealed)).toThrow(SealBroken);
    expect(() => createSealer([old]).open('charge:1', sealed)).toThrow(/key that is not configured/);
  });

  it('does not open text with any one byte changed, and never says what was in it', () => {
    const sealer = createSealer([current]);
    const sealed = sealer.seal('charge:1', secret);
    const bytes = Buffer.from(sealed.slice(4), 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const open = () => sealer.open('charge:1', `new.${changed.toString('base64url')}`);
      expect(open).toThrow(SealBroken);
      expect(open).not.toThrow(secret);
    }
  });

  it('refuses text that was never sealed, without repeating it', () => {
    const sealer = createSealer([current]);
    for (const text of ['', '.', 'new.', 'new.AAAA', `${secret}.x`, secret]) {
      expect(() => sealer.open('charge:1', text)).toThrow(SealBroken);
      expect(() => sealer.open('charge:1', text)).not.toThrow(secret);
    }
  });

  it('rotates keys: the first one seals and all of them open', () => {
    const before = createSealer([old]).seal('a', secret);
    const rotated = createSealer([current, old]);
    expect(rotated.open('a', before)).toBe(secret);
    expect(rotated.seal('a', secret)).toMatch(/^new\./);
  });

  it('refuses invalid keys', () => {
    expect(() => createSealer([])).toThrow(RangeError);
    expect(() => createSealer([{ id: 'a', key: randomBytes(16) }])).toThrow(/16 bytes/);
    expect(() => createSealer([{ id: 'a.b', key: randomBytes(32) }])).toThrow(RangeError);
    expect(() => createSealer([old, { ...current, id: 'old' }])).toThrow(/same id/);
  });
});
