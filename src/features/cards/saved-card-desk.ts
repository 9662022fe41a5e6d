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
import { catchUp } from '../../records/insist.ts';
import { createRecords, isOwnName } from '../../records/records.ts';
import { cardFaceShape } from '../../records/shapes.ts';
import type { CardLedger, LedgerCard } from './card-ledger.ts';

/** A listed card for display. */
const listedCard = z.object({
  /** The token's keyed hash. Absent if the service sent no token; then the card can only be shown. */
  fingerprint: z.string().exactOptional(),
  face: cardFaceShape,
  /** As written by the service. */
  expiry: z.string().exactOptional(),
  customerEmail: z.string(),
});
export type ListedCard = z.infer<typeof listedCard>;

/** A listed card as stored. There is no field for the card number, so it can't be stored. */
const keptCard = listedCard.extend({
  tokenKey: z.string().exactOptional(),
  /**
   * Absent: the service sent no e-mail, so it is the one searched for, which may differ in detail from the linked one.
   */
  isEmailTold: z.literal(true).exactOptional(),
});
/**
 * A stored listing. `total`: the number of cards that the service sent. `mayHaveMore`: the service's answer doesn't say
 * that these are all.
 */
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

/** A listing for display. `list`: its random name. */
export type CardListing = Pick<KeptListing, 'email' | 'total' | 'mayHaveMore'> & {
  list: string;
  cards: readonly ListedCard[];
};

/** One card of a listing, as in a button's value, and the person who pressed it. */
type ListedPlace = { list: string; index: number; by: string };

export type CardDeletion = CardDeletionAnswer & {
  card: ListedCard;
  /** Whether the bot's own records forgot the card. `kept`: not tried, as the card may still exist. */
  records: 'forgotten' | 'behind' | 'kept';
};

/** More cards than any customer has. */
const mostListed = 100;

export type SavedCardDesk = ReturnType<typeof createSavedCardDesk>;

/**
 * Customers' saved cards, as the service lists them. A listing is stored, sealed, for half an hour under a random name,
 * and only for the person who asked; so a button's value is useless without it. Methods throw StoreUnavailable; nothing
 * was deleted then.
 */
export function createSavedCardDesk(
  account: Account,
  ledger: Pick<CardLedger, 'remember' | 'find' | 'forgetCard'> | undefined,
  calls: {
    list: (email: string) => Promise<SavedCardsAnswer>;
    remove: (card: CardToDelete) => Promise<CardDeletionAnswer>;
  },
) {
  const { fingerprint, audit, log, now } = account;
  const listings = createRecords<KeptListing>(account, { prefix: 'saved-cards:', schema: keptListing });

  async function read(list: string, by: string): Promise<KeptListing | undefined> {
    const listing = isOwnName(list) ? await listings.read(list) : undefined;
    return listing?.by === by ? listing : undefined;
  }

  async function find({
    list,
    index,
    by,
  }: ListedPlace): Promise<(KeptCard & { listedAtMs: number }) | undefined> {
    const listing = await read(list, by);
    const card = listing?.cards[index];
    return card && listing && { ...card, listedAtMs: listing.atMs };
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
        answer.cards.slice(0, mostListed).map(async (told): Promise<KeptCard> => {
          const card = keptOf(told, email);
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
    async card(place: ListedPlace): Promise<ListedCard | undefined> {
      const card = await find(place);
      return card && shownCard(card);
    },
    /**
     * Puts the card into the bot's own ledger, so that forms can offer it. Undefined: there is no ledger, or the
     * listing is gone.
     */
    async remember(place: ListedPlace): Promise<LedgerCard | undefined> {
      const card = await find(place);
      const { tokenKey, fingerprint: id } = card ?? {};
      if (!ledger || !card || tokenKey === undefined || id === undefined) return undefined;
      const { face, expiry, customerEmail, isEmailTold, listedAtMs } = card;
      const known = await ledger.find(id);
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
     * Deletes the card. Asks the service once; if the answer is lost, a new list shows the outcome. Undefined: the
     * listing is gone, and nothing was sent.
     */
    async remove(place: ListedPlace): Promise<CardDeletion | undefined> {
      const kept = await find(place);
      const { tokenKey, fingerprint: id } = kept ?? {};
      if (!kept || tokenKey === undefined || id === undefined) return undefined;
      const card = shownCard(kept);
      const answer = await calls.remove({ tokenKey, customerEmail: kept.customerEmail });
      log('info', 'Asked for the deletion of a saved card', {
        verb: 'cards',
        userId: place.by,
        result: answer.kind,
        ...('failure' in answer ? { failure: answer.failure } : {}),
        ...(answer.kind === 'unknown' ? { failure: answer.cause.kind } : {}),
      });
      const result = `card_${answer.kind}`;
      audit.note({ what: 'step', verb: 'cards', result, who: place.by, reference: id });
      if (answer.kind !== 'deleted' && answer.kind !== 'no_such_card') {
        return { ...answer, card, records: 'kept' };
      }
      const forgotten = await catchUp(account, 'A deleted card is still remembered', async () =>
        ledger?.forgetCard(id),
      );
      return { ...answer, card, records: forgotten === 'current' ? 'forgotten' : 'behind' };
    },
  };
}

/** The card for display, without its token. */
function shownCard({ fingerprint, face, expiry, customerEmail }: KeptCard): ListedCard {
  return withoutUndefined({ fingerprint, face, expiry, customerEmail });
}

/** The card to store. If the service sends no e-mail, it is the one searched for. */
function keptOf(told: ServiceCard, email: string): KeptCard {
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
