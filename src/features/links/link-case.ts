// A payment link: what is kept of it, what becomes of it, and what the audit says of that. All of it is pure.

import { z } from 'zod';
import type { Lookup } from '../../domain/alert.ts';
import { type AuditEntry, cardFaceShape, moneyShape, referenceShape } from '../../records/shapes.ts';
import type { CardSaved } from '../../domain/card.ts';
import { growingDelayMs } from '../../deadline.ts';
import { formatMoney } from '../../domain/money.ts';
import { caseKind, type CaseRules, type CaseStep } from '../../records/cases.ts';
import { type FoundBy, indexAt, ownPaymentsList } from '../../records/found-by.ts';

const check = z.object({
  part: z.enum(['status', 'reference', 'amount']),
  holds: z.boolean(),
  statement: z.string(),
  how: z.string().exactOptional(),
});
const linkCase = z.object({
  /** The merchant's own, which look-ups and events go by. */
  reference: referenceShape,
  /** The dialogue that asked for it: submitted twice, it asks once. */
  viewId: z.string(),
  /** An order that its customer pays on the service's own page. */
  terms: z.object({
    money: moneyShape,
    customerEmail: z.string(),
    customerId: z.string().exactOptional(),
    /** The payer's card becomes a saved card; then only a card can pay. */
    savesCard: z.boolean(),
  }),
  /** The failed charge it is to make good, by the id of its alert. */
  alert: z.string().exactOptional(),
  by: z.string(),
  askedAtMs: z.number(),
  /** The channel or person that has its message. */
  place: z.string(),
  /**
   * `refused`: surely no order was made. `lost`: one may have been made, and its link is nobody's. `confirming`: a signed
   * event says paid, and the look-up does not yet. `review`: it has not for a day, or found a payment that is not as
   * agreed. `aged`: no payment came for as long as it is followed; one that comes later still counts. `given_back`: it
   * was paid, and its money went back to the customer.
   */
  state: z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['asking', 'lost', 'open']) }),
    z.object({ kind: z.literal('refused'), why: z.string() }),
    z.object({ kind: z.literal('confirming'), sinceMs: z.number(), looks: z.int() }),
    z.object({ kind: z.literal('paid'), money: moneyShape, atMs: z.number() }),
    z.object({ kind: z.enum(['review', 'aged', 'given_back']), atMs: z.number() }),
  ]),
  /** How often the service was asked and gave no clear answer. */
  misses: z.int(),
  /** As the service answered: `orderId` is its own id, never the merchant's reference. */
  order: z.object({ orderId: z.string(), checkoutLink: z.string() }).exactOptional(),
  /** A try of the customer that failed, by a signed event; the link stays open. */
  failure: z.object({ atMs: z.number(), why: z.string().exactOptional() }).exactOptional(),
  /** By a signed event; only of a link that saves the card. */
  cardSaved: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.enum(['kept', 'not_kept']), face: cardFaceShape }),
      z.object({ kind: z.literal('no_token') }),
    ])
    .exactOptional(),
  /** What the last look-up that found a record proved, and what not. */
  evidence: z.object({ status: check, reference: check, amount: check }).exactOptional(),
});

export type PaymentLink = z.infer<typeof linkCase>;
export type LinkState = PaymentLink['state'];

/** What the service said to a request for an order. */
export type OrderEnd =
  | { kind: 'created'; orderId: string; checkoutLink: string }
  | { kind: 'refused'; why: string }
  | { kind: 'unknown'; why: string };

export type LinkEvent =
  /** `isRepeat`: the same was asked before, and what became of that is not known. */
  | { kind: 'answered'; end: OrderEnd; isRepeat: boolean }
  | { kind: 'payment_success'; cardSaved?: CardSaved }
  | { kind: 'payment_failed'; why?: string }
  | { kind: 'looked_up'; lookup: Lookup };

type LinkRules = {
  /** Longer than one request takes: what is asked for again while the first is under way would lose its link. */
  askAgainMs: number;
  /** How long an unpaid link is followed. */
  followMs: number;
};

export const linkPrefix = 'link:';

/** To read one; what writes it is `linkRules`. */
export const linkKind = caseKind({ prefix: linkPrefix, schema: linkCase, lists: () => ({}) });

/** The list of a person's links that are still followed. */
export function linksOf(userId: string): string {
  return `links-of:${userId}`;
}

/** The lists of a link's customer and card, by keyed hashes. */
type LinkFoundBy = (link: PaymentLink) => Promise<readonly string[]>;

/** What is written of a link, and the lists that it is in. */
export function linkRecord(foundBy: LinkFoundBy) {
  return {
    prefix: linkPrefix,
    schema: linkCase,
    lists: async (link: PaymentLink) =>
      indexAt(
        [...(isFollowed(link) ? [linksOf(link.by)] : []), ownPaymentsList, ...(await foundBy(link))],
        link.askedAtMs,
      ),
  };
}

export function linkRules(rules: LinkRules, foundBy: LinkFoundBy): CaseRules<PaymentLink, LinkEvent> {
  return {
    ...linkRecord(foundBy),
    step: (before, event, nowMs) => stepLink(before, event, nowMs, rules),
    restMs: (link, nowMs) => restOfLink(link, nowMs, rules),
    history: (step) => [auditOf(step)],
  };
}

/** What a person knows of it who looks for it. */
export function linkFoundBy({ terms: { customerEmail, money }, cardSaved }: PaymentLink): FoundBy {
  const lastFour = cardSaved && 'face' in cardSaved ? cardSaved.face.lastFour : undefined;
  return { customerEmail, lastFour, amountMinor: money.minor };
}

/** Somebody may still pay it, or wants to know whether they did. */
export function isFollowed({ state: { kind } }: PaymentLink): boolean {
  return kind === 'asking' || kind === 'open' || kind === 'confirming' || kind === 'review';
}

const mostMisses = 6;
const longestAskAgainMs = 600_000;
const firstProofMs = 2_000;
const longestProofMs = 300_000;
const firstLookMs = 30_000;
const longestLookMs = 600_000;
const proofPatienceMs = 86_400_000;

/**
 * What becomes of a link; undefined when nothing does. An event decides nothing: it makes the link be looked up, and
 * only the look-up's three-part proof makes it paid, whatever was told before. Before the service has answered nobody has
 * the link: what was paid under its reference then is another order.
 *
 * Spec: Checkout order; Events; Transactions ("A charge is successful only when all hold").
 */
export function stepLink(
  link: PaymentLink,
  event: LinkEvent,
  nowMs: number,
  rules: LinkRules,
): PaymentLink | undefined {
  if (event.kind === 'answered') return answered(link, event);
  const { state, failure } = link;
  // What was surely not made cannot be paid.
  if (state.kind === 'asking' || state.kind === 'refused') return undefined;
  if (event.kind === 'payment_success') return heard(link, event.cardSaved, nowMs);
  if (state.kind === 'given_back') return undefined;
  const isGivenBack = event.kind === 'looked_up' && event.lookup.kind === 'given_back';
  // What is proven stays so, unless its money goes back.
  if (state.kind === 'paid' && !isGivenBack) return undefined;
  if (event.kind === 'payment_failed') {
    const { why } = event;
    if (failure && failure.why === why) return undefined;
    return { ...link, failure: { atMs: nowMs, ...(why === undefined ? {} : { why }) } };
  }
  const { lookup } = event;
  const next = stateAfterLook(link, lookup, nowMs, rules);
  return next && { ...link, ...('evidence' in lookup ? { evidence: lookup.evidence } : {}), state: next };
}

/** A link in hand is worth more than whatever was thought while its answer was awaited. */
function answered(
  link: PaymentLink,
  { end, isRepeat }: Extract<LinkEvent, { kind: 'answered' }>,
): PaymentLink | undefined {
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
  // An earlier request may have made the order all the same.
  return { ...link, state: isRepeat ? { kind: 'lost' } : { kind: 'refused', why: end.why } };
}

function heard(link: PaymentLink, cardSaved: CardSaved | undefined, nowMs: number): PaymentLink | undefined {
  const { state, terms } = link;
  const isUnknown = !link.cardSaved || link.cardSaved.kind === 'no_token';
  const isNews =
    cardSaved !== undefined && terms.savesCard && isUnknown && cardSaved.kind !== link.cardSaved?.kind;
  const saved = isNews ? { cardSaved } : {};
  if (state.kind === 'paid' || state.kind === 'given_back') return isNews ? { ...link, ...saved } : undefined;
  const since = state.kind === 'confirming' ? state.sinceMs : nowMs;
  return { ...link, ...saved, state: { kind: 'confirming', sinceMs: since, looks: 0 } };
}

function stateAfterLook(
  { state, askedAtMs }: PaymentLink,
  lookup: Lookup,
  nowMs: number,
  { followMs }: LinkRules,
): LinkState | undefined {
  if (lookup.kind === 'confirmed') return { kind: 'paid', money: lookup.money, atMs: nowMs };
  if (lookup.kind === 'given_back') return { kind: 'given_back', atMs: nowMs };
  // Money moved, and not as agreed: no wait makes that right.
  if (lookup.kind === 'not_confirmed' && lookup.evidence.status.holds) {
    return state.kind === 'review' ? undefined : { kind: 'review', atMs: nowMs };
  }
  if (state.kind === 'confirming') {
    const isOver = lookup.kind === 'not_paid' || nowMs - state.sinceMs >= proofPatienceMs;
    return isOver ? { kind: 'review', atMs: nowMs } : { ...state, looks: state.looks + 1 };
  }
  // That nobody paid is said only when the service says so.
  const isAged = state.kind === 'open' && lookup.kind !== 'unchecked' && nowMs - askedAtMs >= followMs;
  return isAged ? { kind: 'aged', atMs: nowMs } : undefined;
}

/**
 * When it is looked at again; undefined when nothing is left to do but to remember it. An unpaid one is looked up
 * ever more rarely, from half a minute to every ten, so that a lost event costs no more.
 */
export function restOfLink(link: PaymentLink, nowMs: number, rules: LinkRules): number | undefined {
  const { state, misses, askedAtMs } = link;
  switch (state.kind) {
    case 'asking':
      return growingDelayMs(rules.askAgainMs, misses, longestAskAgainMs);
    case 'confirming':
      return growingDelayMs(firstProofMs, Math.max(0, state.looks - 1), longestProofMs);
    case 'open': {
      const leftMs = askedAtMs + rules.followMs - nowMs;
      const waitMs = Math.min(Math.max(nowMs - askedAtMs, firstLookMs), longestLookMs);
      return leftMs > 0 ? Math.min(waitMs, leftMs) : longestProofMs;
    }
    default:
      return undefined;
  }
}

/** Its turn makes the id, so that the same step is the same entry. */
function auditOf({ before, event, after, turn, atMs }: CaseStep<PaymentLink, LinkEvent>): AuditEntry {
  const { reference, askedAtMs, state, by, terms } = after;
  const id = `link:${reference}:${askedAtMs}`;
  const now = `link_${state.kind}`;
  if (!before || !event) {
    const reason = formatMoney(terms.money);
    return { id, atMs, who: by, what: 'step', reference, after: now, result: 'link_asked', reason };
  }
  const was = `link_${before.state.kind}`;
  const moved = was === now ? {} : { before: was, after: now };
  return {
    id: `${id}:${turn}`,
    atMs,
    reference,
    who: 'payments',
    what: 'answer',
    ...moved,
    ...saidBy(event),
  };
}

function saidBy(event: LinkEvent): Pick<AuditEntry, 'result' | 'reason'> {
  switch (event.kind) {
    case 'answered': {
      const { end } = event;
      return { result: `link_${end.kind}`, ...('why' in end ? { reason: end.why } : {}) };
    }
    case 'payment_success':
      return { result: 'event_payment_success' };
    case 'payment_failed':
      return { result: 'event_payment_failed', ...(event.why === undefined ? {} : { reason: event.why }) };
    case 'looked_up':
      return { result: `link_looked_up_${event.lookup.kind}` };
  }
}
