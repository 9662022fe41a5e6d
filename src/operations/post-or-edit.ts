import { growingDelayMs } from '../domain/growing-delay.ts';
import { again, finish, markStale, type Work } from './outbox-work.ts';
import type { Composed, PrepareDeps, Prepared } from './prepare-post.ts';

/** A note waits this long for the message it belongs under to be asked for at all. */
export const parentPatienceMs = 600_000;
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

/** What it belongs to is not told yet: tried again, ever more rarely, and nothing behind it waits. */
export async function waitForParent(deps: PrepareDeps, work: Work): Promise<Prepared> {
  const delayMs = growingDelayMs(parentAgainMs, work.entry.attempts - 1, longestParentWaitMs);
  await again(deps, work, {}, { delayMs, pauseMs: 0 });
  return { kind: 'settled' };
}

/** For a first post that leaves out whom it would ping: once it stands it is edited to name them. */
export function followedByEdit(deps: PrepareDeps, key: string, message: Composed): Composed {
  return {
    ...message,
    async post(channel, threadTs) {
      const outcome = await message.post(channel, threadTs);
      if (outcome.kind === 'posted') await markStale(deps.store, key);
      return outcome;
    },
  };
}
