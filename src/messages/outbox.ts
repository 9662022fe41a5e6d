import { z } from 'zod';
import type { Destination, RoutedRule } from '../domain/alert-route.ts';
import type { Lookup } from '../domain/alert.ts';
import type { MessagePlace } from '../domain/delivery.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { Sealer } from '../domain/sealer.ts';
import type { Index } from '../store/store.ts';

/**
 * How far a message is that is posted once and then edited: always made of what it tells of (a charge, a link, a
 * request, an alert's card, a storm) as that is when it leaves.
 * `waiting`: work, and nothing of it is under way; whoever delivers it reads what it tells of later than this.
 * `leaving`: a worker has read that, or is about to, under a lease of that length.
 * `stale`: leaving, but what it tells of went on meanwhile: what leaves is to be followed by an edit.
 * `done`: it shows what it tells of as that was when somebody last asked for it.
 */
const progress = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('waiting') }),
  z.object({ kind: z.literal('leaving'), leaseMs: z.number() }),
  z.object({ kind: z.literal('stale') }),
  z.object({ kind: z.literal('done') }),
]);

const destination = z.object({ channel: z.string(), rule: z.custom<RoutedRule>().exactOptional() });

/**
 * One thing to post, as the store keeps it: dedupe memory while it is finished, work while it is not.
 * `sealed` holds the event of an alert, and of any other kind its body (`OutboxBodies`); nothing of a customer
 * stands beside it in the clear.
 */
const outboxRecord = z.object({
  kind: z.enum([
    'alert',
    'notice',
    'charge',
    'charge_note',
    'charge_direct',
    'test_alert',
    'alert_note',
    'alert_direct',
    'daily_summary',
    'digest',
    'link',
    'link_note',
    'approval',
    'approval_note',
  ]),
  /**
   * Where it was to go when it came. An alert keeps it; of anything else the settings of the moment decide, and this where
   * they say nothing. Empty: see `isMessage`.
   */
  channel: z.string(),
  /** What a repeat must equal, lest it be told as different. */
  fingerprint: z.string(),
  receivedAtMs: z.number(),
  sealed: z.string(),
  /** A post that may have arrived: written before it leaves, gone once it surely did not. */
  doubt: z
    .object({
      channel: z.string(),
      threadTs: z.string().optional(),
      sinceMs: z.number(),
      /** An older post may have arrived too, so that what is found may be its repeat; `elsewhere`: where nobody looks any more. */
      older: z.enum(['here', 'elsewhere']).optional(),
      /** Since when the history has not answered; absent while it has. */
      silentSinceMs: z.number().optional(),
    })
    .optional(),
  /**
   * Slack refuses it for its channel, and since when; `givenUp`: it is a dead letter, no work, and listed as one, with
   * what a person must do.
   */
  refused: z
    .object({
      channel: z.string(),
      sinceMs: z.number(),
      givenUp: z.object({ slackError: z.string(), fix: z.string() }).optional(),
    })
    .optional(),
  /** Posts in a row that did not arrive; the back-off grows with it. */
  misses: z.number().int(),
  /** The message, once posted, in the channel Slack says that it is in. */
  posted: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** Only of what is edited after it was posted. */
  progress: progress.optional(),
  /** Digest of the message as it was last posted or edited; in doubt, of the one post that may have arrived, and absent when there may be others. */
  shown: z.string().optional(),
  /** Slack took no edit of it, and it was posted once more for that; absent again once Slack takes one. */
  reposted: z.boolean().optional(),
  /** It was posted though an earlier post of it may have arrived, and goes on saying so. */
  mayBeRepeat: z.boolean().optional(),
  /** Of an alert: what its look-up gave when it was posted, sealed, so that an edit shows the same. */
  evidence: z.string().optional(),
  /** Of an alert: since when its look-up has had no answer. */
  unansweredSinceMs: z.number().optional(),
  /** Of an event’s own record: it stands in the log of its hour. */
  logged: z.boolean().optional(),
  /**
   * Of an alert: where its event is told, by the rules of when it was routed, whatever they say later. The first is
   * where this record goes; those behind it are told by copies, each of which has its own alone. Empty: to be logged is
   * all the work it is. Absent: it is still to be routed.
   */
  routed: z.array(destination).optional(),
  /** The message in whose place it was posted anew. */
  replaced: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** Slack does not take it into the thread: it goes into the channel. */
  unthreaded: z.boolean().optional(),
  /** Of an alert: a storm’s digest tells it since then, and no message of its own does. */
  digest: z.object({ storm: z.string(), atMs: z.number() }).optional(),
  /** Of an alert: the list of its channel’s alerts, as long as no digest tells it. */
  arrivals: z.string().optional(),
  /** Of an alert: what it told of customer and money is gone from here, and its message says its outcome and reference alone. */
  isErased: z.boolean().optional(),
  /** How long it is remembered once told; absent: as long as an alert. */
  rememberMs: z.number().optional(),
});

export type OutboxRecord = z.infer<typeof outboxRecord>;

export function outboxKey(kind: OutboxRecord['kind'], key: string): string {
  return `outbox:${kind}:${key}`;
}

/** The alert of an event; without a channel its own record, which is the event's dedupe memory, with one a copy for a further channel. */
export function alertKey(eventKey: string, furtherChannel?: string): string {
  // In front, because a merchant's reference may end with anything, and no event key begins so.
  return outboxKey('alert', furtherChannel === undefined ? eventKey : `copy/${furtherChannel}/${eventKey}`);
}

/**
 * By what a message is known in its channel's history. One that took another's place has a key of its own: the other
 * may stand there still, closed to edits, and must not be taken for it.
 */
export function historyKey(key: string, { replaced }: Pick<OutboxRecord, 'replaced'>): string {
  return replaced ? `${key}#after:${replaced.ts}` : key;
}

/** Whether it is told itself. An event that is told nowhere, or still to be routed, has no channel. */
export function isMessage({ channel }: Pick<OutboxRecord, 'channel'>): boolean {
  return channel !== '';
}

/** The list of all dead letters. */
export const deadLetters = 'undelivered';

/** Those of one channel, or person. */
export function deadLettersOf(channel: string): string {
  return `${deadLetters}:${channel}`;
}

/** The alerts that the digest of a storm tells. */
export const stormAlerts = (storm: string): string => `storm-alerts:${storm}`;

/** The lists that a record is in. An alert that is posted late counts as one that has just come: a backlog is a storm too. */
export function listsOf({ refused, receivedAtMs, digest, arrivals, posted }: OutboxRecord): Index {
  const postedAtMs = Math.round(Number(posted?.ts ?? 0) * 1_000) || 0;
  return {
    ...(refused?.givenUp
      ? { [deadLetters]: receivedAtMs, [deadLettersOf(refused.channel)]: receivedAtMs }
      : {}),
    ...(digest
      ? { [stormAlerts(digest.storm)]: digest.atMs }
      : arrivals !== undefined && { [arrivals]: Math.max(receivedAtMs, postedAtMs) }),
  };
}

export function writeOutboxRecord(record: OutboxRecord): string {
  return JSON.stringify(record);
}

/** Throws when the text is no record of ours: a bug or a store shared with something else, never a person's mistake. */
export function readOutboxRecord(text: string): OutboxRecord {
  return outboxRecord.parse(JSON.parse(text));
}

/** The event, opened. It was typed when it was sealed, under a key only this program holds. */
export function openEvent(sealer: Sealer, key: string, record: OutboxRecord): PaymentEvent {
  return JSON.parse(sealer.open(key, record.sealed)) as PaymentEvent;
}

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

export function openEvidence(sealer: Sealer, key: string, { evidence }: OutboxRecord): Evidence | undefined {
  if (evidence === undefined) return undefined;
  return JSON.parse(sealer.open(evidenceOf(key), evidence)) as Evidence;
}

/** What the evidence beside a record is sealed for. */
export function evidenceOf(key: string): string {
  return `${key}#evidence`;
}

/** The request for a code, which is edited when the charge leaves that state; one for each agent who ever had it. */
export function codeRequestKey(reference: string, userId: string): string {
  return outboxKey('charge_direct', `otp:${reference}:${userId}`);
}

/** Of the note in an alert’s thread that tells one step of its card; a step’s number never changes. */
export function alertNoteKey(alert: string, number: number): string {
  return outboxKey('alert_note', `${alert.slice(outboxKey('alert', '').length)}#${number}`);
}

/** Where an alert goes, and the rule that says so. */
export function destinationOf({ channel, routed: [first] = [] }: OutboxRecord): Destination {
  return first ?? { channel };
}

/** Undefined: it is no message. */
export function placeOf(record: OutboxRecord): MessagePlace | undefined {
  const { channel, posted } = record;
  return posted ?? (isMessage(record) ? { channel } : undefined);
}
