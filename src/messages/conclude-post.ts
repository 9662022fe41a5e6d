import type { PostOutcome } from '../domain/delivery.ts';
import { growingDelayMs } from '../domain/growing-delay.ts';
import type { WriteOptions } from '../store/store.ts';
import { concludeRefusal, giveUp, type RefusalDeps } from './conclude-refusal.ts';
import type { OutboxRecord } from './outbox.ts';
import { again, finish, finishPosted, longestRetryMs, paceMs, type Work } from './outbox-work.ts';

export type ConcludeDeps = RefusalDeps & {
  /** Deadline of one post. */
  postTimeoutMs: number;
};

/** `standing`: the doubt that stays though this post did not arrive; `doubt`: the one if it may have, absent for an edit. */
export type Conclusion = {
  channel: string;
  outcome: PostOutcome;
  standing: OutboxRecord['doubt'];
  doubt: OutboxRecord['doubt'];
  /** Digest of what was sent. */
  shown: string;
};

const longestBackOffMs = 60_000;
const repeatAgainMs = 300_000;
/** An answer that is lost so often is lost because of this message, which then lets the others pass. */
const mostMissesInFront = 30;

/** Writes what became of a post or an edit, and when it is tried again if it has to be. */
export async function concludePost(deps: ConcludeDeps, work: Work, conclusion: Conclusion): Promise<void> {
  const { channel, outcome, standing, shown } = conclusion;
  const about = { key: work.entry.key, channel, attempt: work.entry.attempts };
  const missed = { doubt: standing, misses: work.record.misses + 1 };
  switch (outcome.kind) {
    case 'posted': {
      deps.log('info', conclusion.doubt ? 'posted' : 'edited', about);
      const edited = conclusion.doubt ? {} : { reposted: undefined };
      const told = { ...work, record: { ...work.record, ...edited } };
      await finishPosted(deps, told, { channel: outcome.channel, ts: outcome.ts }, shown);
      return;
    }
    case 'rate_limited':
      deps.log('warn', 'Slack asks to wait', { ...about, retryAfterMs: outcome.retryAfterMs });
      await again(deps, work, { doubt: standing }, waitAll(outcome.retryAfterMs));
      return;
    case 'refused':
      if (isLeftAsItIs(work.record, outcome)) await leave(deps, work, outcome);
      else await concludeRefusal(deps, work, { channel, outcome, missed });
      return;
    case 'gone':
      await concludeGone(deps, work, outcome, conclusion);
      return;
    case 'not_sent':
      deps.log('warn', 'Slack could not be reached; will try again', about, outcome.cause);
      await again(deps, work, missed, waitAll(backOffMs(work.record.misses)));
      return;
    case 'unsure':
      await concludeUnsure(deps, work, conclusion, outcome.cause);
      return;
  }
}

/** An old alert in a channel that takes no edits any more, an archived one perhaps: nothing waits for it, and nobody is told. */
export function isLeftAsItIs({ isErased }: OutboxRecord, outcome: PostOutcome): boolean {
  return isErased === true && outcome.kind === 'refused' && isOfPlace(outcome.about);
}

function isOfPlace(about: Extract<PostOutcome, { kind: 'refused' }>['about']): boolean {
  return about === 'channel' || about === 'unclear';
}

async function leave(deps: ConcludeDeps, work: Work, { slackError }: { slackError: string }): Promise<void> {
  const about = { key: work.entry.key, slackError };
  deps.log('info', 'an old alert can no longer be edited; its message is left as it is', about);
  await finish(deps, work, { refused: undefined, misses: 0 }, 0);
}

async function concludeGone(
  deps: ConcludeDeps,
  work: Work,
  outcome: Extract<PostOutcome, { kind: 'gone' }>,
  conclusion: Conclusion,
): Promise<void> {
  const { record, entry } = work;
  const { standing } = conclusion;
  if (record.isErased) {
    await leave(deps, work, outcome);
    return;
  }
  const about = { key: entry.key, slackError: outcome.slackError };
  // A step that was told and taken away again is not told a second time.
  if (record.posted && isStep(record)) return void (await finish(deps, work, { misses: 0 }));
  if (record.posted && record.reposted) return await leaveUndelivered(deps, work, outcome);
  deps.log('info', 'the message or its thread is gone; posting it once more', about);
  const next = record.kind.endsWith('_note') ? { unthreaded: true } : reposted(record);
  const missed = { doubt: standing, misses: record.misses + 1 };
  await again(deps, work, { ...missed, ...next }, waitAlone(backOffMs(record.misses)));
}

function isStep({ kind }: OutboxRecord): boolean {
  return kind === 'alert_note' || kind === 'approval_note';
}

/** It stands nowhere any more. */
function reposted({ posted, replaced }: OutboxRecord): Partial<Omit<OutboxRecord, 'progress'>> {
  return { posted: undefined, shown: undefined, reposted: true, replaced: posted ?? replaced };
}

/** Slack took no edit of it, nor of the one that took its place: a third would say little that a fourth must not say again. */
async function leaveUndelivered(
  deps: ConcludeDeps,
  work: Work,
  { slackError }: { slackError: string },
): Promise<void> {
  const { channel } = work.record.posted ?? work.record;
  const fix = 'Let the bot edit its own messages; then deliver them again, which posts each once more.';
  const refusal = { channel, outcome: { slackError, fix }, missed: { doubt: undefined, misses: 0 } };
  await giveUp(deps, work, { ...refusal, sinceMs: deps.now() });
}

async function concludeUnsure(
  deps: ConcludeDeps,
  work: Work,
  { channel, standing, doubt }: Conclusion,
  cause: unknown,
): Promise<void> {
  const about = { key: work.entry.key, channel, attempt: work.entry.attempts };
  const misses = work.record.misses + 1;
  const backOff = backOffMs(work.record.misses);
  if (!doubt) {
    deps.log('warn', 'the edit may not have arrived; it is repeated', about, cause);
    await again(deps, work, { misses }, waitAll(backOff));
    return;
  }
  deps.log('warn', 'the post may have arrived; will look before repeating it', about, cause);
  // Slack may still be about to show it: a look that comes too soon finds nothing.
  const lookMs = Math.max(1.5 * deps.postTimeoutMs, backOff);
  // A marked repeat whose answer is lost too must not become a stream of marked repeats.
  const repeatMs = growingDelayMs(repeatAgainMs, work.record.misses, longestRetryMs);
  const wait = misses < mostMissesInFront ? waitAll(lookMs) : waitAlone(lookMs);
  await again(deps, work, { misses, doubt }, standing ? waitAlone(repeatMs) : wait);
}

/** The whole channel waits, and the order in it stays: what holds for this record holds for the next. */
function waitAll(ms: number): WriteOptions {
  return { holdMs: Math.max(paceMs, ms) };
}

function waitAlone(ms: number): WriteOptions {
  return { delayMs: ms, pauseMs: paceMs };
}

function backOffMs(misses: number): number {
  return growingDelayMs(paceMs, misses, longestBackOffMs);
}
