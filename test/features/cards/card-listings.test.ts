import { expect, it } from 'vitest';
import { createCardListings } from '../../../src/features/cards/card-listings.ts';
import type { ServiceCard } from '../../../src/payments/saved-cards.ts';
import { accountOf } from '../../support/account.ts';
import { sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';

const fingerprint = async (text: string): Promise<string> => `of ${text}`;

function openListings(cards: readonly ServiceCard[]) {
  const deleted: string[] = [];
  const remembered: string[] = [];
  const clock = { nowMs: 1_900_000_000_000 };
  const store = memoryStore(clock);
  const listings = createCardListings(
    accountOf({ store, sealer, fingerprint, now: () => clock.nowMs }),
    {
      remember: async ({ tokenKey }) => void remembered.push(tokenKey),
      find: async () => undefined,
      forgetCard: async () => true,
    },
    {
      list: async () => ({ kind: 'cards', cards }),
      async remove({ tokenKey }) {
        deleted.push(tokenKey);
        return { kind: 'deleted' };
      },
    },
  );
  return { listings, deleted, remembered, clock, store };
}

it('a listing shows and deletes cards only for the person who made it', async () => {
  const { listings, deleted } = openListings([{ tokenKey: 'tok-ada', cardPan: '****4081' }]);
  const listed = await listings.list('ada@example.com', 'U0ADA');
  if (listed.kind !== 'listed') throw new Error(listed.kind);
  const at = { list: listed.list, index: 0 };
  const others = { ...at, by: 'U0OTHER' };
  expect(await listings.card(others)).toBeUndefined();
  expect(await listings.remember(others)).toBeUndefined();
  expect(await listings.remove(others)).toBeUndefined();
  expect(deleted).toEqual([]);
  expect(await listings.remove({ ...at, by: 'U0ADA' })).toMatchObject({ kind: 'deleted' });
  expect(deleted).toEqual(['tok-ada']);
});

it('a deleted card is not remembered again through an older listing, which expires as before', async () => {
  const { listings, remembered, clock, store } = openListings([
    { tokenKey: 'tok-ada' },
    { tokenKey: 'tok-2' },
  ]);
  const listed = await listings.list('ada@example.com', 'U0ADA');
  if (listed.kind !== 'listed') throw new Error(listed.kind);
  const at = { list: listed.list, index: 0, by: 'U0ADA' };
  clock.nowMs += 10 * 60_000;
  expect(await listings.remove(at)).toMatchObject({ records: 'forgotten' });
  expect(await listings.remember(at)).toBeUndefined();
  expect(remembered).toEqual([]);
  await listings.remember({ ...at, index: 1 });
  expect(remembered).toEqual(['tok-2']);
  clock.nowMs += 20 * 60_000;
  for (const key of store.keys()) await store.read(key);
  expect(store.keys()).toEqual([]);
});

it('a listing shows neither a token key nor a card number from any field of the service’s answer', async () => {
  const [tokenKey, pan] = ['tok-canary', '4242 4242 4242 4242'];
  const { listings } = openListings([
    {
      tokenKey,
      cardType: `Visa ${tokenKey}`,
      tokenExpiryDate: pan,
      customerEmail: `${tokenKey}@example.com`,
    },
    { tokenKey, cardType: pan, tokenExpiryDate: `12/29 ${tokenKey}`, customerEmail: `${pan}@example.com` },
  ]);
  const listed = await listings.list('ada@example.com', 'U0ADA');
  if (listed.kind !== 'listed') throw new Error(listed.kind);
  const shown = { face: {}, customerEmail: 'ada@example.com', fingerprint: `of ${tokenKey}` };
  expect(listed.cards).toEqual([shown, shown]);
});
