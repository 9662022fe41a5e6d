import { describe, expect, it } from 'vitest';
import { parseOrderReference } from '../../src/domain/order-reference.ts';

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
