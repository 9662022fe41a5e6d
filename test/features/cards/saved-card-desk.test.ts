import { expect, it } from 'vitest';
import { createSavedCardDesk } from '../../../src/features/cards/saved-card-desk.ts';
import { sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';

it('gives a list, and deletes by it, to nobody but whom it was made for', async () => {
  const deleted: string[] = [];
  const clock = { nowMs: 1_900_000_000_000 };
  const desk = createSavedCardDesk({
    store: memoryStore(clock),
    sealer,
    ledger: { remember: async () => undefined, find: async () => undefined, forgetCard: async () => true },
    fingerprint: async (text) => `of ${text}`,
    listSavedCards: async () => ({ kind: 'cards', cards: [{ tokenKey: 'tok-ada', cardPan: '****4081' }] }),
    async deleteSavedCard({ tokenKey }) {
      deleted.push(tokenKey);
      return { kind: 'deleted' };
    },
    wait: async () => undefined,
    now: () => clock.nowMs,
    log: () => undefined,
  });
  const listed = await desk.list('ada@example.com', 'U0ADA');
  if (listed.kind !== 'listed') throw new Error(listed.kind);
  const at = { list: listed.list, index: 0 };
  const theirs = { ...at, by: 'U0OTHER' };
  expect(await desk.card(theirs)).toBeUndefined();
  expect(await desk.remember(theirs)).toBeUndefined();
  expect(await desk.remove(theirs)).toBeUndefined();
  expect(deleted).toEqual([]);
  expect(await desk.remove({ ...at, by: 'U0ADA' })).toMatchObject({ kind: 'deleted' });
  expect(deleted).toEqual(['tok-ada']);
});
