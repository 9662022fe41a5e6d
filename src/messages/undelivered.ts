import { z } from 'zod';
import type { PostOutcome, Undelivered } from './delivery.ts';
import { newErrorId } from '../log.ts';
import { counted } from '../domain/wording.ts';
import { pagesOf } from '../records/pages.ts';
import { code, moment, rich } from '../slack/kit/blocks.ts';
import type { Entry, Store, WriteOptions } from '../store/store.ts';
import {
  deadLetters,
  deadLettersOf,
  laneOf,
  listsOf,
  readMessageRecord,
  writeMessageRecord,
  type MessageRecord,
} from './message-record.ts';
import {
  again,
  finish,
  longestRetryMs,
  paceMs,
  type Change,
  type Work,
  type Teller,
} from './message-work.ts';
import { tellOperators, tellStuck } from './messages.ts';
import type { Notice } from './notices.ts';
import { dayMs, hourMs } from '../domain/span.ts';

type Refusal = {
  channel: string;
  outcome: Extract<PostOutcome, { kind: 'refused' }>;
  /** What the record becomes whatever follows. */
  missed: Change;
};

/** Slack refuses the bot until a person does something: it is asked again this often, and a channel at first. */
const refusedDelayMs = 60_000;
/** A channel is tried ever more rarely, but at least this often, so that a mended one gets its messages soon. */
const longestRefusedMs = 600_000;
/** A refusal that is older than this is worth a person's time: a shorter one mends itself, or was mended. */
const tellAfterMs = 300_000;

/**
 * Slack refused a post or an edit for a reason that only a person can mend. One message alone: it is put aside. The
 * whole bot: everything waits, for as long as it takes. A channel or a person: its messages wait in their order, its
 * edits in theirs; by a word that nobody knows this one waits alone. Those that are as old as the time for giving up become dead letters when the channel has been refused that
 * long; they are kept and listed until they are forgotten like any other. What is never given up only lets the others
 * pass after that time. The operators are told of a channel once for each day on which that began.
 */
export async function concludeRefusal(teller: Teller, work: Work, refusal: Refusal): Promise<void> {
  const { channel, outcome, missed } = refusal;
  const { slackError, fix, about } = outcome;
  const errorId = newErrorId();
  const { key, attempts: attempt } = work.entry;
  teller.log('error', 'Slack refuses the post', { key, channel, attempt, errorId, slackError, fix });
  switch (about) {
    case 'message':
      await again(teller, work, missed, { delayMs: longestRetryMs, pauseMs: paceMs });
      await tellStuck(teller, key, errorId);
      return;
    case 'bot':
      await again(teller, work, missed, { holdMs: refusedDelayMs });
      return;
    case 'channel':
    case 'unclear':
      await waitOrGiveUp(teller, work, refusal);
      return;
  }
}

/** A person is not named in it: that would ping them. */
function refusedNotice(
  { channel, outcome: { slackError, fix } }: Refusal,
  giveUpMs: number,
  sinceMs: number,
): Notice {
  const isChannel = /^[CG][A-Z0-9]+$/.test(channel);
  const hours = counted(Math.round(giveUpMs / hourMs), 'hour');
  return {
    state: `Slack won’t let the bot ${isChannel ? 'post in' : 'write to a person'}`,
    ...(isChannel ? { channel } : {}),
    about: isChannel ? [slackError] : [channel, slackError],
    lines: [
      rich`${fix} Refused since ${moment(sinceMs)}.`,
      rich`Nothing is lost: the bot keeps trying for ${hours}, then the messages wait in ${code('/pay undelivered')}.`,
    ],
  };
}

async function waitOrGiveUp(teller: Teller, work: Work, refusal: Refusal): Promise<void> {
  const { channel, outcome, missed } = refusal;
  const { slackError, fix, about } = outcome;
  const { refused, receivedAtMs, isNeverGivenUp } = work.record;
  const nowMs = teller.now();
  const isKnown = refused?.channel === channel;
  // What stood behind a dead letter has been refused for as long as that, though it is tried for the first time.
  const sinceMs = isKnown ? refused.sinceMs : ((await refusedSince(teller.store, channel)) ?? nowMs);
  const refusedForMs = nowMs - sinceMs;
  const leftMs = Math.max(sinceMs, receivedAtMs) + teller.giveUpMs - nowMs;
  if (refusedForMs >= Math.min(tellAfterMs, teller.giveUpMs) && channel !== teller.opsChannel) {
    const notice = refusedNotice(refusal, teller.giveUpMs, sinceMs);
    await tellOperators(teller, `refused:${channel}:${Math.floor(sinceMs / dayMs)}`, notice);
  }
  // Never at its first refusal: from the second on the record says that it is refused, and stays listed.
  if (isKnown && leftMs <= 0 && !isNeverGivenUp) {
    await forgetRefusedNow(teller.store, channel);
    return await giveUp(teller, work, { channel, sinceMs, slackError, fix }, missed);
  }
  const waitMs = Math.max(refusedDelayMs, refusedForMs);
  const holdMs = Math.min(waitMs, longestRefusedMs, Math.max(paceMs, leftMs));
  // The lane waits and the record keeps its place in it, because what stands behind it is refused as well.
  let wait: WriteOptions = about === 'unclear' ? { delayMs: holdMs, pauseMs: paceMs } : { holdMs };
  if (isNeverGivenUp && leftMs <= 0) wait = { delayMs: Math.min(waitMs, longestRetryMs), pauseMs: paceMs };
  // A dead letter that is refused elsewhere now leaves the lists, which a hold would not change.
  else if (refused?.givenUp) wait = { delayMs: holdMs, pauseMs: paceMs };
  const untilNextMs = wait.holdMs ?? wait.delayMs ?? 0;
  const nextTryAtMs = nowMs + untilNextMs;
  await noteRefusedNow(teller.store, { channel, sinceMs, slackError, fix, nextTryAtMs }, untilNextMs);
  await again(teller, work, { ...missed, refused: { channel, sinceMs } }, wait);
}

// What is refused now, and tried again by itself: one note for each channel, forgotten soon after the try that it names.

/** What Slack refuses of a channel while the bot still tries; times are UTC milliseconds. */
export type RefusedNow = Omit<Undelivered, 'messages'> & { nextTryAtMs: number };

const refusedNow = z.object({
  channel: z.string(),
  sinceMs: z.number(),
  slackError: z.string(),
  fix: z.string(),
  nextTryAtMs: z.number(),
});
const refusedNowList = 'refused-now';
const refusedNowKey = (channel: string): string => `${refusedNowList}:${channel}`;
/** How long a worker may be late for the try. */
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

/** Slack has taken what it refused for that channel. */
export async function forgetRefusedNow(store: Pick<Store, 'read' | 'write'>, channel: string): Promise<void> {
  const entry = await store.read(refusedNowKey(channel));
  if (entry) await store.write(entry, entry.value, { ttlMs: 0, index: {} });
}

const mostRefusedNow = 100;

/** The longest refused first. Throws StoreUnavailable. */
export async function readRefusedNow(store: Pick<Store, 'list'>): Promise<readonly RefusedNow[]> {
  const { entries } = await store.list(refusedNowList, { max: mostRefusedNow });
  return entries.map(({ value }) => refusedNow.parse(JSON.parse(value)));
}

/** Lists it for `/pay undelivered`, and tries it no more by itself. */
export async function giveUp(
  teller: Teller,
  work: Work,
  refusal: { channel: string; sinceMs: number; slackError: string; fix: string },
  missed: Change,
): Promise<void> {
  const { channel, sinceMs, slackError, fix } = refusal;
  await finish(teller, work, { ...missed, refused: { channel, sinceMs, givenUp: { slackError, fix } } });
  const about = { key: work.entry.key, channel, slackError, fix };
  teller.log('error', 'given up until it is delivered again by hand', about);
}

/** Since when the oldest dead letter of a channel is refused; undefined when there is none. */
async function refusedSince(store: Pick<Store, 'list'>, channel: string): Promise<number | undefined> {
  const { entries } = await store.list(deadLettersOf(channel), { max: 1 });
  return entries[0] && readMessageRecord(entries[0].value).refused?.sinceMs;
}

// What was given up: records of the outbox, in the lists of what is undelivered. All of it throws StoreUnavailable.

/** More are counted once these are delivered: their records are read for it. */
const mostCounted = 1_000;

/** What could not be delivered, by channel, the longest refused first: of the oldest thousand messages. */
export async function readUndelivered(store: Pick<Store, 'list'>): Promise<readonly Undelivered[]> {
  const { entries } = await store.list(deadLetters, { max: mostCounted });
  const byChannel = new Map<string, Undelivered>();
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
 * Makes the letters of one channel, or of all, work again, the oldest first, and says how many. A letter is made
 * work by one caller alone, however many ask at once, and one that is being delivered is left alone.
 */
export async function redrive(
  store: Pick<Store, 'list' | 'read' | 'write'>,
  channel?: string,
): Promise<readonly { channel: string; messages: number }[]> {
  const revived = new Map<string, number>();
  let turn = 0;
  for await (const entries of pagesOf(store, channel === undefined ? deadLetters : deadLettersOf(channel))) {
    for (const entry of entries) {
      // In turn, and a moment apart, because a store may not tell apart what is due in the same one.
      const of = await revive(store, entry, turn);
      if (of !== undefined) revived.set(of, (revived.get(of) ?? 0) + 1);
      turn += 1;
    }
  }
  return [...revived].map(([of, messages]) => ({ channel: of, messages }));
}

/** The channel it was refused for. Undefined: it is work already, or was delivered meanwhile. */
async function revive(
  store: Pick<Store, 'read' | 'write'>,
  found: Entry,
  delayMs: number,
): Promise<string | undefined> {
  let entry: Entry | undefined = found;
  while (entry) {
    const record = readMessageRecord(entry.value);
    const { refused, wanted, settled } = record;
    // A charge that went on made its message work by itself: ending a lease of that would post it twice.
    if (!refused?.givenUp || settled < wanted) return undefined;
    const mended = { refused: undefined, misses: 0, reposted: undefined };
    const again: MessageRecord = { ...record, ...mended, wanted: wanted + 1 };
    const due = { delayMs, index: listsOf(entry.key, again), lane: laneOf(record) };
    if (await store.write(entry, writeMessageRecord(again), due)) return refused.channel;
    entry = await store.read(found.key);
  }
  return undefined;
}
