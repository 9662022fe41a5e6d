import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { faceOf } from '../../domain/card-face.ts';
import { holdsCardNumber } from '../../domain/card-number.ts';
import { draftKeepMs, draftsOfCard } from '../../domain/card-drafts.ts';
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
import { catchUp } from '../../records/catch-up.ts';
import { createChangeRecord, pagesOf, type RecordStore } from '../../records/change-record.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import { createRecords, type RecordsDeps } from '../../records/records.ts';
import { cardFaceShape } from '../../records/shapes.ts';
import type { Store } from '../../store/store.ts';
import type { CardLedger, LedgerCard } from './card-ledger.ts';

/** A card of a listing as people may see it: never its token. */
export type ListedCard = {
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
export type CardListing = {
  list: string;
  email: string;
  cards: readonly ListedCard[];
  total: number;
  mayHaveMore?: true;
};

/** One card of a listing, as a button names it. */
type ListedPlace = { list: string; index: number; by: string };

export type CardDeletion = CardDeletionAnswer & {
  card: ListedCard;
  /** Whether the bot's own records forgot the card; `kept` when it may still exist. */
  records: 'forgotten' | 'behind' | 'kept';
  /** Charges with it that have no outcome yet. */
  open: readonly string[];
};

const mostKept = 100;

/** No member for cardPan: what is not here cannot be stored. */
const keptCard = z.object({
  tokenKey: z.string().exactOptional(),
  face: cardFaceShape,
  expiry: z.string().exactOptional(),
  customerEmail: z.string(),
  /** Absent: the address is the one it was found by, which need not be the linked one to the letter. */
  isEmailTold: z.literal(true).exactOptional(),
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

export type SavedCardDesk = ReturnType<typeof createSavedCardDesk>;

/**
 * The saved cards of customers as the service lists them. What was listed is kept for half an hour, sealed, under a
 * random name, so that what a button carries is worth nothing by itself; for nobody but the person it was listed for.
 * All of it throws StoreUnavailable while the store is away, and then nothing was deleted.
 */
export function createSavedCardDesk(
  deps: RecordsDeps & {
    listSavedCards: (email: string) => Promise<SavedCardsAnswer>;
    deleteSavedCard: (card: CardToDelete) => Promise<CardDeletionAnswer>;
    /** Undefined: switched off. */
    ledger: Pick<CardLedger, 'remember' | 'find' | 'forgetCard'> | undefined;
    /** Charges of the card that may still move money. */
    underWay: (card: string) => Promise<readonly OrderReference[]>;
    fingerprint: Fingerprint;
    log: Log;
    /** Writes into the audit, in the background; absent: nothing is written down. */
    note?: NoteAudit;
  },
) {
  const { store, ledger, fingerprint, log } = deps;
  const listings = createRecords<KeptListing>(deps, { prefix: 'saved-cards:', schema: keptListing });

  async function find(list: string, by: string): Promise<KeptListing | undefined> {
    // It comes back from Slack: nothing but a name of ours shapes a key.
    const listing = /^[\da-f]{32}$/.test(list) ? await listings.read(list) : undefined;
    return listing?.by === by ? listing : undefined;
  }

  async function cardAt({ list, index, by }: ListedPlace): Promise<KeptCard | undefined> {
    return (await find(list, by))?.cards[index];
  }

  async function shown(list: string, { by: _by, ...listing }: KeptListing): Promise<CardListing> {
    return { ...listing, list, cards: await Promise.all(listing.cards.map(shownCard)) };
  }

  async function shownCard({ tokenKey, face, expiry, customerEmail }: KeptCard): Promise<ListedCard> {
    const told = withoutUndefined({ face, expiry, customerEmail });
    if (tokenKey === undefined) return told;
    const id = await fingerprint(tokenKey);
    const isKnown = ledger && (await knownAs(id)) !== undefined;
    return withoutUndefined({ ...told, fingerprint: id, isKnown });
  }

  /** The address the bot has for the card; undefined: it does not know the card. One that cannot be opened is known all the same. */
  async function knownAs(id: string): Promise<{ email?: string } | undefined> {
    try {
      const found = await ledger?.find(id);
      return found && withoutUndefined({ email: found.customerEmail });
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      return {};
    }
  }

  const isDeleted = async (id: string): Promise<boolean> => (await store.read(deletionKey(id))) !== undefined;

  return {
    /** Throws ServiceFailure when the service gave no usable answer. */
    async list(
      email: string,
      by: string,
    ): Promise<({ kind: 'listed' } & CardListing) | Exclude<SavedCardsAnswer, { kind: 'cards' }>> {
      const answer = await deps.listSavedCards(email);
      if (answer.kind !== 'cards') return answer;
      const cards = answer.cards.slice(0, mostKept).map((card) => keptOf(card, email));
      const { mayHaveMore } = answer;
      const listing = withoutUndefined({ by, email, total: answer.cards.length, mayHaveMore, cards });
      const list = randomBytes(16).toString('hex');
      if (!(await listings.create(list, listing, { ttlMs: draftKeepMs }))) {
        throw new Error('a name came twice');
      }
      return { kind: 'listed', ...(await shown(list, listing)) };
    },
    /** What was listed, for turning a page; undefined when it is forgotten, or another person's. */
    async listed(list: string, by: string): Promise<CardListing | undefined> {
      const listing = await find(list, by);
      return listing && (await shown(list, listing));
    },
    async card(place: ListedPlace): Promise<ListedCard | undefined> {
      const card = await cardAt(place);
      return card && (await shownCard(card));
    },
    /**
     * The card as the bot's own list has it from now on, so that a form can offer it. Undefined: it keeps none, or the
     * listing is gone, or the card was deleted since.
     */
    async remember(place: ListedPlace): Promise<LedgerCard | undefined> {
      const { tokenKey, face, expiry, customerEmail, isEmailTold } = (await cardAt(place)) ?? {};
      if (!ledger || tokenKey === undefined) return undefined;
      const id = await fingerprint(tokenKey);
      if (await isDeleted(id)) return undefined;
      const isBetter = isEmailTold === true || (await knownAs(id))?.email === undefined;
      await ledger.remember(
        withoutUndefined({
          tokenKey,
          cardType: face?.cardType,
          cardPan: face?.lastFour,
          tokenExpiryDate: expiry,
          customerEmail: isBetter ? customerEmail : undefined,
        }),
      );
      // A deletion marks the card before it forgets it: one of the two has seen the other.
      if (await isDeleted(id)) await ledger.forgetCard(id);
      const found = await ledger.find(id);
      if (!found) return undefined;
      const { tokenKey: _secret, ...known } = found;
      return known;
    },
    /** Asks once; a person who hears nothing lists again, which tells. Undefined when the listing is gone: nothing was sent. */
    async remove(place: ListedPlace): Promise<CardDeletion | undefined> {
      const kept = await cardAt(place);
      if (kept?.tokenKey === undefined) return undefined;
      const { tokenKey, customerEmail } = kept;
      const card = await shownCard(kept);
      const answer = await deps.deleteSavedCard({ tokenKey, customerEmail });
      log('info', 'Asked for the deletion of a saved card', {
        verb: 'cards',
        userId: place.by,
        result: answer.kind,
        ...('failure' in answer ? { failure: answer.failure } : {}),
        ...(answer.kind === 'unknown' ? { failure: answer.cause.kind } : {}),
      });
      const id = await fingerprint(tokenKey);
      const result = `card_${answer.kind}`;
      deps.note?.({ what: 'step', verb: 'cards', result, who: place.by, reference: id });
      if (answer.kind !== 'deleted' && answer.kind !== 'no_such_card') {
        return { ...answer, card, records: 'kept', open: [] };
      }
      const forgotten = await catchUp(deps, 'A deleted card is still remembered', async () => {
        await store.create(deletionKey(id), 'deleted', { ttlMs: draftKeepMs });
        await ledger?.forgetCard(id);
        await forgetDrafts(store, id);
      });
      let open: readonly OrderReference[] = [];
      await catchUp(deps, 'Open charges of a deleted card could not be looked for', async () => {
        open = await deps.underWay(id);
      });
      return { ...answer, card, records: forgotten === 'current' ? 'forgotten' : 'behind', open };
    },
  };
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

/** A mark that the card was deleted, which outlives every list of before. */
function deletionKey(id: string): string {
  return `saved-card-deleted:${id}`;
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
