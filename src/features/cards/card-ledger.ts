import { z } from 'zod';
import type { Account } from '../../account.ts';
import { faceOf } from '../../domain/card-face.ts';
import { holdsCardNumber } from '../../domain/card-number.ts';
import type { CardFace } from '../../domain/charge.ts';
import type { SavedCard } from '../../domain/saved-card.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Entry, Store } from '../../store/store.ts';
import {
  type Change,
  type ChangeRecord,
  type RecordStore,
  createChangeRecord,
  pagesOf,
} from '../../records/change-record.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** A remembered card as a person may see it; the e-mail is whole. `id` is its fingerprint and no secret. */
export type LedgerCard = { id: string; face: CardFace; customerEmail?: string; expiry?: string };

type LedgerDeps = {
  store: RecordStore & Pick<Store, 'list'>;
  sealer: Sealer;
  fingerprint: Fingerprint;
  /** A card is forgotten so long after the last news of it, or when it expires. */
  keepMs: number;
  now: () => number;
};

/** Of one merchant account; undefined: switched off. */
export function openLedger(account: Account): CardLedger | undefined {
  const { settings } = account;
  if (settings.cardLedger !== 'on') return undefined;
  return createCardLedger({ ...account, keepMs: settings.savedCardDays * 86_400_000 });
}

/** No member for cardPan: what is not here cannot be stored. */
const storedCard = z.object({
  tokenKey: z.string(),
  cardType: z.string().optional(),
  lastFour: z.string().optional(),
  customerEmail: z.string().optional(),
  expiry: z.string().optional(),
  savedAt: z.number(),
  /** Fingerprints of the addresses it was linked to before, by which an old event is known. */
  formerEmails: z.array(z.string()).optional(),
});
type StoredCard = z.infer<typeof storedCard>;

const mostInList = 100;

type Ledger = LedgerDeps & { changeRecord: ChangeRecord };

export type CardLedger = ReturnType<typeof createCardLedger>;

/**
 * The saved cards that arrived with first-payment events, so that agents choose them and type no token. All of
 * it is sealed. Every method throws StoreUnavailable while the store is away.
 */
export function createCardLedger(deps: LedgerDeps) {
  const ledger: Ledger = { ...deps, changeRecord: createChangeRecord(deps.store) };
  return {
    /** When it resolves the card can be found by every term. One read for a card that is known and unchanged. */
    remember: (card: SavedCard): Promise<void> => remember(ledger, card),
    /** Cards that fit every typed word, newest first; the newest of all when nothing is typed. */
    search: (typed: string, max: number): Promise<readonly LedgerCard[]> => search(ledger, typed, max),
    /** The card with its token key, which is a secret. Throws when its sealing key is not here. */
    async find(id: string): Promise<(LedgerCard & { tokenKey: string }) | undefined> {
      // It comes back from Slack: nothing but a fingerprint shapes a key.
      const entry = /^[\da-f]{32}$/.test(id) ? await deps.store.read(cardKey(id)) : undefined;
      if (!entry) return undefined;
      const card = openCard(ledger, entry);
      return { ...shown(id, card), tokenKey: card.tokenKey };
    },
    idOf: (tokenKey: string): Promise<string> => deps.fingerprint(tokenKey),
    /** Forgets every card linked to the address (upper and lower case alike), and tells how many there were. */
    forget: (email: string): Promise<number> => forget(ledger, email),
    /** False: no such card was remembered. */
    forgetCard: (id: string): Promise<boolean> => forgetIf(ledger, cardKey(id), () => true),
    /** The service has linked the card to another address. An old event that comes again does not undo it. */
    changeEmail: (id: string, newEmail: string): Promise<void> => relink(ledger, id, () => newEmail),
    /** The service has said that the card is not linked to this address: whoever charges it types the right one. */
    forgetEmail: (id: string, wrongEmail: string): Promise<void> =>
      relink(ledger, id, (known) => (known === wrongEmail ? undefined : known)),
  };
}

async function remember(ledger: Ledger, told: SavedCard): Promise<void> {
  const id = await ledger.fingerprint(told.tokenKey);
  const key = cardKey(id);
  await ledger.changeRecord(key, async (value) => {
    // One that cannot be opened is written anew.
    const known = value === undefined ? undefined : openIfPossible(ledger, { key, value });
    const card = await merged(ledger, told, known);
    // Expired: it could not be charged, and what is known of it ends.
    const isNeedless = !card || (value === undefined && leftMs(ledger, card) === 0);
    return isNeedless ? stays : await written(ledger, id, card);
  });
}

/** The card as it is to stand; undefined when it stands so already. What an event does not tell is kept. */
async function merged(
  ledger: Ledger,
  told: SavedCard,
  known: StoredCard | undefined,
): Promise<StoredCard | undefined> {
  const customerEmail = safe(told.customerEmail);
  const isFormer =
    customerEmail !== undefined &&
    known?.formerEmails !== undefined &&
    known.formerEmails.includes(await addressName(ledger, customerEmail));
  const news = withoutUndefined({
    tokenKey: told.tokenKey,
    ...faceOf(told),
    customerEmail: isFormer ? undefined : customerEmail,
    expiry: safe(told.tokenExpiryDate),
  });
  if (!known) return { ...news, savedAt: ledger.now() };
  const before: Readonly<Record<string, unknown>> = known;
  const isKnown = Object.entries(news).every(([name, value]) => before[name] === value);
  return isKnown ? undefined : { ...known, ...news, savedAt: ledger.now() };
}

/** Outside text that is to be stored: a card number in a field of another name is one all the same. */
function safe(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed && !holdsCardNumber(trimmed) ? trimmed : undefined;
}

const stays = { kind: 'keep', result: undefined } as const;

async function written(ledger: Ledger, id: string, card: StoredCard): Promise<Change<void>> {
  const key = cardKey(id);
  const lists = await Promise.all(termsOfCard(shown(id, card)).map((term) => listOf(ledger, term)));
  return {
    kind: 'write',
    value: ledger.sealer.seal(key, JSON.stringify(card)),
    ttlMs: leftMs(ledger, card),
    index: Object.fromEntries(lists.map((list) => [list, card.savedAt])),
    result: undefined,
  };
}

function leftMs({ keepMs, now }: Ledger, { expiry = '', savedAt }: StoredCard): number {
  const forgottenAtMs = Math.min(savedAt + keepMs, cardExpiresAtMs(expiry) ?? Infinity);
  return Math.max(0, forgottenAtMs - now());
}

/**
 * By the word whose list ends first: it has every card that the word fits, so that “visa 4081” is found however many
 * newer Visa cards there are.
 */
async function search(ledger: Ledger, typed: string, max: number): Promise<readonly LedgerCard[]> {
  const words = wordsIn(typed);
  const lists = await Promise.all(termsOfWords(words).map((terms) => newest(ledger, terms)));
  const found = lists.reduce((shortest, list) => (list.size < shortest.size ? list : shortest));
  return [...found.values()]
    .flatMap((entry) => shownIfPossible(ledger, entry) ?? [])
    .filter((card) => fits(card, words))
    .slice(0, Math.max(max, 0));
}

/** By their keys. */
async function newest(ledger: Ledger, terms: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
  const lists = await Promise.all(
    terms.map(async (term) =>
      ledger.store.list(await listOf(ledger, term), { max: mostInList, newestFirst: true }),
    ),
  );
  return new Map(lists.flatMap(({ entries }) => entries).map((entry) => [entry.key, entry]));
}

function shownIfPossible(ledger: Ledger, entry: Entry): LedgerCard | undefined {
  const card = openIfPossible(ledger, entry);
  return card && shown(entry.key.slice(cardPrefix.length), card);
}

function shown(id: string, { cardType, lastFour, customerEmail, expiry }: StoredCard): LedgerCard {
  return withoutUndefined({ id, face: withoutUndefined({ cardType, lastFour }), customerEmail, expiry });
}

async function forget(ledger: Ledger, email: string): Promise<number> {
  const address = termOfEmail(email);
  function isLinked({ customerEmail }: StoredCard): boolean {
    return customerEmail !== undefined && termOfEmail(customerEmail) === address;
  }
  let forgotten = 0;
  for await (const entries of pagesOf(ledger.store, await listOf(ledger, address))) {
    // oxlint-disable-next-line no-await-in-loop -- hundreds at once would keep the store from everybody else
    for (const { key } of entries) if (await forgetIf(ledger, key, isLinked)) forgotten += 1;
  }
  return forgotten;
}

/** Throws for a card that cannot be read: nobody must be told that it is forgotten, or that it was not theirs. */
function forgetIf(ledger: Ledger, key: string, isMeant: (card: StoredCard) => boolean): Promise<boolean> {
  return ledger.changeRecord(key, (value) =>
    value === undefined || !isMeant(openCard(ledger, { key, value }))
      ? { kind: 'keep', result: false }
      : { kind: 'write', value: '', ttlMs: 0, index: {}, result: true },
  );
}

/** Gives the card the address that `judge` makes of the one it is known with; nothing when there is no such card. */
async function relink(
  ledger: Ledger,
  id: string,
  judge: (known: string | undefined) => string | undefined,
): Promise<void> {
  const key = cardKey(id);
  await ledger.changeRecord(key, async (value) => {
    if (value === undefined) return stays;
    const { customerEmail: known, ...card } = openCard(ledger, { key, value });
    const customerEmail = judge(known);
    if (customerEmail === known) return stays;
    const formerEmails = await formerAddresses(ledger, { known, ...card }, customerEmail);
    return await written(ledger, id, { ...card, ...withoutUndefined({ customerEmail }), formerEmails });
  });
}

async function formerAddresses(
  ledger: Ledger,
  { known, formerEmails = [] }: { known: string | undefined; formerEmails?: string[] | undefined },
  newEmail: string | undefined,
): Promise<string[]> {
  const left = known === undefined ? [] : [await addressName(ledger, known)];
  const current = newEmail === undefined ? undefined : await addressName(ledger, newEmail);
  return [...new Set([...formerEmails, ...left])].filter((name) => name !== current);
}

/** An address the card is no longer linked to is remembered by this alone. */
function addressName(ledger: Ledger, email: string): Promise<string> {
  return ledger.fingerprint(`\0former\0${termOfEmail(email)}`);
}

/** An address, digits or a name must not stand in a name. No token key begins with the first character. */
async function listOf(ledger: Ledger, term: string): Promise<string> {
  return `cards:${await ledger.fingerprint(`\0term\0${term}`)}`;
}

const cardPrefix = 'ledger:card:';

function cardKey(id: string): string {
  return cardPrefix + id;
}

type Kept = Pick<Entry, 'key' | 'value'>;

function openIfPossible(ledger: Ledger, kept: Kept): StoredCard | undefined {
  try {
    return openCard(ledger, kept);
  } catch {
    return undefined;
  }
}

/** Throws when the record is sealed with a key that is not here, or is not ours. */
function openCard({ sealer }: Ledger, { key, value }: Kept): StoredCard {
  return storedCard.parse(JSON.parse(sealer.open(key, value)));
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

const dayMs = 86_400_000;

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
