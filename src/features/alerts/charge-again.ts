import { customerEmailOf, isDeclined } from './alert.ts';
import type { Money } from '../../domain/money.ts';
import type { RetryVerdict } from '../../domain/decline-reason.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { type FoundAlert, knownMoney } from './alert-cards.ts';
import type { KnownCard, KnownCards } from '../../domain/saved-card.ts';

export type ChargeAgainDeps = {
  /** Undefined: no card is remembered. */
  ledger: Pick<KnownCards, 'search'> | undefined;
  /** The card that the bot itself charged under this reference; undefined: it did not. */
  chargedCard: (reference: string) => Promise<string | undefined>;
  /** By what the bot itself charged the card; see `CardHistory`. */
  mayTry: (card: string) => Promise<RetryVerdict>;
  /** How long a card rests after a decline. */
  restMs: number;
  now: () => number;
};

export type ChargeAgain =
  /** `card` only where the customer has a single one, or the bot charged it: else which of several failed is not known. */
  | { kind: 'allowed'; card?: KnownCard; money?: Money; customerId?: string }
  | { kind: 'resting'; nextTryFrom: number }
  | { kind: 'refused'; verdict: Exclude<RetryVerdict, { kind: 'allowed' | 'resting' }> }
  /** The bot remembers no card of the customer. */
  | { kind: 'no_card' }
  /** The alert is so old that its customer is forgotten. */
  | { kind: 'details_gone' }
  /** It is not a plain decline: money may have moved, or nothing is known. */
  | { kind: 'not_declined' };

const mostCards = 20;

/** The remembered cards of exactly this address. */
export async function cardsOf(
  ledger: ChargeAgainDeps['ledger'],
  email: string,
): Promise<readonly KnownCard[]> {
  const wanted = email.trim().toLowerCase();
  const found = (await ledger?.search(wanted, mostCards)) ?? [];
  return found.filter(({ customerEmail }) => customerEmail?.trim().toLowerCase() === wanted);
}

/**
 * Whether the customer's card may be charged once more for a failure, and with what the form begins. The rest
 * after a decline counts from the event too, because the charge need not have been this bot's. Charges nothing;
 * the form's own review and claim decide.
 *
 * Spec: charge a saved card (retry rules).
 */
export async function judgeChargeAgain(deps: ChargeAgainDeps, alert: FoundAlert): Promise<ChargeAgain> {
  const { event, evidence, receivedAtMs } = alert;
  if (!evidence || !isDeclined({ event, lookup: evidence.lookup })) return { kind: 'not_declined' };
  if (event.isErased) return { kind: 'details_gone' };
  const email = customerEmailOf(event, evidence.lookup);
  const cards = email === undefined ? [] : await cardsOf(deps.ledger, email);
  if (cards.length === 0) return { kind: 'no_card' };
  const card = cards.length === 1 ? cards[0] : await chargedOf(deps, event, cards);
  const refusal = await refusalOf(deps, card, receivedAtMs);
  if (refusal) return refusal;
  const money = knownMoney(alert);
  return { kind: 'allowed', ...withoutUndefined({ card, money, customerId: event.customerId }) };
}

async function chargedOf(
  { chargedCard }: ChargeAgainDeps,
  { orderReference }: PaymentEvent,
  cards: readonly KnownCard[],
): Promise<KnownCard | undefined> {
  const charged = orderReference === undefined ? undefined : await chargedCard(orderReference);
  return cards.find(({ id }) => id === charged);
}

async function refusalOf(
  deps: ChargeAgainDeps,
  card: KnownCard | undefined,
  declinedAtMs: number,
): Promise<Extract<ChargeAgain, { kind: 'resting' | 'refused' }> | undefined> {
  const verdict: RetryVerdict = card ? await deps.mayTry(card.id) : { kind: 'allowed', attemptsLeft: 1 };
  if (verdict.kind !== 'allowed' && verdict.kind !== 'resting') return { kind: 'refused', verdict };
  const known = verdict.kind === 'resting' ? verdict.nextTryFrom : 0;
  const nextTryFrom = Math.max(declinedAtMs + deps.restMs, known);
  return deps.now() < nextTryFrom ? { kind: 'resting', nextTryFrom } : undefined;
}
