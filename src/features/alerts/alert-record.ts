// What of an alert stands in its message's record: where it goes, and what its look-up gave.

import { type Alert, knownDecline, recordOf } from './alert.ts';
import type { AlertCard, AlertCharge, Environment, Lookup } from '../../domain/alert.ts';
import type { Destination } from '../../domain/alert-route.ts';
import type { DeclineRule } from '../../domain/decline-reason.ts';
import { evidenceOf } from '../../records/reseal.ts';
import type { MessagePlace } from '../../messages/delivery.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { Sealer, Store } from '../../store/store.ts';
import type { ReceiveDeps } from './receive-event.ts';
import type { Storms } from './storm/storms.ts';
import { type MessageRecord, historyKey, isMessage, messageKey } from '../../messages/message-record.ts';
import type { Work, WorkDeps } from '../../messages/message-work.ts';

export const alertCardPrefix = 'alert:';

/** What a look-up gave, and when it was asked (UTC ms). */
export type Evidence = { lookup: Lookup; atMs: number };

/** Of several look-ups, the one that was asked last. */
export function newestOf(found: readonly (Evidence | undefined)[]): Evidence | undefined {
  return found.reduce(
    (newest, one) => (!newest || (one && one.atMs > newest.atMs) ? one : newest),
    undefined,
  );
}

/** Beside the event and not in it: the sender's repeats are held against the event alone. */
export function sealEvidence(sealer: Sealer, key: string, evidence: Evidence): string {
  return sealer.seal(evidenceOf(key), JSON.stringify(evidence));
}

export function openEvidence(sealer: Sealer, key: string, { evidence }: MessageRecord): Evidence | undefined {
  if (evidence === undefined) return undefined;
  return JSON.parse(sealer.open(evidenceOf(key), evidence)) as Evidence;
}

/** Of the note in an alert’s thread that tells one step of its card; a step’s number never changes. */
export function alertNoteKey(alert: string, number: number): string {
  return messageKey('alert_note', `${alert.slice(messageKey('alert', '').length)}#${number}`);
}

/** Where an alert goes, and the rule that says so. */
export function destinationOf({ channel, routed: [first] = [] }: MessageRecord): Destination {
  return first ?? { channel };
}

/** Undefined: it is no message. */
export function placeOf(record: MessageRecord): MessagePlace | undefined {
  const { channel, posted } = record;
  return posted ?? (isMessage(record) ? { channel } : undefined);
}

/** What the message of an alert needs of its card. All of it throws StoreUnavailable. */
type CardsForPosts = {
  read(id: string): Promise<{ card: AlertCard; charging?: AlertCharge; evidence?: Evidence }>;
  /** From now on a later payment resolves the failure; one that came before it does so now. `storm`: whose digest tells it. */
  linkFailure(event: PaymentEvent, lookup: Lookup, receivedAtMs: number, storm?: string): Promise<void>;
  /** Forgets what was looked up anew by a person’s wish; the card’s state stays. */
  erase(id: string): Promise<void>;
  /** Whether a saved card of this customer is remembered. */
  knowsCardOf(email: string): Promise<boolean>;
};

export type AlertShown = { kind: 'alert'; alert: Alert };

/** What an alert’s messages are made of, and a storm’s digest, which stands for many of them. */
export type AlertPostDeps = WorkDeps & {
  store: Pick<Store, 'create'>;
  sealer: Sealer;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  /** For what is still to be routed. */
  route: ReceiveDeps['route'];
  /** What people did with an alert, and what it is about; see `AlertCards`. */
  cards: CardsForPosts;
  /** What tells alerts of a channel that has too many of them. */
  storms: Pick<Storms, 'ask' | 'see'>;
  /** How long one piece of work may be held. */
  leaseMs: number;
  environment: Environment;
  account: string;
  declines: DeclineRule;
  /** `/pay cards` works here, and is named where a card's token is missing. */
  canListCards?: boolean;
};

/** What is told of the event, but for its card and its route. */
export function alertOf(
  deps: Pick<AlertPostDeps, 'environment' | 'account' | 'canListCards' | 'declines'>,
  { entry, record }: Work,
  event: PaymentEvent,
  lookup: Lookup,
): Alert {
  const { environment, account, canListCards } = deps;
  const told = { ...provenReference(lookup), ...event, key: historyKey(entry.key, record) };
  const { receivedAtMs } = record;
  const alert: Alert = { event: told, lookup, environment, account, receivedAtMs, mayBeRepeat: false };
  const declined = knownDecline(alert, deps.declines);
  return { ...alert, ...(canListCards ? { canListCards } : {}), ...(declined ? { declined } : {}) };
}

/** The service's own record names the order, also where the event could not. */
function provenReference(lookup: Lookup): { orderReference?: string } {
  const found = recordOf(lookup)?.orderReference;
  return found === undefined ? {} : { orderReference: found };
}
