import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { faceOf } from '../../domain/card-face.ts';
import { holdsCardNumber } from '../../domain/card-number.ts';
import type { CardFace } from '../../domain/charge.ts';
import type { NoteAudit } from '../../domain/audit-entry.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import type {
  CardDeletionAnswer,
  CardToDelete,
  SavedCardsAnswer,
  ToldCard,
} from '../../domain/saved-card-list.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import type { CardLedger, LedgerCard } from './card-ledger.ts';
import { catchUp } from '../../records/catch-up.ts';
import { draftsOfCard } from '../../domain/card-drafts.ts';
import { createChangeRecord, pagesOf, type RecordStore } from '../../records/change-record.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { cardFaceShape } from '../../records/shapes.ts';

/** A card of a listing as people may see it: never its token. */
type ListedCard = {
  /** The token's keyed hash; absent when the service told the card without one, and then nothing can be done with it. */
  fingerprint?: string;
  face: CardFace;
  /** As the service wrote it. */
  expiry?: string;
  customerEmail: string;
  /** Whether the bot's own list of cards has it; absent when it keeps none. */
  isKnown?: boolean;
};

/**
 * `total` is more than the cards that are kept only when the service told more than a hundred. `mayHaveMore`: it gave
 * no sign that these are all.
 */
type CardListing = {
  kind: 'listed';
  list: string;
  email: string;
  cards: readonly ListedCard[];
  total: number;
  mayHaveMore?: true;
};

type CardsListed = CardListing | Exclude<SavedCardsAnswer, { kind: 'cards' }>;

/** One card of a listing, as a button names it. */
type ListedPlace = { list: string; index: number; by: string };

type CardDeletion = CardDeletionAnswer & {
  card: ListedCard;
  /** Whether the bot's own records forgot the card; `kept` when it may still exist. */
  records: 'forgotten' | 'behind' | 'kept';
  /** Charges with it that have no outcome yet. */
  open: readonly OrderReference[];
};

/**
 * The saved cards of customers as the service lists them. What was listed is kept for half an hour, sealed, under a
 * random name, so that what a button carries is worth nothing by itself; for nobody but the person it was listed for.
 * All of it throws StoreUnavailable while the store is away, and then nothing was deleted.
 */
export type SavedCardDesk = {
  /** Throws ServiceFailure when the service gave no usable answer. */
  list(email: string, by: string): Promise<CardsListed>;
  /** What was listed, for turning a page; undefined when it is forgotten, or another person's. */
  listed(list: string, by: string): Promise<CardListing | undefined>;
  card(place: ListedPlace): Promise<ListedCard | undefined>;
  /**
   * The card as the bot's own list has it from now on, so that a form can offer it. Undefined: it keeps none, or the
   * listing is gone, or the card was deleted or forgotten since.
   */
  remember(place: ListedPlace): Promise<LedgerCard | undefined>;
  /** Asks once. Undefined when the listing is gone: nothing was sent. */
  remove(place: ListedPlace): Promise<CardDeletion | undefined>;
};

type SavedCardDeskDeps = {
  store: RecordStore & Pick<Store, 'list'>;
  sealer: Sealer;
  listSavedCards: (email: string) => Promise<SavedCardsAnswer>;
  deleteSavedCard: (card: CardToDelete) => Promise<CardDeletionAnswer>;
  /** Undefined: switched off. */
  ledger: Pick<CardLedger, 'remember' | 'changeEmail' | 'find' | 'forgetCard'> | undefined;
  /** Charges of the card that may still move money. */
  underWay: (card: string) => Promise<readonly OrderReference[]>;
  fingerprint: Fingerprint;
  log: Log;
  wait: (ms: number) => Promise<unknown>;
  /** Writes into the audit, in the background; absent: nothing is written down. */
  note?: NoteAudit;
};

const keepMs = 30 * 60_000;
const mostKept = 100;

/** No member for cardPan: what is not here cannot be stored. */
const keptCard = z.object({
  tokenKey: z.string().exactOptional(),
  face: cardFaceShape,
  expiry: z.string().exactOptional(),
  customerEmail: z.string(),
  /** Absent: the address is the one it was found by, which need not be the linked one to the letter. */
  isEmailTold: z.literal(true).exactOptional(),
  /** What the bot knew of the card when it was listed. Absent: nothing. */
  known: z.object({ email: z.string().exactOptional() }).exactOptional(),
  /** Its last deletion from here before it was listed, by the mark of that. */
  deletion: z.string().exactOptional(),
});
const keptListing = z.object({
  by: z.string(),
  email: z.string(),
  total: z.number().int(),
  mayHaveMore: z.literal(true).exactOptional(),
  cards: z.array(keptCard),
});

type KeptCard = z.infer<typeof keptCard>;
type KeptListing = z.infer<typeof keptListing>;

export function createSavedCardDesk(deps: SavedCardDeskDeps): SavedCardDesk {
  async function find(list: string, by: string): Promise<KeptListing | undefined> {
    // It comes back from Slack: nothing but a name of ours shapes a key.
    if (!/^[\da-f]{32}$/.test(list)) return undefined;
    const key = keyOf(list);
    const entry = await deps.store.read(key);
    if (!entry) return undefined;
    const listing = keptListing.parse(JSON.parse(deps.sealer.open(key, entry.value)));
    return listing.by === by ? listing : undefined;
  }
  async function cardAt({ list, index, by }: ListedPlace): Promise<KeptCard | undefined> {
    return (await find(list, by))?.cards[index];
  }
  return {
    async list(email, by) {
      const answer = await deps.listSavedCards(email);
      if (answer.kind !== 'cards') return answer;
      const told = answer.cards.slice(0, mostKept).map((card) => keptOf(card, email));
      const cards = await Promise.all(told.map((card) => asListed(deps, card)));
      const list = randomBytes(16).toString('hex');
      const { mayHaveMore } = answer;
      const listing = withoutUndefined({ by, email, total: answer.cards.length, mayHaveMore, cards });
      const key = keyOf(list);
      const value = deps.sealer.seal(key, JSON.stringify(listing));
      if (!(await deps.store.create(key, value, { ttlMs: keepMs }))) throw new Error('a name came twice');
      return await shown(deps, list, listing);
    },
    async listed(list, by) {
      const listing = await find(list, by);
      return listing && (await shown(deps, list, listing));
    },
    async card(place) {
      const card = await cardAt(place);
      return card && (await shownCard(deps, card));
    },
    async remember(place) {
      const card = await cardAt(place);
      return card && (await remember(deps, card));
    },
    async remove(place) {
      const card = await cardAt(place);
      return card?.tokenKey === undefined
        ? undefined
        : await remove(deps, { ...card, tokenKey: card.tokenKey }, place.by);
    },
  };
}

function keyOf(list: string): string {
  return `saved-cards:${list}`;
}

/** A mark that the card was deleted, which outlives every list of before. */
function deletionKey(id: string): string {
  return `saved-card-deleted:${id}`;
}

/** The e-mail a card is saved against is the one it was found by, where the service does not say. */
function keptOf(told: ToldCard, email: string): KeptCard {
  const { tokenKey = '', tokenExpiryDate, customerEmail } = told;
  function safe(text: string | undefined): string | undefined {
    const trimmed = text?.trim();
    const isSecret = trimmed !== undefined && tokenKey !== '' && trimmed.includes(tokenKey);
    return trimmed && !isSecret && !holdsCardNumber(trimmed) ? trimmed : undefined;
  }
  const { cardType, lastFour } = faceOf({ ...told, tokenKey });
  return withoutUndefined({
    tokenKey: tokenKey === '' ? undefined : tokenKey,
    face: withoutUndefined({ cardType: safe(cardType), lastFour }),
    expiry: safe(tokenExpiryDate),
    customerEmail: safe(customerEmail) ?? email,
    isEmailTold: safe(customerEmail) === undefined ? undefined : (true as const),
  });
}

type AsOf = Pick<KeptCard, 'known' | 'deletion'>;

/** With what the bot knows of the card now, so that what it learns after this is told from it. */
async function asListed(deps: SavedCardDeskDeps, card: KeptCard): Promise<KeptCard> {
  const { ledger, fingerprint } = deps;
  if (!ledger || card.tokenKey === undefined) return card;
  return { ...card, ...(await asOfNow(deps, ledger, await fingerprint(card.tokenKey))) };
}

async function asOfNow(deps: SavedCardDeskDeps, ledger: Ledger, id: string): Promise<AsOf> {
  const [known, deletion] = await Promise.all([knownAs(ledger, id), deletionOf(deps, id)]);
  return withoutUndefined({ known, deletion });
}

async function deletionOf({ store }: SavedCardDeskDeps, id: string): Promise<string | undefined> {
  return (await store.read(deletionKey(id)))?.value;
}

async function shown(deps: SavedCardDeskDeps, list: string, listing: KeptListing): Promise<CardListing> {
  const { by: _by, ...told } = listing;
  const cards = await Promise.all(listing.cards.map((card) => shownCard(deps, card)));
  return { kind: 'listed', ...told, list, cards };
}

async function shownCard({ fingerprint, ledger }: SavedCardDeskDeps, card: KeptCard): Promise<ListedCard> {
  const { tokenKey, face, expiry, customerEmail } = card;
  const told = withoutUndefined({ face, expiry, customerEmail });
  if (tokenKey === undefined) return told;
  const id = await fingerprint(tokenKey);
  const isKnown = ledger && (await knownAs(ledger, id)) !== undefined;
  return withoutUndefined({ ...told, fingerprint: id, isKnown });
}

type Ledger = NonNullable<SavedCardDeskDeps['ledger']>;

/** The address the bot has for the card; undefined: it does not know the card. One that cannot be opened is known all the same. */
async function knownAs(ledger: Ledger, id: string): Promise<KeptCard['known']> {
  try {
    const found = await ledger.find(id);
    return found && withoutUndefined({ email: found.customerEmail });
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    return {};
  }
}

/**
 * The listing is the service's word of when it was made: what it tells counts, whatever an event said before, unless
 * the bot has learnt something since. What was forgotten since stays forgotten.
 */
async function remember(deps: SavedCardDeskDeps, card: KeptCard): Promise<LedgerCard | undefined> {
  const { ledger, fingerprint } = deps;
  const { tokenKey } = card;
  if (!ledger || tokenKey === undefined) return undefined;
  const id = await fingerprint(tokenKey);
  const now = await asOfNow(deps, ledger, id);
  if (now.deletion !== card.deletion || (card.known && !now.known)) return undefined;
  await tellLedger(ledger, id, { ...card, tokenKey, customerEmail: newsOfEmail(card, now) });
  // A deletion marks the card before it forgets it: one of the two has seen the other.
  if ((await deletionOf(deps, id)) !== card.deletion) {
    await ledger.forgetCard(id);
    return undefined;
  }
  const found = await ledger.find(id);
  if (!found) return undefined;
  const { tokenKey: _secret, ...known } = found;
  return known;
}

/** The listing's address, where it counts for more than what the bot has. */
function newsOfEmail({ known, isEmailTold, customerEmail }: KeptCard, now: AsOf): string | undefined {
  if (now.known?.email !== known?.email) return undefined;
  return isEmailTold || now.known?.email === undefined ? customerEmail : undefined;
}

type NewsOfCard = Omit<KeptCard, 'customerEmail'> & { tokenKey: string; customerEmail: string | undefined };

async function tellLedger(
  ledger: Ledger,
  id: string,
  { tokenKey, face, expiry, customerEmail }: NewsOfCard,
): Promise<void> {
  await ledger.remember(
    withoutUndefined({
      tokenKey,
      cardType: face.cardType,
      cardPan: face.lastFour,
      tokenExpiryDate: expiry,
      customerEmail,
    }),
  );
  if (customerEmail !== undefined) await ledger.changeEmail(id, customerEmail);
}

/** Asked once: a person who hears nothing lists the cards again, which tells. */
async function remove(
  deps: SavedCardDeskDeps,
  kept: KeptCard & { tokenKey: string },
  by: string,
): Promise<CardDeletion> {
  const card = await shownCard(deps, kept);
  const { tokenKey, customerEmail } = kept;
  const answer = await deps.deleteSavedCard({ tokenKey, customerEmail });
  deps.log('info', 'Asked for the deletion of a saved card', {
    verb: 'cards',
    userId: by,
    result: answer.kind,
    ...('failure' in answer ? { failure: answer.failure } : {}),
    ...(answer.kind === 'unknown' ? { failure: answer.cause.kind } : {}),
  });
  const what = { what: 'step', verb: 'cards', result: `card_${answer.kind}` } as const;
  deps.note?.({
    ...what,
    who: by,
    ...(card.fingerprint === undefined ? {} : { reference: card.fingerprint }),
  });
  if (answer.kind !== 'deleted' && answer.kind !== 'no_such_card') {
    return { ...answer, card, records: 'kept', open: [] };
  }
  const id = card.fingerprint ?? '';
  const forgotten = await catchUp(deps, 'A deleted card is still remembered', async () => {
    await markDeleted(deps, id);
    await deps.ledger?.forgetCard(id);
    await forgetDrafts(deps.store, id);
  });
  let open: readonly OrderReference[] = [];
  await catchUp(deps, 'Open charges of a deleted card could not be looked for', async () => {
    open = await deps.underWay(id);
  });
  return { ...answer, card, records: forgotten === 'current' ? 'forgotten' : 'behind', open };
}

async function markDeleted({ store }: SavedCardDeskDeps, id: string): Promise<void> {
  const value = randomBytes(8).toString('hex');
  await createChangeRecord(store)(deletionKey(id), () => ({
    kind: 'write',
    value,
    ttlMs: keepMs,
    result: undefined,
  }));
}

/** Forgets every draft about the card: none of them can be agreed to any more. Throws StoreUnavailable. */
export async function forgetDrafts(store: RecordStore & Pick<Store, 'list'>, card: string): Promise<void> {
  const changeRecord = createChangeRecord(store);
  for await (const drafts of pagesOf(store, draftsOfCard(card))) {
    await Promise.all(
      drafts.map(({ key }) =>
        changeRecord(key, () => ({ kind: 'write', value: '', ttlMs: 0, index: {}, result: undefined })),
      ),
    );
  }
}
