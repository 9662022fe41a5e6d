import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import { faceOf, type SavedCard, holdsCardNumber, type CardFace } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { indexAt, listsFoundBy } from '../../records/found-by.ts';
import { pagesOf } from '../../records/pages.ts';
import { createRecords, isOwnName, isUnreadable, type RecordChange } from '../../records/records.ts';
import { cardFaceShape } from '../../records/shapes.ts';
import { dayMs } from '../../domain/span.ts';

/** A remembered card as a person may see it; the e-mail is whole. `id` is its fingerprint and no secret. */
export type LedgerCard = { id: string; face: CardFace; customerEmail?: string; expiry?: string };

/** Of one merchant account; undefined: switched off. */
export function openLedger(account: Account): CardLedger | undefined {
  const { settings } = account;
  if (settings.cardLedger !== 'on') return undefined;
  return createCardLedger(account, settings.savedCardDays * dayMs);
}

/** No member for cardPan: what is not here cannot be stored. */
const storedCard = z.object({
  tokenKey: z.string(),
  face: cardFaceShape,
  customerEmail: z.string().exactOptional(),
  expiry: z.string().exactOptional(),
  savedAt: z.number(),
});
type StoredCard = z.infer<typeof storedCard>;

export const storedCardKind = { prefix: 'ledger:card:', schema: storedCard };

const mostInList = 100;

const forgotten: StoredCard = { tokenKey: '', face: {}, savedAt: 0 };

export type CardLedger = ReturnType<typeof createCardLedger>;

/**
 * The saved cards that arrived with first-payment events, so that agents choose them and type no token. All of
 * it is sealed. Every method throws StoreUnavailable while the store is away. A card is forgotten so long (`keepMs`) after
 * the last news of it, or when it expires.
 */
export function createCardLedger(
  account: Pick<Account, 'store' | 'sealer' | 'fingerprint' | 'now' | 'wait' | 'log'>,
  keepMs: number,
) {
  const { store, fingerprint, now } = account;

  /** An address, digits or a name must not stand in a name. No token key begins with the first character. */
  const listOf = async (term: string): Promise<string> => `cards:${await fingerprint(`\0term\0${term}`)}`;

  const cards = createRecords<StoredCard>(account, {
    ...storedCardKind,
    async lists(card) {
      const names = await Promise.all(termsOfCard(card).map(listOf));
      return indexAt([...names, ...(await listsFoundBy(account, card))], card.savedAt);
    },
  });

  function leftMs({ expiry = '', savedAt }: StoredCard): number {
    return Math.max(0, Math.min(savedAt + keepMs, cardExpiresAtMs(expiry) ?? Infinity) - now());
  }

  const written = (value: StoredCard): RecordChange<StoredCard, void> => ({
    kind: 'write',
    value,
    rest: { ttlMs: leftMs(value) },
    result: undefined,
  });

  async function shown({ tokenKey, savedAt: _savedAt, ...card }: StoredCard): Promise<LedgerCard> {
    return { id: await fingerprint(tokenKey), ...card };
  }

  /** By their tokens, newest first. */
  async function newest(terms: readonly string[]): Promise<ReadonlyMap<string, StoredCard>> {
    const lists = await Promise.all(
      terms.map(async (term) => cards.list(await listOf(term), { max: mostInList, newestFirst: true })),
    );
    return new Map(lists.flat().map((card) => [card.tokenKey, card]));
  }

  /** False: there is none, or it is not the one that was meant. */
  function forgetIf(id: string, isMeant: (card: StoredCard) => boolean): Promise<boolean> {
    return cards.change<boolean>(id, (card) =>
      card && isMeant(card)
        ? { kind: 'write', value: forgotten, rest: { ttlMs: 0 }, result: true }
        : { kind: 'keep', result: false },
    );
  }

  /** Gives the card the address that `judge` makes of the one it is known with; nothing when there is no such card. */
  function relink(id: string, judge: (known: string | undefined) => string | undefined): Promise<void> {
    return cards.change<void>(id, (card) => {
      const customerEmail = judge(card?.customerEmail);
      if (!card || customerEmail === card.customerEmail) return stays;
      const { customerEmail: _known, ...rest } = card;
      return written({ ...rest, ...withoutUndefined({ customerEmail }), savedAt: now() });
    });
  }

  return {
    /** When it resolves the card can be found by every term. One read for a card that is known and unchanged. */
    async remember(told: SavedCard): Promise<void> {
      const id = await fingerprint(told.tokenKey);
      const change = (): Promise<void> =>
        cards.change<void>(id, (known) => {
          const card = merged(told, known, now());
          // Expired: it could not be charged, and what is known of it ends.
          const isNeedless = !card || (!known && leftMs(card) === 0);
          return isNeedless ? stays : written(card);
        });
      try {
        await change();
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        const entry = await store.read(cards.keyOf(id));
        if (entry) await store.write(entry, '', { ttlMs: 0, index: {} });
        await change();
      }
    },

    /**
     * Cards that fit every typed word, newest first; the newest of all when nothing is typed. By the word whose list ends
     * first: it has every card that the word fits, so that “visa 4081” is found however many newer Visa cards there are.
     */
    async search(typed: string, max: number): Promise<readonly LedgerCard[]> {
      const words = wordsIn(typed);
      const lists = await Promise.all(termsOfWords(words).map(newest));
      const found = lists.reduce((shortest, list) => (list.size < shortest.size ? list : shortest));
      const fitting = [...found.values()].filter((card) => fits(card, words));
      return await Promise.all(fitting.slice(0, Math.max(max, 0)).map(shown));
    },

    /** The card with its token key, which is a secret, and when it last changed. Throws when its sealing key is not here. */
    async find(id: string): Promise<(LedgerCard & { tokenKey: string; savedAt: number }) | undefined> {
      const card = isOwnName(id) ? await cards.read(id) : undefined;
      return card && { ...(await shown(card)), tokenKey: card.tokenKey, savedAt: card.savedAt };
    },

    idOf: (tokenKey: string): Promise<string> => fingerprint(tokenKey),

    /**
     * Forgets every card linked to the address (upper and lower case alike), and tells how many there were. Throws for one
     * that cannot be read: nobody must be told that it is forgotten, or that it was not theirs.
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

    /** False: no such card was remembered. */
    forgetCard: (id: string): Promise<boolean> => forgetIf(id, () => true),
    /** The service has linked the card to another address. */
    changeEmail: (id: string, newEmail: string): Promise<void> => relink(id, () => newEmail),
    /** The service has said that the card is not linked to this address: whoever charges it types the right one. */
    forgetEmail: (id: string, wrongEmail: string): Promise<void> =>
      relink(id, (known) => (known === wrongEmail ? undefined : known)),
  };
}

const stays = { kind: 'keep', result: undefined } as const;

/** The card as it is to stand; undefined when it stands so already. What an event does not tell is kept. */
function merged(told: SavedCard, known: StoredCard | undefined, savedAt: number): StoredCard | undefined {
  const news = withoutUndefined({
    customerEmail: safe(told.customerEmail),
    expiry: safe(told.tokenExpiryDate),
  });
  const face = { ...known?.face, ...faceOf(told) };
  const card = { ...known, tokenKey: told.tokenKey, face, ...news, savedAt };
  return known && isDeepStrictEqual(card, { ...known, savedAt }) ? undefined : card;
}

/** Outside text that is to be stored: a card number in a field of another name is one all the same. */
function safe(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed && !holdsCardNumber(trimmed) ? trimmed : undefined;
}

/** By what a card is found. */
export type Findable = { face: CardFace; customerEmail?: string };

/** Typed words are found by their first characters up to here; an e-mail address also as a whole. */
const longestPrefix = 8;
const shortestPrefix = 2;
/** More words than these narrow the result without being looked up themselves. */
const mostWordsLookedUp = 5;

/** The term under which every card stands: nobody can type it. */
const everyCard = '';

/**
 * Every term a card is listed under. A word of at least two characters fits a card (`fits`) exactly when the
 * card is listed under the word's own term (`termsOfWord`), so that no word leads past a card it fits.
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

/** The term of a whole address, upper and lower case alike: begins with a blank, so that no word's term is the same. */
function termOfEmail(email: string): string {
  return ` ${normalised(email)}`;
}

/** The words of a search, in the form in which they are compared. */
export function wordsIn(typed: string): string[] {
  return normalised(typed.slice(0, 300))
    .split(/[\s,;·]+/u)
    .map((word) => word.replace(/^[*•#]+/u, ''))
    .filter((word) => word !== '');
}

/**
 * Each inner list is one word's terms, the narrowest first: together they list every card that the word fits.
 * Without a word that can be looked up it is the term of every card.
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
  // A whole address may also be the beginning of a longer one.
  return word.length > longestPrefix && word.includes('@') ? [termOfEmail(word), prefix] : [prefix];
}

/** Whether the card has every word, in any order, at the beginning of its address, its type's words or its last four digits. */
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
 * When a saved card has surely expired (UTC ms): the end of its month, and a day for the time zones. Undefined where the
 * text does not say. Spec: not shown; month and year in either order are read, and a whole date by its month.
 */
export function cardExpiresAtMs(text: string): number | undefined {
  const yearFirst = /^\s*(20\d\d)\s*[-/.]?\s*(\d\d?)([-/.]\d\d?(T.*)?)?\s*$/.exec(text);
  const monthFirst = /^\s*(\d\d?)\s*[-/.]?\s*((?:20)?\d\d)\s*$/.exec(text);
  for (const [year, month] of [
    [yearFirst?.[1], yearFirst?.[2]],
    [monthFirst?.[2], monthFirst?.[1]],
  ].map((parts) => parts.map(Number))) {
    if (year === undefined || month === undefined || !(month >= 1 && month <= 12)) continue;
    // Months are counted from 0: this is the first day of the next.
    return Date.UTC(year < 100 ? 2000 + year : year, month, 1) + dayMs;
  }
  return undefined;
}
