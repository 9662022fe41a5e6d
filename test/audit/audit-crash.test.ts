import { expect, it } from 'vitest';
import { auditRetentionPrefix, createAuditRetention } from '../../src/audit/audit-retention.ts';
import { blockKey } from '../../src/audit/audit-chain.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import {
  appendBlocks,
  auditLog,
  entryOf,
  sealer,
  startMs,
  type RecordsOnly,
} from '../features/audit-house.ts';
import type { Store } from '../../src/store/store.ts';
import { aroundStore } from '../support/around-store.ts';
import { everyPoint, type Points } from '../support/every-point.ts';
import { memoryStore } from '../features/memory-store.ts';

const dayMs = 86_400_000;

function pointed(store: Store, { pass }: Points): RecordsOnly {
  return aroundStore(store, (call, name) => pass(name, call));
}

/**
 * Runs the work again and again, killed at a later await each time, until it ends before the kill. Returns the number
 * of kills.
 */
async function killEverywhere(
  work: (points: Points) => Promise<void>,
  judge: (killedAt: number) => Promise<void>,
): Promise<number> {
  for (let killAt = 0; ; killAt += 1) {
    const points = everyPoint(killAt);
    const done = work(points).then(() => 'done');
    const end = await Promise.race([done, points.killed.then(() => 'killed')]);
    await judge(killAt);
    if (end === 'done') return killAt;
  }
}

it('keeps every acknowledged entry if a replica is killed at any point of appending and moving the head', async () => {
  let store = memoryStore({ nowMs: 0 });
  let acknowledged: string[] = [];
  const reference = 'pay-1';
  const kills = await killEverywhere(
    async (points) => {
      store = memoryStore({ nowMs: 0 });
      acknowledged = [];
      const log = auditLog(pointed(store, points));
      for (const ids of [['a', 'b'], ['c'], ['d', 'e']]) {
        await Promise.all(
          ids.map(async (id) => {
            await log.append(entryOf(id, { reference }));
            acknowledged.push(id);
          }),
        );
        await log.moveHead();
      }
    },
    async (killedAt) => {
      // Callers without an answer repeat their call, at another replica.
      const log = auditLog(store);
      const missing = ['a', 'b', 'c', 'd', 'e'].filter((id) => !acknowledged.includes(id));
      await Promise.all(missing.map((id) => log.append(entryOf(id, { reference }))));
      const told = (await log.ofReference(reference)).map(({ id }) => id);
      expect(told.toSorted(), `killed at ${killedAt}`).toEqual(['a', 'b', 'c', 'd', 'e']);
      await log.moveHead();
      expect((await log.ofReference(reference)).map(({ id }) => id)).toEqual(told);
      const report = await verifyAudit({ store, sealer });
      expect(report.problems, `killed at ${killedAt}`).toEqual([]);
      // Only entries that were under way at the kill may be there twice.
      expect(report.count).toBeLessThanOrEqual(7);
    },
  );
  expect(kills).toBeGreaterThan(60);
});

it('loses only old entries if a replica is killed at any point of removing them', async () => {
  let store = memoryStore({ nowMs: 0 });
  const blocks = [['a'], ['b', 'c'], ['d'], ['e'], ['f']];
  const nowMs = startMs + 5 * dayMs;
  function retain(records: RecordsOnly): Promise<void> {
    const { append } = auditLog(records);
    const retention = createAuditRetention({
      store: records,
      sealer,
      append,
      keepMs: 2 * dayMs,
      now: () => nowMs,
      log: (level, message) => {
        if (level === 'error') throw new Error(message);
      },
    });
    return records.read(auditRetentionPrefix).then((timer) => {
      if (!timer) throw new Error('no timer');
      return retention.work(timer);
    });
  }
  const kills = await killEverywhere(
    async (points) => {
      store = memoryStore({ nowMs: 0 });
      const mine = store;
      await store.create(auditRetentionPrefix, '', { delayMs: 0 });
      const log = auditLog(mine);
      await appendBlocks(log, blocks);
      await log.moveHead();
      await retain(pointed(mine, points));
    },
    async (killedAt) => {
      const interrupted = await verifyAudit({ store, sealer });
      expect(interrupted.problems, `killed at ${killedAt}`).toEqual([]);
      expect(interrupted.first?.seq, `killed at ${killedAt}`).toBeLessThanOrEqual(5);
      await retain(store);
      await retain(store);
      const report = await verifyAudit({ store, sealer });
      expect(report).toMatchObject({ problems: [], first: { seq: 5 }, stub: { seq: 4, isDone: true } });
      const left = await Promise.all([0, 1, 2, 3, 4].map((number) => store.read(blockKey(number))));
      expect(left.map(Boolean)).toEqual([false, false, false, true, true]);
      expect(report.last?.entry).toMatchObject({ what: 'retention', result: 'removed' });
    },
  );
  expect(kills).toBeGreaterThan(30);
});
