import { growingDelayMs } from '../domain/growing-delay.ts';
import { readOutboxRecord, type OutboxRecord } from './outbox.ts';
import { again, finish, type Work } from './outbox-work.ts';
import type { Composed, PrepareDeps, Prepared } from './prepare-post.ts';

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
  deps: PrepareDeps,
  work: Work,
  channel: string,
  message: Composed,
): Promise<Prepared> {
  const { posted, shown } = work.record;
  if (!posted) return { kind: 'post', channel, message };
  if (shown !== message.digest) return { kind: 'edit', posted, message };
  return await settle(deps, work);
}

export async function settle(deps: PrepareDeps, work: Work): Promise<Prepared> {
  await finish(deps, work, { doubt: undefined, misses: 0 }, 0);
  return { kind: 'settled' };
}

/** Where a note goes: below the message it belongs to, which is not there yet when this is undefined. */
export async function placeBelow(
  deps: PrepareDeps,
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
export async function waitForParent(deps: PrepareDeps, work: Work): Promise<Prepared> {
  const delayMs = growingDelayMs(parentAgainMs, work.entry.attempts - 1, longestParentWaitMs);
  await again(deps, work, {}, { delayMs, pauseMs: 0 });
  return { kind: 'settled' };
}

/** A step that Slack does not take keeps those after it for so long. */
const stepPatienceMs = 600_000;

/**
 * Whether the step before this one is still to go into the same thread. Of those that waited for their parent each
 * waited as long as its own attempts had it, and the youngest would come first.
 */
async function behindAnother(
  deps: PrepareDeps,
  { entry, record }: Work,
  parentPostedAtMs: number,
): Promise<'no' | 'for_a_moment' | 'while_refused'> {
  const [, name, number] = /^(.*#)(\d+)$/.exec(entry.key) ?? [];
  const before = name === undefined ? undefined : await deps.store.read(`${name}${Number(number) - 1}`);
  if (!before) return 'no';
  const { posted, progress, refused } = readOutboxRecord(before.value);
  if (posted || progress?.kind === 'done') return 'no';
  // Its channel is refused, and so would this one be.
  if (refused) return 'while_refused';
  const waitedMs = deps.now() - Math.max(parentPostedAtMs, record.receivedAtMs);
  return waitedMs < stepPatienceMs ? 'for_a_moment' : 'no';
}

/** Undefined when it is the turn of this step, in the thread of a message that stands; one that stands itself is edited at once. */
export async function waitForThread(
  deps: PrepareDeps,
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

/** A first post, which leaves out whom it would ping, and what it is with them. */
export function withoutNames(compose: (isFirst: boolean) => Composed): Composed {
  return { ...compose(true), whole: compose(false).digest };
}

/** The same, and once it stands it is edited to name them. */
export function followedByEdit(compose: (isFirst: boolean) => Composed): Composed {
  return { ...withoutNames(compose), isIncomplete: true };
}
