import { describe, expect, it } from 'vitest';
import type { CardDeletionAnswer, SavedCardsAnswer, ToldCard } from '../../../src/domain/saved-card-list.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { createCardLedger } from '../../../src/operations/card/card-ledger.ts';
import { createChargeDrafts } from '../../../src/operations/charge/charge-drafts.ts';
import { createDraftsOfCard } from '../../../src/operations/card/drafts-of-card.ts';
import { openFingerprint } from '../../../src/operations/work/fingerprint.ts';
import {
  createSavedCardDesk,
  type CardListing,
  type SavedCardDeskDeps,
} from '../../../src/operations/card/saved-card-desk.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { findCanaries } from '../../support/canaries.ts';
import { memoryStore } from '../memory-store.ts';

const tokenKey = 'canary-token-4711';
const pan = '4111111111111111';
const email = 'ada.canary@example.com';
const told: ToldCard = {
  tokenKey,
  cardType: 'Visa',
  tokenExpiryDate: '12/29',
  cardPan: pan,
  customerEmail: email,
};
const minuteMs = 60_000;

function openDesk(more: Partial<SavedCardDeskDeps> & { cards?: readonly ToldCard[] } = {}) {
  const clock = { nowMs: 1_700_000_000_000 };
  const store = memoryStore(clock);
  const sealer = createSealer([{ id: 'k1', key: Buffer.alloc(32, 7) }]);
  const logged: string[] = [];
  const log: SavedCardDeskDeps['log'] = (...line) => void logged.push(JSON.stringify(line));
  const fingerprint = openFingerprint({ store, sealer, log });
  const ledger = createCardLedger({
    store,
    sealer,
    fingerprint,
    keepMs: 1_095 * 86_400_000,
    now: () => clock.nowMs,
  });
  const draftsOfCard = createDraftsOfCard({ store, fingerprint });
  const drafts = createChargeDrafts({ store, sealer }, draftsOfCard);
  const deleted: unknown[] = [];
  const deps: SavedCardDeskDeps = {
    store,
    sealer,
    listSavedCards: async (): Promise<SavedCardsAnswer> => ({ kind: 'cards', cards: more.cards ?? [told] }),
    deleteSavedCard: async (card): Promise<CardDeletionAnswer> => {
      deleted.push(card);
      return { kind: 'deleted' };
    },
    ledger,
    drafts: draftsOfCard,
    history: { underWay: async () => [] },
    fingerprint,
    log,
    wait: async () => undefined,
    ...more,
  };
  return { clock, store, ledger, drafts, fingerprint, logged, deleted, desk: createSavedCardDesk(deps) };
}

type House = ReturnType<typeof openDesk>;

async function listed({ desk }: House, by = 'U1'): Promise<CardListing> {
  const listing = await desk.list(email, by);
  if (listing.kind !== 'listed') throw new Error(listing.kind);
  return listing;
}

async function dump({ store }: House): Promise<string> {
  const entries = await Promise.all(store.keys().map((key) => store.read(key)));
  return JSON.stringify(entries);
}

describe('a listing of saved cards', () => {
  it('tells no token and no card number, and keeps neither in clear', async () => {
    const house = openDesk();
    const listing = await listed(house);
    expect(listing.cards).toEqual([
      {
        fingerprint: await house.fingerprint(tokenKey),
        face: { cardType: 'Visa', lastFour: '1111' },
        expiry: '12/29',
        customerEmail: email,
        isKnown: false,
      },
    ]);
    const places = { listing: JSON.stringify(listing), store: await dump(house) };
    expect(findCanaries({ tokenKey, pan }, places)).toEqual([]);
    expect(findCanaries({ email }, { store: places.store })).toEqual([]);
  });

  it('drops a card number and the token itself from every field they may stand in', async () => {
    const card = {
      tokenKey,
      cardType: `type ${tokenKey}`,
      tokenExpiryDate: pan,
      customerEmail: `${tokenKey}@x.test`,
    };
    const { cards } = await listed(openDesk({ cards: [card, { ...card, cardType: pan }] }));
    for (const { fingerprint: _, ...shown } of cards) {
      expect(shown).toEqual({ face: {}, customerEmail: email, isKnown: false });
    }
  });

  it('shows a card without a token, with which nothing can be done', async () => {
    const house = openDesk({ cards: [{ cardPan: '···1127' }] });
    const { list, cards } = await listed(house);
    expect(cards).toEqual([{ face: { lastFour: '1127' }, customerEmail: email }]);
    expect(await house.desk.remove({ list, index: 0, by: 'U1' })).toBeUndefined();
    expect(await house.desk.remember({ list, index: 0, by: 'U1' })).toBeUndefined();
  });

  it('is for who asked for it, for half an hour, and for no other name', async () => {
    const house = openDesk();
    const { list } = await listed(house);
    const at = { list, index: 0, by: 'U1' };
    expect(await house.desk.card(at)).toBeDefined();
    expect(await house.desk.listed(list, 'U1')).toMatchObject({ total: 1, email });
    for (const other of [
      { ...at, by: 'U2' },
      { ...at, index: 1 },
      { ...at, index: 0.5 },
      { ...at, list: '../card' },
      { ...at, list: 'f'.repeat(32) },
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- each by itself
      expect(await house.desk.card(other)).toBeUndefined();
      // oxlint-disable-next-line no-await-in-loop
      expect(await house.desk.remove(other)).toBeUndefined();
    }
    house.clock.nowMs += 30 * minuteMs;
    expect(await house.desk.remove(at)).toBeUndefined();
    expect(house.deleted).toEqual([]);
  });

  it('keeps a hundred cards at most and says how many there were', async () => {
    const cards = Array.from({ length: 130 }, (_, index) => ({ tokenKey: `canary-token-${index}` }));
    const listing = await listed(openDesk({ cards }));
    expect(listing.cards).toHaveLength(100);
    expect(listing.total).toBe(130);
  });

  it('passes on that there is no record, and a failure', async () => {
    const none = openDesk({ listSavedCards: async () => ({ kind: 'not_found' }) });
    expect(await none.desk.list(email, 'U1')).toEqual({ kind: 'not_found' });
    const failure = new ServiceFailure('timeout', 'late');
    const broken = openDesk({ listSavedCards: () => Promise.reject(failure) });
    await expect(broken.desk.list(email, 'U1')).rejects.toBe(failure);
  });

  it('remembers a card with the e-mail that the service tells now', async () => {
    const house = openDesk();
    const id = await house.fingerprint(tokenKey);
    await house.ledger.remember({ tokenKey, customerEmail: email });
    await house.ledger.changeEmail(id, 'later@example.com');
    const { list } = await listed(house);
    const card = await house.desk.remember({ list, index: 0, by: 'U1' });
    expect(card).toMatchObject({ id, face: { lastFour: '1111' }, customerEmail: email });
    expect(JSON.stringify(card)).not.toContain(tokenKey);
    expect(await house.ledger.find(id)).toMatchObject({ customerEmail: email });
  });

  it('of before keeps to what the bot has learnt since', async () => {
    const house = openDesk();
    const id = await house.fingerprint(tokenKey);
    await house.ledger.remember({ tokenKey, customerEmail: email });
    const { list } = await listed(house);
    await house.ledger.changeEmail(id, 'later@example.com');
    const card = await house.desk.remember({ list, index: 0, by: 'U1' });
    expect(card).toMatchObject({ customerEmail: 'later@example.com' });
    await house.ledger.forgetCard(id);
    expect(await house.desk.remember({ list, index: 0, by: 'U1' })).toBeUndefined();
    expect(await house.ledger.find(id)).toBeUndefined();
  });

  it('that tells no e-mail puts none in the place of the one the card was saved with', async () => {
    const { customerEmail: _, ...silent } = told;
    const house = openDesk({ cards: [silent] });
    const id = await house.fingerprint(tokenKey);
    await house.ledger.remember({ tokenKey, customerEmail: email });
    const listing = await house.desk.list(email.toUpperCase(), 'U1');
    if (listing.kind !== 'listed') throw new Error(listing.kind);
    await house.desk.remember({ list: listing.list, index: 0, by: 'U1' });
    expect(await house.ledger.find(id)).toMatchObject({ customerEmail: email });
  });

  it('says nothing of knowing where the bot remembers no cards', async () => {
    const house = openDesk({ ledger: undefined });
    const { list, cards } = await listed(house);
    expect(cards[0]).not.toHaveProperty('isKnown');
    expect(await house.desk.remember({ list, index: 0, by: 'U1' })).toBeUndefined();
    expect(await house.desk.remove({ list, index: 0, by: 'U1' })).toMatchObject({ kind: 'deleted' });
  });
});

describe('the deletion of a saved card', () => {
  const terms = {
    tokenKey,
    card: {},
    money: { minor: 100, currency: 'NGN' },
    customerEmail: email,
  };

  it.each(['deleted', 'no_such_card'] as const)(
    'that is %s is forgotten by the list and by every draft, and names what is open',
    async (kind) => {
      const open = ['PAY-1' as OrderReference];
      const house = openDesk({
        deleteSavedCard: async () => ({ kind }),
        history: { underWay: async () => open },
      });
      const id = await house.fingerprint(tokenKey);
      await house.ledger.remember({ tokenKey, customerEmail: email });
      const words = await Promise.all(['V1', 'V2'].map((view) => house.drafts.keep(view, terms)));
      const other = await house.drafts.keep('V3', { ...terms, tokenKey: 'canary-other-token' });
      const { list } = await listed(house);
      const end = await house.desk.remove({ list, index: 0, by: 'U1' });
      expect(end).toMatchObject({ kind, records: 'forgotten', open, card: { isKnown: true } });
      expect(await house.ledger.find(id)).toBeUndefined();
      expect(await house.drafts.read('V1', words[0] ?? '')).toBeUndefined();
      expect(await house.drafts.read('V2', words[1] ?? '')).toBeUndefined();
      expect(await house.drafts.read('V3', other)).toBeDefined();
      expect(await house.store.read(`drafts-of-card:${id}`)).toBeUndefined();
      expect(house.store.keys().filter((key) => key.startsWith('draft:'))).toEqual(['draft:V3']);
      // What is read back after it stands: the card may have been saved anew under the same token.
      const later = await house.drafts.keep('V1', terms);
      expect(await house.drafts.read('V1', later)).toEqual(terms);
    },
  );

  it.each<CardDeletionAnswer>([
    { kind: 'refused', message: 'no' },
    { kind: 'not_made', failure: 'invalid_request', message: undefined },
    { kind: 'unknown', cause: new ServiceFailure('timeout', 'late') },
  ])('that ends as $kind forgets nothing', async (answer) => {
    const house = openDesk({ deleteSavedCard: async () => answer });
    await house.ledger.remember({ tokenKey });
    const word = await house.drafts.keep('V1', terms);
    const { list } = await listed(house);
    const end = await house.desk.remove({ list, index: 0, by: 'U1' });
    expect(end).toMatchObject({ kind: answer.kind, records: 'kept', open: [] });
    expect(await house.ledger.find(await house.fingerprint(tokenKey))).toBeDefined();
    expect(await house.drafts.read('V1', word)).toEqual(terms);
    expect(house.logged.join('\n')).toContain(answer.kind);
  });

  it('is not undone by a list of before it, and a list of after it counts', async () => {
    const house = openDesk();
    const id = await house.fingerprint(tokenKey);
    const [before, others] = [await listed(house), await listed(house, 'U2')];
    await house.desk.remove({ list: before.list, index: 0, by: 'U1' });
    expect(await house.desk.remember({ list: before.list, index: 0, by: 'U1' })).toBeUndefined();
    expect(await house.desk.remember({ list: others.list, index: 0, by: 'U2' })).toBeUndefined();
    expect(await house.ledger.find(id)).toBeUndefined();
    const { list } = await listed(house);
    expect(await house.desk.remember({ list, index: 0, by: 'U1' })).toMatchObject({ id });
  });

  it('is not undone by a form that is opened at the same moment', async () => {
    const house = openDesk();
    const { list } = await listed(house);
    const at = { list, index: 0, by: 'U1' };
    const { store, fingerprint } = house;
    const ledger = {
      ...house.ledger,
      async remember(card: Parameters<typeof house.ledger.remember>[0]) {
        await house.desk.remove(at);
        await house.ledger.remember(card);
      },
    };
    const beside = openDesk({ store, fingerprint, ledger });
    expect(await beside.desk.remember(at)).toBeUndefined();
    expect(await house.ledger.find(await fingerprint(tokenKey))).toBeUndefined();
  });

  it('sends the token and the e-mail the card is saved with, and logs neither', async () => {
    const house = openDesk();
    const { list } = await listed(house);
    await house.desk.remove({ list, index: 0, by: 'U1' });
    expect(house.deleted).toEqual([{ tokenKey, customerEmail: email }]);
    expect(findCanaries({ tokenKey, email }, { log: house.logged.join('\n') })).toEqual([]);
  });

  it('stands though the bot’s own records are behind, and says so', async () => {
    const drafts = { forget: () => Promise.reject(new StoreUnavailable('away')) };
    const house = openDesk({ drafts });
    const { list } = await listed(house);
    const end = await house.desk.remove({ list, index: 0, by: 'U1' });
    expect(end).toMatchObject({ kind: 'deleted', records: 'behind' });
    expect(house.logged.join('\n')).toContain('still remembered');
  });
});
