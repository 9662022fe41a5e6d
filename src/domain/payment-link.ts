import type { Lookup } from './alert.ts';
import type { CardSaved } from './card-saved.ts';
import type { Evidence } from './confirmation.ts';
import { growingDelayMs } from './growing-delay.ts';
import type { Money } from './money.ts';
import type { OrderReference } from './order-reference.ts';

/** What a person asked for: an order that its customer pays on the service's own page. */
export type LinkTerms = {
  money: Money;
  customerEmail: string;
  customerId?: string;
  /** The payer's card becomes a saved card; then only a card can pay. */
  savesCard: boolean;
};

/**
 * `refused`: surely no order was made. `lost`: an order of this reference is there, and its link is nobody's.
 * `unanswered`: the service never said whether it made one. `confirming`: a signed event says paid, and the look-up
 * does not yet. `review`: it has not for a day, or found a payment that is not as agreed. `aged`: no payment came for as long as it is followed; one that comes later still counts.
 */
export type LinkState =
  | { kind: 'asking' }
  | { kind: 'refused'; why: string }
  | { kind: 'lost' }
  | { kind: 'unanswered' }
  | { kind: 'open' }
  | { kind: 'confirming'; sinceMs: number; looks: number }
  | { kind: 'paid'; money: Money; atMs: number }
  | { kind: 'review'; atMs: number }
  | { kind: 'aged'; atMs: number };

export type PaymentLink = {
  /** The merchant's own, which look-ups and events go by. */
  reference: OrderReference;
  terms: LinkTerms;
  by: string;
  askedAtMs: number;
  state: LinkState;
  /** How often the service was asked and gave no clear answer. */
  misses: number;
  /** As the service answered: `orderId` is its own id, never the merchant's reference. */
  order?: { orderId: string; checkoutLink: string };
  /** When an event whose reference is not signed last named it. */
  hintedAtMs?: number;
  /** A try of the customer that failed, by a signed event; the link stays open. */
  failure?: { atMs: number; why?: string };
  /** By a signed event; only of a link that saves the card. */
  cardSaved?: CardSaved;
  /** What the last look-up that found a record proved, and what not. */
  evidence?: Evidence;
  /** Where its cards go, by channel or person; the first is the one that was asked for. */
  places: readonly string[];
};

/** What whoever asked is told of, besides the card: an edit tells nobody. */
export type LinkNote = 'paid' | 'review';

/** What the service said to a request for an order. `exists`: the reference has an order already. */
export type OrderEnd =
  | { kind: 'created'; orderId: string; checkoutLink: string }
  | { kind: 'exists' }
  | { kind: 'refused'; why: string }
  | { kind: 'unknown'; why: string };

export type LinkEvent =
  /** `isRepeat`: the same was asked before, and what became of that is not known. */
  | { kind: 'answered'; end: OrderEnd; isRepeat: boolean }
  | { kind: 'payment_success'; cardSaved?: CardSaved }
  | { kind: 'payment_failed'; why?: string }
  /** A signed event whose reference is not: no more than a reason to look. */
  | { kind: 'hinted' }
  | { kind: 'looked_up'; lookup: Lookup }
  | { kind: 'placed'; place: string };

export type LinkRules = {
  /** Longer than one request takes: what is asked for again while the first is under way would lose its link. */
  askAgainMs: number;
  /** How long an unpaid link is followed. */
  followMs: number;
};

const mostMisses = 6;
const longestAskAgainMs = 600_000;
const firstProofMs = 2_000;
const longestProofMs = 300_000;
const firstLookMs = 30_000;
const longestLookMs = 600_000;
const hintMs = 600_000;
const proofPatienceMs = 86_400_000;

/**
 * What becomes of a link; undefined when nothing does. An event decides nothing: it makes the link be looked up, and
 * only the look-up's three-part proof makes it paid, whatever was told before.
 *
 * Spec: Checkout order; Events; Transactions ("A charge is successful only when all hold").
 */
export function stepLink(
  link: PaymentLink,
  event: LinkEvent,
  nowMs: number,
  rules: LinkRules,
): PaymentLink | undefined {
  if (isOfAnother(link, event)) return undefined;
  switch (event.kind) {
    case 'answered':
      return answered(link, event);
    case 'payment_success':
      return heard(link, event.cardSaved, nowMs);
    case 'payment_failed':
      return failed(link, event.why, nowMs);
    case 'hinted':
      return isOver(link) ? undefined : { ...link, hintedAtMs: nowMs };
    case 'looked_up':
      return lookedUp(link, event.lookup, nowMs, rules);
    case 'placed':
      return link.places.includes(event.place)
        ? undefined
        : { ...link, places: [...link.places, event.place] };
  }
}

/** What is proven stays so, and what was surely not made cannot be paid. */
function isOver({ state }: PaymentLink): boolean {
  return state.kind === 'paid' || state.kind === 'refused';
}

/** Before the service has answered nobody has the link: what was paid under its reference then is another order. */
function isOfAnother({ state }: PaymentLink, { kind }: LinkEvent): boolean {
  return state.kind === 'asking' && kind !== 'answered' && kind !== 'placed';
}

/** A link in hand is worth more than whatever was thought while its answer was awaited. */
function answered(
  link: PaymentLink,
  { end, isRepeat }: Extract<LinkEvent, { kind: 'answered' }>,
): PaymentLink | undefined {
  if (end.kind === 'created') {
    const { orderId, checkoutLink } = end;
    const isUnpaid = ['asking', 'refused', 'lost', 'unanswered'].includes(link.state.kind);
    const state: LinkState = isUnpaid ? { kind: 'open' } : link.state;
    return link.order ? undefined : { ...link, order: { orderId, checkoutLink }, state };
  }
  if (link.state.kind !== 'asking') return undefined;
  switch (end.kind) {
    case 'exists':
      return { ...link, state: isRepeat ? { kind: 'lost' } : { kind: 'refused', why: takenWords } };
    case 'refused':
      // An earlier request may have made the order all the same.
      return { ...link, state: isRepeat ? { kind: 'unanswered' } : { kind: 'refused', why: end.why } };
    case 'unknown': {
      const misses = link.misses + 1;
      return { ...link, misses, state: misses >= mostMisses ? { kind: 'unanswered' } : link.state };
    }
  }
}

const takenWords =
  'The service has an order with this reference already. Choose another reference, or leave it empty.';

/** What was surely not made cannot be paid: the reference is another's. */
function heard(link: PaymentLink, cardSaved: CardSaved | undefined, nowMs: number): PaymentLink | undefined {
  const { state, terms } = link;
  if (state.kind === 'refused') return undefined;
  const isUnknown = !link.cardSaved || link.cardSaved.kind === 'no_token';
  const isNews =
    cardSaved !== undefined && terms.savesCard && isUnknown && cardSaved.kind !== link.cardSaved?.kind;
  const saved = isNews ? { cardSaved } : {};
  if (state.kind === 'paid') return isNews ? { ...link, ...saved } : undefined;
  const since = state.kind === 'confirming' ? state.sinceMs : nowMs;
  return { ...link, ...saved, state: { kind: 'confirming', sinceMs: since, looks: 0 } };
}

function failed(link: PaymentLink, why: string | undefined, nowMs: number): PaymentLink | undefined {
  if (isOver(link)) return undefined;
  if (link.failure && link.failure.why === why) return undefined;
  return { ...link, failure: { atMs: nowMs, ...(why === undefined ? {} : { why }) } };
}

function lookedUp(
  link: PaymentLink,
  lookup: Lookup,
  nowMs: number,
  rules: LinkRules,
): PaymentLink | undefined {
  if (isOver(link)) return undefined;
  const state = stateAfterLook(link, lookup, nowMs, rules);
  const found = 'evidence' in lookup ? { evidence: lookup.evidence } : {};
  return state && { ...link, ...found, state };
}

function stateAfterLook(
  { state, askedAtMs }: PaymentLink,
  lookup: Lookup,
  nowMs: number,
  { followMs }: LinkRules,
): LinkState | undefined {
  if (lookup.kind === 'confirmed') return { kind: 'paid', money: lookup.money, atMs: nowMs };
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

/** What is to be done about a link that is looked at now. */
export function dueForLink(
  link: PaymentLink,
  nowMs: number,
  rules: LinkRules,
): 'ask' | 'look_up' | undefined {
  if (link.state.kind === 'asking') return 'ask';
  return restOfLink(link, nowMs, rules) === undefined ? undefined : 'look_up';
}

/**
 * When it is looked at again; undefined when nothing is left to do but to remember it. An unpaid one is looked up
 * ever more rarely, from half a minute to every ten, so that a lost event costs no more; a hint begins anew at two seconds.
 */
export function restOfLink(link: PaymentLink, nowMs: number, rules: LinkRules): number | undefined {
  const { state, misses, askedAtMs, hintedAtMs } = link;
  const hintAgeMs = hintedAtMs === undefined ? Infinity : nowMs - hintedAtMs;
  switch (state.kind) {
    case 'asking':
      return growingDelayMs(rules.askAgainMs, misses, longestAskAgainMs);
    case 'confirming':
      return growingDelayMs(firstProofMs, Math.max(0, state.looks - 1), longestProofMs);
    case 'open': {
      const leftMs = askedAtMs + rules.followMs - nowMs;
      const waitMs = Math.min(
        Math.max(nowMs - askedAtMs, firstLookMs),
        Math.max(hintAgeMs, firstProofMs),
        longestLookMs,
      );
      return leftMs > 0 ? Math.min(waitMs, leftMs) : longestProofMs;
    }
    case 'paid':
    case 'refused':
      return undefined;
    default:
      return hintAgeMs < hintMs ? Math.max(hintAgeMs, firstProofMs) : undefined;
  }
}

/** Somebody may still pay it, or wants to know whether they did. */
export function isFollowed({ state: { kind } }: PaymentLink): boolean {
  return kind === 'asking' || kind === 'open' || kind === 'confirming' || kind === 'review';
}

export type LinkRequest = {
  viewId: string;
  terms: LinkTerms;
  /** The person's own; the dialogue's when absent. */
  reference?: OrderReference;
  by: string;
  /** Where its card goes; to the person alone when absent. */
  channel?: string;
};

export type LinkBeginning =
  /** `carryOn` asks the service, once, and resolves with what became of it. Throws StoreUnavailable. */
  | { kind: 'begun'; link: PaymentLink; carryOn: () => Promise<PaymentLink> }
  /** Asked for before, in this dialogue; nothing is asked for again. */
  | { kind: 'known'; link: PaymentLink }
  /** Another link has this reference. */
  | { kind: 'taken' };
