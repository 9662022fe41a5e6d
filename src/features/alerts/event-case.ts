import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  isEnded,
  type Evidence,
  type GivenBack,
  handlersOf,
  moveAlert,
  newestOf,
  type AlertMove,
  type AlertStep,
} from './alert.ts';
import type {
  AlertState,
  AlertEnd,
  AlertNews,
  EndedAlert,
  OpenPayment,
  Recovery,
  RoutedRule,
} from '../../domain/alert.ts';
import { moneyShape, stored, type AuditEntry } from '../../records/shapes.ts';
import { type PaymentEvent, referenceOfEventKey } from '../../domain/payment-event.ts';
import { indexAt } from '../../records/found-by.ts';
import { caseKind, type CaseRules, type CaseStep } from '../../records/cases.ts';
import type { Index } from '../../store/store.ts';
import { growingDelayMs } from '../../deadline.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { eventsList, keptBackBy } from '../../messages/message-record.ts';
import {
  type Escalation,
  escalate,
  escalationOf,
  highest,
  nextCall,
  type ShownSeverity,
  withEscalation,
} from './escalation.ts';

/**
 * Fields of a success that goes to no channel: its case is its only record. `keptBy`: the mutes that held it back; `foundBy`: its
 * lists for `/pay find`.
 */
const alone = z.object({
  fingerprint: z.string(),
  keptBy: z.array(z.string()).exactOptional(),
  foundBy: z.array(z.string()).exactOptional(),
});

export type Alone = z.infer<typeof alone>;

/** A success, and its search for failures that it resolves. */
const payment = z.object({
  event: stored<PaymentEvent>('key'),
  receivedAtMs: z.number(),
  /** Lists by order, customer and card, where failures find it. */
  lists: z.array(z.string()),
  /** The next search, UTC ms; absent: when a failure asks for one. */
  looksAtMs: z.number().exactOptional(),
  /** How often a failure asked for a search. */
  asked: z.int(),
  /** Look-ups that didn't confirm it. */
  unproven: z.int(),
  proof: z.object({ reference: z.string(), money: moneyShape }).exactOptional(),
  /** If no reference is signed: the one that its look-up proved. */
  provenReference: z.string().exactOptional(),
  /** It resolved its own order's alert, so it resolves no other. */
  hasOwn: z.literal(true).exactOptional(),
  alone: alone.exactOptional(),
});

export type Payment = z.infer<typeof payment>;

export type Proof = NonNullable<Payment['proof']>;

const eventCase = z.object({
  id: z.string(),
  /** For a success; nobody acts on it. */
  payment: payment.exactOptional(),
  /** The alert's state, by its stored name; never a payment card. */
  card: stored<AlertState>('kind'),
  /** Steps whose messages aren't stored yet, in order; the first is number `told` + 1. A step's number never changes. */
  steps: z.array(stored<AlertStep>('kind')),
  told: z.int(),
  /** Its thread has told of a payment that didn't resolve it. */
  hasOtherPayment: z.literal(true).exactOptional(),
  /** References of its own payments that came after something else had ended it. */
  paidAgain: z.array(z.string()).exactOptional(),
  /** Keys of events that gave back its own payment, or the one that resolved it. */
  givenBack: z.array(z.string()).exactOptional(),
  /** Storms whose digests count it, or were about to; each also counts it as resolved once a payment resolves it. */
  storms: z.array(z.string()),
  /** When its event came, and the lists where payments look for it; absent until it is routed. */
  failed: z
    .object({
      atMs: z.number(),
      lists: z.array(z.string()),
      /** If no reference is signed: the one that its look-up proved, and that order's list. */
      proven: z.object({ reference: z.string(), list: z.string() }).exactOptional(),
      /** If no reference is signed: its lists by unsigned references. */
      hints: z.array(z.string()).exactOptional(),
    })
    .exactOptional(),
  /** The highest severity among the rules of its messages; absent: it has no message. */
  severity: z.custom<ShownSeverity>().exactOptional(),
  /** Who is called while nobody acknowledges it, for each message's rule. */
  escalations: z.array(z.custom<Escalation>()).exactOptional(),
  /** The service gave no answer, so it is looked up again. `times`: how often; `atMs`: the last time. */
  unanswered: z.object({ times: z.int(), atMs: z.number() }).exactOptional(),
  /** The last charge begun from it, even an ended one. `holders`: the deliveries of its submit. */
  charge: z
    .object({ reference: z.string(), by: z.string(), at: z.number(), holders: z.array(z.string()) })
    .exactOptional(),
  /** End of the saved card's hold. If it is acknowledged, its messages are rendered again then. */
  heldUntil: z.number().exactOptional(),
  /** The result of a person's own look-up; of a success, the proof by which it resolved failures. */
  evidence: z.custom<Evidence>().exactOptional(),
});

/** A signed event: a failure that people, payments and charges move, or a success that looks for failures. */
export type EventCase = z.infer<typeof eventCase>;

export type CaseEvent =
  /** `seen`: the state that people see; an open alert is acknowledged if its storm is. */
  | { kind: 'moved'; move: AlertMove; seen: AlertState }
  | { kind: 'paid_otherwise'; payment: Recovery }
  | { kind: 'paid_again'; payment: Recovery; people: readonly string[] }
  | ({ kind: 'given_back'; key: string } & GivenBack)
  | ({ kind: 'failure_listed' } & FailureListing)
  | { kind: 'looked_up'; evidence: Evidence }
  /** Another look-up had no answer. */
  | { kind: 'unanswered' }
  /**
   * An escalation step is due. `over`: no more steps, because a storm called people, somebody acknowledged its storm, or its
   * message is forgotten. `later`: a storm may call people soon; the step is due again after its time.
   */
  | { kind: 'escalated'; about: string; replaced?: 'over' | 'later' }
  /** `lastHolder`: of the earlier charge, which has ended. The claim fails if that charge has got another holder meanwhile. */
  | {
      kind: 'claimed';
      reference: string;
      by: string;
      holder: string;
      lastHolder: string | undefined;
      seen: AlertState;
    }
  | { kind: 'released'; holder: string }
  /** Renders its messages again. */
  | { kind: 'retold' }
  | { kind: 'held'; untilMs: number }
  /** `heldUntil` is reached. */
  | { kind: 'unheld' }
  /** Forgets `evidence`: the event's details were erased. */
  | { kind: 'erased' }
  | PaymentMove;

type PaymentMove =
  /** A failure that it may resolve was listed: search again. */
  | { kind: 'asked' }
  | { kind: 'payment_listed'; lists: readonly string[] }
  /** The search for question number `asked` is done. `isSettled`: nothing is left to do about the failures it found. */
  | {
      kind: 'searched';
      asked: number;
      isSettled: boolean;
      provenReference?: string | undefined;
      hasOwn?: true | undefined;
      evidence?: Evidence | undefined;
    };

/** The message that is about to post the alert, and its rule. */
type PostedBy = { key: string; rule: RoutedRule | undefined };

/** Where payments look for a failure, and which messages show it. `isUnanswered`: its look-up had no answer. */
export type FailureListing = {
  atMs: number;
  lists: readonly string[];
  storms?: readonly string[];
  post?: PostedBy | undefined;
  proven?: { reference: string; list: string };
  hints?: readonly string[];
  isUnanswered?: boolean;
};

export const eventPrefix = 'event:';

/** The list of a storm's alerts that payments resolved. */
export const stormRecovered = (storm: string): string => `storm-recovered:${storm}`;

/** The list of a person's unresolved alerts: assigned to them, or acknowledged by them and not assigned since. */
export const alertsOf = (userId: string): string => `alerts-of:${userId}`;

/** The list of the alerts that this payment resolved. Outside text must not shape a key. */
export const resolvedBy = (reference: string): string =>
  `resolved-by:${hash('sha256', reference).slice(0, 40)}`;

/** The list of unacknowledged alerts; a storm's are in its digest instead. */
export const openAlerts = (severity: ShownSeverity): string => `open-alerts:${severity}`;

/** An alert before anybody did anything. */
export function untouched(id: string): EventCase {
  return { id, card: { kind: 'open' }, steps: [], told: 0, storms: [] };
}

/** A success. `looksAtMs`: when it first searches for failures; absent: once a failure asks. */
export function paymentCase(
  found: Pick<Payment, 'event' | 'receivedAtMs' | 'proof' | 'alone'>,
  looksAtMs?: number,
): EventCase {
  const { event } = found;
  const payment = { ...found, lists: [], asked: 0, unproven: 0, ...withoutUndefined({ looksAtMs }) };
  return { ...untouched(event.key), payment };
}

function listsOf({ payment, card, storms, failed, severity }: EventCase): Index {
  if (payment) {
    const { lists, alone: kept, receivedAtMs } = payment;
    const ofEvents = kept
      ? [eventsList, ...(kept.keptBy ?? []).map(keptBackBy), ...(kept.foundBy ?? [])]
      : [];
    return indexAt([...lists, ...ofEvents], receivedAtMs);
  }

  // An ended alert stays on its order's lists: another payment of the order, and `alerts.story`, must find it.
  const { proven, hints = [], atMs = 0 } = failed ?? {};
  const ofOrder = indexAt([...(proven ? [proven.list] : []), ...hints], atMs);
  if (card.kind === 'recovered')
    return {
      ...ofOrder,
      [resolvedBy(card.payment.reference)]: card.at,
      ...Object.fromEntries(storms.map((storm) => [stormRecovered(storm), 0])),
    };
  if (isEnded(card)) return ofOrder;
  const userId = handlersOf(card).at(-1);
  return {
    ...(failed && indexAt(failed.lists, failed.atMs)),
    ...(failed && severity && card.kind === 'open' && storms.length === 0
      ? { [openAlerts(severity)]: failed.atMs }
      : {}),
    ...(userId !== undefined && 'at' in card ? { [alertsOf(userId)]: card.at } : {}),
  };
}

/**
 * The next state of an alert. `alert-model.test.ts` checks: however often people press, one acknowledges or closes it;
 * one charge at a time may be begun from it, and none once it has ended; an end is final; each thread gets each step once.
 */
function step(before: EventCase, event: CaseEvent, nowMs: number): EventCase | undefined {
  if (isOfPayment(event)) {
    const payment = before.payment && stepPayment(before.payment, event, nowMs);
    const { evidence } = event.kind === 'searched' ? event : {};
    return payment && { ...before, payment, ...withoutUndefined({ evidence }) };
  }
  // Nobody acts on a success.
  if (before.payment) return undefined;
  switch (event.kind) {
    case 'moved':
      return stepMoved(before, event, nowMs);
    case 'failure_listed':
      return listFailure(before, event, nowMs);
    case 'looked_up':
      return stepLookedUp(before, event);
    case 'unanswered':
      return stepUnanswered(before, nowMs);
    case 'escalated':
      return stepEscalated(before, event, nowMs);
    case 'paid_otherwise':
      return stepPaidOtherwise(before, event, nowMs);
    case 'paid_again':
      return stepPaidAgain(before, event, nowMs);
    case 'given_back':
      return stepGivenBack(before, event, nowMs);
    case 'claimed':
      return stepClaimed(before, event, nowMs);
    case 'released':
      return stepReleased(before, event);
    case 'held':
      return stepHeld(before, event, nowMs);
    case 'unheld':
      return stepUnheld(before, nowMs);
    case 'retold':
      return { ...before };
    case 'erased':
      return stepErased(before);
  }
}

type Of<Kind extends CaseEvent['kind']> = Extract<CaseEvent, { kind: Kind }>;

function stepMoved(before: EventCase, { move, seen }: Of<'moved'>, nowMs: number): EventCase | undefined {
  const { card, steps } = before;
  // A person who resolved a storm did not look at each customer: a payment is still good news, not a second one.
  const isStormClosed = move.kind === 'recover' && seen.kind === 'closed';
  const shown = isStormClosed ? (seen.acknowledged ?? card) : seen;
  const moved = moveAlert(card.kind === 'open' ? shown : card, move, nowMs);
  return moved.kind === 'refused'
    ? undefined
    : { ...before, card: moved.state, steps: [...steps, moved.step] };
}

function stepLookedUp(before: EventCase, { evidence }: Of<'looked_up'>): EventCase {
  const { unanswered: _answered, ...others } = before;
  // If two look up at once, the older answer is dropped.
  return { ...others, evidence: newestOf([evidence, before.evidence]) ?? evidence };
}

function stepUnanswered(before: EventCase, nowMs: number): EventCase | undefined {
  const { unanswered, ...others } = before;
  if (!unanswered) return undefined;
  const times = unanswered.times + 1;
  return times >= mostLooks ? others : { ...before, unanswered: { times, atMs: nowMs } };
}

function stepErased({ evidence, ...others }: EventCase): EventCase | undefined {
  return evidence && others;
}

function isOfPayment(event: CaseEvent): event is PaymentMove {
  return event.kind === 'asked' || event.kind === 'payment_listed' || event.kind === 'searched';
}

const firstProofMs = 5_000;
const longestProofMs = 300_000;
/** About a day with these delays. A count, not a time: while the bot was down, nothing was asked. */
const mostProofs = 290;

function stepPayment(before: Payment, event: PaymentMove, nowMs: number): Payment | undefined {
  switch (event.kind) {
    case 'asked':
      return { ...before, asked: before.asked + 1, looksAtMs: nowMs + firstProofMs };
    case 'payment_listed':
      return { ...before, lists: union(before.lists, event.lists) };
    case 'searched': {
      const { looksAtMs, unproven, ...others } = before;
      const { asked, isSettled, provenReference = before.provenReference, hasOwn = before.hasOwn } = event;
      const isLast = isSettled || unproven >= mostProofs;
      const againAtMs = isLast ? undefined : nowMs + growingDelayMs(firstProofMs, unproven, longestProofMs);
      return {
        ...others,
        unproven: isSettled ? unproven : unproven + 1,
        // A failure listed meanwhile makes it search again.
        ...withoutUndefined({
          provenReference,
          hasOwn,
          looksAtMs: asked < before.asked ? looksAtMs : againAtMs,
        }),
      };
    }
  }
}

/** Lists a failure where payments look for it; a later look-up may add more lists. The first proven order stays. */
export function listFailure(before: EventCase, event: FailureListing, nowMs: number): EventCase | undefined {
  const { failed } = before;
  const lists = union(failed?.lists, event.lists);
  const storms = union(before.storms, event.storms);
  const proven = failed?.proven ?? event.proven;
  const hints = union(failed?.hints, event.hints);
  const isAsked = event.isUnanswered === true && !before.unanswered && !isEnded(before.card);
  const posting = postedBy(before, event.post, nowMs);
  const isKnown =
    lists.length === failed?.lists.length &&
    storms.length === before.storms.length &&
    !posting &&
    proven === failed.proven;
  if (isKnown && !isAsked) return undefined;
  return {
    ...before,
    storms,
    failed: {
      atMs: failed?.atMs ?? event.atMs,
      lists,
      ...(proven && { proven }),
      ...(hints.length > 0 && { hints }),
    },
    ...posting,
    ...(isAsked ? { unanswered: { times: 0, atMs: nowMs } } : {}),
  };
}

/** Undefined: the message changes neither severity nor escalations. */
function postedBy(
  { severity: before, escalations: known = [] }: EventCase,
  post: PostedBy | undefined,
  nowMs: number,
): Pick<EventCase, 'severity' | 'escalations'> | undefined {
  const { key, rule } = post ?? {};
  const severity = highest(before, rule?.severity, post && 'none');
  const escalations = withEscalation(known, rule && escalationOf(rule, nowMs, key));
  if (severity === before && escalations.length === known.length) return undefined;
  return { ...withoutUndefined({ severity }), ...(escalations.length > 0 && { escalations }) };
}

function stepEscalated(
  before: EventCase,
  { about, replaced }: Of<'escalated'>,
  nowMs: number,
): EventCase | undefined {
  const { card, escalations: all, steps } = before;
  if (card.kind !== 'open') return undefined;
  const after = escalate(all, about, { nowMs, replaced });
  if (!after) return undefined;
  const { escalations, made } = after;
  return { ...before, escalations, steps: made ? [...steps, made] : steps };
}

/** Once per alert: a customer who pays every day would fill the thread. */
function stepPaidOtherwise(
  before: EventCase,
  { payment }: Of<'paid_otherwise'>,
  at: number,
): EventCase | undefined {
  if (before.hasOtherPayment || isEnded(before.card)) return undefined;
  const step: AlertStep = { kind: 'other_payment', payment, at };
  return { ...before, hasOtherPayment: true, steps: [...before.steps, step] };
}

/** Once per payment, but not for the one that resolved the alert. */
function stepPaidAgain(
  before: EventCase,
  { payment, people }: Of<'paid_again'>,
  at: number,
): EventCase | undefined {
  const { card, paidAgain = [] } = before;
  const { reference } = payment;
  const end = isEnded(card) ? endOf(card) : undefined;
  if (!end || paidAgain.includes(reference)) return undefined;
  if (end.kind === 'paid' && end.reference === reference) return undefined;
  const step: AlertStep = { kind: 'paid_again', payment, before: end, people, at };
  return { ...before, paidAgain: [...paidAgain, reference], steps: [...before.steps, step] };
}

/** Once per refund. */
function stepGivenBack(
  before: EventCase,
  { key, ...refund }: Of<'given_back'>,
  at: number,
): EventCase | undefined {
  const { givenBack = [], steps } = before;
  if (givenBack.includes(key)) return undefined;
  return { ...before, givenBack: [...givenBack, key], steps: [...steps, { ...refund, at }] };
}

function endOf(state: EndedAlert): AlertEnd {
  return state.kind === 'recovered'
    ? { kind: 'paid', reference: state.payment.reference }
    : { kind: 'closed', by: state.by, reason: state.reason };
}

function stepClaimed(
  before: EventCase,
  { reference, by, holder, lastHolder, seen }: Of<'claimed'>,
  nowMs: number,
): EventCase | undefined {
  const { card, charge } = before;
  const isFree = !charge || charge.reference === reference || charge.holders.at(-1) === lastHolder;
  if (isEnded(card) || !isFree) return undefined;
  // Another delivery of the same submit may still charge.
  const others = charge?.reference === reference ? charge.holders : [];
  const claimed = { ...before, charge: { reference, by, at: nowMs, holders: [...others, holder] } };
  // Charging from an open alert acknowledges it.
  return stepMoved(claimed, { kind: 'moved', move: { kind: 'acknowledge', by }, seen }, nowMs) ?? claimed;
}

function stepReleased(before: EventCase, { holder }: Of<'released'>): EventCase | undefined {
  const { charge, ...free } = before;
  if (!charge?.holders.includes(holder)) return undefined;
  const holders = charge.holders.filter((one) => one !== holder);
  return holders.length === 0 ? free : { ...before, charge: { ...charge, holders } };
}

function stepHeld(before: EventCase, { untilMs }: Of<'held'>, nowMs: number): EventCase | undefined {
  return untilMs <= nowMs || before.heldUntil === untilMs ? undefined : { ...before, heldUntil: untilMs };
}

function stepUnheld({ heldUntil = Infinity, ...others }: EventCase, nowMs: number): EventCase | undefined {
  return heldUntil <= nowMs ? others : undefined;
}

const firstLookMs = 15_000;
const longestLookMs = 600_000;
/** About a day with these delays. */
const mostLooks = 150;

/** Due times: end of its snooze, end of the card's hold, next escalation step, next look-up. Infinity: never. */
export function timesOf({ card, heldUntil = Infinity, unanswered, escalations }: EventCase, nowMs: number) {
  const isAcknowledged = card.kind === 'acknowledged';
  const looksAt =
    unanswered && unanswered.atMs + growingDelayMs(firstLookMs, unanswered.times, longestLookMs);
  return {
    wakesAt: isAcknowledged ? (card.snoozedUntil ?? Infinity) : Infinity,
    unheldAt: isAcknowledged ? heldUntil : Infinity,
    callsAt: card.kind === 'open' ? nextCall(escalations, nowMs).atMs : Infinity,
    looksAt: looksAt === undefined || isEnded(card) ? Infinity : looksAt,
  };
}

function dueInMs(state: EventCase, nowMs: number): number | undefined {
  const { payment } = state;
  const nextAt = payment
    ? (payment.looksAtMs ?? Infinity)
    : Math.min(...Object.values(timesOf(state, nowMs)));
  return nextAt === Infinity ? undefined : Math.max(0, nextAt - nowMs);
}

/** False if no message shows the change. */
function needsMessage(before: EventCase, after: EventCase): boolean {
  const isSearch = before.payment !== after.payment;
  const isListing = before.failed !== after.failed;
  const isSilentEscalation = before.escalations !== after.escalations && before.steps === after.steps;
  const isUnanswered = before.unanswered !== after.unanswered && before.evidence === after.evidence;
  const isErased = before.evidence !== undefined && after.evidence === undefined;
  // The end of a hold is shown: the buttons change.
  const isHoldBegun = after.heldUntil !== undefined && before.heldUntil !== after.heldUntil;
  return !(isSearch || isListing || isSilentEscalation || isUnanswered || isErased || isHoldBegun);
}

/** The signed or proven order reference; else the event's key. */
export function referenceOf({ id, failed }: EventCase): string {
  return referenceOfEventKey(id) ?? failed?.proven?.reference ?? id;
}

export function isEnd({ kind }: AlertStep): boolean {
  return kind === 'closed' || kind === 'recovered';
}

/**
 * The references of charges and links that must be told of a step: if the alert ended otherwise, the charge begun from it and
 * its open `links`, with the bot's own charge that failed; at a second payment, that payment and the first.
 */
export function newsOf(
  one: AlertStep,
  state: EventCase,
  links: readonly Pick<OpenPayment, 'reference'>[] = [],
): [reference: string, news: AlertNews][] {
  const { card, charge } = state;
  const failed = referenceOf(state);
  if (one.kind === 'paid_again') {
    const { before, payment } = one;
    const second: [string, AlertNews] = [payment.reference, { ...before, failed }];
    if (before.kind === 'closed') return [second];
    return [second, [before.reference, { kind: 'paid', reference: payment.reference, failed }]];
  }
  if (!isEnd(one) || !isEnded(card)) return [];
  const end = endOf(card);
  return [...(charge ? [charge] : []), ...links].flatMap(({ reference }) => {
    const isOwn = end.kind === 'paid' && end.reference === reference;
    return isOwn ? [] : [[reference, { ...end, failed }]];
  });
}

/**
 * Who gets a step as a direct message, because a thread notifies nobody: the handlers whom it concerns, except the one who did
 * it.
 */
export function addressees(one: AlertStep, state: AlertState): string[] {
  switch (one.kind) {
    case 'recovered':
      return handlersOf(state);
    case 'paid_again': {
      const closer = one.before.kind === 'closed' ? [one.before.by] : [];
      const people = distinct([...one.people, ...closer]);
      return people.length > 0 ? people : handlersOf(state);
    }
    case 'given_back':
      return distinct([...handlersOf(state), ...(state.kind === 'closed' ? [state.by] : [])]);
    case 'awake':
      return handlersOf(state).slice(-1);
    case 'closed':
      return handlersOf(state)
        .slice(-1)
        .filter((userId) => userId !== one.by);
    case 'assigned':
      return [one.to, ...(one.from === undefined ? [] : [one.from])].filter((userId) => userId !== one.by);
    default:
      return [];
  }
}

function auditOf({ before, after, turn }: CaseStep<EventCase, CaseEvent>): AuditEntry[] {
  const was = before?.card.kind ?? 'open';
  return after.steps.slice(before?.steps.length ?? 0).map((one) => ({
    id: `alert:${after.id}:${one.at}:${turn}`,
    atMs: one.at,
    who: 'by' in one ? one.by : 'payops',
    what: 'step',
    reference: referenceOf(after),
    ...(was === after.card.kind ? {} : { before: `alert_${was}`, after: `alert_${after.card.kind}` }),
    result: `alert_${one.kind}`,
    ...detailOf(one),
  }));
}

function detailOf(one: AlertStep): Pick<AuditEntry, 'reason' | 'after'> {
  switch (one.kind) {
    case 'assigned':
      return { after: one.to };
    case 'snoozed':
      return { reason: `until ${new Date(one.until).toISOString()}` };
    case 'closed':
      return { reason: one.reason };
    case 'recovered':
    case 'other_payment':
    case 'paid_again':
      return { reason: `by the payment ${one.payment.reference}` };
    case 'given_back':
      return { reason: `of the payment ${one.reference}` };
    case 'escalated':
      return { after: one.to.id };
    default:
      return {};
  }
}

function union(one: readonly string[] = [], other: readonly string[] = []): string[] {
  return distinct([...one, ...other]);
}

function distinct<Text extends string>(all: readonly Text[]): Text[] {
  return [...new Set(all)];
}

export const eventRules: CaseRules<EventCase, CaseEvent> = {
  prefix: eventPrefix,
  schema: eventCase,
  lists: listsOf,
  step,
  dueInMs,
  needsMessage,
  // Notes in threads are keyed by the step's number, so `told` keeps counting the removed steps.
  shortened: (state) => ({ ...state, steps: [], told: state.told + state.steps.length }),
  auditEntries: auditOf,
};

/** The record kind of these cases, for the list of all events, which also holds messages. */
export const eventKind = caseKind(eventRules);
