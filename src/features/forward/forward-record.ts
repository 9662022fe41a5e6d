// A delivery that waits for the merchant's own backend, as the store keeps it.

import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import { type PartHealth, StoreUnavailable } from '../../domain/failure.ts';
import { counted } from '../../domain/wording.ts';
import { pagesOf } from '../../records/pages.ts';
import { type Records, type RecordKind, createRecords } from '../../records/records.ts';

const forward = z.object({
  /** The bytes as they came, in base64. */
  body: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  about: z.object({
    eventKind: z.string().exactOptional(),
    eventKey: z.string().exactOptional(),
    orderReference: z.string().exactOptional(),
  }),
  receivedAtMs: z.number(),
  /** Since when it is tried: since it came, or since somebody had it sent once more. */
  triedSinceMs: z.number(),
  /** Why the bot sends it no more by itself. */
  leftWhy: z.string().exactOptional(),
});

export type Forward = z.infer<typeof forward>;

const waitingList = 'forwards';
const leftList = 'forwards-left';

export const forwardKind: RecordKind<Forward> = {
  prefix: 'forward:',
  schema: forward,
  lists: ({ receivedAtMs, leftWhy }) => ({ [leftWhy === undefined ? waitingList : leftList]: receivedAtMs }),
};

type Keeping = Pick<Account, 'store' | 'sealer'>;

export function forwardRecords({ store, sealer }: Keeping): Records<Forward> {
  return createRecords({ store, sealer, wait }, forwardKind);
}

/** More are counted once these are gone: each is read for it. */
const mostCounted = { max: 1_000 };

/** What waits and what was left, each up to a thousand; and when the oldest that waits came (UTC ms). */
type ForwardDepth = { waiting: number; left: number; oldestAtMs?: number };

/** Throws StoreUnavailable. */
export async function forwardDepth(account: Keeping): Promise<ForwardDepth> {
  const records = forwardRecords(account);
  const [waiting, left] = await Promise.all([
    records.list(waitingList, mostCounted),
    records.list(leftList, mostCounted),
  ]);
  const [oldest] = waiting;
  const depth = { waiting: waiting.length, left: left.length };
  return oldest ? { ...depth, oldestAtMs: oldest.receivedAtMs } : depth;
}

/** A backend that is being deployed is away for less. */
const longAwayMs = 300_000;

/** For readiness and the doctor. */
export async function forwardHealth(account: Keeping, nowMs: number): Promise<PartHealth> {
  try {
    return judge(await forwardDepth(account), nowMs);
  } catch (error) {
    // The store says so itself, and a part that is down takes the whole bot out.
    if (error instanceof StoreUnavailable) return { state: 'degraded', detail: 'the store does not answer' };
    throw error;
  }
}

function judge({ waiting, left, oldestAtMs }: ForwardDepth, nowMs: number): PartHealth {
  const waitedMs = nowMs - (oldestAtMs ?? nowMs);
  const isAway = waitedMs >= longAwayMs;
  if (!isAway && left === 0) return { state: 'ok' };
  const minutes = counted(Math.floor(waitedMs / 60_000), 'minute');
  const details = [
    ...(left > 0 ? [`${counted(left, 'event')} that your backend did not take`] : []),
    ...(isAway
      ? [`${counted(waiting, 'event')} in the queue for your backend, the oldest for ${minutes}`]
      : []),
  ];
  const fix =
    left > 0
      ? 'Mend the backend, then: npm run payops -- forward'
      : 'Look at the backend behind WEBHOOK_FORWARD_URL; the bot retries by itself.';
  return { state: 'degraded', detail: details.join('; '), fix };
}

/**
 * Sends what was left once more, in its old order, and what waits for its next try now. Run twice, it sends nothing twice
 * that is not under way. Throws StoreUnavailable.
 */
export async function forwardAgain(
  account: Keeping,
  nowMs: number,
): Promise<{ left: number; waiting: number }> {
  const { store } = account;
  const records = forwardRecords(account);
  const done = { left: 0, waiting: 0 };
  for await (const entries of pagesOf(store, waitingList)) {
    for (const entry of entries) {
      // It keeps its place in its lane; one whose turn has not come is not held.
      if (await store.write(entry, entry.value, { holdMs: 0 })) done.waiting += 1;
    }
  }
  for await (const entries of pagesOf(store, leftList)) {
    for (const entry of entries) {
      // A moment apart: a store may not tell apart what is due in the same one.
      const isDue = await takeUp(records, records.idOf(entry), nowMs, done.left);
      if (isDue) done.left += 1;
    }
  }
  return done;
}

/** Of one that was left: work again, as if it came now. False: it waits already, or is gone. */
export async function takeUp(
  records: Records<Forward>,
  id: string,
  nowMs: number,
  delayMs = 0,
): Promise<boolean> {
  return await records.change<boolean>(id, (before) => {
    if (before?.leftWhy === undefined) return { kind: 'keep', result: false };
    const { leftWhy: _why, ...kept } = before;
    return { kind: 'write', value: { ...kept, triedSinceMs: nowMs }, rest: { delayMs }, result: true };
  });
}
