import { z } from 'zod';
import type { PostOutcome } from './delivery.ts';
import { type Log, newErrorId } from '../log.ts';
import { counted } from '../domain/wording.ts';
import { pagesOf } from '../records/pages.ts';
import { code, moment, rich } from '../slack/kit/blocks.ts';
import type { Entry, Sealer, Store, WriteOptions } from '../store/store.ts';
import {
  type Remembering,
  type Change,
  type MessageRecord,
  type Work,
  deadLetters,
  deadLettersOf,
  finish,
  laneOf,
  listsOf,
  longestRetryMs,
  paceMs,
  readMessageRecord,
  reschedule,
  writeMessageRecord,
} from './message-record.ts';
import { tellOperators, tellStuck } from './messages.ts';
import { dayMs, hourMs } from '../domain/span.ts';

/** What storing a message's outcome needs: the store, the notices to the operators, and the log. */
export type Outbox = Remembering & {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  /** Where notices to the operators go; undefined: they are only logged. */
  opsChannel: string | undefined;
  /** How long a refused channel is retried before its messages become dead letters. */
  giveUpMs: number;
  log: Log;
};

type Refusal = {
  channel: string;
  outcome: Extract<PostOutcome, { kind: 'refused' }>;
  /** The change to store in every case. */
  missed: Change;
};

/** Back-off while Slack refuses the bot as a whole, and the first back-off for a refused channel. */
const refusedDelayMs = 60_000;
/** The longest back-off for a refused channel, so that a repaired one gets its messages soon. */
const longestRefusedMs = 600_000;
/** Operators get a notice only after this time: shorter refusals end by themselves or were already fixed. */
const tellAfterMs = 300_000;

/**
 * Schedules the retry of a post or edit that Slack refused for a reason only a person can fix.
 * - `message`: retried hourly and reported as stuck; its lane goes on.
 * - `bot`: retried without limit; the lane waits.
 * - `channel` (or a person): retried; the lane waits in order. Once both the message and the refusal are as old as
 *   `giveUpMs`, the message becomes a dead letter, listed until its record expires; with `isNeverGivenUp` it only stops
 *   holding its lane. The operators get one notice per channel and day on which a refusal began.
 * - `unclear` (an error that the bot doesn't know): as for a channel, but the lane goes on.
 */
export async function concludeRefusal(outbox: Outbox, work: Work, refusal: Refusal): Promise<void> {
  const { channel, outcome, missed } = refusal;
  const { slackError, fix, about } = outcome;
  const errorId = newErrorId();
  const { key, attempts: attempt } = work.entry;
  outbox.log('error', 'Slack refuses the post', { key, channel, attempt, errorId, slackError, fix });
  switch (about) {
    case 'message':
      await reschedule(outbox, work, missed, { delayMs: longestRetryMs, pauseMs: paceMs });
      await tellStuck(outbox, key, errorId);
      return;
    case 'bot':
      await reschedule(outbox, work, missed, { holdMs: refusedDelayMs });
      return;
    case 'channel':
    case 'unclear':
      await waitOrGiveUp(outbox, work, refusal);
      return;
  }
}

async function notifyOfRefusal(outbox: Outbox, refusal: Refusal, sinceMs: number): Promise<void> {
  const { channel, outcome } = refusal;
  const { slackError, fix } = outcome;
  const { giveUpMs, opsChannel, now } = outbox;
  if (channel === opsChannel || now() - sinceMs < Math.min(tellAfterMs, giveUpMs)) return;
  const isChannel = /^[CG][A-Z0-9]+$/.test(channel);
  const hours = counted(Math.round(giveUpMs / hourMs), 'hour');
  const notice = {
    state: `Slack won’t let the bot ${isChannel ? 'post in' : 'write to a person'}`,
    ...(isChannel ? { channel } : {}),
    // A person's id as plain text, because a mention would ping them.
    about: isChannel ? [slackError] : [channel, slackError],
    lines: [
      rich`${fix} Refused since ${moment(sinceMs)}.`,
      rich`Nothing is lost: the bot keeps trying for ${hours}, then the messages wait in ${code('/pay undelivered')}.`,
    ],
  };
  await tellOperators(outbox, `refused:${channel}:${Math.floor(sinceMs / dayMs)}`, notice);
}

async function waitOrGiveUp(outbox: Outbox, work: Work, refusal: Refusal): Promise<void> {
  const { channel, outcome, missed } = refusal;
  const { slackError, fix, about } = outcome;
  const { refused, receivedAtMs, isNeverGivenUp } = work.record;
  const nowMs = outbox.now();
  const isKnown = refused?.channel === channel;
  // On this message's first refusal, the channel's oldest dead letter tells when the refusal began.
  const sinceMs = isKnown ? refused.sinceMs : ((await refusedSince(outbox.store, channel)) ?? nowMs);
  await notifyOfRefusal(outbox, refusal, sinceMs);
  const leftMs = Math.max(sinceMs, receivedAtMs) + outbox.giveUpMs - nowMs;
  const isOverdue = leftMs <= 0;
  // Not at the message's own first refusal: each is tried at least twice, however long the channel has been refused.
  if (isKnown && isOverdue && !isNeverGivenUp) {
    await forgetRefusedNow(outbox.store, channel);
    return await giveUp(outbox, work, { channel, sinceMs, slackError, fix }, missed);
  }
  const backOffMs = Math.max(refusedDelayMs, nowMs - sinceMs);
  const isLaneFree = isNeverGivenUp && isOverdue;
  const waitMs = isLaneFree
    ? Math.min(backOffMs, longestRetryMs)
    : Math.min(backOffMs, longestRefusedMs, Math.max(paceMs, leftMs));
  // Hold the lane, with this message first: Slack would refuse the next ones, too. But a dead letter that is now refused
  // in another channel must leave its lists, which a hold can't change.
  const isHeld = about !== 'unclear' && !isLaneFree && !refused?.givenUp;
  const wait: WriteOptions = isHeld ? { holdMs: waitMs } : { delayMs: waitMs, pauseMs: paceMs };
  const nextTryAtMs = nowMs + waitMs;
  await noteRefusedNow(outbox.store, { channel, sinceMs, slackError, fix, nextTryAtMs }, waitMs);
  await reschedule(outbox, work, { ...missed, refused: { channel, sinceMs } }, wait);
}

/** A channel that Slack refuses while the bot still retries; one note per channel. Times are UTC milliseconds. */
export type RefusedNow = z.infer<typeof refusedNow>;

const refusedNow = z.object({
  channel: z.string(),
  sinceMs: z.number(),
  slackError: z.string(),
  fix: z.string(),
  nextTryAtMs: z.number(),
});
const refusedNowList = 'refused-now';
const refusedNowKey = (channel: string): string => `${refusedNowList}:${channel}`;
/** The note expires this long after the retry that it names, because a worker may be late for the retry. */
const lateMs = 120_000;

async function noteRefusedNow(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  note: RefusedNow,
  untilNextMs: number,
): Promise<void> {
  const key = refusedNowKey(note.channel);
  const options = { ttlMs: untilNextMs + lateMs, index: { [refusedNowList]: note.sinceMs } };
  const value = JSON.stringify(note);
  if (await store.create(key, value, options)) return;
  const entry = await store.read(key);
  if (entry) await store.write(entry, value, options);
}

/** Call it once a message is accepted or given up. */
export async function forgetRefusedNow(store: Pick<Store, 'read' | 'write'>, channel: string): Promise<void> {
  const entry = await store.read(refusedNowKey(channel));
  if (entry) await store.write(entry, entry.value, { ttlMs: 0, index: {} });
}

const mostRefusedNow = 100;

/** Longest refusal first. Throws StoreUnavailable. */
export async function readRefusedNow(store: Pick<Store, 'list'>): Promise<readonly RefusedNow[]> {
  const { entries } = await store.list(refusedNowList, { max: mostRefusedNow });
  return entries.map(({ value }) => refusedNow.parse(JSON.parse(value)));
}

/** Makes the message a dead letter: listed by `/pay undelivered`, not retried until a person asks. */
export async function giveUp(
  outbox: Outbox,
  work: Work,
  refusal: { channel: string; sinceMs: number; slackError: string; fix: string },
  missed: Change,
): Promise<void> {
  const { channel, sinceMs, slackError, fix } = refusal;
  await finish(outbox, work, { ...missed, refused: { channel, sinceMs, givenUp: { slackError, fix } } });
  const about = { key: work.entry.key, channel, slackError, fix };
  outbox.log('error', 'given up until it is delivered again by hand', about);
}

/** When the refusal of a channel's oldest dead letter began; undefined: the channel has none. */
async function refusedSince(store: Pick<Store, 'list'>, channel: string): Promise<number | undefined> {
  const { entries } = await store.list(deadLettersOf(channel), { max: 1 });
  return entries[0] && readMessageRecord(entries[0].value).refused?.sinceMs;
}

// Dead letters: message records in the lists of undelivered messages. All functions below throw StoreUnavailable.

/** A channel's dead letters: messages that Slack refused for so long that only a person can have them redelivered. */
type DeadLetters = {
  /** A channel's id, or a person's for direct messages. */
  channel: string;
  messages: number;
  /** When Slack began to refuse the channel; UTC milliseconds. */
  sinceMs: number;
  slackError: string;
  /** What a person must do before it can be delivered. */
  fix: string;
};

/** At most so many are read and counted; the others are counted once these are delivered. */
const mostCounted = 1_000;

/** Dead letters by channel, longest refusal first; counts the oldest thousand. */
export async function readUndelivered(store: Pick<Store, 'list'>): Promise<readonly DeadLetters[]> {
  const { entries } = await store.list(deadLetters, { max: mostCounted });
  const byChannel = new Map<string, DeadLetters>();
  for (const { refused } of entries.map(({ value }) => readMessageRecord(value))) {
    if (!refused?.givenUp) continue;
    const { channel, sinceMs, givenUp } = refused;
    const found = byChannel.get(channel) ?? { messages: 0, sinceMs };
    const messages = found.messages + 1;
    byChannel.set(channel, { channel, messages, ...givenUp, sinceMs: Math.min(found.sinceMs, sinceMs) });
  }
  return [...byChannel.values()].toSorted((one, other) => one.sinceMs - other.sinceMs);
}

/**
 * Makes one channel's dead letters, or all, due again, oldest first; returns how many of each channel. Concurrent
 * calls revive a letter only once. A letter that is being delivered stays untouched.
 */
export async function redrive(
  store: Pick<Store, 'list' | 'read' | 'write'>,
  channel?: string,
): Promise<readonly { channel: string; messages: number }[]> {
  const revived = new Map<string, number>();
  let turn = 0;
  for await (const entries of pagesOf(store, channel === undefined ? deadLetters : deadLettersOf(channel))) {
    for (const entry of entries) {
      // Due a millisecond apart: a store may not keep the order of records due at the same time.
      const refuser = await revive(store, entry, turn);
      if (refuser !== undefined) revived.set(refuser, (revived.get(refuser) ?? 0) + 1);
      turn += 1;
    }
  }
  return [...revived].map(([refuser, messages]) => ({ channel: refuser, messages }));
}

/** Returns the channel that refused it. Undefined: already due, or delivered meanwhile. */
async function revive(
  store: Pick<Store, 'read' | 'write'>,
  found: Entry,
  delayMs: number,
): Promise<string | undefined> {
  let entry: Entry | undefined = found;
  while (entry) {
    const record = readMessageRecord(entry.value);
    const { refused, wanted, settled } = record;
    // The message's subject changed, so the record is due or leased already; ending the lease would post it twice.
    if (!refused?.givenUp || settled < wanted) return undefined;
    const reset = { refused: undefined, misses: 0, reposted: undefined };
    const revived: MessageRecord = { ...record, ...reset, wanted: wanted + 1 };
    const due = { delayMs, index: listsOf(entry.key, revived), lane: laneOf(record) };
    if (await store.write(entry, writeMessageRecord(revived), due)) return refused.channel;
    entry = await store.read(found.key);
  }
  return undefined;
}
