import type { PostOutcome } from '../domain/delivery.ts';
import { growingDelayMs } from '../domain/growing-delay.ts';
import { newErrorId } from '../log.ts';
import type { WriteOptions } from '../store/store.ts';
import type { OutboxRecord } from './outbox.ts';
import { again, finishPosted, paceMs, type Work } from './outbox-work.ts';
import { longestPutAsideMs, tellStuck, type PutAsideDeps } from './put-aside.ts';

export type ConcludeDeps = PutAsideDeps & {
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
/** A channel the bot may not post to is tried again this often: the fix is a person's. */
const refusedDelayMs = 60_000;
const repeatAgainMs = 300_000;

/** Writes what became of a post or an edit, and when it is tried again if it has to be. */
export async function concludePost(deps: ConcludeDeps, work: Work, conclusion: Conclusion): Promise<void> {
  const { channel, outcome, standing, shown } = conclusion;
  const about = { key: work.entry.key, channel, attempt: work.entry.attempts };
  const missed = { doubt: standing, misses: work.record.misses + 1 };
  switch (outcome.kind) {
    case 'posted': {
      deps.log('info', conclusion.doubt ? 'posted' : 'edited', about);
      const mayBeRepeat = standing ? true : work.record.mayBeRepeat;
      const told = { ...work, record: { ...work.record, mayBeRepeat } };
      await finishPosted(deps, told, { channel: outcome.channel, ts: outcome.ts }, shown);
      return;
    }
    case 'rate_limited':
      deps.log('warn', 'Slack asks to wait', { ...about, retryAfterMs: outcome.retryAfterMs });
      await again(deps, work, { doubt: standing }, waitAll(outcome.retryAfterMs));
      return;
    case 'refused': {
      const { slackError, fix } = outcome;
      const errorId = newErrorId();
      deps.log('error', 'Slack refuses the post', { ...about, errorId, slackError, fix });
      const wait = outcome.about === 'channel' ? waitAll(refusedFor(work)) : waitAlone(longestPutAsideMs);
      await again(deps, work, missed, wait);
      if (outcome.about === 'message') await tellStuck(deps, work.entry, errorId);
      return;
    }
    case 'gone': {
      const { slackError } = outcome;
      deps.log('info', 'the message or its thread is gone; posting anew', { ...about, slackError });
      const anew =
        work.record.kind === 'charge_note' ? { unthreaded: true } : { posted: undefined, shown: undefined };
      await again(deps, work, { ...missed, ...anew }, waitAlone(backOffMs(work.record.misses)));
      return;
    }
    case 'not_sent':
      deps.log('warn', 'Slack could not be reached; will try again', about, outcome.cause);
      await again(deps, work, missed, waitAll(backOffMs(work.record.misses)));
      return;
    case 'unsure':
      await concludeUnsure(deps, work, conclusion, outcome.cause);
      return;
  }
}

/** A channel is mended by a person soon; a person who left the workspace never comes back. */
function refusedFor({ record }: Work): number {
  return record.kind === 'charge_direct'
    ? growingDelayMs(refusedDelayMs, record.misses, longestPutAsideMs)
    : refusedDelayMs;
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
  const repeatMs = growingDelayMs(repeatAgainMs, work.record.misses, longestPutAsideMs);
  await again(deps, work, { misses, doubt }, waitAlone(standing ? repeatMs : lookMs));
}

/** The whole channel waits: what holds for this record holds for the next. */
function waitAll(ms: number): WriteOptions {
  const waitMs = Math.max(paceMs, ms);
  return { delayMs: waitMs, pauseMs: waitMs };
}

function waitAlone(ms: number): WriteOptions {
  return { delayMs: ms, pauseMs: paceMs };
}

function backOffMs(misses: number): number {
  return growingDelayMs(paceMs, misses, longestBackOffMs);
}
