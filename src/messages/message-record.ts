import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { RoutedRule } from '../domain/alert.ts';
import { type PaymentEvent, referenceOfEventKey } from '../domain/payment-event.ts';
import { requestId } from '../log.ts';
import { indexAt } from '../records/found-by.ts';
import { withoutForm } from '../records/newer-release.ts';
import type { Sealer, Index, Store } from '../store/store.ts';

/**
 * Where it waits for its turn. Edits have lanes of their own: Slack paces them by themselves and may refuse them alone, and
 * no post waits behind one.
 */
export function laneOf({
  channel,
  posted,
  lane,
}: Pick<MessageRecord, 'channel' | 'posted' | 'lane'>): string {
  return posted ? (lane ?? 'edits:') + posted.channel : (lane ?? '') + channel;
}

const destination = z.object({ channel: z.string(), rule: z.custom<RoutedRule>().exactOptional() });

/**
 * One message, as the store keeps it: dedupe memory while it is settled, work while it is not. What it tells of (a charge,
 * a link, a request, a storm) is read when it leaves.
 */
const messageRecord = z.object({
  /** A step, said below a message. One that was taken away is not said again; where its thread is closed, it goes into the channel. */
  isNote: z.literal(true).optional(),
  /** Tried as long as Slack refuses it, however long that is. */
  isNeverGivenUp: z.literal(true).optional(),
  /** Said so soon or not at all. */
  withinMs: z.number().optional(),
  /** The lane it has to itself, and its channel’s name behind that. */
  lane: z.string().optional(),
  /** Where it goes, whatever the settings say later. Empty: see `isMessage`. */
  channel: z.string(),
  receivedAtMs: z.number(),
  /** Of what asked for it last; the worker’s lines carry it on. */
  requestId: z.string().optional(),
  /**
   * The event of an alert, and of any other message its body; nothing of a customer stands beside it in the
   * clear.
   */
  sealed: z.string(),
  /** How long it is remembered once settled; absent: as long as an alert. */
  rememberMs: z.number().optional(),
  /** Its versions are counted: the last one asked for, and the last one that is shown, overtaken, or given up. */
  wanted: z.int(),
  settled: z.int(),
  /** How often it had been taken as work when its last turn ended: taken more often than that, a worker has it. */
  turns: z.int(),
  /** A post that may have arrived: written before it leaves, gone once it surely did not. */
  doubt: z
    .object({
      channel: z.string(),
      threadTs: z.string().optional(),
      sinceMs: z.number(),
      /** Of the last post that may have arrived, where there are several. */
      untilMs: z.number().optional(),
      /** How far the history was read, in Slack's own word for it. */
      cursor: z.string().optional(),
      /** Since when the history has not answered; absent while it has. */
      silentSinceMs: z.number().optional(),
    })
    .optional(),
  /** It is posted though an earlier post of it may have arrived, and goes on saying so. */
  mayBeRepeat: z.boolean().optional(),
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
  misses: z.int(),
  /** The message, once posted, in the channel Slack says that it is in. */
  posted: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** Digest of the message as it was last posted or edited; in doubt, of the one post that may have arrived, and absent when there may be others. */
  shown: z.string().optional(),
  /** The message in whose place it was posted anew. */
  replaced: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** That was for an edit which Slack did not take; absent again once Slack takes one. */
  reposted: z.boolean().optional(),
  /** Slack does not take it into the thread: it goes into the channel. */
  unthreaded: z.boolean().optional(),

  /** Of an alert, all that follows. What a repeat must equal, lest it be told as different. */
  fingerprint: z.string().optional(),
  /** What its look-up gave when it was posted, sealed, so that an edit shows the same. */
  evidence: z.string().optional(),
  /** Since when its look-up has had no answer. */
  unansweredSinceMs: z.number().optional(),
  /**
   * Where its event is told, by the rules of when it was routed, whatever they say later. The first is where this record
   * goes; those behind it are told by copies, each of which has its own alone. Empty: nobody is told.
   * Absent: it is still to be routed.
   */
  routed: z.array(destination).optional(),
  /** Its own charge tells it, or an alert’s thread, so no message of its own does. */
  byCharge: z.literal(true).optional(),
  /** The mutes that keep it from a channel. */
  keptBy: z.array(z.string()).optional(),
  /** A storm’s digest tells it since then, and no message of its own does. */
  digest: z.object({ storm: z.string(), atMs: z.number() }).optional(),
  /** The lists of its customer and card, by keyed hashes, until its details go. */
  foundBy: z.array(z.string()).optional(),
  /** The list of its channel’s alerts, as long as no digest tells it. */
  arrivals: z.string().optional(),
  /** What it told of customer and money is gone from here, and its message says its outcome and reference alone. */
  isErased: z.boolean().optional(),
});

export type MessageRecord = z.infer<typeof messageRecord>;

/** As it is stored first. */
export const unsaid = { wanted: 1, settled: 0, turns: 0, misses: 0 } as const;

/** `Name` says which feature renders it. */
export type MessageKey<Name extends string = string> = `message:${Name}:${string}`;

export function messageKey<Name extends string>(name: Name, rest: string): MessageKey<Name> {
  return `message:${name}:${rest}`;
}

export function messageName(key: string): string {
  return key.split(':')[1] ?? '';
}

/** Of an event, or one of its copies. */
export function isAlert({ fingerprint }: MessageRecord): boolean {
  return fingerprint !== undefined;
}

/** In front, because a merchant's reference may end with anything, and no event key begins so. */
const copyPrefix = messageKey('alert', 'copy/');

/** The alert of an event; without a channel its own record, which is the event's dedupe memory, with one a copy for a further channel. */
export function alertKey(eventKey: string, furtherChannel?: string): string {
  return furtherChannel === undefined
    ? messageKey('alert', eventKey)
    : `${copyPrefix}${furtherChannel}/${eventKey}`;
}

/**
 * By what a message is known in its channel's history. One that took another's place has a key of its own: the other
 * may stand there still, closed to edits, and must not be taken for it.
 */
export function historyKey(key: string, { replaced }: Pick<MessageRecord, 'replaced'>): string {
  return replaced ? `${key}#after:${replaced.ts}` : key;
}

/** Whether it is told itself. An event that is told nowhere, or still to be routed, has no channel. */
export function isMessage({ channel }: Pick<MessageRecord, 'channel'>): boolean {
  return channel !== '';
}

/** The list of all dead letters. */
export const deadLetters = 'undelivered';

/** Those of one channel, or person. */
export function deadLettersOf(channel: string): string {
  return `${deadLetters}:${channel}`;
}

/** Every event by when it was received, by its own record. */
export const eventsList = 'events';

/** The events by which money of this order was given back. Outside text must not shape a key. */
export const givenBackOf = (reference: string): string =>
  `given-back:${createHash('sha256').update(reference).digest('hex').slice(0, 40)}`;

const givenBackKey = /^message:alert:(payment_given_back\/.+)$/su;

/** The events that a mute keeps from its channel. */
export const keptBackBy = (mute: string): string => `kept-back:${mute}`;

/** The alerts that the digest of a storm tells. */
export const stormAlerts = (storm: string): string => `storm-alerts:${storm}`;

/** The lists that a record is in. An alert that is posted late counts as one that has just come: a backlog is a storm too. */
export function listsOf(key: string, record: MessageRecord): Index {
  const { refused, receivedAtMs, digest, arrivals, posted, isErased, foundBy = [], keptBy = [] } = record;
  const givenBack = referenceOfEventKey(givenBackKey.exec(key)?.[1] ?? '');
  const postedAtMs = Math.round(Number(posted?.ts ?? 0) * 1_000) || 0;
  return {
    ...(isAlert(record) && !key.startsWith(copyPrefix) ? { [eventsList]: receivedAtMs } : {}),
    ...(givenBack === undefined ? {} : { [givenBackOf(givenBack)]: receivedAtMs }),
    ...indexAt(keptBy.map(keptBackBy), receivedAtMs),
    ...indexAt(isErased ? [] : foundBy, receivedAtMs),
    ...(refused?.givenUp
      ? { [deadLetters]: receivedAtMs, [deadLettersOf(refused.channel)]: receivedAtMs }
      : {}),
    ...(digest
      ? { [stormAlerts(digest.storm)]: digest.atMs }
      : arrivals !== undefined && { [arrivals]: Math.max(receivedAtMs, postedAtMs) }),
  };
}

export function writeMessageRecord(record: MessageRecord): string {
  return JSON.stringify({ ...record, requestId: requestId() ?? record.requestId });
}

/** Throws when the text is no record of ours: a bug or a store shared with something else, never a person's mistake. */
export function readMessageRecord(text: string): MessageRecord {
  return messageRecord.parse(JSON.parse(withoutForm(text)));
}

/** Undefined: there is none. Throws what `readMessageRecord` does, and StoreUnavailable. */
export async function findMessageRecord(
  store: Pick<Store, 'read'>,
  key: string,
): Promise<MessageRecord | undefined> {
  const entry = await store.read(key);
  return entry && readMessageRecord(entry.value);
}

/** What a message was stored with. It was typed when it was sealed, under a key only this program holds. */
export function openBody(sealer: Sealer, key: string, { sealed }: Pick<MessageRecord, 'sealed'>): unknown {
  return JSON.parse(sealer.open(key, sealed));
}

/** Of an alert. */
export function openEvent(sealer: Sealer, key: string, record: MessageRecord): PaymentEvent {
  return openBody(sealer, key, record) as PaymentEvent;
}
