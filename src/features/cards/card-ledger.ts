import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import { faceOf, type SavedCard, holdsCardNumber, type CardFace } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { indexAt, searchLists } from '../../records/found-by.ts';
import { pagesOf } from '../../records/pages.ts';
import { createRecords, isHexId, isUnreadable, type RecordChange } from '../../records/records.ts';
import { cardFaceShape } from '../../records/shapes.ts';
import { dayMs } from '../../domain/span.ts';

/** A remembered card for display; the e-mail is unmasked. `id` is the card's fingerprint, which is no secret. */
export type LedgerCard = { id: string; face: CardFace; customerEmail?: string; expiry?: string };

/** One account's ledger; undefined if it is switched off. */
export function openLedger(account: Account): CardLedger | undefined {
  const { settings } = account;
  if (settings.cardLedger !== 'on') return undefined;
  return createCardLedger(account, settings.savedCardDays * dayMs);
}

/** There is no field for the card number, so it can't be stored. */
const storedCardShape = z.object({
  tokenKey: z.string(),
  face: cardFaceShape,
  customerEmail: z.string().exactOptional(),
  expiry: z.string().exactOptional(),
  savedAt: z.number(),
});
type StoredCard = z.infer<typeof storedCardShape>;

export const storedCard = { prefix: 'ledger:card:', schema: storedCardShape };

const mostInList = 100;

/** Overwrites a card that is forgotten. */
const blank: StoredCard = { tokenKey: '', face: {}, savedAt: 0 };

export type CardLedger = ReturnType<typeof createCardLedger>;

/**
 * Remembers saved cards from events of first payments, so that agents choose cards instead of pasting tokens.
 * Everything is sealed. A card is forgotten `keepMs` after its last change, or when it expires. Methods throw
 * StoreUnavailable.
 */
export function createCardLedger(
  account: Pick<Account, 'store' | 'sealer' | 'fingerprint' | 'now' | 'wait' | 'log'>,
  keepMs: number,
) {
  const { store, fingerprint, now } = account;

  /**
   * The name of a term's list. The term is hashed, because it may be an address or digits. `\0term` keeps it apart from
   * token keys, which are hashed in the same way.
   */
  const listOf = async (term: string): Promise<string> => `cards:${await fingerprint(`\0term\0${term}`)}`;

  const cards = createRecords<StoredCard>(account, {
    ...storedCard,
    async lists(card) {
      const names = await Promise.all(termsOfCard(card).map(listOf));
      return indexAt([...names, ...(await searchLists(account, card))], card.savedAt);
    },
  });

  function leftMs({ expiry = '', savedAt }: StoredCard): number {
    return Math.max(0, Math.min(savedAt + keepMs, cardExpiresAtMs(expiry) ?? Infinity) - now());
  }

  const written = (value: StoredCard): RecordChange<StoredCard, void> => ({
    kind: 'write',
    value,
    schedule: { ttlMs: leftMs(value) },
    result: undefined,
  });

  async function shown({ tokenKey, savedAt: _savedAt, ...card }: StoredCard): Promise<LedgerCard> {
    return { id: await fingerprint(tokenKey), ...card };
  }

  /** The cards of these terms' lists, by token key; of each list newest first. */
  async function newest(terms: readonly string[]): Promise<ReadonlyMap<string, StoredCard>> {
    const lists = await Promise.all(
      terms.map(async (term) => cards.list(await listOf(term), { max: mostInList, newestFirst: true })),
    );
    return new Map(lists.flat().map((card) => [card.tokenKey, card]));
  }

  /** Forgets the card if the condition holds. False: it doesn't, or there is no such card. */
  function forgetIf(id: string, condition: (card: StoredCard) => boolean): Promise<boolean> {
    return cards.change<boolean>(id, (card) =>
      card && condition(card)
        ? { kind: 'write', value: blank, schedule: { ttlMs: 0 }, result: true }
        : { kind: 'keep', result: false },
    );
  }

  /** Changes the card's address; undefined removes it. Does nothing without such a card. */
  function relink(id: string, change: (known: string | undefined) => string | undefined): Promise<void> {
    return cards.change<void>(id, (card) => {
      const customerEmail = change(card?.customerEmail);
      if (!card || customerEmail === card.customerEmail) return unchanged;
      const { customerEmail: _known, ...rest } = card;
      return written({ ...rest, ...withoutUndefined({ customerEmail }), savedAt: now() });
    });
  }

  return {
    /** Stores or updates a card. Costs one read for a known, unchanged card. */
    async remember(received: SavedCard): Promise<void> {
      const id = await fingerprint(received.tokenKey);
      const change = (): Promise<void> =>
        cards.change<void>(id, (known) => {
          const card = merged(received, known, now());
          // Don't remember an expired card: it can't be charged.
          return !card || (!known && leftMs(card) === 0) ? unchanged : written(card);
        });
      try {
        await change();
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        // The stored card's sealing key was removed: replace the record.
        const entry = await store.read(cards.keyOf(id));
        if (entry) await store.write(entry, '', { ttlMs: 0, index: {} });
        await change();
      }
    },

    /**
     * Cards that match every typed word, newest first; without words the newest cards. Reads each word's list, newest
     * cards first, and filters the shortest list: one that isn't full has every card with its word. So “visa 4081” is
     * found however many newer Visa cards there are.
     */
    async search(typed: string, max: number): Promise<readonly LedgerCard[]> {
      const words = wordsIn(typed);
      const lists = await Promise.all(termsOfWords(words).map(newest));
      const found = lists.reduce((shortest, list) => (list.size < shortest.size ? list : shortest));
      const fitting = [...found.values()].filter((card) => fits(card, words));
      return await Promise.all(fitting.slice(0, Math.max(max, 0)).map(shown));
    },

    /** The card with its token key, which is a secret. Throws without its sealing key. */
    async find(id: string): Promise<(LedgerCard & { tokenKey: string; savedAt: number }) | undefined> {
      const card = isHexId(id) ? await cards.read(id) : undefined;
      return card && { ...(await shown(card)), tokenKey: card.tokenKey, savedAt: card.savedAt };
    },

    idOf: (tokenKey: string): Promise<string> => fingerprint(tokenKey),

    /**
     * Forgets every card of the address (upper and lower case are the same), and returns their number. Throws if a card
     * is unreadable: it may be of this address.
     */
    async forget(email: string): Promise<number> {
      const address = termOfEmail(email);
      const isLinked = ({ customerEmail = '' }: StoredCard): boolean =>
        termOfEmail(customerEmail) === address;
      let count = 0;
      for await (const entries of pagesOf(store, await listOf(address))) {
        for (const entry of entries) if (await forgetIf(cards.idOf(entry), isLinked)) count += 1;
      }
      return count;
    },

    /** Forgets one card; false: there is no such card. */
    forgetCard: (id: string): Promise<boolean> => forgetIf(id, () => true),
    /** For a card that the service has linked to another address. */
    changeEmail: (id: string, newEmail: string): Promise<void> => relink(id, () => newEmail),
    /** For an address that the service says is not the card's. The next agent must type the right one. */
    forgetEmail: (id: string, wrongEmail: string): Promise<void> =>
      relink(id, (known) => (known === wrongEmail ? undefined : known)),
  };
}

const unchanged = { kind: 'keep', result: undefined } as const;

/** The card to store; undefined if nothing changed. Fields that the event leaves out are kept. */
function merged(received: SavedCard, known: StoredCard | undefined, savedAt: number): StoredCard | undefined {
  const changed = withoutUndefined({
    customerEmail: safe(received.customerEmail),
    expiry: safe(received.tokenExpiryDate),
  });
  const face = { ...known?.face, ...faceOf(received) };
  const card = { ...known, tokenKey: received.tokenKey, face, ...changed, savedAt };
  return known && isDeepStrictEqual(card, { ...known, savedAt }) ? undefined : card;
}

/** Outside text that may be stored; undefined if it may contain a card number, which can be in any field. */
function safe(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed && !holdsCardNumber(trimmed) ? trimmed : undefined;
}

/** The parts of a card by which people search. */
export type Findable = { face: CardFace; customerEmail?: string };

/**
 * There is a list for each beginning of a word that has `shortestPrefix` to `longestPrefix` characters, and one for a
 * whole e-mail address.
 */
const longestPrefix = 8;
const shortestPrefix = 2;
/** For this many words lists are read; further words only filter the result. */
const mostWordsLookedUp = 5;

/** The term of every card. It is empty, so no typed word equals it. */
const everyCard = '';

/**
 * The terms of all lists that a card is in. If a word of two characters or more matches the card (`fits`), the card is
 * in one of the lists that are read for that word (`termsOfWord`), so no matching card is missed.
 */
export function termsOfCard(card: Findable): string[] {
  const terms = new Set([everyCard]);
  for (const token of tokensOf(card)) {
    for (let length = shortestPrefix; length <= Math.min(longestPrefix, token.length); length += 1) {
      terms.add(token.slice(0, length));
    }
  }
  if (card.customerEmail !== undefined) terms.add(termOfEmail(card.customerEmail));
  return [...terms];
}

/** The term of a whole address, ignoring case. Begins with a blank, unlike a word's term. */
function termOfEmail(email: string): string {
  return ` ${normalised(email)}`;
}

/** The normalised words of a search. */
export function wordsIn(typed: string): string[] {
  return normalised(typed.slice(0, 300))
    .split(/[\s,;·]+/u)
    .map((word) => word.replace(/^[*•#]+/u, ''))
    .filter((word) => word !== '');
}

/**
 * For each word the terms whose lists contain every card with that word, narrowest first. Without usable words the term
 * of every card.
 */
export function termsOfWords(words: readonly string[]): string[][] {
  const usable = words
    .filter((word) => word.length >= shortestPrefix)
    .toSorted((one, other) => other.length - one.length)
    .slice(0, mostWordsLookedUp);
  return usable.length === 0 ? [[everyCard]] : usable.map(termsOfWord);
}

function termsOfWord(word: string): string[] {
  const prefix = word.slice(0, longestPrefix);
  // The prefix too: this address may be the beginning of a longer one.
  return word.length > longestPrefix && word.includes('@') ? [termOfEmail(word), prefix] : [prefix];
}

/** Whether every word is the beginning of the card's address, of a word of its type, or of its last four digits. */
export function fits(card: Findable, words: readonly string[]): boolean {
  const tokens = tokensOf(card);
  return words.every((word) => tokens.some((token) => token.startsWith(word)));
}

function tokensOf({ face, customerEmail }: Findable): string[] {
  const { cardType, lastFour } = face;
  const texts = [customerEmail, lastFour].filter((text) => text !== undefined).map(normalised);
  return [...texts, ...(cardType === undefined ? [] : wordsIn(cardType))].filter((token) => token !== '');
}

function normalised(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

/**
 * When a saved card has certainly expired (UTC ms): at the end of its month, plus a day for time zones. Undefined if
 * the text is unreadable. Reads month and year in either order, and a whole date by its month. Spec: not shown.
 */
export function cardExpiresAtMs(text: string): number | undefined {
  const yearFirst = /^\s*(20\d\d)\s*[-/.]?\s*(\d\d?)([-/.]\d\d?(T.*)?)?\s*$/.exec(text);
  const monthFirst = /^\s*(\d\d?)\s*[-/.]?\s*((?:20)?\d\d)\s*$/.exec(text);
  for (const [year, month] of [
    [yearFirst?.[1], yearFirst?.[2]],
    [monthFirst?.[2], monthFirst?.[1]],
  ].map((parts) => parts.map(Number))) {
    if (year === undefined || month === undefined || !(month >= 1 && month <= 12)) continue;
    // In JavaScript months count from 0, so this is the first day of the next month.
    return Date.UTC(year < 100 ? 2000 + year : year, month, 1) + dayMs;
  }
  return undefined;
}
