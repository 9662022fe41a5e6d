import type { Account } from '../../account.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { faceOf, draftKeepMs } from '../../domain/saved-card.ts';
import { holdsCardNumber } from '../../domain/card-number.ts';
import type { CardFace } from '../../domain/charge.ts';
import type { NoteAudit } from '../../domain/audit-entry.ts';
import type {
  CardDeletionAnswer,
  CardToDelete,
  SavedCardsAnswer,
  ToldCard,
} from '../../payments/saved-cards.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Log } from '../../log.ts';
import { catchUp } from '../../records/insist.ts';
import type { Fingerprint } from '../../records/fingerprint.ts';
import { createRecords } from '../../records/records.ts';
import { cardFaceShape } from '../../records/shapes.ts';
import type { CardLedger, LedgerCard } from './card-ledger.ts';

/** A card of a listing as people may see it: never its token. */
export type ListedCard = {
  /** The token's keyed hash; absent when the service told the card without one, and then nothing can be done with it. */
  fingerprint?: string;
  face: CardFace;
  /** As the service wrote it. */
  expiry?: string;
  customerEmail: string;
};

/** `total`: of all that the service told. `mayHaveMore`: it gave no sign that these are all. */
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
};

/** More than a person reads at once; with their buttons and dialogs they stay well below what Slack takes in one message. */
const mostListed = 12;

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
  atMs: z.number(),
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
  deps: Pick<Account, 'store' | 'sealer' | 'wait'> & {
    listSavedCards: (email: string) => Promise<SavedCardsAnswer>;
    deleteSavedCard: (card: CardToDelete) => Promise<CardDeletionAnswer>;
    /** Undefined: switched off. */
    ledger: Pick<CardLedger, 'remember' | 'find' | 'forgetCard'> | undefined;
    fingerprint: Fingerprint;
    log: Log;
    now: () => number;
    /** Writes into the audit, in the background; absent: nothing is written down. */
    note?: NoteAudit;
  },
) {
  const { ledger, fingerprint, log } = deps;
  const listings = createRecords<KeptListing>(deps, { prefix: 'saved-cards:', schema: keptListing });

  async function find(list: string, by: string): Promise<KeptListing | undefined> {
    // It comes back from Slack: nothing but a name of ours shapes a key.
    const listing = /^[\da-f]{32}$/.test(list) ? await listings.read(list) : undefined;
    return listing?.by === by ? listing : undefined;
  }

  async function cardAt({ list, index, by }: ListedPlace): Promise<KeptCard | undefined> {
    return (await find(list, by))?.cards[index];
  }

  async function shown(
    list: string,
    { by: _by, atMs: _atMs, ...listing }: KeptListing,
  ): Promise<CardListing> {
    return { ...listing, list, cards: await Promise.all(listing.cards.map(shownCard)) };
  }

  async function shownCard({ tokenKey, face, expiry, customerEmail }: KeptCard): Promise<ListedCard> {
    const id = tokenKey === undefined ? undefined : await fingerprint(tokenKey);
    return withoutUndefined({ fingerprint: id, face, expiry, customerEmail });
  }

  return {
    /** Throws ServiceFailure when the service gave no usable answer. */
    async list(
      email: string,
      by: string,
    ): Promise<({ kind: 'listed' } & CardListing) | Exclude<SavedCardsAnswer, { kind: 'cards' }>> {
      const answer = await deps.listSavedCards(email);
      if (answer.kind !== 'cards') return answer;
      const cards = answer.cards.slice(0, mostListed).map((card) => keptOf(card, email));
      const { mayHaveMore } = answer;
      const listing = withoutUndefined({
        by,
        atMs: deps.now(),
        email,
        total: answer.cards.length,
        mayHaveMore,
        cards,
      });
      const list = randomBytes(16).toString('hex');
      if (!(await listings.create(list, listing, { ttlMs: draftKeepMs }))) {
        throw new Error('a name came twice');
      }
      return { kind: 'listed', ...(await shown(list, listing)) };
    },
    async card(place: ListedPlace): Promise<ListedCard | undefined> {
      const card = await cardAt(place);
      return card && (await shownCard(card));
    },
    /**
     * The card as the bot's own list has it from now on, so that a form can offer it. Undefined: it keeps none, or the
     * listing is gone.
     */
    async remember(place: ListedPlace): Promise<LedgerCard | undefined> {
      const listing = await find(place.list, place.by);
      const { tokenKey, face, expiry, customerEmail, isEmailTold } = listing?.cards[place.index] ?? {};
      if (!ledger || !listing || tokenKey === undefined) return undefined;
      const id = await fingerprint(tokenKey);
      const known = await ledger.find(id);
      const isNewer = isEmailTold === true && (known?.savedAt ?? 0) <= listing.atMs;
      await ledger.remember(
        withoutUndefined({
          tokenKey,
          cardType: face?.cardType,
          cardPan: face?.lastFour,
          tokenExpiryDate: expiry,
          customerEmail: isNewer || known?.customerEmail === undefined ? customerEmail : undefined,
        }),
      );
      const found = await ledger.find(id);
      if (!found) return undefined;
      const { tokenKey: _secret, ...offered } = found;
      return offered;
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
        return { ...answer, card, records: 'kept' };
      }
      const forgotten = await catchUp(deps, 'A deleted card is still remembered', async () =>
        ledger?.forgetCard(id),
      );
      return { ...answer, card, records: forgotten === 'current' ? 'forgotten' : 'behind' };
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
