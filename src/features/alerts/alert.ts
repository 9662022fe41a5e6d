import {
  declineReason,
  type DeclineRule,
  failedHow,
  type KnownDecline,
  outcomeOfReason,
  type RetryVerdict,
} from '../../domain/decline-reason.ts';
import { type Check, moneyToTake, type Transaction } from '../../domain/transaction.ts';
import type { Money } from '../../domain/money.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { FoundBy } from '../../records/found-by.ts';
import type {
  EscalationStep,
  Mention,
  Severity,
  Environment,
  Lookup,
  AlertState,
  AlertCharge,
  AlertEnd,
  Acknowledged,
  Recovery,
  EndedAlert,
} from '../../domain/alert.ts';
import { dayMs } from '../../domain/span.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import {
  type MessageKey,
  type MessageRecord,
  alertKey,
  findMessageRecord,
  hasChannel,
  messageKey,
} from '../../messages/message-record.ts';
import { evidenceContext } from '../../records/reseal.ts';
import type { Sealer, Store } from '../../store/store.ts';

/** The people it mentions; none for a group. */
export function mentionedUsers(mention: Mention | undefined): string[] {
  return mention?.kind === 'person' ? [mention.id] : [];
}

/** The rule that sends an alert to a channel, as the alert shows it. */
export type AlertRoute = { rule: string; severity?: Severity; mention?: Mention };

/** Shorter than alerts are remembered, so that none is forgotten during its snooze. */
const longestSnoozeMs = 7 * dayMs;

export type AlertMove =
  | { kind: 'acknowledge'; by: string }
  | { kind: 'assign'; by: string; to: string }
  | { kind: 'snooze'; by: string; forMs: number }
  | { kind: 'wake' }
  | { kind: 'close'; by: string; reason: string }
  | { kind: 'recover'; payment: Recovery };

/** A step. The thread tells each once. */
export type AlertStep =
  | { kind: 'acknowledged'; by: string; at: number }
  /** `from`: the handler until then, unless that is the same person. */
  | { kind: 'assigned'; by: string; to: string; from?: string; at: number }
  | { kind: 'snoozed'; by: string; until: number; at: number }
  | { kind: 'awake'; at: number }
  | { kind: 'closed'; by: string; reason: string; at: number }
  | { kind: 'recovered'; payment: Recovery; at: number }
  /** A later payment that may be for something else: the thread tells it, the alert stays as it is. */
  | { kind: 'other_payment'; payment: Recovery; at: number }
  /** Its own payment, after something else had ended it. `people`: who asked for either payment. */
  | { kind: 'paid_again'; payment: Recovery; before: AlertEnd; people: readonly string[]; at: number }
  /** A signed event says that its own payment, or the one that resolved it, was given back. `found`: what the look-up says. */
  | ({ kind: 'given_back'; at: number } & GivenBack)
  /** Nobody acknowledged it in time: told in the thread of one message. */
  | Escalated;

/** `about`: the message's key, or for a storm its rules' steps. */
export type Escalated = EscalationStep & { kind: 'escalated'; about: string; at: number };

export type GivenBack = { reference: string; found: Lookup['kind']; money?: Money };

/** Whether money may have to be given back, or was. */
export function isMoneyStep({ kind }: AlertStep): boolean {
  return kind === 'paid_again' || kind === 'given_back';
}

export type MovedAlert =
  | { kind: 'moved'; state: AlertState; step: AlertStep }
  /**
   * `acknowledged`: somebody acknowledged it before. `ended`: it is recovered or closed. `not_acknowledged`: only an acknowledged
   * alert can be assigned or snoozed. `nothing_new`: no change, or not due yet.
   */
  | { kind: 'refused'; why: 'acknowledged' | 'ended' | 'not_acknowledged' | 'nothing_new' };

export function moveAlert(state: AlertState, move: AlertMove, at: number): MovedAlert {
  if (isEnded(state)) return refused('ended');
  // Keep the handlers: they are told how it ended.
  const handlers = state.kind === 'acknowledged' ? { acknowledged: state } : {};
  switch (move.kind) {
    case 'acknowledge': {
      if (state.kind === 'acknowledged') return refused('acknowledged');
      const acknowledged = { kind: 'acknowledged', by: move.by, at } as const;
      return moved(acknowledged, acknowledged);
    }
    case 'close': {
      const closed = { kind: 'closed', by: move.by, reason: move.reason, at } as const;
      return moved({ ...closed, ...handlers }, closed);
    }
    case 'recover': {
      const recovered = { kind: 'recovered', payment: move.payment, at } as const;
      return moved({ ...recovered, ...handlers }, recovered);
    }
    default:
      return state.kind === 'acknowledged' ? handle(state, move, at) : refused('not_acknowledged');
  }
}

export function isEnded(state: AlertState): state is EndedAlert {
  return state.kind === 'recovered' || state.kind === 'closed';
}

function handle(
  state: Acknowledged,
  move: Extract<AlertMove, { kind: 'assign' | 'snooze' | 'wake' }>,
  at: number,
): MovedAlert {
  switch (move.kind) {
    case 'assign': {
      const { by, to } = move;
      if (state.assignee === to) return refused('nothing_new');
      const from = state.assignee ?? state.by;
      const step = { kind: 'assigned', by, to, ...(from === to ? {} : { from }), at } as const;
      return moved({ ...state, assignee: to }, step);
    }
    case 'snooze': {
      const until = at + Math.min(Math.max(move.forMs, 0), longestSnoozeMs);
      return moved({ ...state, snoozedUntil: until }, { kind: 'snoozed', by: move.by, until, at });
    }
    case 'wake': {
      const { snoozedUntil, ...awake } = state;
      if (snoozedUntil === undefined || snoozedUntil > at) return refused('nothing_new');
      return moved(awake, { kind: 'awake', at });
    }
  }
}

function moved(state: AlertState, step: AlertStep): MovedAlert {
  return { kind: 'moved', state, step };
}

function refused(why: Extract<MovedAlert, { kind: 'refused' }>['why']): MovedAlert {
  return { kind: 'refused', why };
}

/** Who acknowledged it, then who it is assigned to; empty if nobody acknowledged it. An ended alert keeps them. */
export function handlersOf(state: AlertState): string[] {
  if (state.kind === 'open') return [];
  const { by, assignee } = (state.kind === 'acknowledged' ? state : state.acknowledged) ?? {};
  return by === undefined ? [] : [...new Set([by, assignee ?? by])];
}

/** The service's record, if the look-up found one. */
export function recordOf(lookup: Lookup | undefined): Transaction | undefined {
  return lookup && 'transaction' in lookup ? lookup.transaction : undefined;
}

/** The same, but only if it is the record of the order that was looked up. */
export function recordOfOrder(lookup: Lookup): Transaction | undefined {
  return 'evidence' in lookup && lookup.evidence.reference.holds ? lookup.transaction : undefined;
}

/**
 * The event with its order's reference: the signed one, else the one of the looked-up record that has the event's signed
 * transaction id.
 */
export function withProvenOrder(event: PaymentEvent, lookup: Lookup | undefined): PaymentEvent {
  const orderReference = event.orderReference ?? (lookup && recordOfOrder(lookup)?.orderReference);
  return { ...event, ...withoutUndefined({ orderReference }) };
}

/** From the looked-up record if it is this order's; else from the signed event. */
export function customerEmailOf(event: PaymentEvent, lookup: Lookup): string | undefined {
  return recordOfOrder(lookup)?.customerEmail ?? event.customerEmail;
}

/** The terms by which `/pay find` finds the event. */
export function eventFoundBy({ customerEmail, cardSaved, amountMinor }: PaymentEvent): FoundBy {
  const lastFour = cardSaved && 'face' in cardSaved ? cardSaved.face.lastFour : undefined;
  return { customerEmail, lastFour, amountMinor };
}

/** The amount that failed: from the service's record, else from the signed event. */
export function moneyOfFailure(event: PaymentEvent, lookup: Lookup | undefined): Money | undefined {
  const record = lookup && !event.isErased ? recordOfOrder(lookup) : undefined;
  const recorded = record && moneyToTake(record);
  if (recorded) return recorded;
  return moneyOfEvent(event);
}

export function moneyOfEvent({ amountMinor: minor, currency }: PaymentEvent): Money | undefined {
  return minor === undefined || currency === undefined ? undefined : { minor, currency };
}

/** Whether a look-up contradicts a payment's event. */
export function contradicts(found: Lookup['kind'] | undefined): boolean {
  return found === 'not_confirmed' || found === 'not_paid' || found === 'given_back' || found === 'not_found';
}

/** One event, ready to post. Times are UTC ms. */
export type Alert = {
  event: PaymentEvent;
  lookup: Lookup;
  environment: Environment;
  account: string;
  receivedAtMs: number;
  /** Absent: no decline, or its event and look-up don't prove one. */
  declined?: KnownDecline;
  /** It can be looked up although no reference is signed. */
  canLookUp?: boolean;
  /** The bot can list the customer's saved cards. */
  canListCards?: boolean;
  /** An earlier post may have arrived; the channel's history couldn't be read to find out. */
  mayBeRepeat: boolean;
  /** The rule that sent it here; absent: `channels`. The post calls the person it mentions; an edit calls nobody. */
  route?: AlertRoute;
  /** Absent: nobody acts on it. */
  status?: AlertStatus;
};

/** `charge`: the card may be charged now, at least with a second person's approval. `link`: it may not. */
export type AgainOffer = 'charge' | 'link';

/** An alert's state as one of its messages shows it. */
export type AlertStatus = {
  /** The value of its buttons. */
  id: string;
  state: AlertState;
  /** A charge begun from it that may still move money. */
  charging?: AlertCharge;
  /** The offered way to pay; absent: no saved card is known, the bank suspects fraud, or a charge is under way. */
  again?: AgainOffer;
  /** When a person looked it up again. */
  lookedUpAtMs?: number;
  /** The message that this one replaces, because Slack no longer let it be edited. */
  replaced?: { channel: string; ts: string };
};

/** The event says failed, and the look-up found that charge neither paid nor given back. */
export function isDeclined({ event, lookup }: Pick<Alert, 'event' | 'lookup'>): boolean {
  return (
    event.kind === 'payment_failed' &&
    'evidence' in lookup &&
    lookup.kind !== 'given_back' &&
    lookup.evidence.reference.holds &&
    !lookup.evidence.status.holds &&
    lookup.transaction.status !== undefined
  );
}

/**
 * The decline by an event and its look-up; undefined: none. `verdict`: on the next try, by the card's history with this failure;
 * without it the card is unknown and the wait counts from the event.
 */
export function knownDecline(
  { event, lookup, receivedAtMs }: Pick<Alert, 'event' | 'lookup' | 'receivedAtMs'>,
  { threeDSecureWords, waitMs }: DeclineRule,
  { nowMs, verdict }: { nowMs: number; verdict?: RetryVerdict | undefined },
): KnownDecline | undefined {
  if (!isDeclined({ event, lookup })) return undefined;
  const said = declineReason(event.reason ?? recordOf(lookup)?.gatewayMessage, threeDSecureWords);
  const reason = verdict?.kind === 'save_again' ? 'three_d_secure' : said;
  const waitsUntil = receivedAtMs + waitMs;
  const isWaiting = outcomeOfReason(said) === 'declined' && nowMs < waitsUntil;
  const nextTryFrom = verdict ? holdEnd(verdict) : isWaiting ? waitsUntil : undefined;
  return {
    how: failedHow(said),
    atMs: receivedAtMs,
    reason,
    ...withoutUndefined({ bankWords: event.reason, nextTryFrom }),
  };
}

/** The end of the card's hold; undefined: no hold, or a permanent one. */
export function holdEnd(verdict: RetryVerdict): number | undefined {
  return verdict.kind === 'on_hold' || verdict.kind === 'stopped' ? verdict.nextTryFrom : undefined;
}

/** An event without its details: what happened, and to which order or transaction. */
export function withoutDetails(event: PaymentEvent): PaymentEvent {
  const { kind, key, orderReference, orderId, transactionId, referenceHint } = event;
  const named = orderReference === undefined ? { orderId, transactionId, referenceHint } : { orderReference };
  return { kind, key, isErased: true, ...withoutUndefined(named) };
}

/** Never shown: an event without details is told without an amount. */
const noMoney: Money = { minor: 0, currency: '' };

/** A look-up's outcome and order reference, without customer, money and words. */
export function outcomeAlone(lookup: Lookup): Lookup {
  if (!('transaction' in lookup)) return lookup;
  const { status, outcome, orderReference } = lookup.transaction;
  const transaction = withoutUndefined({ status, outcome, orderReference });
  const evidence = {
    status: withoutStatement(lookup.evidence.status),
    reference: withoutStatement(lookup.evidence.reference),
    amount: withoutStatement(lookup.evidence.amount),
  };
  return lookup.kind === 'confirmed'
    ? { kind: 'confirmed', transaction, money: noMoney, evidence }
    : { kind: lookup.kind, transaction, money: undefined, evidence };
}

function withoutStatement({ part, holds }: Check): Check {
  return { part, holds, statement: '' };
}

/** A look-up's result and its time (UTC ms). */
export type Evidence = { lookup: Lookup; atMs: number };

/**
 * The newest look-up, but one that says nothing never replaces one that found a record. Of two at the same time, the first in
 * the list.
 */
export function newestOf(found: readonly (Evidence | undefined)[]): Evidence | undefined {
  const byTime = found.flatMap((one) => one ?? []).toReversed();
  return byTime
    .toSorted((one, other) => one.atMs - other.atMs)
    .reduce<Evidence | undefined>((known, asked) => newerOf(asked, known), undefined);
}

/** The newer look-up, unless it says nothing and the older one found a record. */
export function newerOf(asked: Evidence, known: Evidence | undefined): Evidence {
  const saysNothing = asked.lookup.kind === 'unchecked' || asked.lookup.kind === 'no_reference';
  return saysNothing && recordOf(known?.lookup) && known ? known : asked;
}

/** Sealed under a key of its own, because the event is sealed under the record's. */
export function sealEvidence(sealer: Sealer, key: string, evidence: Evidence): string {
  return sealer.seal(evidenceContext(key), JSON.stringify(evidence));
}

export function openEvidence(sealer: Sealer, key: string, { evidence }: MessageRecord): Evidence | undefined {
  if (evidence === undefined) return undefined;
  return JSON.parse(sealer.open(evidenceContext(key), evidence)) as Evidence;
}

/** Key of the note in an alert's thread about one step; a step’s number never changes. */
export function alertNoteKey(alert: string, number: number): MessageKey<'alert_note'> {
  return messageKey('alert_note', `${alert.slice(messageKey('alert', '').length)}#${number}`);
}

/** Where the message is or will be; undefined: the event goes to no channel. */
export function placeOf(record: MessageRecord): MessagePlace | undefined {
  const { channel, posted } = record;
  return posted ?? (hasChannel(record) ? { channel } : undefined);
}

/** A stored message of an alert: its first, which holds the event, or a copy for a further channel. */
export type AlertMessage = { key: string; record: MessageRecord };

/** The alert's messages, the first one first; empty: the alert is unknown or forgotten. `known`: one that was read before. */
export async function alertMessages(
  store: Pick<Store, 'read'>,
  id: string,
  known?: AlertMessage,
): Promise<AlertMessage[]> {
  async function read(key: string): Promise<AlertMessage[]> {
    const record = await findMessageRecord(store, key);
    return record ? [{ key, record }] : [];
  }
  const own = known?.key === alertKey(id) ? [known] : await read(alertKey(id));
  const [, ...further] = own[0]?.record.routed ?? [];
  const copies = await Promise.all(further.map(({ channel }) => read(alertKey(id, channel))));
  return [...own, ...copies.flat()];
}
