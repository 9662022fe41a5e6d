import type { AlertCard, AlertCharge } from './alert-card.ts';
import { declineReason, type DeclineRule, type KnownDecline } from './decline-reason.ts';
import type { Check, Confirmation } from './confirmation.ts';
import type { FailureKind } from './failure.ts';
import type { Money } from './money.ts';
import type { PaymentEvent } from './payment-event.ts';
import type { Transaction } from './transaction.ts';
import { withoutUndefined } from './without-undefined.ts';

/** Which of the spec's two environments a thing happened in; unmistakable on every surface. */
export type Environment = 'live' | 'sandbox';

/**
 * What the look-up behind an event gave. `unchecked`: the payments service could not be asked, so nothing
 * is claimed beyond what the signed event says. `no_reference`: the event names no order under its signature.
 * `hint`: what came of the unsigned reference that came with it; `other` is a record that is not the event's.
 */
export type Lookup =
  | Confirmation
  /** `sinceMs`: since when the service as a whole gives no answer; absent where that may be about this order alone. */
  | { kind: 'unchecked'; failure: FailureKind; sinceMs?: number }
  | { kind: 'no_reference'; hint?: 'unknown' | 'other' };

/** The service's own record, where the look-up found one. */
export function recordOf(lookup: Lookup | undefined): Transaction | undefined {
  return lookup && 'transaction' in lookup ? lookup.transaction : undefined;
}

/** The same, but only where it is the record of the very order that was looked up: what it says else is of another. */
export function recordOfOrder(lookup: Lookup): Transaction | undefined {
  return 'evidence' in lookup && lookup.evidence.reference.holds ? lookup.transaction : undefined;
}

/** The looked-up record's, where it is of this order; else the signed event's. */
export function customerEmailOf(event: PaymentEvent, lookup: Lookup): string | undefined {
  return recordOfOrder(lookup)?.customerEmail ?? event.customerEmail;
}

/** Whether a look-up speaks against what its event says. */
export function contradicts(found: Lookup['kind'] | undefined): boolean {
  return found === 'not_confirmed' || found === 'not_paid' || found === 'not_found';
}

export const severities = ['low', 'normal', 'high'] as const;

/** How much a rule's alerts matter, by the rule's word; shown, and decides nothing. */
export type Severity = (typeof severities)[number];

/** Whom a rule's alerts call: a person or a user group, by Slack's id. */
export type Mention = { kind: 'person' | 'group'; id: string };

/** The rule by which a channel gets an alert, as the alert shows it. */
export type AlertRoute = { rule: string; severity?: Severity; mention?: Mention };

/** One event, ready to be told in a channel. Times are UTC milliseconds. */
export type Alert = {
  event: PaymentEvent;
  lookup: Lookup;
  environment: Environment;
  account: string;
  receivedAtMs: number;
  /** What is known of the decline, where it is one. */
  declined?: KnownDecline;
  /** The bot can list the customer's saved cards. */
  canListCards?: boolean;
  /** An earlier attempt to post it may have arrived, and the channel's history could not be read to find out. */
  mayBeRepeat: boolean;
  /** Absent where no rule but `channels` says that it is told here. Whoever it mentions is called by the post; an edit calls nobody. */
  route?: AlertRoute;
  /** Only of what people act on; absent: it is told, and that is all. */
  card?: AlertCardShown;
};

/** A card as one of its messages shows it. */
export type AlertCardShown = {
  /** What its buttons carry. */
  id: string;
  card: AlertCard;
  /** The charge that was begun from it and may move money. */
  charging?: AlertCharge;
  /** The bot knows a saved card of the customer, and nobody is charging it. */
  canChargeAgain: boolean;
  /** When the evidence was looked up anew, by a person's wish. */
  lookedUpAtMs?: number;
  /** The message in whose place this one stands, because Slack let nobody edit it any more. */
  replaced?: { channel: string; ts: string };
};

/** The event says failed, and the look-up found that very charge with a status that does not mean paid. */
export function isDeclined({ event, lookup }: Pick<Alert, 'event' | 'lookup'>): boolean {
  return (
    event.kind === 'payment_failed' &&
    'evidence' in lookup &&
    lookup.evidence.reference.holds &&
    !lookup.evidence.status.holds &&
    lookup.transaction.status !== undefined
  );
}

/** What an event and its look-up tell of a decline; undefined where they tell none. */
export function knownDecline(
  { event, lookup, receivedAtMs }: Pick<Alert, 'event' | 'lookup' | 'receivedAtMs'>,
  { threeDSecureWords, waitMs }: DeclineRule,
): KnownDecline | undefined {
  if (!isDeclined({ event, lookup })) return undefined;
  const bankWords = event.reason ?? recordOf(lookup)?.gatewayMessage;
  return {
    atMs: receivedAtMs,
    ...withoutUndefined({ bankWords }),
    reason: declineReason(bankWords, threeDSecureWords),
    nextTryFrom: receivedAtMs + waitMs,
  };
}

/** What is left of an event once its details go: what happened, and to which order. */
export function withoutDetails({ kind, key, orderReference, orderId }: PaymentEvent): PaymentEvent {
  const named = orderReference === undefined ? { orderId } : { orderReference };
  return { kind, key, isErased: true, ...withoutUndefined(named) };
}

/** Never shown: whoever tells of an event without details tells no amount. */
const noMoney: Money = { minor: 0, currency: '' };

/** What a look-up said about the outcome and the order’s reference, without customer, money and words. */
export function outcomeAlone(lookup: Lookup): Lookup {
  if (!('transaction' in lookup)) return lookup;
  const { status, outcome, orderReference } = lookup.transaction;
  const transaction = withoutUndefined({ status, outcome, orderReference });
  const evidence = {
    status: holdsAlone(lookup.evidence.status),
    reference: holdsAlone(lookup.evidence.reference),
    amount: holdsAlone(lookup.evidence.amount),
  };
  return lookup.kind === 'confirmed'
    ? { kind: 'confirmed', transaction, money: noMoney, evidence }
    : { kind: lookup.kind, transaction, money: undefined, evidence };
}

function holdsAlone({ part, holds }: Check): Check {
  return { part, holds, statement: '' };
}
