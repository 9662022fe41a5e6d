import { hash } from 'node:crypto';
import { z } from 'zod';
import type { RoutedRule } from '../domain/alert.ts';
import { type PaymentEvent, referenceOfEventKey } from '../domain/payment-event.ts';
import { dayMs, hourMs } from '../domain/span.ts';
import { requestId } from '../log.ts';
import { indexAt } from '../records/found-by.ts';
import { notNewer } from '../records/newer-release.ts';
import type { Entry, Index, Sealer, Store, WriteOptions } from '../store/store.ts';

/**
 * A message's lane: one of its channel for posts and another for edits, because Slack limits and refuses them
 * separately. A record with its own `lane` uses that for both.
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
 * A stored message: work until it is settled, then dedupe memory. Its subject (a charge, a link, a request, a storm) is
 * read at each render.
 */
const messageRecord = z.object({
  /**
   * A reply in a thread, or a direct message, about one change. If people delete it, it isn't posted again; if Slack
   * refuses it in the thread, it goes into the channel.
   */
  isNote: z.literal(true).optional(),
  /** Never a dead letter: retried for as long as Slack refuses it. */
  isNeverGivenUp: z.literal(true).optional(),
  /** Dropped if not posted within this time of `receivedAtMs`. */
  withinMs: z.number().optional(),
  /** Prefix of a lane of its own; the channel's id follows it. */
  lane: z.string().optional(),
  /** Fixed when stored: later settings don't move it. Empty: see `hasChannel`. */
  channel: z.string(),
  receivedAtMs: z.number(),
  /** The id of the last request that wrote the record; the worker's log lines name it, too. */
  requestId: z.string().optional(),
  /** An alert's event, or another message's body. No other field names a customer in the clear. */
  sealed: z.string(),
  /** How long the record is kept once settled; absent: as long as an alert. */
  rememberMs: z.number().optional(),
  /** Versions: the last one requested, and the last one shown, superseded or given up. */
  wanted: z.int(),
  settled: z.int(),
  /** The store's count of leases (`attempts`) when the last lease ended. A higher `attempts` means that a worker has it. */
  turns: z.int(),
  /** A post that may have arrived: written before it is sent, removed once its outcome is known. */
  doubt: z
    .object({
      channel: z.string(),
      threadTs: z.string().optional(),
      /** When the first such post was sent, and the last one if there are several. UTC ms. */
      sinceMs: z.number(),
      untilMs: z.number().optional(),
      /** Slack's cursor: where the next search of the history continues. */
      cursor: z.string().optional(),
      /** Since when the history hasn't answered. */
      silentSinceMs: z.number().optional(),
    })
    .optional(),
  /** Posted although an earlier post may have arrived; the message says so from then on. */
  mayBeRepeat: z.boolean().optional(),
  /** Slack refuses the message because of its channel. `givenUp`: it is a dead letter, not work; `fix`: what helps. */
  refused: z
    .object({
      channel: z.string(),
      sinceMs: z.number(),
      givenUp: z.object({ slackError: z.string(), fix: z.string() }).optional(),
    })
    .optional(),
  /** Failed attempts in a row: the back-off grows with it. */
  misses: z.int(),
  /** Where it was posted, in the channel that Slack names. */
  posted: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** `messageDigest` of the message in Slack. While in doubt: of the post that may have arrived; absent if several may have. */
  shown: z.string().optional(),
  /** The message it was posted in place of. */
  replaced: z.object({ channel: z.string(), ts: z.string() }).optional(),
  /** Reposted because Slack refused an edit; removed once Slack accepts an edit. */
  reposted: z.boolean().optional(),
  /** Slack refuses the reply in its thread, so it goes into the channel. */
  unthreaded: z.boolean().optional(),

  // Alerts only, from here on.

  /** Hash of the event. A repeated event with another fingerprint is reported. */
  fingerprint: z.string().optional(),
  /** The payments service's answer at the time of the post, sealed; later edits show the same answer. */
  evidence: z.string().optional(),
  /** Since when its look-up has been unanswered. */
  unansweredSinceMs: z.number().optional(),
  /**
   * Channels by the rules at routing time. This record goes to the first; copies, with one channel each, go to the
   * others. Empty: no channel. Absent: not routed yet.
   */
  routed: z.array(destination).optional(),
  /** Shown by its charge's message or in an alert's thread: no message of its own. */
  byCharge: z.literal(true).optional(),
  /** Mutes that kept it from a channel. */
  keptBy: z.array(z.string()).optional(),
  /** The storm whose digest counts it, and since when: no message of its own. */
  digest: z.object({ storm: z.string(), atMs: z.number() }).optional(),
  /** Lists where `/pay find` finds the event, named by keyed hashes. Left once the details are erased. */
  foundBy: z.array(z.string()).optional(),
  /** The list by which its channel's storms are detected. It leaves that list once a digest counts it. */
  arrivals: z.string().optional(),
  /** Customer, amount and reasons were erased; the message shows outcome and reference alone. */
  isErased: z.boolean().optional(),
});

export type MessageRecord = z.infer<typeof messageRecord>;

/** The counters of a message that was never rendered. */
export const newCounters = { wanted: 1, settled: 0, turns: 0, misses: 0 } as const;

/** `Name` picks the feature that renders it. */
export type MessageKey<Name extends string = string> = `message:${Name}:${string}`;

export function messageKey<Name extends string>(name: Name, rest: string): MessageKey<Name> {
  return `message:${name}:${rest}`;
}

export function messageName(key: string): string {
  return key.split(':')[1] ?? '';
}

/** True for an event's record and its copies. */
export function isAlert({ fingerprint }: MessageRecord): boolean {
  return fingerprint !== undefined;
}

/** No suffix: an event's key ends with the merchant's reference, which could imitate it. None begins with `copy/`. */
const copyPrefix = messageKey('alert', 'copy/');

/** Key of an event's record, which is its dedupe memory; with `furtherChannel`, of its copy for that channel. */
export function alertKey(eventKey: string, furtherChannel?: string): string {
  return furtherChannel === undefined
    ? messageKey('alert', eventKey)
    : `${copyPrefix}${furtherChannel}/${eventKey}`;
}

/**
 * The key that the posted message carries, by which the channel's history is searched. A repost has a new key, because
 * the old message may still be there.
 */
export function historyKey(key: string, { replaced }: Pick<MessageRecord, 'replaced'>): string {
  return replaced ? `${key}#after:${replaced.ts}` : key;
}

/** False for an event that goes to no channel or isn't routed yet. */
export function hasChannel({ channel }: Pick<MessageRecord, 'channel'>): boolean {
  return channel !== '';
}

export const deadLetters = 'undelivered';

export function deadLettersOf(channel: string): string {
  return `${deadLetters}:${channel}`;
}

/** The list of all events' own records, by time received. */
export const eventsList = 'events';

/** The list of an order's refund events. Hashed: outside text must not shape a key. */
export const refundsOf = (reference: string): string =>
  `given-back:${hash('sha256', reference).slice(0, 40)}`;

const refundKey = /^message:alert:(payment_given_back\/.+)$/su;

/** The list of events that a mute kept from its channel. */
export const keptBackBy = (mute: string): string => `kept-back:${mute}`;

/** The list of alerts that a storm's digest counts. */
export const stormAlerts = (storm: string): string => `storm-alerts:${storm}`;

/** A record's lists. On `arrivals` a posted alert is sorted by its post: a backlog that is posted at once is a storm, too. */
export function listsOf(key: string, record: MessageRecord): Index {
  const { refused, receivedAtMs, digest, arrivals, posted, isErased, foundBy = [], keptBy = [] } = record;
  const refunded = referenceOfEventKey(refundKey.exec(key)?.[1] ?? '');
  const postedAtMs = Math.round(Number(posted?.ts ?? 0) * 1_000) || 0;
  return {
    ...(isAlert(record) && !key.startsWith(copyPrefix) ? { [eventsList]: receivedAtMs } : {}),
    ...(refunded === undefined ? {} : { [refundsOf(refunded)]: receivedAtMs }),
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

/** Throws NewerRelease, or another error if the text is no message record: a bug or a shared store. */
export function readMessageRecord(text: string): MessageRecord {
  return messageRecord.parse(JSON.parse(notNewer(text)));
}

/** Undefined: no such record. Throws what `readMessageRecord` throws, and StoreUnavailable. */
export async function findMessageRecord(
  store: Pick<Store, 'read'>,
  key: string,
): Promise<MessageRecord | undefined> {
  const entry = await store.read(key);
  return entry && readMessageRecord(entry.value);
}

/** Not validated: the body was typed when it was sealed, under a key that only this program holds. */
export function openBody(sealer: Sealer, key: string, { sealed }: Pick<MessageRecord, 'sealed'>): unknown {
  return JSON.parse(sealer.open(key, sealed));
}

export function openEvent(sealer: Sealer, key: string, record: MessageRecord): PaymentEvent {
  return openBody(sealer, key, record) as PaymentEvent;
}

// A worker's lease on a message, and what becomes of the record when it ends.

/** A message record that this worker has leased. */
export type Work = { entry: Entry; record: MessageRecord };

/** How long a settled message is remembered. */
export type Remembering = {
  rememberMs: number;
  /** Age at which a posted alert's details are erased, less than `rememberMs`; absent: never. */
  detailsMs?: number;
  now: () => number;
};

export function rememberedFor(settings: {
  webhookRememberDays: number;
  /** 0: as long as the alert. */
  alertDetailsDays: number;
}): Omit<Remembering, 'now'> {
  const [rememberMs, detailsMs] = [settings.webhookRememberDays * dayMs, settings.alertDetailsDays * dayMs];
  return detailsMs === 0 ? { rememberMs } : { rememberMs, detailsMs };
}

/** Any field except `wanted` and `turns`. */
export type Change = Partial<Omit<MessageRecord, 'wanted' | 'turns'>>;

/** Slack's limit: about one message a second in a channel. */
export const paceMs = 1_000;
/** The longest back-off, so that a repaired channel gets its messages within an hour. */
export const longestRetryMs = hourMs;

/** The pace of edits that erase details: most of Slack's fifty a minute are left to messages that people wait for. */
const detailsPaceMs = 3_000;

/**
 * Stores a change and renews the lease. Undefined: the lease has ended, or a newer version was requested; then send
 * nothing.
 */
export async function hold(
  { store, leaseMs }: { store: Pick<Store, 'write'>; leaseMs: number },
  work: Work,
  change: Change,
): Promise<Work | undefined> {
  const record = { ...work.record, ...change };
  const entry = await store.write(work.entry, writeMessageRecord(record), { holdMs: leaseMs });
  return entry && { entry, record };
}

/**
 * Stores a change and makes the record due as the options say. `holdMs`: its lane waits that long, and the record stays
 * first in it. False: another worker holds it.
 */
export function reschedule(
  { store }: { store: Pick<Store, 'read' | 'write'> },
  work: Work,
  change: Change,
  options: WriteOptions,
): Promise<boolean> {
  return endLease(store, work, change, () => options);
}

/**
 * Stores a change and settles the version that was leased; the record is no longer due. If a newer version was
 * requested meanwhile, the change is stored all the same (a forgotten post would be made twice), and the record is due
 * again.
 */
export function finish(
  outbox: Remembering & { store: Pick<Store, 'read' | 'write'> },
  work: Work,
  change: Change,
  pauseMs = work.entry.lane === detailsLane ? detailsPaceMs : paceMs,
): Promise<boolean> {
  const settled = work.record.wanted;
  return endLease(outbox.store, work, { ...change, settled }, (next) => ({
    ...(next.wanted > settled ? { delayMs: pauseMs, lane: laneOf(next) } : afterSettled(outbox, next)),
    pauseMs,
  }));
}

/**
 * Stores a change and ends the lease, by compare-and-swap. Repeated after a conflict, unless another worker had the
 * record meanwhile (`attempts`, which counts leases, has changed): then returns false, because this change is out of
 * date.
 */
async function endLease(
  store: Pick<Store, 'read' | 'write'>,
  work: Work,
  change: Change,
  optionsOf: (next: MessageRecord) => WriteOptions,
): Promise<boolean> {
  const { attempts } = work.entry;
  let { entry, record: stored } = work;
  let isLeaseOver = false;
  for (;;) {
    const next = { ...stored, ...change, turns: attempts };
    const asked = optionsOf(next);
    const lane = entry.lane === detailsLane && next.posted ? detailsLane : laneOf(next);
    const isListed = isAlert(next) || stored.refused?.givenUp || next.refused?.givenUp;
    const options = {
      lane,
      ...(isLeaseOver ? unheld(asked) : asked),
      ...(isListed ? { index: listsOf(entry.key, next) } : {}),
    };
    if (await store.write(entry, writeMessageRecord(next), options)) return true;
    const found = await store.read(entry.key);
    if (found?.attempts !== attempts) return false;
    // Same version, yet the write failed: the lease has expired.
    isLeaseOver = found.version === entry.version;
    entry = found;
    stored = readMessageRecord(found.value);
  }
}

/** An expired lease can't hold the lane: delay this record and pause the lane instead. */
function unheld(options: WriteOptions): WriteOptions {
  const { holdMs } = options;
  return holdMs === undefined ? options : { delayMs: holdMs, pauseMs: holdMs };
}

/**
 * Lane of posted alerts whose details will be erased. One for all channels, with at most an edit in three seconds, so
 * that no new alert waits for these edits, even after an outage.
 */
export const detailsLane = 'alert-details';

/** Settled records become memory; a posted alert first becomes due once more, when its details are to be erased. */
function afterSettled({ rememberMs, detailsMs, now }: Remembering, record: MessageRecord): WriteOptions {
  const ttlMs = record.rememberMs ?? rememberMs;
  if (!isAlert(record) || !record.posted || detailsMs === undefined) return { ttlMs };
  if (record.isErased) return { ttlMs: Math.max(0, ttlMs - detailsMs) };
  return { delayMs: Math.max(0, agesFromMs(record) + detailsMs - now()), lane: detailsLane };
}

/** Whether a posted alert is so old that its details are to be erased. */
export function areDetailsOver({ detailsMs, now }: Remembering, record: MessageRecord): boolean {
  return detailsMs !== undefined && now() >= agesFromMs(record) + detailsMs;
}

/** From when an alert's age counts: its post, if that was later, as after an outage. Slack's `ts` is in seconds. */
function agesFromMs({ receivedAtMs, posted }: MessageRecord): number {
  return Math.max(receivedAtMs, Number(posted?.ts ?? 0) * 1_000 || 0);
}
