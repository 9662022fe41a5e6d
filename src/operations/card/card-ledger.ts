import { z } from 'zod';
import { cardExpiresAtMs } from './card-expiry.ts';
import { faceOf } from '../../domain/card-face.ts';
import { holdsCardNumber } from '../../domain/card-number.ts';
import type { CardFace } from '../../domain/charge-terms.ts';
import type { SavedCard } from '../../domain/saved-card.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Entry, Store } from '../../store/store.ts';
import { createCardLists, type CardLists } from './card-lists.ts';
import { fits, termOfEmail, termsOfCard, termsOfWords, wordsIn } from './card-terms.ts';
import type { Fingerprint } from '../work/fingerprint.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** A remembered card as a person may see it; the e-mail is whole. `id` is its fingerprint and no secret. */
export type LedgerCard = { id: string; face: CardFace; customerEmail?: string; expiry?: string };

/**
 * The saved cards that arrived with first-payment events, so that agents choose them and type no token. All of
 * it is sealed. Every method throws StoreUnavailable while the store is away.
 */
export type CardLedger = {
  /** When it resolves the card can be found by every term. One read for a card that is known and unchanged. */
  remember(card: SavedCard): Promise<void>;
  /** Cards that fit every typed word, newest first; the newest of all when nothing is typed. */
  search(typed: string, max: number): Promise<readonly LedgerCard[]>;
  /** The card with its token key, which is a secret. Throws when its sealing key is not here. */
  find(id: string): Promise<(LedgerCard & { tokenKey: string }) | undefined>;
  idOf(tokenKey: string): Promise<string>;
  /** Forgets every card linked to the address (upper and lower case alike), and tells how many there were. */
  forget(email: string): Promise<number>;
  /** False: no such card was remembered. */
  forgetCard(id: string): Promise<boolean>;
  /** The service has linked the card to another address. An old event that comes again does not undo it. */
  changeEmail(id: string, newEmail: string): Promise<void>;
  /** The service has said that the card is not linked to this address: whoever charges it types the right one. */
  forgetEmail(id: string, wrongEmail: string): Promise<void>;
};

export type LedgerDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  fingerprint: Fingerprint;
  /** A card is forgotten so long after the last news of it, or when it expires. */
  keepMs: number;
  now: () => number;
};

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

/** What a card's record was read as; `unreadable`: sealed with a key that is not here, or not ours. */
type Reading = { entry: Entry; card: StoredCard | undefined } | undefined;

const mostInList = 100;
/** Forgetting goes by this list, so one address would need more cards than this for one to be left over. */
const mostOfAddress = 1_000;
const readAtOnce = 25;
const mostTries = 20;

export function createCardLedger(deps: LedgerDeps): CardLedger {
  const ledger: Ledger = { ...deps, lists: createCardLists(deps.store, deps.sealer) };
  return {
    remember: (card) => remember(ledger, card),
    search: (typed, max) => search(ledger, typed, max),
    async find(id) {
      const reading = await readCard(ledger, id);
      if (!reading) return undefined;
      const card = reading.card ?? openCard(ledger, reading.entry);
      return { ...shown(id, card), tokenKey: card.tokenKey };
    },
    idOf: (tokenKey) => deps.fingerprint(tokenKey),
    forget: (email) => forget(ledger, email),
    forgetCard: (id) => forgetIf(ledger, id, () => true),
    changeEmail: (id, newEmail) => relink(ledger, id, () => newEmail),
    forgetEmail: (id, wrongEmail) =>
      relink(ledger, id, (known) => (known === wrongEmail ? undefined : known)),
  };
}

type Ledger = LedgerDeps & { lists: CardLists };

async function remember(ledger: Ledger, told: SavedCard): Promise<void> {
  const id = await ledger.fingerprint(told.tokenKey);
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each try reads what the last one lost to
    const reading = await readCard(ledger, id);
    // oxlint-disable-next-line no-await-in-loop
    const card = await merged(ledger, told, reading?.card);
    if (!card) return;
    // oxlint-disable-next-line no-await-in-loop
    if (await keep(ledger, { id, entry: reading?.entry, card })) return;
  }
  throw new StoreUnavailable('a card was changed again and again while it was remembered');
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

/**
 * Its lists come first: a card that is there is in all of them, so that a known card need not be listed again,
 * and an id that leads nowhere is passed over by whoever reads the list. A new card is listed once more after
 * it was written: somebody who forgot its predecessor may have taken it off meanwhile. False: somebody else
 * wrote the card.
 */
async function keep(
  ledger: Ledger,
  { id, entry, card }: { id: string; entry: Entry | undefined; card: StoredCard },
): Promise<boolean> {
  const ttlMs = leftMs(ledger, card);
  // Expired: it could not be charged, and what is known of it ends.
  if (ttlMs === 0 && !entry) return true;
  await enlist(ledger, id, card);
  const key = cardKey(id);
  const value = ledger.sealer.seal(key, JSON.stringify(card));
  if (entry) return (await ledger.store.write(entry, value, { ttlMs })) !== undefined;
  const isNew = await ledger.store.create(key, value, { ttlMs });
  if (isNew) await enlist(ledger, id, card);
  return isNew;
}

function leftMs({ keepMs, now }: Ledger, { expiry = '', savedAt }: StoredCard): number {
  const forgottenAtMs = Math.min(savedAt + keepMs, cardExpiresAtMs(expiry) ?? Infinity);
  return Math.max(0, forgottenAtMs - now());
}

async function enlist(ledger: Ledger, id: string, card: StoredCard): Promise<void> {
  const found = shown(id, card);
  const address = found.customerEmail === undefined ? undefined : termOfEmail(found.customerEmail);
  await Promise.all(
    termsOfCard(found).map(async (term) => {
      const most = term === address ? mostOfAddress : mostInList;
      await ledger.lists.add(await listKey(ledger, term), id, most);
    }),
  );
}

/** Off the lists of what it was, so that what leads nowhere takes no card's place. */
async function delist(ledger: Ledger, id: string, terms: readonly string[]): Promise<void> {
  await Promise.all(terms.map(async (term) => ledger.lists.remove(await listKey(ledger, term), id)));
  // Told again meanwhile: whoever wrote it may have listed it before it was taken off.
  const reading = await readCard(ledger, id);
  if (reading?.card) await enlist(ledger, id, reading.card);
}

async function search(ledger: Ledger, typed: string, max: number): Promise<readonly LedgerCard[]> {
  const words = wordsIn(typed);
  const ids = await candidates(ledger, words);
  const found: LedgerCard[] = [];
  for (let at = 0; at < ids.length && found.length < max; at += readAtOnce) {
    // oxlint-disable-next-line no-await-in-loop -- mostly the first batch is enough
    const cards = await Promise.all(ids.slice(at, at + readAtOnce).map((id) => readShown(ledger, id)));
    found.push(...cards.filter((card) => card !== undefined).filter((card) => fits(card, words)));
  }
  return found.slice(0, Math.max(max, 0));
}

/**
 * The shortest of the words' lists: a list that is not full has every card its word fits, so that “visa 4081”
 * is found however many newer Visa cards there are.
 */
async function candidates(ledger: Ledger, words: readonly string[]): Promise<readonly string[]> {
  const lists = await Promise.all(
    termsOfWords(words).map(async (terms) => {
      const parts = await Promise.all(
        terms.map(async (term) => ledger.lists.read(await listKey(ledger, term))),
      );
      return [...new Set(parts.flat())];
    }),
  );
  return lists.reduce((shortest, list) => (list.length < shortest.length ? list : shortest));
}

async function readShown(ledger: Ledger, id: string): Promise<LedgerCard | undefined> {
  const reading = await readCard(ledger, id);
  return reading?.card && shown(id, reading.card);
}

function shown(id: string, { cardType, lastFour, customerEmail, expiry }: StoredCard): LedgerCard {
  return withoutUndefined({ id, face: withoutUndefined({ cardType, lastFour }), customerEmail, expiry });
}

async function forget(ledger: Ledger, email: string): Promise<number> {
  const address = termOfEmail(email);
  function isLinked(card: StoredCard): boolean {
    return card.customerEmail !== undefined && termOfEmail(card.customerEmail) === address;
  }
  const ids = await ledger.lists.read(await listKey(ledger, address));
  let forgotten = 0;
  for (let at = 0; at < ids.length; at += readAtOnce) {
    // oxlint-disable-next-line no-await-in-loop -- a thousand at once would keep the store from everybody else
    const ends = await Promise.all(
      ids.slice(at, at + readAtOnce).map((id) => forgetIf(ledger, id, isLinked)),
    );
    forgotten += ends.filter(Boolean).length;
  }
  return forgotten;
}

/** Throws for a card that cannot be read: nobody must be told that it is forgotten, or that it was not theirs. */
async function forgetIf(
  ledger: Ledger,
  id: string,
  isMeant: (card: StoredCard) => boolean,
): Promise<boolean> {
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each try reads what the last one lost to
    const reading = await readCard(ledger, id);
    if (!reading) return false;
    const card = reading.card ?? openCard(ledger, reading.entry);
    if (!isMeant(card)) return false;
    // oxlint-disable-next-line no-await-in-loop
    if (!(await ledger.store.write(reading.entry, '', { ttlMs: 0 }))) continue;
    // oxlint-disable-next-line no-await-in-loop
    await delist(ledger, id, termsOfCard(shown(id, card)));
    return true;
  }
  throw new StoreUnavailable('a card was changed again and again while it was forgotten');
}

/** Gives the card the address that `judge` makes of the one it is known with; nothing when there is no such card. */
async function relink(
  ledger: Ledger,
  id: string,
  judge: (known: string | undefined) => string | undefined,
): Promise<void> {
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each try reads what the last one lost to
    const reading = await readCard(ledger, id);
    if (!reading) return;
    const { customerEmail: known, ...card } = reading.card ?? openCard(ledger, reading.entry);
    const customerEmail = judge(known);
    if (customerEmail === known) return;
    // oxlint-disable-next-line no-await-in-loop
    const formerEmails = await formerAddresses(ledger, { known, ...card }, customerEmail);
    const linked = { ...card, ...withoutUndefined({ customerEmail }), formerEmails };
    // oxlint-disable-next-line no-await-in-loop
    if (!(await keep(ledger, { id, entry: reading.entry, card: linked }))) continue;
    const kept = new Set(termsOfCard(shown(id, linked)));
    const before = withoutUndefined({ ...card, customerEmail: known });
    const left = termsOfCard(shown(id, before)).filter((term) => !kept.has(term));
    // oxlint-disable-next-line no-await-in-loop
    return await delist(ledger, id, left);
  }
  throw new StoreUnavailable('a card was changed again and again while its e-mail was changed');
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

/** An address, digits or a name must not stand in a key. No token key begins with the first character. */
async function listKey(ledger: Ledger, term: string): Promise<string> {
  return `ledger:find:${await ledger.fingerprint(`\0term\0${term}`)}`;
}

function cardKey(id: string): string {
  return `ledger:card:${id}`;
}

/** An id comes back from Slack: nothing but a fingerprint shapes a key. */
async function readCard(ledger: Ledger, id: string): Promise<Reading> {
  if (!/^[\da-f]{32}$/.test(id)) return undefined;
  const entry = await ledger.store.read(cardKey(id));
  if (!entry) return undefined;
  try {
    return { entry, card: openCard(ledger, entry) };
  } catch {
    // Told anew it is written anew; who needs it as it is opens it again and hears why it cannot be.
    return { entry, card: undefined };
  }
}

/** Throws when the record is sealed with a key that is not here, or is not ours. */
function openCard(ledger: Ledger, entry: Entry): StoredCard {
  return storedCard.parse(JSON.parse(ledger.sealer.open(entry.key, entry.value)));
}
