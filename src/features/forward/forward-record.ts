// A stored delivery that waits for the merchant's own backend.

import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import { degradedIfAway, type PartHealth } from '../../domain/failure.ts';
import { counted } from '../../domain/wording.ts';
import { pagesOf } from '../../records/pages.ts';
import { type Records, type RecordKind, createRecords } from '../../records/records.ts';

const forward = z.object({
  /** The original bytes, in base64. */
  body: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  about: z.object({
    eventKind: z.string().exactOptional(),
    eventKey: z.string().exactOptional(),
    orderReference: z.string().exactOptional(),
  }),
  receivedAtMs: z.number(),
  /** When its tries began: its arrival, or the last request to send it again. */
  triedSinceMs: z.number(),
  /** Why the bot abandoned it; absent: it waits to be sent. */
  leftWhy: z.string().exactOptional(),
});

export type Forward = z.infer<typeof forward>;

const waitingList = 'forwards';
const abandonedList = 'forwards-left';

export const forwardKind: RecordKind<Forward> = {
  prefix: 'forward:',
  schema: forward,
  lists: ({ receivedAtMs, leftWhy }) => ({
    [leftWhy === undefined ? waitingList : abandonedList]: receivedAtMs,
  }),
};

type ForwardStore = Pick<Account, 'store' | 'sealer'>;

export function forwardRecords({ store, sealer }: ForwardStore): Records<Forward> {
  return createRecords({ store, sealer, wait }, forwardKind);
}

/** Counting reads each record, so it stops here. */
const mostCounted = { max: 1_000 };

/** Waiting and abandoned deliveries, each up to a thousand, and the oldest waiting one's arrival (UTC ms). */
type ForwardDepth = { waiting: number; abandoned: number; oldestAtMs?: number };

/** Throws StoreUnavailable. */
export async function forwardDepth(account: ForwardStore): Promise<ForwardDepth> {
  const records = forwardRecords(account);
  const [waiting, abandoned] = await Promise.all([
    records.list(waitingList, mostCounted),
    records.list(abandonedList, mostCounted),
  ]);
  const [oldest] = waiting;
  const depth = { waiting: waiting.length, abandoned: abandoned.length };
  return oldest ? { ...depth, oldestAtMs: oldest.receivedAtMs } : depth;
}

/** Health is degraded after this time: longer than a restart of the backend. */
const longAwayMs = 300_000;

/** For readiness and the doctor. */
export async function forwardHealth(account: ForwardStore, nowMs: number): Promise<PartHealth> {
  return await degradedIfAway(async () => judge(await forwardDepth(account), nowMs));
}

function judge({ waiting, abandoned, oldestAtMs }: ForwardDepth, nowMs: number): PartHealth {
  const waitedMs = nowMs - (oldestAtMs ?? nowMs);
  const isAway = waitedMs >= longAwayMs;
  if (!isAway && abandoned === 0) return { state: 'ok' };
  const minutes = counted(Math.floor(waitedMs / 60_000), 'minute');
  const details = [
    ...(abandoned > 0 ? [`${counted(abandoned, 'event')} that your backend did not take`] : []),
    ...(isAway
      ? [`${counted(waiting, 'event')} in the queue for your backend, the oldest for ${minutes}`]
      : []),
  ];
  const fix =
    abandoned > 0
      ? 'Fix the backend, then: npm run payops -- forward'
      : 'Look at the backend behind WEBHOOK_FORWARD_URL; the bot retries by itself.';
  return { state: 'degraded', detail: details.join('; '), fix };
}

/**
 * Makes abandoned deliveries due again, in order, and waiting ones due now. Returns how many of each. A delivery that is
 * being sent at that moment is sent twice. Throws StoreUnavailable.
 */
export async function retryForwards(
  account: ForwardStore,
  nowMs: number,
): Promise<{ abandoned: number; waiting: number }> {
  const { store } = account;
  const records = forwardRecords(account);
  const done = { abandoned: 0, waiting: 0 };
  for await (const entries of pagesOf(store, waitingList)) {
    for (const entry of entries) {
      // Ends the lane's wait; fails for a delivery that isn't the first of its lane.
      if (await store.write(entry, entry.value, { holdMs: 0 })) done.waiting += 1;
    }
  }
  for await (const entries of pagesOf(store, abandonedList)) {
    for (const entry of entries) {
      // Due a millisecond apart: a store may not keep the order of records due at the same time.
      const isDue = await revive(records, records.idOf(entry), nowMs, done.abandoned);
      if (isDue) done.abandoned += 1;
    }
  }
  return done;
}

/** Makes an abandoned delivery due again, as if it arrived now. False: it waits already, or was forgotten. */
export async function revive(
  records: Records<Forward>,
  id: string,
  nowMs: number,
  delayMs = 0,
): Promise<boolean> {
  return await records.change<boolean>(id, (before) => {
    if (before?.leftWhy === undefined) return { kind: 'keep', result: false };
    const { leftWhy: _why, ...kept } = before;
    return { kind: 'write', value: { ...kept, triedSinceMs: nowMs }, schedule: { delayMs }, result: true };
  });
}
