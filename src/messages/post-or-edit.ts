import { growingDelayMs } from '../domain/growing-delay.ts';
import { readOutboxRecord, type OutboxRecord } from './outbox.ts';
import { again, finish, longestRetryMs, type Work, type WorkDeps } from './outbox-work.ts';
import type { Composed, Prepared } from './prepare-post.ts';

/** A note waits this long for the message it belongs under to be asked for at all. */
const parentPatienceMs = 600_000;
const parentAgainMs = 1_000;
const longestParentWaitMs = 60_000;

/** Once posted as one that may be a repeat, a message goes on saying so through its edits. */
export function isRepeat({ record }: Work, mayBeRepeat: boolean): boolean {
  return mayBeRepeat || record.mayBeRepeat === true;
}

/** Posted once, edited when it would look different, left alone when not. */
export async function postOrEdit(
  deps: WorkDeps,
  work: Work,
  channel: string,
  message: Composed,
): Promise<Prepared> {
  const { posted, shown } = work.record;
  if (!posted) return { kind: 'post', channel, message };
  if (shown !== message.digest) return { kind: 'edit', posted, message };
  return await settle(deps, work);
}

/** The same below a message, in the thread of one that stands; into the channel where Slack does not take it there. */
export async function postOrEditBelow(
  deps: WorkDeps,
  work: Work,
  { posted: parent }: OutboxRecord,
  message: Composed,
): Promise<Prepared> {
  const prepared = await postOrEdit(deps, work, parent?.channel ?? work.record.channel, message);
  if (prepared.kind !== 'post' || !parent || work.record.unthreaded) return prepared;
  return { ...prepared, threadTs: parent.ts };
}

/** Nothing is left to send, so nothing is refused any more either: but a dead letter stays listed. */
export async function settle(deps: WorkDeps, work: Work): Promise<Prepared> {
  const { refused } = work.record;
  const kept = refused?.givenUp ? refused : undefined;
  await finish(deps, work, { doubt: undefined, refused: kept, misses: 0 }, 0);
  return { kind: 'settled' };
}

/** Where a note goes: below the message it belongs to, which is not there yet when this is undefined. */
export async function placeBelow(
  deps: WorkDeps,
  { record }: Work,
  { parent, channel }: { parent: string; channel: string },
): Promise<{ channel: string; threadTs?: string } | undefined> {
  if (record.unthreaded) return { channel };
  const entry = await deps.store.read(parent);
  if (!entry) return deps.now() - record.receivedAtMs >= parentPatienceMs ? { channel } : undefined;
  const { posted } = readOutboxRecord(entry.value);
  return posted && { channel: posted.channel, threadTs: posted.ts };
}

/** What it belongs to is not told yet: tried again, ever more rarely, and nothing behind it waits. */
export async function waitForParent(deps: WorkDeps, work: Work): Promise<Prepared> {
  const delayMs = growingDelayMs(parentAgainMs, work.entry.attempts - 1, longestParentWaitMs);
  await again(deps, work, {}, { delayMs, pauseMs: 0 });
  return { kind: 'settled' };
}

/**
 * A step that Slack does not take keeps those after it for so long. The message itself may be found as late, after a lost
 * answer, and all of its steps wait until then.
 */
const stepPatienceMs = 2 * longestRetryMs;

/**
 * Whether a step before this one is still to go into the same thread. Of those that waited for their parent, or for the
 * channel, each waited as long as its own attempts had it, and the youngest would come first. The patience begins when
 * the last step that stands came, before which the one in front could not go either.
 */
async function behindAnother(
  deps: WorkDeps,
  { entry, record }: Work,
  parentPostedAtMs: number,
): Promise<'no' | 'for_a_moment' | 'while_refused'> {
  let sinceMs = Math.max(parentPostedAtMs, record.receivedAtMs);
  let isBehind = false;
  for (const key of stepsBefore(entry.key)) {
    // oxlint-disable-next-line no-await-in-loop -- mostly the first is told, and no more are read
    const before = await deps.store.read(key);
    if (!before) break;
    const { posted, progress, refused } = readOutboxRecord(before.value);
    if (posted) sinceMs = Math.max(sinceMs, Number(posted.ts) * 1_000);
    if (posted || progress?.kind === 'done') break;
    // Its channel is refused, and so would this one be.
    if (refused) return 'while_refused';
    isBehind = true;
  }
  return isBehind && deps.now() - sinceMs < stepPatienceMs ? 'for_a_moment' : 'no';
}

/** The keys of the steps before one, the nearest first. */
function stepsBefore(key: string): string[] {
  const [, name, number] = /^(.*#)(\d+)$/.exec(key) ?? [];
  const count = name === undefined ? 0 : Number(number) - 1;
  return Array.from({ length: count }, (_, index) => `${name}${count - index}`);
}

/** Undefined when it is the turn of this step, in the thread of a message that stands; one that stands itself is edited at once. */
export async function waitForThread(
  deps: WorkDeps,
  work: Work,
  { posted, progress, refused }: OutboxRecord,
): Promise<Prepared | undefined> {
  if (work.record.posted) return undefined;
  if (posted) {
    const wait = await behindAnother(deps, work, Number(posted.ts) * 1_000);
    if (wait === 'no') return undefined;
    if (wait === 'while_refused') return await waitForParent(deps, work);
    await again(deps, work, {}, { delayMs: parentAgainMs, pauseMs: 0 });
    return { kind: 'settled' };
  }
  // Done with, and no dead letter: it never stands anywhere.
  return progress?.kind === 'done' && !refused ? await settle(deps, work) : await waitForParent(deps, work);
}
