import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createDrafts } from '../../../src/operations/work/drafts.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { memoryStore } from '../memory-store.ts';

const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
const fingerprint = (tokenKey: string) => Promise.resolve(`of-${tokenKey}`);
const terms = z.object({ tokenKey: z.string() });

function replicas() {
  const store = memoryStore({ nowMs: 1_000 });
  const parts = { prefix: 'test', terms };
  return {
    store,
    first: createDrafts({ store, sealer, fingerprint }, parts),
    second: createDrafts({ store, sealer, fingerprint }, parts),
    other: createDrafts({ store, sealer, fingerprint }, { prefix: 'other', terms }),
  };
}

// Keeping and reading: charge-drafts.test.ts, which goes through the same code.
describe('taking a draft', () => {
  it('is given to the first alone, of two at once on two replicas too', async () => {
    const { first, second } = replicas();
    const word = await first.keep('V1', { tokenKey: 'a' });
    const taken = await Promise.all([first.take('V1', word), second.take('V1', word)]);
    expect(taken.map(({ kind }) => kind).toSorted()).toEqual(['taken', 'taken_before']);
    expect(await first.take('V1', word)).toEqual({ kind: 'taken_before', terms: { tokenKey: 'a' } });
  });

  it('leaves what was taken to be read', async () => {
    const { first } = replicas();
    const word = await first.keep('V1', { tokenKey: 'a' });
    await first.take('V1', word);
    expect(await first.read('V1', word)).toEqual({ tokenKey: 'a' });
  });

  it('gives nothing for another word, another dialogue or another kind of terms', async () => {
    const { first, other } = replicas();
    const word = await first.keep('V1', { tokenKey: 'a' });
    for (const taking of [first.take('V1', 'x'), first.take('V2', word), other.take('V1', word)]) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await taking).toEqual({ kind: 'gone' });
    }
    expect((await first.take('V1', word)).kind).toBe('taken');
  });

  it('makes the same terms kept again new ones, so that a late repeat agrees to nothing', async () => {
    const { first } = replicas();
    const word = await first.keep('V1', { tokenKey: 'a' });
    await first.take('V1', word);
    const again = await first.keep('V1', { tokenKey: 'a' });
    expect(again).not.toBe(word);
    expect(await first.take('V1', word)).toEqual({ kind: 'gone' });
    expect((await first.take('V1', again)).kind).toBe('taken');
  });
});
