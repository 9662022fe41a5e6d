import type { HistoryAnswer, PostOutcome } from './delivery.ts';
import { growingDelayMs } from '../deadline.ts';
import { tagLog } from '../log.ts';
import type { Entry, WriteOptions } from '../store/store.ts';
import { concludeRefusal, giveUp, type RefusalDeps } from './undelivered.ts';
import {
  findMessageRecord,
  historyKey,
  policyOf,
  readMessageRecord,
  type MessageRecord,
} from './message-record.ts';
import { again, finish, hold, longestRetryMs, paceMs, type Change, type Work } from './message-work.ts';
import type { Composed, Rendered, Said } from './views.ts';

type SendDeps = RefusalDeps & {
  /** Looks for a message in the channel itself, or in one of its threads. */
  findByKey: (channel: string, key: string, sinceMs: number, threadTs?: string) => Promise<HistoryAnswer>;
  /** Longer than a look-up, a history read and a post with their deadlines together. */
  leaseMs: number;
  /** Deadline of one post. */
  postTimeoutMs: number;
};

export type DeliverDeps<Shown> = SendDeps & {
  render: (work: Work, said: Said) => Promise<Rendered<Shown>>;
  /** Makes the message, and throws when it cannot, before anything says that it was posted. */
  compose: (post: Shown & Said) => Composed;
};

/**
 * Delivers one record that was taken: makes the message, and posts or edits it where it looks different. It is posted once:
 * `doubt` is written before the post leaves, by compare-and-swap, so a worker that lost its lease posts nothing, and one
 * that finds it set asks the channel's history before it repeats anything. Throws what keeps it from being delivered.
 */
export async function deliverEntry<Shown extends object>(
  deps: DeliverDeps<Shown>,
  entry: Entry,
): Promise<void> {
  const takenAtMs = deps.now();
  const work: Work = { entry, record: readMessageRecord(entry.value) };
  const { record } = work;
  tagLog({ requestId: record.requestId });
  const { withinMs = Infinity } = policyOf(record.kind);
  if (!record.posted && takenAtMs - record.receivedAtMs >= withinMs) return await settle(deps, work);
  const history = await askHistory(deps, work);
  if (history === 'waits') return;
  const mayBeRepeat = history === 'stands' || record.mayBeRepeat === true;
  const said = { key: historyKey(entry.key, record), mayBeRepeat };
  const rendered = await deps.render(work, said);
  switch (rendered.kind) {
    case 'settled':
      return;
    case 'nothing':
      return await settle(deps, work);
    case 'later':
      return await tryLater(deps, work);
    case 'shown': {
      const message = deps.compose({ ...rendered.post, ...said });
      const { below, keep } = rendered;
      if (!record.posted) return await post(deps, work, { message, below, keep, history, mayBeRepeat });
      if (record.shown === message.digest) return await settle(deps, work);
      if (hasTime(deps, takenAtMs)) await edit(deps, work, record.posted, message);
      return;
    }
  }
}

/** Nothing is left to send, so nothing is refused any more either: but a dead letter stays listed. */
async function settle(deps: SendDeps, work: Work): Promise<void> {
  const { refused } = work.record;
  const kept = refused?.givenUp ? refused : undefined;
  await finish(deps, work, { doubt: undefined, refused: kept, misses: 0 }, 0);
}

/** What it waits for may stand behind it in the same channel, so nothing behind it waits. */
async function tryLater(deps: SendDeps, work: Work, longestMs = 60_000): Promise<void> {
  const delayMs = growingDelayMs(1_000, work.entry.attempts - 1, longestMs);
  await again(deps, work, {}, { delayMs, pauseMs: 0 });
}

/** False when this process slept so long that the post, or its words alone, could outlive the lease. */
function hasTime(deps: SendDeps, heldAtMs: number): boolean {
  return deps.now() - heldAtMs <= deps.leaseMs - 2 * deps.postTimeoutMs;
}

/**
 * How long a history that does not answer is waited for before the post is repeated, marked: longer than Slack is
 * usually away. Until then it keeps its place before all that came after it.
 */
const historyPatienceMs = 900_000;
const askAgainMs = 5_000;

/**
 * What is known of an earlier post that may have arrived. `none`: it did not, or there was none. `stands`: it cannot be
 * found out, so a repeat must say that it may be one. `waits`: it is found, and looked at again in a moment, as it may show
 * what was known before; or the history is asked later.
 */
async function askHistory(deps: SendDeps, work: Work): Promise<'none' | 'stands' | 'waits'> {
  const { entry, record } = work;
  const { doubt } = record;
  if (!doubt) return 'none';
  const { channel, threadTs, sinceMs } = doubt;
  const answer = await deps.findByKey(channel, historyKey(entry.key, record), sinceMs, threadTs);
  switch (answer.kind) {
    case 'found': {
      const posted = { channel, ts: answer.ts };
      await again(deps, work, { ...standing, posted }, { delayMs: paceMs, pauseMs: paceMs });
      return 'waits';
    }
    case 'absent':
      return 'none';
    case 'unreadable':
      return 'stands';
    case 'unknown': {
      const silentSinceMs = doubt.silentSinceMs ?? deps.now();
      if (deps.now() - silentSinceMs >= historyPatienceMs) return 'stands';
      const change = { doubt: { ...doubt, silentSinceMs } };
      await again(deps, work, change, waitAll(answer.retryAfterMs ?? askAgainMs));
      return 'waits';
    }
  }
}

/** Of a message that is in its channel. */
const standing = { doubt: undefined, refused: undefined, misses: 0 } as const;

/** A message waits this long for the one it belongs below to be asked for at all. */
const parentPatienceMs = 600_000;
/**
 * A step that Slack does not take keeps the next one for so long. The message itself may be found as late, after a lost
 * answer, and all of its steps wait until then.
 */
const stepPatienceMs = 2 * longestRetryMs;

type Place = { channel: string; threadTs?: string };

/**
 * Where it is posted: in its channel, or below the message it belongs to, once that stands and the steps before it do,
 * because each of them waits as long as its own attempts have it. `never`: that one is told nowhere.
 */
async function placeOf(
  { store, now }: SendDeps,
  { channel, unthreaded, receivedAtMs }: MessageRecord,
  below: Posting['below'],
): Promise<Place | 'later' | 'soon' | 'never'> {
  if (!below || unthreaded) return { channel };
  const parent = await findMessageRecord(store, below.key);
  if (!parent) return now() - receivedAtMs >= parentPatienceMs ? { channel } : 'later';
  const { posted } = parent;
  if (!posted) return isSettled(parent) && !parent.refused ? 'never' : 'later';
  let sinceMs = Math.max(Number(posted.ts) * 1_000, receivedAtMs);
  let isBehind = false;
  for (const key of below.after ?? []) {
    // oxlint-disable-next-line no-await-in-loop -- mostly the first is told, and no more are read
    const before = await findMessageRecord(store, key);
    if (before?.posted) sinceMs = Math.max(sinceMs, Number(before.posted.ts) * 1_000);
    if (!before || before.posted || isSettled(before)) break;
    // Its channel is refused, and so would this one be.
    if (before.refused) return 'later';
    isBehind = true;
  }
  if (isBehind && now() - sinceMs < stepPatienceMs) return 'soon';
  return { channel: posted.channel, threadTs: posted.ts };
}

function isSettled({ settled, wanted }: MessageRecord): boolean {
  return settled >= wanted;
}

type Posting = {
  message: Composed;
  below: { key: string; after?: readonly string[] } | undefined;
  keep: Change | undefined;
  history: 'none' | 'stands';
  mayBeRepeat: boolean;
};

async function post(deps: SendDeps, work: Work, posting: Posting): Promise<void> {
  const { message, below, keep, history, mayBeRepeat } = posting;
  const { record } = work;
  const place = await placeOf(deps, record, below);
  if (place === 'never') return await settle(deps, work);
  if (place === 'later') return await tryLater(deps, work);
  if (place === 'soon') return await tryLater(deps, work, 1_000);
  const { channel, threadTs } = place;
  const heldAtMs = deps.now();
  // A doubt that stands is older than this post: whatever becomes of the post, that one may have arrived.
  const older = history === 'stands' ? record.doubt : undefined;
  const isSamePlace = older && older.channel === channel && older.threadTs === threadTs;
  const held = await hold(
    deps,
    work,
    {
      ...keep,
      doubt: isSamePlace ? older : { ...place, sinceMs: heldAtMs },
      mayBeRepeat: mayBeRepeat || undefined,
      shown: older ? undefined : message.digest,
    },
    deps.leaseMs,
  );
  // What it tells of went on, and nothing was sent: it is read again, before all that came after it.
  if (!held) return void (await again(deps, work, {}, { holdMs: 0 }));
  if (!hasTime(deps, heldAtMs)) return;
  const outcome = await message.post(channel, threadTs);
  const undone = { doubt: older, mayBeRepeat: record.mayBeRepeat };
  const kind = older ? 'repeat' : 'post';
  await conclude(deps, held, { kind, channel, outcome, shown: message.digest, undone });
}

async function edit(
  deps: SendDeps,
  work: Work,
  { channel, ts }: { channel: string; ts: string },
  message: Composed,
): Promise<void> {
  const outcome = await message.edit(channel, ts);
  await conclude(deps, work, { kind: 'edit', channel, outcome, shown: message.digest, undone: {} });
}

type Sent = {
  kind: 'post' | 'repeat' | 'edit';
  channel: string;
  outcome: PostOutcome;
  /** Digest of what was sent. */
  shown: string;
  /** What is taken back where it surely did not arrive. */
  undone: Change;
};

const longestBackOffMs = 60_000;
const repeatAgainMs = 300_000;
/** An answer that is lost so often is lost because of this message, which then lets the others pass. */
const mostMissesInFront = 30;

/** Writes what became of a post or an edit, and when it is tried again if it has to be. */
async function conclude(deps: SendDeps, work: Work, sent: Sent): Promise<void> {
  const { kind, channel, outcome, shown, undone } = sent;
  const { entry, record } = work;
  const { log } = deps;
  const about = { key: entry.key, channel, attempt: entry.attempts };
  const misses = record.misses + 1;
  const backOffMs = growingDelayMs(paceMs, record.misses, longestBackOffMs);
  switch (outcome.kind) {
    case 'posted': {
      log('info', kind === 'edit' ? 'edited' : 'posted', about);
      const posted = { channel: outcome.channel, ts: outcome.ts };
      const isTaken = kind === 'edit' ? { reposted: undefined } : {};
      await finish(deps, work, { ...standing, ...isTaken, posted, shown });
      return;
    }
    case 'rate_limited':
      log('warn', 'Slack asks to wait', { ...about, retryAfterMs: outcome.retryAfterMs });
      await again(deps, work, undone, waitAll(outcome.retryAfterMs));
      return;
    case 'not_sent':
      log('warn', 'Slack could not be reached; will try again', about, outcome.cause);
      await again(deps, work, { ...undone, misses }, waitAll(backOffMs));
      return;
    case 'unsure': {
      // Slack may still be about to show it: a look that comes too soon finds nothing, and a later edit is overwritten.
      const lookMs = Math.max(1.5 * deps.postTimeoutMs, backOffMs);
      const wait = misses < mostMissesInFront ? waitAll(lookMs) : waitAlone(lookMs);
      if (kind === 'edit') {
        log('warn', 'the edit may not have arrived; it is repeated', about, outcome.cause);
        await again(deps, work, { misses }, wait);
        return;
      }
      log('warn', 'the post may have arrived; will look before repeating it', about, outcome.cause);
      // A marked repeat whose answer is lost too must not become a stream of marked repeats.
      const repeatMs = growingDelayMs(repeatAgainMs, record.misses, longestRetryMs);
      await again(deps, work, { misses }, kind === 'repeat' ? waitAlone(repeatMs) : wait);
      return;
    }
    case 'gone':
      await concludeGone(deps, work, outcome.slackError, { ...undone, misses });
      return;
    case 'refused':
      if (isLeftAsItIs(record, outcome)) await leave(deps, work, outcome.slackError);
      else await concludeRefusal(deps, work, { channel, outcome, missed: { ...undone, misses } });
      return;
  }
}

/** An old alert in a channel that takes no edits any more, an archived one perhaps: nothing waits for it, and nobody is told. */
function isLeftAsItIs({ isErased }: MessageRecord, outcome: PostOutcome): boolean {
  return isErased === true && outcome.kind === 'refused' && ['channel', 'unclear'].includes(outcome.about);
}

async function leave(deps: SendDeps, work: Work, slackError: string): Promise<void> {
  const about = { key: work.entry.key, slackError };
  deps.log('info', 'an old alert can no longer be edited; its message is left as it is', about);
  await finish(deps, work, { refused: undefined, misses: 0 }, 0);
}

async function concludeGone(deps: SendDeps, work: Work, slackError: string, missed: Change): Promise<void> {
  const { posted, replaced, reposted, isErased, kind, misses } = work.record;
  if (isErased) return await leave(deps, work, slackError);
  const { isNote } = policyOf(kind);
  if (isNote && posted) return void (await finish(deps, work, { misses: 0 }));
  if (posted && reposted) {
    // A third would say little that a fourth must not say again.
    const fix = 'Let the bot edit its own messages; then deliver them again, which posts each once more.';
    const refusal = { channel: posted.channel, sinceMs: deps.now(), slackError, fix };
    return await giveUp(deps, work, refusal, { misses: 0 });
  }
  const about = { key: work.entry.key, slackError };
  deps.log('info', 'the message or its thread is gone; posting it once more', about);
  const next = isNote
    ? { unthreaded: true }
    : { posted: undefined, shown: undefined, reposted: true, replaced: posted ?? replaced };
  const backOffMs = growingDelayMs(paceMs, misses, longestBackOffMs);
  await again(deps, work, { ...missed, ...next }, waitAlone(backOffMs));
}

/** The whole channel waits, and the order in it stays: what holds for this record holds for the next. */
function waitAll(ms: number): WriteOptions {
  return { holdMs: Math.max(paceMs, ms) };
}

function waitAlone(ms: number): WriteOptions {
  return { delayMs: ms, pauseMs: paceMs };
}
