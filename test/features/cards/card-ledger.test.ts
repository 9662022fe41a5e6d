import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SavedCard } from '../../../src/domain/card.ts';
import {
  cardExpiresAtMs,
  createCardLedger,
  fits,
  termsOfCard,
  termsOfWords,
  wordsIn,
  type CardLedger,
  type Findable,
} from '../../../src/features/cards/card-ledger.ts';
import { openFingerprint } from '../../../src/records/fingerprint.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import type { Store } from '../../../src/store/store.ts';
import { findCanaries } from '../../support/canaries.ts';
import { countOf } from '../../support/counts.ts';
import { memoryStore } from '../memory-store.ts';
import { onBothStores, type TwoReplicas } from '../two-stores.ts';

const oldKey = { id: 'old', key: randomBytes(32) };
const newKey = { id: 'new', key: randomBytes(32) };

const ada: SavedCard = {
  tokenKey: 'canary-token-of-ada',
  cardType: 'Visa',
  cardPan: '424242******4081',
  tokenExpiryDate: '12/29',
  customerEmail: 'Ada.Canary@example.com',
};
const adasOther: SavedCard = { ...ada, tokenKey: 'token-2', cardType: 'Mastercard', cardPan: '****5555' };
const olu: SavedCard = { ...ada, tokenKey: 'token-3', customerEmail: 'olu@example.com' };
const nameless: SavedCard = { tokenKey: 'token-4', cardType: 'Verve', cardPan: '5061' };

/** Remembers the cards one after the other, so that their times differ. */
let lastMs = 1_000_000;
const now = () => (lastMs += 1);

function ledgerOn(store: Store, keys = [oldKey]): CardLedger {
  const sealer = createSealer(keys);
  const fingerprint = openFingerprint(store, sealer, () => undefined);
  const keepMs = 1_095 * 86_400_000;
  return createCardLedger(
    { store, sealer, fingerprint, log: () => undefined, now, wait: async () => undefined },
    keepMs,
  );
}

onBothStores('createCardLedger', (open) => {
  let replicas: TwoReplicas;
  let ledger: CardLedger;
  beforeEach(async () => {
    replicas = await open();
    ledger = ledgerOn(replicas.one);
  });
  afterEach(() => replicas.close());

  it('forgets a card when it expires or `keepMs` after its last change, and takes no expired card', async () => {
    const clock = { nowMs: 1_900_000_000_000 };
    const store = memoryStore(clock);
    const sealer = createSealer([oldKey]);
    const fingerprint = openFingerprint(store, sealer, () => undefined);
    const keepMs = 1_000 * 86_400_000;
    const own = createCardLedger(
      {
        store,
        sealer,
        fingerprint,
        log: () => undefined,
        now: () => clock.nowMs,
        wait: async () => undefined,
      },
      keepMs,
    );
    // Now it is March 2030.
    await own.remember({ ...ada, tokenExpiryDate: '02/30' });
    await own.remember({ ...olu, tokenExpiryDate: '05/30' });
    await own.remember({ ...nameless, tokenExpiryDate: 'N/A' });
    const ids = await Promise.all([ada, olu, nameless].map(({ tokenKey }) => own.idOf(tokenKey)));
    const there = async () =>
      (await Promise.all(ids.map((id) => own.find(id)))).map((card) => card !== undefined);
    expect(await there()).toEqual([false, true, true]);
    clock.nowMs = Date.UTC(2030, 5, 1);
    expect(await there()).toEqual([false, true, true]);
    clock.nowMs = Date.UTC(2030, 5, 2);
    expect(await there()).toEqual([false, false, true]);
    expect(await own.search('olu@example.com', 5)).toEqual([]);
    clock.nowMs = 1_900_000_000_000 + keepMs;
    expect(await there()).toEqual([false, false, false]);
  });

  async function rememberAll(...cards: SavedCard[]): Promise<void> {
    for (const card of cards) await ledger.remember(card);
  }
  async function found(typed: string, by = ledger): Promise<string[]> {
    const cards = await by.search(typed, 1_000);
    const whole = await Promise.all(cards.map(({ id }) => by.find(id)));
    return whole.map((card) => card?.tokenKey ?? 'gone');
  }

  describe('search', () => {
    it.each([
      ['', ['token-4', 'token-3', 'token-2', ada.tokenKey]],
      ['4081', ['token-3', ada.tokenKey]],
      ['40', ['token-3', ada.tokenKey]],
      ['5061', ['token-4']],
      ['visa', ['token-3', ada.tokenKey]],
      ['MASTERCARD', ['token-2']],
      ['ada.', ['token-2', ada.tokenKey]],
      ['ada.canary@exam', ['token-2', ada.tokenKey]],
      ['ADA.canary@example.com', ['token-2', ada.tokenKey]],
      ['visa 4081 olu', ['token-3']],
      ['ada 4081', [ada.tokenKey]],
      ['4081  ada', [ada.tokenKey]],
      ['a', ['token-2', ada.tokenKey]],
      ['Visa ·· 4081', ['token-3', ada.tokenKey]],
      ['ada verve', []],
      ['grace', []],
      ['4242', []],
    ])('finds cards by %j, newest first', async (typed, tokens) => {
      await rememberAll(ada, adasOther, olu, nameless);
      expect(await found(typed)).toEqual(tokens);
    });

    it('returns only what may be shown, and never a token', async () => {
      await ledger.remember(ada);
      expect(await ledger.search('4081', 5)).toEqual([
        {
          id: await ledger.idOf(ada.tokenKey),
          face: { cardType: 'Visa', lastFour: '4081' },
          customerEmail: 'Ada.Canary@example.com',
          expiry: '12/29',
        },
      ]);
    });

    it('reads the 100 newest cards of a term, and finds an older card by a rarer word', async () => {
      await ledger.remember(ada);
      const many = Array.from({ length: 100 }, (_, n) => ({
        tokenKey: `visa-${n}`,
        cardType: 'Visa',
        cardPan: '****1111',
        customerEmail: `customer${n}@example.com`,
      }));
      await rememberAll(...many);
      const newestFirst = many.map(({ tokenKey }) => tokenKey).toReversed();
      expect(await found('visa')).toEqual(newestFirst);
      expect(await found('')).toEqual(newestFirst);
      expect(await found('visa 4081')).toEqual([ada.tokenKey]);
      expect(await found('customer7@example.com visa')).toEqual(['visa-7']);
    });
  });

  describe('find', () => {
    it('returns the token, and nothing for an invalid id', async () => {
      await ledger.remember(ada);
      expect(await ledger.find(await ledger.idOf(ada.tokenKey))).toMatchObject({ tokenKey: ada.tokenKey });
      expect(await ledger.find(await ledger.idOf('never told'))).toBeUndefined();
      expect(await ledger.find(`${await ledger.idOf(ada.tokenKey)}\n`)).toBeUndefined();
      expect(await ledger.find('../secret:fingerprint')).toBeUndefined();
    });
  });

  describe('remember', () => {
    it('costs one read for a known, unchanged card', async () => {
      await ledger.remember(ada);
      const reads: string[] = [];
      const other = ledgerOn({
        ...replicas.two,
        read(key) {
          reads.push(key);
          return replicas.two.read(key);
        },
        create: () => expect.unreachable(),
        write: () => expect.unreachable(),
      });
      await other.idOf(ada.tokenKey);
      reads.length = 0;
      await other.remember(ada);
      expect(reads).toEqual([`ledger:card:${await ledger.idOf(ada.tokenKey)}`]);
    });

    it('updates a card, keeps fields that the event leaves out, and lists it first again', async () => {
      await rememberAll(ada, olu);
      await ledger.remember({ tokenKey: ada.tokenKey, customerEmail: 'ada@new.example', cardPan: '*9999' });
      expect(await ledger.search('', 1)).toMatchObject([
        { face: { cardType: 'Visa', lastFour: '9999' }, customerEmail: 'ada@new.example', expiry: '12/29' },
      ]);
      expect(await found('ada@new')).toEqual([ada.tokenKey]);
      expect(await found('ada.canary')).toEqual([]);
      expect(await found('4081')).toEqual(['token-3']);
    });

    it('stores one card if two replicas get its event at once', async () => {
      const other = ledgerOn(replicas.two);
      await Promise.all([ledger, other, ledger, other].map((one) => one.remember(ada)));
      expect(await found('')).toEqual([ada.tokenKey]);
    });
  });

  describe('forget', () => {
    it('forgets every card of an address, and no other', async () => {
      await rememberAll(ada, adasOther, olu, nameless);
      expect(await ledger.forget(' ada.canary@EXAMPLE.com')).toBe(2);
      expect(await ledger.forget('ada.canary@example.com')).toBe(0);
      expect(await found('')).toEqual(['token-4', 'token-3']);
      expect(await ledger.find(await ledger.idOf(ada.tokenKey))).toBeUndefined();
    });

    it('leaves a card that is linked to another address by now', async () => {
      await ledger.remember(ada);
      await ledger.changeEmail(await ledger.idOf(ada.tokenKey), 'ada@new.example');
      expect(await ledger.forget('ada.canary@example.com')).toBe(0);
      expect(await ledger.forget('ada@new.example')).toBe(1);
    });

    it('forgets all cards of an address, also more than a search lists', async () => {
      const cards = Array.from({ length: 130 }, (_, n) => ({ ...ada, tokenKey: `many-${n}` }));
      await Promise.all(cards.map((card) => ledger.remember(card)));
      expect(await ledger.forget('ada.canary@example.com')).toBe(130);
    });

    it('forgets one card by its id', async () => {
      await rememberAll(ada, olu);
      expect(await ledger.forgetCard(await ledger.idOf(ada.tokenKey))).toBe(true);
      expect(await ledger.forgetCard(await ledger.idOf(ada.tokenKey))).toBe(false);
      expect(await found('')).toEqual(['token-3']);
    });
  });

  describe('changeEmail', () => {
    it('finds the card by the new address alone', async () => {
      await ledger.remember(ada);
      const id = await ledger.idOf(ada.tokenKey);
      await ledger.changeEmail(id, 'ada@new.example');
      expect(await ledger.find(id)).toMatchObject({ customerEmail: 'ada@new.example' });
      expect(await found('ada.canary')).toEqual([]);
      expect(await found('ada@new')).toEqual([ada.tokenKey]);
    });
  });

  describe('forgetEmail', () => {
    it('forgets only the address that the service denies, not one that the card has by then', async () => {
      await ledger.remember(ada);
      const id = await ledger.idOf(ada.tokenKey);
      await ledger.forgetEmail(id, 'nobody@example.com');
      expect(await ledger.find(id)).toMatchObject({ customerEmail: ada.customerEmail });
      await ledger.forgetEmail(id, ada.customerEmail ?? '');
      expect(await ledger.find(id)).not.toHaveProperty('customerEmail');
      expect(await found('4081')).toEqual([ada.tokenKey]);
    });
  });

  describe('at rest', () => {
    it('has neither token nor address nor digits unencrypted', async () => {
      const canaries = { tokenKey: ada.tokenKey, email: 'Ada.Canary@example.com', local: 'ada.canary' };
      await ledger.remember(ada);
      await ledger.changeEmail(await ledger.idOf(ada.tokenKey), 'canary.new@example.com');
      await ledger.search('ada.canary@example.com 4081', 5);
      await ledger.forget('nobody.canary@example.com');
      const dump = await replicas.contents.dump();
      expect(findCanaries({ ...canaries, changed: 'canary.new@example.com' }, { dump })).toEqual([]);
      // Four digits may occur by chance within hashes and sealed text, but not as a word.
      expect(dump).not.toMatch(/(?<![\w-])4081(?![\w-])/);
      expect(dump).toContain('cards:');
    });

    it('stores no more of a card number than four digits, not even sealed', async () => {
      const pan = '4242424242424242';
      await ledger.remember({
        ...ada,
        cardPan: pan,
        cardType: `Visa ${pan}`,
        tokenExpiryDate: pan,
        customerEmail: `${pan}@example.com`,
      });
      const key = `ledger:card:${await ledger.idOf(ada.tokenKey)}`;
      const record = createSealer([oldKey]).open(key, (await replicas.one.read(key))?.value ?? '');
      expect(JSON.parse(record)).toEqual({
        tokenKey: ada.tokenKey,
        face: { lastFour: '4242' },
        savedAt: expect.any(Number),
      });
    });
  });

  describe('when the sealing keys are rotated', () => {
    it('has every card as long as the old key is configured', async () => {
      await ledger.remember(ada);
      const rotated = ledgerOn(replicas.two, [newKey, oldKey]);
      expect(await found('4081', rotated)).toEqual([ada.tokenKey]);
      await rotated.remember(olu);
      expect(await found('4081', rotated)).toEqual(['token-3', ada.tokenKey]);
      expect(await rotated.forget('ada.canary@example.com')).toBe(1);
    });

    it('takes new cards, and says why an old one can’t be read, if the old key was removed', async () => {
      await ledger.remember(ada);
      await ledgerOn(replicas.one, [newKey, oldKey]).idOf('any');
      const dropped = ledgerOn(replicas.two, [newKey]);
      await expect(dropped.find(await dropped.idOf(ada.tokenKey))).rejects.toThrow('not configured');
      await expect(dropped.forget('ada.canary@example.com')).rejects.toThrow('not configured');
      await dropped.remember(olu);
      expect(await found('olu', dropped)).toEqual(['token-3']);
      await dropped.remember(ada);
      expect(await found('4081', dropped)).toEqual([ada.tokenKey, 'token-3']);
    });
  });
});

const text = fc.string({
  unit: fc.constantFrom('a', 'B', '4', '0', '@', '.', ' ', 'é', '支', '🧾'),
  maxLength: 14,
});
const cards: fc.Arbitrary<Findable> = fc.record(
  { face: fc.record({ cardType: text, lastFour: text }, { requiredKeys: [] }), customerEmail: text },
  { requiredKeys: ['face'] },
);

describe('the terms of a card', () => {
  it('include, for each word that matches a card, one of the lists read for that word', () => {
    fc.assert(
      fc.property(cards, fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 4 }), (card, cuts) => {
        const told = [card.customerEmail, card.face.cardType, card.face.lastFour].join(' ');
        const words = wordsIn(cuts.map(([from, length]) => told.slice(from, from + length)).join(' '));
        fc.pre(fits(card, words));
        const listed = new Set(termsOfCard(card));
        for (const terms of termsOfWords(words)) expect(terms.some((term) => listed.has(term))).toBe(true);
      }),
      { numRuns: countOf({ full: 5_000, share: 1_000 }) },
    );
  });

  it('are beginnings of its digits, type and address from two characters on, and the term of every card', () => {
    const card = { face: { cardType: 'Visa', lastFour: '4081' }, customerEmail: 'Ada.L@Example.com' };
    expect(new Set(termsOfCard(card))).toEqual(
      new Set(
        ', ada.l@example.com,40,408,4081,vi,vis,visa,ad,ada,ada.,ada.l,ada.l@,ada.l@e,ada.l@ex'.split(','),
      ),
    );
  });
});

const endOf2029 = Date.UTC(2030, 0, 2);

describe('when a saved card expires', () => {
  it.each([
    '12/29',
    '12/2029',
    ' 12 / 29 ',
    '12-29',
    '1229',
    '122029',
    '2029-12',
    '2029/12',
    '202912',
    '2029-12-31',
    '2029-12-31T10:00:00Z',
  ])('is a day after the end of its month, for time zones: %s', (text) => {
    expect(cardExpiresAtMs(text)).toBe(endOf2029);
  });

  it.each(['2/28', '02/28', '2028-2'])('takes a month of one digit: %s', (text) => {
    expect(cardExpiresAtMs(text)).toBe(Date.UTC(2028, 2, 2));
  });

  it.each(['', 'N/A', '13/29', '0/29', '2029', '31/12/2029', 'never', '12/9', '2029-13-01', '999912'])(
    'can’t be read from %j',
    (text) => {
      expect(cardExpiresAtMs(text)).toBeUndefined();
    },
  );
});
