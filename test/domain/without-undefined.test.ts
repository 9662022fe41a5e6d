import { describe, expect, it } from 'vitest';
import { withoutUndefined } from '../../src/domain/without-undefined.ts';

describe('withoutUndefined', () => {
  it('drops what is undefined and nothing else', () => {
    const value = withoutUndefined({ a: undefined, b: null, c: 0, d: '', e: false, f: { g: undefined } });
    expect(Object.keys(value)).toEqual(['b', 'c', 'd', 'e', 'f']);
  });

  it('keeps required what is surely there', () => {
    const given: { sure: string; unsure: number | undefined } = { sure: 'a', unsure: undefined };
    const kept: { sure: string; unsure?: number } = withoutUndefined(given);
    expect(kept).toEqual({ sure: 'a' });
    expect('unsure' in kept).toBe(false);
  });
});
