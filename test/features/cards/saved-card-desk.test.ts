import { expect, it } from 'vitest';
import { createSavedCardDesk } from '../../../src/features/cards/saved-card-desk.ts';
import type { ServiceCard } from '../../../src/payments/saved-cards.ts';
import { accountOf } from '../../support/account.ts';
import { sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';

const fingerprint = async (text: string): Promise<string> => `of ${text}`;

function openDesk(cards: readonly ServiceCard[]) {
  const deleted: string[] = [];
  const clock = { nowMs: 1_900_000_000_000 };
  const store = memoryStore(clock);
  const desk = createSavedCardDesk(
    accountOf({ store, sealer, fingerprint, now: () => clock.nowMs }),
    { remember: async () => undefined, find: async () => undefined, forgetCard: async () => true },
    {
      list: async () => ({ kind: 'cards', cards }),
      async remove({ tokenKey }) {
        deleted.push(tokenKey);
        return { kind: 'deleted' };
      },
    },
  );
  return { desk, deleted };
}

it('shows a listing, and deletes from it, only for the person who asked', async () => {
  const { desk, deleted } = openDesk([{ tokenKey: 'tok-ada', cardPan: '****4081' }]);
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

it('shows neither a token key nor a card number, in whichever field the service sends it', async () => {
  const [tokenKey, pan] = ['tok-canary', '4242 4242 4242 4242'];
  const { desk } = openDesk([
    {
      tokenKey,
      cardType: `Visa ${tokenKey}`,
      tokenExpiryDate: pan,
      customerEmail: `${tokenKey}@example.com`,
    },
    { tokenKey, cardType: pan, tokenExpiryDate: `12/29 ${tokenKey}`, customerEmail: `${pan}@example.com` },
  ]);
  const listed = await desk.list('ada@example.com', 'U0ADA');
  if (listed.kind !== 'listed') throw new Error(listed.kind);
  const shown = { face: {}, customerEmail: 'ada@example.com', fingerprint: `of ${tokenKey}` };
  expect(listed.cards).toEqual([shown, shown]);
});
