// A payment link: its record, its steps and its audit. The steps are pure.

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import type { AlertNews, Lookup, OpenPayment } from '../../domain/alert.ts';
import { alertNewsShape, type AuditEntry, moneyShape, referenceShape, stored } from '../../records/shapes.ts';
import type { CardSaved } from '../../domain/card.ts';
import { orderEventKey } from '../../domain/payment-event.ts';
import type { Evidence } from '../../domain/transaction.ts';
import { growingDelayMs } from '../../deadline.ts';
import { formatMoney } from '../../domain/money.ts';
import { caseKind, type CaseRules, type CaseStep } from '../../records/cases.ts';
import { indexAt, ownPaymentsList, searchLists } from '../../records/found-by.ts';
import { dayMs, hourMs } from '../../domain/span.ts';

const linkShape = z.object({
  /** The order reference, for look-ups and events. */
  reference: referenceShape,
  /** The id of the modal that requested it, so that a repeated submit is one request. */
  viewId: z.string(),
  /** The terms of the order, which the customer pays on the service's page. */
  terms: z.object({
    money: moneyShape,
    customerEmail: z.string(),
    customerId: z.string().exactOptional(),
    /** Saves the payer's card; then only a card can pay. */
    savesCard: z.boolean(),
  }),
  /** The id of the alert that it should resolve: the first one, if charges made from it failed, too. */
  alert: z.string().exactOptional(),
  /** Other links of that alert that its requester saw and accepted; see `asAccepted`. */
  despite: z.array(z.string()).exactOptional(),
  /** Another payment, or a person, ended that alert. */
  alertNews: alertNewsShape.exactOptional(),
  by: z.string(),
  askedAtMs: z.number(),
  /** The channel or person with its message. */
  place: z.string(),
  /**
   * `asking`: the order was requested. `open`: the customer can pay. `refused`: certainly no order exists. `lost`: one
   * may exist, but its link is unknown (`why`: why the bot did not ask for it again). `confirming`: a signed event says paid,
   * no look-up proves it yet (`looks`: how many have tried). `review`: still no proof after a day, or the payment differs
   * from the terms. `aged`: no payment while it was followed; a later one still counts. `given_back`: paid, then returned
   * to the customer.
   */
  state: z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['asking', 'open']) }),
    z.object({ kind: z.literal('lost'), why: z.string().exactOptional() }),
    z.object({ kind: z.literal('refused'), why: z.string() }),
    z.object({ kind: z.literal('confirming'), sinceMs: z.number(), looks: z.int() }),
    z.object({ kind: z.literal('paid'), money: moneyShape, atMs: z.number() }),
    z.object({ kind: z.enum(['review', 'aged', 'given_back']), atMs: z.number() }),
  ]),
  /** How often the service gave no clear answer to the request for an order. */
  misses: z.int(),
  /** The service's answer: `orderId` is its own id, never the merchant's reference. */
  order: z.object({ orderId: z.string(), checkoutLink: z.string() }).exactOptional(),
  /** A failed try of the customer, by a signed event; the link stays open. */
  failure: z.object({ atMs: z.number(), why: z.string().exactOptional() }).exactOptional(),
  /** What a signed event said of the saved card; only if the link saves it. */
  cardSaved: stored<CardSaved>('kind').exactOptional(),
  /** The three parts of the proof, by the last look-up that found a transaction. */
  evidence: stored<Evidence>('status', 'reference', 'amount').exactOptional(),
});

export type PaymentLink = z.infer<typeof linkShape>;
export type LinkState = PaymentLink['state'];

/** The service's answer to a request for an order. */
export type OrderEnd =
  | { kind: 'created'; orderId: string; checkoutLink: string }
  /** `isByAlert`: the bot refused it itself, because of the link's alert. */
  | { kind: 'refused'; why: string; isByAlert?: true }
  | { kind: 'unknown'; why: string };

export type LinkEvent =
  /** `terms`: of the requested order. `isRepeat`: an earlier request has an unknown result. */
  | { kind: 'answered'; end: OrderEnd; terms: PaymentLink['terms']; isRepeat: boolean }
  | { kind: 'payment_success'; cardSaved?: CardSaved }
  | { kind: 'payment_failed'; why?: string }
  | { kind: 'looked_up'; lookup: Lookup }
  | { kind: 'alert_ended'; news: AlertNews };

type LinkRules = {
  /**
   * An order without a clear answer is requested again after this. Longer than a request can take: only the first
   * answer has the link, so a repeat must not overtake it.
   */
  retryMs: number;
  /** How long an unpaid link is followed. */
  followMs: number;
};

export const linkPrefix = 'link:';

/** For reading links: `lists` is empty, because only a write needs them (`linkKind`). */
export const storedLink = caseKind({ prefix: linkPrefix, schema: linkShape, lists: () => ({}) });

/** The list of a person's followed links. */
export function linksOf(userId: string): string {
  return `links-of:${userId}`;
}

/** The list of this alert's links that may be paid, or are. */
export function linksOfAlert(alert: string): string {
  return `links-of-alert:${alert}`;
}

/** For writing links, with their lists. */
export function linkKind(account: Pick<Account, 'fingerprint' | 'log'>) {
  return {
    prefix: linkPrefix,
    schema: linkShape,
    async lists(link: PaymentLink) {
      const { by, reference, askedAtMs, terms, cardSaved } = link;
      // Without an alert: the list of the one that a failed payment of this link would raise.
      const { alert = orderEventKey('payment_failed', reference) } = link;
      const { customerEmail, money } = terms;
      const lastFour = cardSaved && 'face' in cardSaved ? cardSaved.face.lastFour : undefined;
      const found = await searchLists(account, { customerEmail, lastFour, amountMinor: money.minor });
      const own = isFollowed(link) ? [linksOf(by)] : [];
      const ofAlert = outcomeOf(link) ? [linksOfAlert(alert)] : [];
      return {
        ...indexAt([...own, ...ofAlert, ...found], askedAtMs),
        [ownPaymentsList]: outcomeAtMs(link) ?? askedAtMs,
      };
    },
  };
}

export function linkRules(
  rules: LinkRules,
  account: Pick<Account, 'fingerprint' | 'log'>,
): CaseRules<PaymentLink, LinkEvent> {
  return {
    ...linkKind(account),
    step: (before, event, nowMs) => stepLink(before, event, nowMs, rules),
    dueInMs: (link, nowMs) => linkDueInMs(link, nowMs, rules),
    auditEntries: (step) => [auditOf(step)],
  };
}

export function outcomeAtMs({ state }: PaymentLink): number | undefined {
  return 'atMs' in state ? state.atMs : undefined;
}

/** Undefined: it can't bring money. */
function outcomeOf({ state: { kind } }: PaymentLink): OpenPayment['outcome'] | undefined {
  if (kind === 'refused' || kind === 'lost' || kind === 'given_back') return undefined;
  return kind === 'asking' || kind === 'open' || kind === 'aged' ? 'unpaid' : 'perhaps_paid';
}

/** The link as shown to a person who begins another payment; empty if it can't bring money. */
export function openLinkOf(link: PaymentLink): OpenPayment[] {
  const { reference, by, askedAtMs: atMs } = link;
  const outcome = outcomeOf(link);
  return outcome ? [{ reference, by, atMs, outcome }] : [];
}

/** Whether its payment is still looked for, or a person must look. */
export function isFollowed({ state: { kind } }: PaymentLink): boolean {
  return kind === 'asking' || kind === 'open' || kind === 'confirming' || kind === 'review';
}

const mostMisses = 6;
const longestRetryMs = 600_000;
// Intervals of the look-ups of a link without an event, and of one that an event says is paid.
const firstLookMs = 30_000;
const longestLookMs = 600_000;
const firstProofMs = 2_000;
const longestProofMs = 300_000;
/**
 * Without proof for so long after the event, the link goes to review. While the service gives no answer, a week:
 * its outage says nothing about the payment.
 */
const unprovenMs = dayMs;
const unansweredMs = 7 * dayMs;
// Intervals of the look-ups under review, for as long as a late proof is likely.
const firstReviewMs = hourMs;
const longestReviewMs = dayMs;
const reviewedForMs = 7 * dayMs;

/**
 * The link after an event; undefined: unchanged. No payment event decides anything: it starts look-ups, and only their
 * three-part proof makes the link paid. While the order is only requested, nobody has the link yet: a payment with its
 * reference belongs to another order.
 *
 * Spec: Checkout order; Events; Transactions ("A charge is successful only when all hold").
 */
export function stepLink(
  link: PaymentLink,
  event: LinkEvent,
  nowMs: number,
  rules: LinkRules,
): PaymentLink | undefined {
  const { state, failure } = link;
  const isIssued = state.kind !== 'asking' && state.kind !== 'refused';
  switch (event.kind) {
    case 'answered':
      return afterAnswer(link, event);
    case 'alert_ended':
      return isDeepStrictEqual(link.alertNews, event.news) ? undefined : { ...link, alertNews: event.news };
    case 'payment_success':
      return isIssued ? afterSuccessEvent(link, event.cardSaved, nowMs) : undefined;
    case 'payment_failed': {
      const { why } = event;
      const isKnown = failure !== undefined && failure.why === why;
      if (!isIssued || isKnown || state.kind === 'paid' || state.kind === 'given_back') return undefined;
      return { ...link, failure: { atMs: nowMs, ...(why === undefined ? {} : { why }) } };
    }
    case 'looked_up':
      return isIssued ? afterLookUp(link, event.lookup, nowMs, rules) : undefined;
  }
}

/**
 * An answer with the link opens it, even if it comes after the link was given up as lost. A late answer may be about a
 * refused link that this one replaced: its order has other terms.
 */
function afterAnswer(
  link: PaymentLink,
  { end, terms, isRepeat }: Extract<LinkEvent, { kind: 'answered' }>,
): PaymentLink | undefined {
  if (!isDeepStrictEqual(terms, link.terms)) return undefined;
  const { kind } = link.state;
  if (end.kind === 'created') {
    const { orderId, checkoutLink } = end;
    const isUnpaid = kind === 'asking' || kind === 'refused' || kind === 'lost';
    const state: LinkState = isUnpaid ? { kind: 'open' } : link.state;
    return link.order ? undefined : { ...link, order: { orderId, checkoutLink }, state };
  }
  if (kind !== 'asking') return undefined;
  if (end.kind === 'unknown') {
    const misses = link.misses + 1;
    return { ...link, misses, state: misses >= mostMisses ? { kind: 'lost' } : link.state };
  }
  const { why, isByAlert } = end;
  if (!isRepeat) return { ...link, state: { kind: 'refused', why } };
  // An earlier request may have made the order.
  return { ...link, state: { kind: 'lost', ...(isByAlert && { why }) } };
}

/** Starts the look-ups for proof. Adds the saved card, unless a token was received already. */
function afterSuccessEvent(
  link: PaymentLink,
  cardSaved: CardSaved | undefined,
  nowMs: number,
): PaymentLink | undefined {
  const { state, terms } = link;
  const lacksToken = !link.cardSaved || link.cardSaved.kind === 'no_token';
  const isNewCard =
    cardSaved !== undefined && terms.savesCard && lacksToken && cardSaved.kind !== link.cardSaved?.kind;
  const withCard = isNewCard ? { ...link, cardSaved } : link;
  if (state.kind === 'paid' || state.kind === 'given_back') return isNewCard ? withCard : undefined;
  const sinceMs = state.kind === 'confirming' ? state.sinceMs : nowMs;
  return { ...withCard, state: { kind: 'confirming', sinceMs, looks: 0 } };
}

function afterLookUp(
  link: PaymentLink,
  lookup: Lookup,
  nowMs: number,
  rules: LinkRules,
): PaymentLink | undefined {
  const state = stateAfterLookUp(link, lookup, nowMs, rules);
  return state && { ...link, ...('evidence' in lookup ? { evidence: lookup.evidence } : {}), state };
}

function stateAfterLookUp(
  { state, askedAtMs }: PaymentLink,
  lookup: Lookup,
  nowMs: number,
  { followMs }: LinkRules,
): LinkState | undefined {
  // Proof is final, unless the money goes back.
  if (state.kind === 'given_back' || (state.kind === 'paid' && lookup.kind !== 'given_back'))
    return undefined;
  if (lookup.kind === 'confirmed') return { kind: 'paid', money: lookup.money, atMs: nowMs };
  if (lookup.kind === 'given_back') return { kind: 'given_back', atMs: nowMs };
  // The payment succeeded, but with another amount or reference: waiting won't prove it.
  if (lookup.kind === 'not_confirmed' && lookup.evidence.status.holds) {
    return state.kind === 'review' ? undefined : { kind: 'review', atMs: nowMs };
  }
  if (state.kind === 'confirming') {
    const mostMs = lookup.kind === 'unchecked' ? unansweredMs : unprovenMs;
    const isOver = lookup.kind === 'not_paid' || nowMs - state.sinceMs >= mostMs;
    return isOver ? { kind: 'review', atMs: nowMs } : { ...state, looks: state.looks + 1 };
  }
  // Ages only after a usable look-up: during an outage of the service the customer may have paid.
  const isAged = state.kind === 'open' && lookup.kind !== 'unchecked' && nowMs - askedAtMs >= followMs;
  return isAged ? { kind: 'aged', atMs: nowMs } : undefined;
}

/**
 * In how many ms the link is due again; undefined: never. An unpaid link is looked up after growing waits of half a
 * minute to ten minutes: if the payment's event is lost, the look-up finds it that late. Under review the waits are an hour
 * to a day, for a week.
 */
export function linkDueInMs(link: PaymentLink, nowMs: number, rules: LinkRules): number | undefined {
  const { state, misses, askedAtMs } = link;
  switch (state.kind) {
    case 'asking':
      return growingDelayMs(rules.retryMs, misses, longestRetryMs);
    case 'confirming':
      return growingDelayMs(firstProofMs, Math.max(0, state.looks - 1), longestProofMs);
    case 'open': {
      const leftMs = askedAtMs + rules.followMs - nowMs;
      const waitMs = Math.min(Math.max(nowMs - askedAtMs, firstLookMs), longestLookMs);
      // When the time is over, the link ages with the next usable look-up.
      return leftMs > 0 ? Math.min(waitMs, leftMs) : longestProofMs;
    }
    case 'review': {
      const underReviewMs = nowMs - state.atMs;
      const waitMs = Math.min(Math.max(underReviewMs, firstReviewMs), longestReviewMs);
      return underReviewMs < reviewedForMs ? waitMs : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * The entry's id has the turn's number, so that a repeated step is the same entry. The first step has it too: a link that
 * replaces a refused one may begin in the same millisecond.
 */
function auditOf({ before, event, after, turn, atMs }: CaseStep<PaymentLink, LinkEvent>): AuditEntry {
  const { reference, askedAtMs, state, by, terms } = after;
  const id = `link:${reference}:${askedAtMs}:${turn}`;
  const now = `link_${state.kind}`;
  if (!before || !event) {
    const reason = formatMoney(terms.money);
    return { id, atMs, who: by, what: 'step', reference, after: now, result: 'link_asked', reason };
  }
  const was = `link_${before.state.kind}`;
  const states = was === now ? {} : { before: was, after: now };
  return {
    id,
    atMs,
    reference,
    who: 'payments',
    what: 'answer',
    ...states,
    ...resultOf(event),
  };
}

/** What the bot did itself, without an answer of the service. */
const ownStep = { who: 'payops', what: 'step' } as const;

function resultOf(event: LinkEvent): Partial<AuditEntry> {
  switch (event.kind) {
    case 'answered': {
      const { end } = event;
      if ('isByAlert' in end) return { ...ownStep, result: 'link_not_asked', reason: end.why };
      return { result: `link_${end.kind}`, ...('why' in end ? { reason: end.why } : {}) };
    }
    case 'payment_success':
      return { result: 'event_payment_success' };
    case 'payment_failed':
      return { result: 'event_payment_failed', ...(event.why === undefined ? {} : { reason: event.why }) };
    case 'looked_up':
      return { result: `link_looked_up_${event.lookup.kind}` };
    case 'alert_ended':
      return { ...ownStep, result: 'link_alert_ended' };
  }
}
