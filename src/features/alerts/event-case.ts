import { createHash } from 'node:crypto';
import { z } from 'zod';
import { endsCard, type GivenBack, handlersOf, moveCard, type CardMove, type CardStep } from './alert.ts';
import type { AlertCard, AlertEnd, AlertNews, EndedCard, Recovery, RoutedRule } from '../../domain/alert.ts';
import { moneyShape, type AuditEntry } from '../../records/shapes.ts';
import { type PaymentEvent, referenceOfEventKey } from '../../domain/payment-event.ts';
import { indexAt } from '../../records/found-by.ts';
import { caseKind, type CaseRules, type CaseStep } from '../../records/cases.ts';
import type { Index } from '../../store/store.ts';
import { growingDelayMs } from '../../deadline.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { eventsList, keptBackBy } from '../../messages/message-record.ts';
import { eventPrefix, type Evidence, newestOf } from './alert-record.ts';
import {
  type Escalation,
  escalate,
  escalationOf,
  highest,
  nextCall,
  type ShownSeverity,
  withEscalation,
} from './escalation.ts';
import { stormRecovered } from './storm/storm.ts';

// Made once: making a schema takes longer than reading a record with it.
const ofKind = z.looseObject({ kind: z.string() });
const isKind = (value: unknown): boolean => ofKind.safeParse(value).success;

const keyed = z.looseObject({ key: z.string() });

/** What is remembered of a success that is told nowhere; `keptBy`: because of these mutes; `foundBy`: lists of customer and card. */
const alone = z.object({
  fingerprint: z.string(),
  keptBy: z.array(z.string()).exactOptional(),
  foundBy: z.array(z.string()).exactOptional(),
});

export type Alone = z.infer<typeof alone>;

/** A success that looks for the failures it resolves. */
const payment = z.object({
  event: z.custom<PaymentEvent>((value) => keyed.safeParse(value).success),
  receivedAtMs: z.number(),
  /** Where failures find it, by what they have in common with it. */
  lists: z.array(z.string()),
  /** When failures are looked for next; absent: not before one asks for it. `asked`: how often one has. */
  looksAtMs: z.number().exactOptional(),
  asked: z.int(),
  /** The look-ups that did not confirm it. */
  unproven: z.int(),
  proof: z.object({ reference: z.string(), money: moneyShape }).exactOptional(),
  /** Its order’s, where no reference is signed and its look-up proved one. */
  provenReference: z.string().exactOptional(),
  /** It has resolved the alert it belongs to, and resolves no other. */
  hasOwn: z.literal(true).exactOptional(),
  /** No rule wants its event, so this is what remembers it. */
  alone: alone.exactOptional(),
});

export type Payment = z.infer<typeof payment>;

export type Proof = NonNullable<Payment['proof']>;

const eventCase = z.object({
  /** The key of its event. */
  id: z.string(),
  /** Of a success; nobody acts on its card. */
  payment: payment.exactOptional(),
  card: z.custom<AlertCard>(isKind),
  /** What its threads are still to tell, behind the first `told` steps: a step's number never changes. */
  steps: z.array(z.custom<CardStep>(isKind)),
  told: z.int(),
  /** A payment that did not resolve it was told. */
  hasOtherPayment: z.literal(true).exactOptional(),
  /** The payments of its own that came though something else had ended it, by their references. */
  paidAgain: z.array(z.string()).exactOptional(),
  /** The events by which a payment of its own, or the one that resolved it, was given back. */
  givenBack: z.array(z.string()).exactOptional(),
  /** The storms whose digests tell it, or were about to: they count it once it is resolved. */
  storms: z.array(z.string()),
  /** When its event came, and the lists in which payments look for it; absent: it was not about to be told yet. */
  failed: z
    .object({
      atMs: z.number(),
      lists: z.array(z.string()),
      /** Its order, where no reference is signed and its look-up proved one, and the list of what belongs to that order. */
      proven: z.object({ reference: z.string(), list: z.string() }).exactOptional(),
    })
    .exactOptional(),
  /** The highest severity of the rules by which it has messages of its own; absent: it has none. */
  severity: z.custom<ShownSeverity>().exactOptional(),
  /** Who is called while nobody acknowledges it, by the rule of each of its messages. */
  escalations: z.array(z.custom<Escalation>()).exactOptional(),
  /** The service gave no answer about it, so it is looked up again: `times` it was, the last time `atMs`. */
  unanswered: z.object({ times: z.int(), atMs: z.number() }).exactOptional(),
  /** The one that was begun from it last, also when it has ended. `holders`: the deliveries of its submit. */
  charge: z
    .object({ reference: z.string(), by: z.string(), at: z.number(), holders: z.array(z.string()) })
    .exactOptional(),
  /** Its messages are made once more then: a card that is on hold until then may be charged. */
  heldUntil: z.number().exactOptional(),
  /** The result of a person's own look-up. */
  evidence: z.custom<Evidence>().exactOptional(),
});

/** A signed event: a failure as people, payments and charges move it, or a success that looks for failures. */
export type EventCase = z.infer<typeof eventCase>;

export type CaseEvent =
  /** `seen`: how an open one is seen by everybody, because somebody acknowledged its storm. */
  | { kind: 'moved'; move: CardMove; seen: AlertCard }
  | { kind: 'paid_otherwise'; payment: Recovery }
  | { kind: 'paid_again'; payment: Recovery; people: readonly string[] }
  | ({ kind: 'given_back'; key: string } & GivenBack)
  | ({ kind: 'failed' } & Linked)
  | { kind: 'looked_up'; evidence: Evidence }
  /** It was looked up again, and the service gave no answer again. */
  | { kind: 'unanswered' }
  /** A step of that escalation is due. `isOver`: a storm's digest calls people for it, or its message is forgotten. */
  | { kind: 'escalated'; about: string; seen: AlertCard; isOver: boolean }
  /** `over`: the last holder of the claim that surely moves no money any more; one that came since is another. */
  | {
      kind: 'claimed';
      reference: string;
      by: string;
      holder: string;
      over: string | undefined;
      seen: AlertCard;
    }
  | { kind: 'released'; holder: string }
  /** Its messages are made once more. */
  | { kind: 'retold' }
  | { kind: 'held'; untilMs: number }
  /** The time of `heldUntil` has come. */
  | { kind: 'unheld' }
  /** Forgets that result with the event's details. */
  | { kind: 'erased' }
  | PaymentMove;

type PaymentMove =
  /** A failure that it may be for was listed. */
  | { kind: 'asked' }
  | { kind: 'listed'; lists: readonly string[] }
  /** It looked for failures, by that asking; `isSettled`: nothing is left to do about those it found. */
  | {
      kind: 'searched';
      asked: number;
      isSettled: boolean;
      provenReference?: string | undefined;
      hasOwn?: true | undefined;
    };

/** The message of an alert that is about to be posted, and the rule that says so. */
export type PostedBy = { key: string; rule: RoutedRule | undefined };

/** What ties an alert to payments and its messages. `isUnanswered`: its look-up had no answer. */
export type Linked = {
  atMs: number;
  lists: readonly string[];
  storms: readonly string[];
  post?: PostedBy | undefined;
  proven?: { reference: string; list: string };
  isUnanswered?: boolean;
};

/** The list of the open alerts that a person has: assigned to them, or acknowledged by them and given to nobody else. */
export const alertsOf = (userId: string): string => `alerts-of:${userId}`;

/** The alerts that this payment resolved. Outside text must not shape a key. */
export const resolvedBy = (reference: string): string =>
  `resolved-by:${createHash('sha256').update(reference).digest('hex').slice(0, 40)}`;

/** The list of those that nobody has acknowledged; a storm's are in its digest. */
export const openAlerts = (severity: ShownSeverity): string => `open-alerts:${severity}`;

/** One that nobody has done anything with. */
export function untouched(id: string): EventCase {
  return { id, card: { kind: 'open' }, steps: [], told: 0, storms: [] };
}

/** A success, whose failures are looked for then; absent: not before one asks for it. */
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

  // Also at its end: another payment of the order must find that this one failed, and the story what came.
  const ofOrder = failed?.proven ? { [failed.proven.list]: failed.atMs } : {};
  if (card.kind === 'recovered')
    return {
      ...ofOrder,
      [resolvedBy(card.payment.reference)]: card.at,
      ...Object.fromEntries(storms.map((storm) => [stormRecovered(storm), 0])),
    };
  if (endsCard(card)) return ofOrder;
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
 * What becomes of an alert. The promises, which `cases.test.ts` holds it to: one decision of any number of clicks; one
 * charge at a time has it, and none once it has ended; nothing leaves an end; each step is told once in each thread.
 */
function step(before: EventCase, event: CaseEvent, nowMs: number): EventCase | undefined {
  const { card, payment } = before;
  if (payment || isOfPayment(event)) {
    const after = payment && isOfPayment(event) && stepPayment(payment, event, nowMs);
    return after ? { ...before, payment: after } : undefined;
  }
  if (isOfOtherMoney(event)) return stepOtherMoney(before, event, nowMs);
  switch (event.kind) {
    case 'moved': {
      const moved = moveCard(card.kind === 'open' ? event.seen : card, event.move, nowMs);
      if (moved.kind === 'refused') return undefined;
      return { ...before, card: moved.card, steps: [...before.steps, moved.step] };
    }
    case 'failed':
      return linked(before, event, nowMs);
    case 'escalated':
      return stepEscalated(before, event, nowMs);
    case 'looked_up': {
      const { unanswered: _answered, ...others } = before;
      // Of two that ask at once the slower one knows less.
      return { ...others, evidence: newestOf([event.evidence, before.evidence]) ?? event.evidence };
    }
    case 'unanswered': {
      const { unanswered, ...others } = before;
      if (!unanswered) return undefined;
      const times = unanswered.times + 1;
      return times >= mostLooks ? others : { ...before, unanswered: { times, atMs: nowMs } };
    }
    case 'retold':
      return { ...before };
    case 'erased': {
      const { evidence, ...others } = before;
      return evidence ? others : undefined;
    }
    default:
      return stepClaim(before, event, nowMs);
  }
}

function isOfPayment(event: CaseEvent): event is PaymentMove {
  return event.kind === 'asked' || event.kind === 'listed' || event.kind === 'searched';
}

const firstProofMs = 5_000;
const longestProofMs = 300_000;
/** With those delays about a day. By their count and not by the clock: in an outage of the bot nothing was asked. */
const mostProofs = 290;

function stepPayment(before: Payment, event: PaymentMove, nowMs: number): Payment | undefined {
  switch (event.kind) {
    case 'asked':
      return { ...before, asked: before.asked + 1, looksAtMs: nowMs + firstProofMs };
    case 'listed':
      return { ...before, lists: distinct([...before.lists, ...event.lists]) };
    case 'searched': {
      const { looksAtMs, unproven, ...others } = before;
      const { asked, isSettled, provenReference = before.provenReference, hasOwn = before.hasOwn } = event;
      const isLast = isSettled || unproven >= mostProofs;
      const againAtMs = isLast ? undefined : nowMs + growingDelayMs(firstProofMs, unproven, longestProofMs);
      return {
        ...others,
        unproven: isSettled ? unproven : unproven + 1,
        // A failure that was listed meanwhile has it look once more.
        ...withoutUndefined({
          provenReference,
          hasOwn,
          looksAtMs: asked < before.asked ? looksAtMs : againAtMs,
        }),
      };
    }
  }
}

/** An alert that is tied to payments, and may be tied to more once more is known. A proven order stays the proven one. */
export function linked(before: EventCase, event: Linked, nowMs: number): EventCase | undefined {
  const { failed } = before;
  const lists = distinct([...(failed?.lists ?? []), ...event.lists]);
  const storms = distinct([...before.storms, ...event.storms]);
  const proven = failed?.proven ?? event.proven;
  const isAsked = event.isUnanswered === true && !before.unanswered && !endsCard(before.card);
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
    failed: { atMs: failed?.atMs ?? event.atMs, lists, ...(proven && { proven }) },
    ...posting,
    ...(isAsked ? { unanswered: { times: 0, atMs: nowMs } } : {}),
  };
}

/** Undefined: that message, or one like it, is known. */
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
  { about, seen, isOver }: Extract<CaseEvent, { kind: 'escalated' }>,
  nowMs: number,
): EventCase | undefined {
  const { card, escalations: all, steps } = before;
  if (card.kind !== 'open') return undefined;
  const after = escalate(all, about, { nowMs, isOver: isOver || seen.kind !== 'open' });
  if (!after) return undefined;
  const { escalations, made } = after;
  return { ...before, escalations, steps: made ? [...steps, made] : steps };
}

type OtherMoney = Extract<CaseEvent, { kind: 'paid_otherwise' | 'paid_again' | 'given_back' }>;

function isOfOtherMoney(event: CaseEvent): event is OtherMoney {
  const { kind } = event;
  return kind === 'paid_otherwise' || kind === 'paid_again' || kind === 'given_back';
}

/** Told in its threads, and changes nothing else. */
function stepOtherMoney(before: EventCase, event: OtherMoney, nowMs: number): EventCase | undefined {
  switch (event.kind) {
    case 'paid_otherwise':
      return stepPaidOtherwise(before, event, nowMs);
    case 'paid_again':
      return stepPaidAgain(before, event, nowMs);
    case 'given_back': {
      const { key, ...told } = event;
      const { givenBack = [], steps } = before;
      if (givenBack.includes(key)) return undefined;
      return { ...before, givenBack: [...givenBack, key], steps: [...steps, { ...told, at: nowMs }] };
    }
  }
}

/** A customer who pays every day would fill the thread of an alert that nobody closes. */
function stepPaidOtherwise(
  before: EventCase,
  { payment }: Extract<CaseEvent, { kind: 'paid_otherwise' }>,
  at: number,
): EventCase | undefined {
  if (before.hasOtherPayment || endsCard(before.card)) return undefined;
  const told: CardStep = { kind: 'other_payment', payment, at };
  return { ...before, hasOtherPayment: true, steps: [...before.steps, told] };
}

/** Told once for each payment; the one that resolved the alert is no news. */
function stepPaidAgain(
  before: EventCase,
  { payment, people }: Extract<CaseEvent, { kind: 'paid_again' }>,
  at: number,
): EventCase | undefined {
  const { card, paidAgain = [] } = before;
  const { reference } = payment;
  const end = endsCard(card) ? endOf(card) : undefined;
  if (!end || paidAgain.includes(reference)) return undefined;
  if (end.kind === 'paid' && end.reference === reference) return undefined;
  const told: CardStep = { kind: 'paid_again', payment, before: end, people, at };
  return { ...before, paidAgain: [...paidAgain, reference], steps: [...before.steps, told] };
}

function endOf(card: EndedCard): AlertEnd {
  return card.kind === 'recovered'
    ? { kind: 'paid', reference: card.payment.reference }
    : { kind: 'closed', by: card.by, reason: card.reason };
}

type ClaimEvent = Extract<CaseEvent, { kind: 'claimed' | 'released' | 'held' | 'unheld' }>;

function stepClaim(before: EventCase, event: ClaimEvent, nowMs: number): EventCase | undefined {
  const { card, charge, heldUntil } = before;
  switch (event.kind) {
    case 'held': {
      const { untilMs } = event;
      return untilMs <= nowMs || heldUntil === untilMs ? undefined : { ...before, heldUntil: untilMs };
    }
    case 'unheld': {
      const { heldUntil: until = Infinity, ...others } = before;
      return until <= nowMs ? others : undefined;
    }
    case 'claimed': {
      const { reference, by, holder, over, seen } = event;
      const isFree = !charge || charge.reference === reference || charge.holders.at(-1) === over;
      if (endsCard(card) || !isFree) return undefined;
      // Another delivery of the same submit may charge, whatever becomes of this one.
      const others = charge?.reference === reference ? charge.holders : [];
      const claimed = { ...before, charge: { reference, by, at: nowMs, holders: [...others, holder] } };
      // The person who charges it takes it.
      const taken = moveCard(card.kind === 'open' ? seen : card, { kind: 'acknowledge', by }, nowMs);
      if (taken.kind === 'refused') return claimed;
      return { ...claimed, card: taken.card, steps: [...before.steps, taken.step] };
    }
    case 'released': {
      if (!charge?.holders.includes(event.holder)) return undefined;
      const holders = charge.holders.filter((one) => one !== event.holder);
      const { charge: _released, ...free } = before;
      return holders.length === 0 ? free : { ...before, charge: { ...charge, holders } };
    }
  }
}

const firstLookMs = 15_000;
const longestLookMs = 600_000;
/** With those delays about a day. */
const mostLooks = 150;

/** When nothing happens to it before: its snooze ends, its card is on hold no more, somebody is called, or it is looked up again. */
export function timesOf({ card, heldUntil = Infinity, unanswered, escalations }: EventCase, nowMs: number) {
  const isTaken = card.kind === 'acknowledged';
  const looksAt =
    unanswered && unanswered.atMs + growingDelayMs(firstLookMs, unanswered.times, longestLookMs);
  return {
    wakesAt: isTaken ? (card.snoozedUntil ?? Infinity) : Infinity,
    unheldAt: isTaken ? heldUntil : Infinity,
    callsAt: card.kind === 'open' ? nextCall(escalations, nowMs).atMs : Infinity,
    looksAt: looksAt === undefined || endsCard(card) ? Infinity : looksAt,
  };
}

function restMs(state: EventCase, nowMs: number): number | undefined {
  const { payment } = state;
  const nextAt = payment
    ? (payment.looksAtMs ?? Infinity)
    : Math.min(...Object.values(timesOf(state, nowMs)));
  return nextAt === Infinity ? undefined : Math.max(0, nextAt - nowMs);
}

/** False of what no message shows. */
function isTold(before: EventCase, after: EventCase): boolean {
  return (
    before.payment === after.payment &&
    before.failed === after.failed &&
    (before.escalations === after.escalations || before.steps !== after.steps) &&
    (before.unanswered === after.unanswered || before.evidence !== after.evidence) &&
    (before.evidence === undefined || after.evidence !== undefined) &&
    (after.heldUntil === undefined || before.heldUntil === after.heldUntil)
  );
}

/** The order’s, signed or proven; else what its event is known by. */
function referenceOf({ id, failed }: EventCase): string {
  return referenceOfEventKey(id) ?? failed?.proven?.reference ?? id;
}

/** Which charges are told of a step, and what: one that is under way when its alert ends, and both that paid for it. */
export function newsOf(one: CardStep, state: EventCase): [reference: string, news: AlertNews][] {
  const { card, charge } = state;
  const failed = referenceOf(state);
  if (one.kind === 'paid_again') {
    const { before, payment } = one;
    const second: [string, AlertNews] = [payment.reference, { ...before, failed }];
    if (before.kind === 'closed') return [second];
    return [second, [before.reference, { kind: 'paid', reference: payment.reference, failed }]];
  }
  const hasEnded = one.kind === 'closed' || one.kind === 'recovered';
  if (!hasEnded || !endsCard(card) || !charge) return [];
  const end = endOf(card);
  const isOwn = end.kind === 'paid' && end.reference === charge.reference;
  return isOwn ? [] : [[charge.reference, { ...end, failed }]];
}

/** Who gets a step as a direct message, because a thread calls nobody: its present and former handlers, except the one who did it. */
export function addressees(one: CardStep, card: AlertCard): string[] {
  switch (one.kind) {
    case 'recovered':
      return handlersOf(card);
    case 'paid_again': {
      const closer = one.before.kind === 'closed' ? [one.before.by] : [];
      const told = distinct([...one.people, ...closer]);
      return told.length > 0 ? told : handlersOf(card);
    }
    case 'given_back':
      return distinct([...handlersOf(card), ...(card.kind === 'closed' ? [card.by] : [])]);
    case 'awake':
      return handlersOf(card).slice(-1);
    case 'closed':
      return handlersOf(card)
        .slice(-1)
        .filter((userId) => userId !== one.by);
    case 'assigned':
      return [one.to, ...(one.from === undefined ? [] : [one.from])].filter((userId) => userId !== one.by);
    default:
      return [];
  }
}

/** What the audit says of what people and payments did with it. */
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

function detailOf(one: CardStep): Pick<AuditEntry, 'reason' | 'after'> {
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

function distinct<Text extends string>(all: readonly Text[]): Text[] {
  return [...new Set(all)];
}

export const eventRules: CaseRules<EventCase, CaseEvent> = {
  prefix: eventPrefix,
  schema: eventCase,
  lists: listsOf,
  step,
  restMs,
  isTold,
  // A step that stands in its threads, or is to, is remembered by its number.
  settled: (state) => ({ ...state, steps: [], told: state.told + state.steps.length }),
  history: auditOf,
};

/** For readers of the list of all events, which holds messages too. */
export const eventKind = caseKind(eventRules);
