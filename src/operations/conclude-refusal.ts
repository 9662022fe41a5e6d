import type { PostOutcome } from '../domain/delivery.ts';
import { newErrorId } from '../log.ts';
import type { WriteOptions } from '../store/store.ts';
import { createDeadLetters, type Refused } from './dead-letters.ts';
import type { OutboxRecord } from './outbox.ts';
import { again, finish, paceMs, type Work } from './outbox-work.ts';
import { longestPutAsideMs, tellStuck, type PutAsideDeps } from './put-aside.ts';
import { tellOperators } from './tell-operators.ts';

export type RefusalDeps = PutAsideDeps & {
  /** For how long a channel that Slack refuses is tried before its messages become dead letters. */
  giveUpMs: number;
};

type Refusal = {
  channel: string;
  outcome: Extract<PostOutcome, { kind: 'refused' }>;
  /** What the record becomes whatever follows. */
  missed: { doubt: OutboxRecord['doubt']; misses: number };
};

/** Slack refuses a channel, or the bot, until a person does something: it is asked again this often. */
const refusedDelayMs = 60_000;
/** A refusal that is older than this is worth a person's time: a shorter one mends itself, or was mended. */
const tellAfterMs = 300_000;
/** A channel that was refused this short a time ago is still refused. */
const stillMs = 10 * refusedDelayMs;
/** What Slack may refuse for one message alone stands before the others for so many attempts at most. */
const mostMissesInFront = 60;

/**
 * Slack refused a post or an edit for a reason that only a person can mend. One message alone: it is put aside. The
 * whole bot: everything waits, for as long as it takes. A channel or a person: its messages wait in their order,
 * and those that are as old as the time for giving up become dead letters when the channel has been refused that
 * long; they are kept and listed until they are forgotten like any other. The operators are told once per channel.
 */
export async function concludeRefusal(deps: RefusalDeps, work: Work, refusal: Refusal): Promise<void> {
  const { channel, outcome, missed } = refusal;
  const { slackError, fix, about } = outcome;
  const errorId = newErrorId();
  const { key, attempts: attempt } = work.entry;
  deps.log('error', 'Slack refuses the post', { key, channel, attempt, errorId, slackError, fix });
  switch (about) {
    case 'message':
      await again(deps, work, missed, { delayMs: longestPutAsideMs, pauseMs: paceMs });
      await tellStuck(deps, work.entry, errorId);
      return;
    case 'bot':
      await again(deps, work, missed, inFront(missed.misses, refusedDelayMs));
      return;
    case 'channel':
    case 'unclear':
      await waitOrGiveUp(deps, work, refusal);
      return;
  }
}

async function waitOrGiveUp(deps: RefusalDeps, work: Work, refusal: Refusal): Promise<void> {
  const { channel, outcome, missed } = refusal;
  const listed = await createDeadLetters(deps).refused(channel);
  const { sinceMs, isKnown, isOver } = judge(deps, work.record, { channel, listed });
  if (deps.now() - sinceMs >= Math.min(tellAfterMs, deps.giveUpMs)) {
    const since = outcome.about === 'channel' ? String(listed?.sinceMs ?? sinceMs) : outcome.slackError;
    await tellRefused(deps, refusal, since);
  }
  // Never at its first refusal: from the second on the record says that it is refused, and stays listed.
  if (isKnown && isOver && (await giveUp(deps, work, { ...refusal, sinceMs }))) return;
  const waitMs = isOver && !isKnown ? paceMs : refusedDelayMs;
  const wait = outcome.about === 'channel' ? { holdMs: waitMs } : inFront(missed.misses, waitMs);
  await again(deps, work, { ...missed, refused: { channel, sinceMs } }, wait);
}

/**
 * Since when the record is refused for its channel, whether it says so itself already, and whether the time for it
 * is over. What stood behind a dead letter has been refused for as long as that, though it is tried for the first time.
 */
function judge(
  { now, giveUpMs }: RefusalDeps,
  { refused, receivedAtMs }: OutboxRecord,
  { channel, listed }: { channel: string; listed: Refused | undefined },
): { sinceMs: number; isKnown: boolean; isOver: boolean } {
  const nowMs = now();
  const isKnown = refused?.channel === channel;
  const inheritedMs = listed && nowMs - listed.lastAtMs < stillMs ? listed.sinceMs : nowMs;
  const sinceMs = isKnown ? refused.sinceMs : inheritedMs;
  return { sinceMs, isKnown, isOver: nowMs - Math.max(sinceMs, receivedAtMs) >= giveUpMs };
}

async function giveUp(
  deps: RefusalDeps,
  work: Work,
  refusal: Refusal & { sinceMs: number },
): Promise<boolean> {
  const { channel, outcome, missed, sinceMs } = refusal;
  const { slackError, fix } = outcome;
  const { key } = work.entry;
  const isListed = await createDeadLetters(deps).add({
    key,
    channel,
    receivedAtMs: work.record.receivedAtMs,
    refusedSinceMs: sinceMs,
    slackError,
    fix,
    untilMs: deps.now() + (work.record.rememberMs ?? deps.rememberMs),
  });
  if (!isListed) {
    deps.log('error', 'too much is undelivered; this goes on being tried', { key, channel, slackError, fix });
    return false;
  }
  await finish(deps, work, { ...missed, refused: { channel, sinceMs, givenUp: true } });
  deps.log('error', 'given up until it is delivered again by hand', { key, channel, slackError, fix });
  return true;
}

/** Once per channel. A notice in the channel that it is about would not arrive either. */
async function tellRefused(deps: RefusalDeps, { channel, outcome }: Refusal, since: string): Promise<void> {
  if (channel === deps.opsChannel) return;
  const { slackError, fix } = outcome;
  const giveUpHours = Math.round(deps.giveUpMs / 3_600_000);
  const notice = { kind: 'refused', channel, slackError, fix, giveUpHours } as const;
  await tellOperators(deps, `refused:${channel}:${since}`, notice);
}

/** The lane waits and the record keeps its place in it, unless it may be what stands in the way of the others. */
function inFront(misses: number, waitMs: number): WriteOptions {
  return misses < mostMissesInFront ? { holdMs: waitMs } : { delayMs: waitMs, pauseMs: waitMs };
}
