import { describe, expect, it } from 'vitest';
import { createUnderWay, createWorkUnderWay } from '../src/under-way.ts';

describe('createUnderWay', () => {
  it('knows what has begun and not ended, in any order', () => {
    const underWay = createUnderWay<number>();
    const expected = new Set<number>();
    const leaves = new Map<number, () => void>();
    let seed = 7;
    for (let one = 0; one < 2_000; one += 1) {
      leaves.set(one, underWay.enter(one));
      expected.add(one);
      seed = (seed * 48_271) % 2_147_483_647;
      const ended = [...expected][seed % expected.size];
      if (ended === undefined || seed % 3 === 0) continue;
      leaves.get(ended)?.();
      expected.delete(ended);
      expect(underWay.count()).toBe(expected.size);
    }
    expect(new Set(underWay.all())).toEqual(expected);
  });
});

describe('createWorkUnderWay', () => {
  it('is drained once all work has ended, also work added meanwhile, and hides no rejection', async () => {
    const working = createWorkUnderWay();
    const ended: string[] = [];
    const failing = working.add(Promise.reject(new Error('on purpose')));
    async function work(): Promise<void> {
      await Promise.resolve();
      void working.add(Promise.resolve().then(() => ended.push('what it brought')));
      ended.push('the work');
    }
    void working.add(work());
    await expect(failing).rejects.toThrow('on purpose');
    await working.drained();
    expect(ended).toEqual(['the work', 'what it brought']);
  });

  it('keeps nothing that has ended', () => {
    const working = createUnderWay<object>();
    for (let turn = 0; turn < 100; turn += 1) working.enter({})();
    expect(working.all()).toEqual([]);
  });
});
