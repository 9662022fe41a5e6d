import type { Confirmation } from './confirmation.ts';
import type { FailureKind } from './failure.ts';
import type { Money } from './money.ts';

/** Which of the spec's two environments a thing happened in; unmistakable on every surface. */
export type Environment = 'live' | 'sandbox';

/**
 * What the look-up behind an event gave. `unchecked`: the payments service could not be asked, so nothing
 * is claimed beyond what the signed event says. `no_reference`: the event names no order under its signature,
 * and nothing signed ties the unsigned reference that came with it to a record.
 */
export type Lookup =
  | Confirmation
  /** `sinceMs`: since when the service as a whole gives no answer; absent where that may be about this order alone. */
  | { kind: 'unchecked'; failure: FailureKind; sinceMs?: number }
  | { kind: 'no_reference' };

export const severities = ['low', 'normal', 'high'] as const;

/** How much a rule's alerts matter, by the rule's word; shown, and decides nothing. */
export type Severity = (typeof severities)[number];

/** Whom a rule's alerts call: a person or a user group, by Slack's id. */
export type Mention = { kind: 'person' | 'group'; id: string };

/** The rule by which a channel gets an alert, as the alert shows it. */
export type AlertRoute = { rule: string; severity?: Severity; mention?: Mention };

/**
 * Where the card of a failed charge stands with the people who watch the alerts. People are Slack user ids,
 * times UTC milliseconds. `recovered` and `closed` are ends: nothing leaves them.
 */
export type AlertCard =
  | { kind: 'open' }
  | Acknowledged
  | { kind: 'recovered'; at: number; payment: Recovery; acknowledged?: Acknowledged }
  | { kind: 'closed'; at: number; by: string; reason: string; acknowledged?: Acknowledged };

export type Acknowledged = {
  kind: 'acknowledged';
  by: string;
  at: number;
  assignee?: string;
  snoozedUntil?: number;
};

/** The proven payment that resolved a failure. Its event came `afterMs` after the failure's, or before it (below zero). */
export type Recovery = {
  reference: string;
  /** The failed reference itself was paid; else another one of the same customer, or with the same card. */
  isSameReference: boolean;
  /** A charge that was begun from this very alert. */
  isChargedAgain?: boolean;
  money: Money;
  afterMs: number;
};

/** Nothing is done with it any more. */
export type EndedCard = Extract<AlertCard, { kind: 'recovered' | 'closed' }>;

/** The one charge that was begun from an alert and may move money. `by` is a Slack user id, `at` when it was begun. */
export type AlertCharge = { reference: string; by: string; at: number };

/** Why no charge can be begun from an alert now. */
export type AlertTaken = { kind: 'ended'; card: EndedCard } | { kind: 'charging'; charge: AlertCharge };

export type AlertClaim =
  /** `release` takes back this very claim, for a charge that was not stored; never throws StoreUnavailable. */
  { kind: 'claimed'; release: () => Promise<void> } | { kind: 'taken'; taken: AlertTaken };

/** What the bot itself charged under a reference: the card's fingerprint, and the alert it was begun from. */
export type BotCharge = { card: string; alert?: string };

/**
 * Of all charges that are begun from one alert, one may move money at a time: it has the alert from before it is sent
 * until it has ended without money. An alert and those of the charges begun from it are one. Throws StoreUnavailable.
 */
export type AlertClaims = {
  /** One swap decides, on all replicas. Again for the same reference: claimed. */
  claim(alert: string, charge: Pick<AlertCharge, 'reference' | 'by'>): Promise<AlertClaim>;
  /** What would speak against that claim now. Changes nothing. */
  taken(alert: string, reference?: string): Promise<AlertTaken | undefined>;
  /** Its charge has ended without money: the alert's messages are to say so. */
  ended(alert: string): Promise<void>;
};

/** A charge or link of the bot's own that is proven paid. */
export type ProvenPayment = {
  reference: string;
  money: Money;
  customerEmail: string;
  customerId?: string | undefined;
  /** When it was proven. */
  atMs: number;
};
