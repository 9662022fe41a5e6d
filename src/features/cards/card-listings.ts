import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import { faceOf, draftKeepMs, holdsCardNumber } from '../../domain/card.ts';
import type {
  CardDeletionAnswer,
  CardToDelete,
  SavedCardsAnswer,
  ServiceCard,
} from '../../payments/saved-cards.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { updateOwnRecords } from '../../records/retry.ts';
import { createRecords, isHexId } from '../../records/records.ts';
import { cardFaceShape } from '../../records/shapes.ts';
import type { CardLedger, LedgerCard } from './card-ledger.ts';

const listedCardShape = z.object({
  /** The token's keyed hash. Absent if the service sent no token; then the card can only be shown. */
  fingerprint: z.string().exactOptional(),
  face: cardFaceShape,
  /** As written by the service. */
  expiry: z.string().exactOptional(),
  customerEmail: z.string(),
});
export type ListedCard = z.infer<typeof listedCardShape>;

/** A listed card as stored, with its token. There is no field for the card number, so it can't be stored. */
const cardWithTokenShape = listedCardShape.extend({
  tokenKey: z.string().exactOptional(),
  /** The service sent the card's e-mail. Absent: `customerEmail` is the one searched for, which may differ slightly. */
  isEmailTold: z.literal(true).exactOptional(),
  isDeleted: z.literal(true).exactOptional(),
});
/**
 * A stored listing. `total`: the number of cards that the service sent. `mayHaveMore`: the service doesn't say that
 * these are all.
 */
const listingShape = z.object({
  by: z.string(),
  atMs: z.number(),
  email: z.string(),
  total: z.number().int(),
  mayHaveMore: z.literal(true).exactOptional(),
  cards: z.array(cardWithTokenShape),
});

type CardWithToken = z.infer<typeof cardWithTokenShape>;
type StoredListing = z.infer<typeof listingShape>;

/** A listing for display. `list`: the listing's random name. */
export type CardListing = Pick<StoredListing, 'email' | 'total' | 'mayHaveMore'> & {
  list: string;
  cards: readonly ListedCard[];
};

/** One card of a listing: the listing's random name and the card's index. */
export type CardPosition = { list: string; index: number };

/** `by`: the person who asks. Only the person who made the listing can use it. */
type OwnPosition = CardPosition & { by: string };

export type CardDeletion = CardDeletionAnswer & {
  card: ListedCard;
  /** The bot's own record of the card. `kept`: the card may still exist. `behind`: the record could not be deleted. */
  records: 'forgotten' | 'behind' | 'kept';
};

/** More cards than any customer has. */
const mostListed = 100;

export type CardListings = ReturnType<typeof createCardListings>;

/**
 * Customers' saved cards, as the service lists them. A listing is stored, sealed, for half an hour, and works only for
 * the person who made it. Buttons have only its name and an index. Methods throw StoreUnavailable; then nothing was
 * deleted.
 */
export function createCardListings(
  account: Account,
  ledger: Pick<CardLedger, 'remember' | 'find' | 'forgetCard'> | undefined,
  calls: {
    list: (email: string) => Promise<SavedCardsAnswer>;
    remove: (card: CardToDelete) => Promise<CardDeletionAnswer>;
  },
) {
  const { fingerprint, audit, log, now } = account;
  const listings = createRecords<StoredListing>(account, { prefix: 'saved-cards:', schema: listingShape });

  async function read(list: string, by: string): Promise<StoredListing | undefined> {
    const listing = isHexId(list) ? await listings.read(list) : undefined;
    return listing?.by === by ? listing : undefined;
  }

  async function find({
    list,
    index,
    by,
  }: OwnPosition): Promise<(CardWithToken & { listedAtMs: number }) | undefined> {
    const listing = await read(list, by);
    const card = listing?.cards[index];
    return card && listing && { ...card, listedAtMs: listing.atMs };
  }

  /** Otherwise the listing's menu could put the deleted card into the ledger again. */
  function markDeleted({ list, index }: CardPosition): Promise<void> {
    return listings.change<void>(list, (listing) => {
      const card = listing?.cards[index];
      if (!card) return { kind: 'keep', result: undefined };
      const value = { ...listing, cards: listing.cards.with(index, { ...card, isDeleted: true }) };
      const ttlMs = Math.max(0, listing.atMs + draftKeepMs - now());
      return { kind: 'write', value, schedule: { ttlMs }, result: undefined };
    });
  }

  return {
    /**
     * Asks the service for a customer's cards, and stores the listing. Throws ServiceFailure if there is no usable
     * answer.
     */
    async list(
      email: string,
      by: string,
    ): Promise<({ kind: 'listed' } & CardListing) | Exclude<SavedCardsAnswer, { kind: 'cards' }>> {
      const answer = await calls.list(email);
      if (answer.kind !== 'cards') return answer;
      const cards = await Promise.all(
        answer.cards.slice(0, mostListed).map(async (sent): Promise<CardWithToken> => {
          const card = storedOf(sent, email);
          const { tokenKey } = card;
          return tokenKey === undefined ? card : { ...card, fingerprint: await fingerprint(tokenKey) };
        }),
      );
      const { mayHaveMore } = answer;
      const shown = withoutUndefined({ email, total: answer.cards.length, mayHaveMore });
      const list = randomBytes(16).toString('hex');
      await listings.create(list, { by, atMs: now(), ...shown, cards }, { ttlMs: draftKeepMs });
      return { kind: 'listed', list, ...shown, cards: cards.map(shownCard) };
    },
    /** The stored listing; undefined if it is gone or another person's. */
    async listing(list: string, by: string): Promise<CardListing | undefined> {
      const listing = await read(list, by);
      return listing && { ...listing, list, cards: listing.cards.map(shownCard) };
    },
    async card(position: OwnPosition): Promise<ListedCard | undefined> {
      const card = await find(position);
      return card && shownCard(card);
    },
    /**
     * Puts the card into the card ledger, so that forms can offer it. Undefined: there is no ledger, the listing is
     * gone, or the card was deleted from it.
     */
    async remember(position: OwnPosition): Promise<LedgerCard | undefined> {
      const card = await find(position);
      const { tokenKey, fingerprint: id } = card ?? {};
      if (!ledger || !card || card.isDeleted || tokenKey === undefined || id === undefined) return undefined;
      const { face, expiry, customerEmail, isEmailTold, listedAtMs } = card;
      const known = await ledger.find(id);
      // Don't replace an e-mail that the ledger learned after this listing.
      const isNewer = isEmailTold === true && (known?.savedAt ?? 0) <= listedAtMs;
      await ledger.remember(
        withoutUndefined({
          tokenKey,
          cardType: face.cardType,
          cardPan: face.lastFour,
          tokenExpiryDate: expiry,
          customerEmail: isNewer || known?.customerEmail === undefined ? customerEmail : undefined,
        }),
      );
      const found = await ledger.find(id);
      if (!found) return undefined;
      const { tokenKey: _secret, ...offered } = found;
      return offered;
    },
    /**
     * Deletes the card, by one call. If the answer is lost, a new listing shows the outcome. Undefined: the listing is
     * gone, and nothing was sent.
     */
    async remove(position: OwnPosition): Promise<CardDeletion | undefined> {
      const stored = await find(position);
      const { tokenKey, fingerprint: id } = stored ?? {};
      if (!stored || tokenKey === undefined || id === undefined) return undefined;
      const card = shownCard(stored);
      const answer = await calls.remove({ tokenKey, customerEmail: stored.customerEmail });
      log('info', 'Asked for the deletion of a saved card', {
        verb: 'cards',
        userId: position.by,
        result: answer.kind,
        ...('failure' in answer ? { failure: answer.failure } : {}),
        ...(answer.kind === 'unknown' ? { failure: answer.cause.kind } : {}),
      });
      const result = `card_${answer.kind}`;
      audit.note({ what: 'step', verb: 'cards', result, who: position.by, reference: id });
      if (answer.kind !== 'deleted' && answer.kind !== 'no_such_card') {
        return { ...answer, card, records: 'kept' };
      }
      const forgotten = await updateOwnRecords(account, 'A deleted card is still remembered', async () => {
        await ledger?.forgetCard(id);
        await markDeleted(position);
      });
      return { ...answer, card, records: forgotten === 'current' ? 'forgotten' : 'behind' };
    },
  };
}

/** The card for display, without its token. */
function shownCard({ fingerprint, face, expiry, customerEmail }: CardWithToken): ListedCard {
  return withoutUndefined({ fingerprint, face, expiry, customerEmail });
}

/** The card to store. If the service sends no e-mail, takes the one searched for. */
function storedOf(sent: ServiceCard, email: string): CardWithToken {
  const { tokenKey = '', tokenExpiryDate, customerEmail } = sent;
  /** Undefined if the text contains the token key or a card number. */
  function safe(text: string | undefined): string | undefined {
    const trimmed = text?.trim();
    const isSecret = trimmed !== undefined && tokenKey !== '' && trimmed.includes(tokenKey);
    return trimmed && !isSecret && !holdsCardNumber(trimmed) ? trimmed : undefined;
  }
  const { cardType, lastFour } = faceOf({ ...sent, tokenKey });
  return withoutUndefined({
    tokenKey: tokenKey === '' ? undefined : tokenKey,
    face: withoutUndefined({ cardType: safe(cardType), lastFour }),
    expiry: safe(tokenExpiryDate),
    customerEmail: safe(customerEmail) ?? email,
    isEmailTold: safe(customerEmail) === undefined ? undefined : (true as const),
  });
}
