import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { blockKey, headKey, stubKey } from '../../src/audit/audit-chain.ts';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import { auditRetentionPrefix, createAuditRetention } from '../../src/audit/audit-retention.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import {
  appendBlocks,
  auditLog,
  entryOf,
  found,
  overwriteLines,
  remove,
  sealer,
  startMs,
  type RecordsOnly,
} from '../features/audit-house.ts';
import { onBothStores } from '../features/two-stores.ts';

const dayMs = 86_400_000;
/** One block per day. */
const days = [['a', 'b'], ['c'], ['d', 'e', 'f'], ['g'], ['h']];

type Settings = { keepDays?: number; nowMs: number; lines?: string[] };

function retentionOf(store: RecordsOnly, { keepDays = 2, nowMs, lines = [] }: Settings) {
  return createAuditRetention({
    store,
    sealer,
    append: auditLog(store).append,
    keepMs: keepDays === 0 ? undefined : keepDays * dayMs,
    now: () => nowMs,
    log: (level, message) => void lines.push(`${level} ${message}`),
  });
}

onBothStores('retention', (open) => {
  async function withDays() {
    const { one, close } = await open();
    const log = auditLog(one);
    await appendBlocks(log, days);
    await log.moveHead();
    await one.create(auditRetentionPrefix, '', { delayMs: 0 });
    async function work(settings: Settings): Promise<void> {
      const timer = await one.read(auditRetentionPrefix);
      if (!timer) throw new Error('no timer');
      await retentionOf(one, settings).work(timer);
    }
    async function present(): Promise<number[]> {
      const all = await Promise.all([0, 1, 2, 3, 4].map((number) => one.read(blockKey(number))));
      return all.flatMap((entry, number) => (entry ? [number] : []));
    }
    return { store: one, log, work, present, close };
  }

  it('removes exactly the entries that are too old, and leaves a whole chain after the stub', async () => {
    const { store, work, present, close } = await withDays();
    // The third day's block is not quite old enough.
    await work({ nowMs: startMs + 4 * dayMs });
    expect(await present()).toEqual([2, 3, 4]);
    const report = await verifyAudit({ store, sealer });
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({
      count: 6,
      first: { seq: 4, entry: { id: 'd' } },
      stub: { from: 1, seq: 3, newest: '2026-11-22T00:00:00.000Z', removedAt: '2026-11-25T00:00:00.000Z' },
    });
    expect(report.last?.entry).toMatchObject({
      who: 'payops',
      what: 'retention',
      before: 'entries 1 to 3, the newest of 2026-11-22T00:00:00.000Z',
      result: 'removed',
    });
    await close();
  });

  it('continues from its stub the next day, and removes nothing twice', async () => {
    const { store, work, present, close } = await withDays();
    await work({ nowMs: startMs + 4 * dayMs });
    await work({ nowMs: startMs + 4 * dayMs });
    expect((await verifyAudit({ store, sealer })).count).toBe(6);
    await work({ nowMs: startMs + 5 * dayMs });
    expect(await present()).toEqual([3, 4]);
    expect(await verifyAudit({ store, sealer })).toMatchObject({
      problems: [],
      first: { seq: 7 },
      stub: { from: 4, seq: 6 },
    });
    await close();
  });

  it('keeps the last block of the head at any age, and everything without a head', async () => {
    const { store, work, present, close } = await withDays();
    await work({ nowMs: startMs + 99 * dayMs });
    expect(await present()).toEqual([4]);
    expect((await verifyAudit({ store, sealer })).problems).toEqual([]);
    await close();
    const beheaded = await withDays();
    await remove(beheaded.store, headKey);
    await beheaded.work({ nowMs: startMs + 99 * dayMs });
    expect(await beheaded.present()).toEqual([0, 1, 2, 3, 4]);
    await beheaded.close();
  });

  it('lets a replica that was idle meanwhile continue, without reporting that the chain went back', async () => {
    const { store, log, work, present, close } = await withDays();
    const told: string[] = [];
    const idle = createAuditLog({
      store,
      sealer,
      log: (_, message) => void told.push(message),
      blockEveryMs: 0,
    });
    await idle.append(entryOf('idle', { atMs: startMs + 5 * dayMs }));
    await log.append(entryOf('later', { atMs: startMs + 9 * dayMs }));
    await log.moveHead();
    await work({ nowMs: startMs + 9 * dayMs });
    expect(await present()).toEqual([]);
    // Within the time in which the known end is trusted without reading.
    await sleep(1_100);
    await idle.append(entryOf('back', { atMs: startMs + 9 * dayMs }));
    expect(told).toEqual([]);
    expect(await found({ store, sealer })).toEqual([]);
    await close();
  });

  it('removes nothing with 0 days, and removes its timer', async () => {
    const { store, work, present, close } = await withDays();
    await work({ keepDays: 0, nowMs: startMs + 1_000 * dayMs });
    expect(await present()).toEqual([0, 1, 2, 3, 4]);
    expect(await store.read(stubKey)).toBeUndefined();
    expect(await store.read(auditRetentionPrefix)).toBeUndefined();
    await close();
  });

  it('keeps a block that is not as the bot wrote it, and all after it, and logs that', async () => {
    const { store, work, present, close } = await withDays();
    await overwriteLines(store, 1, (lines) => lines.map((line) => line.replace('charge', 'lookup')));
    const lines: string[] = [];
    await work({ nowMs: startMs + 1_000 * dayMs, lines });
    expect(await present()).toEqual([1, 2, 3, 4]);
    expect(lines).toEqual([
      'error Old entries of the audit trail are kept: block 1 is not as the bot wrote it',
    ]);
    expect(await found({ store, sealer })).toEqual(['changed 3']);
    await close();
  });

  it('removes nothing if the stub was forged', async () => {
    const { store, work, present, close } = await withDays();
    await work({ nowMs: startMs + 4 * dayMs });
    await store.write((await store.read(stubKey))!, 'no stub of ours');
    await work({ nowMs: startMs + 1_000 * dayMs });
    expect(await present()).toEqual([2, 3, 4]);
    expect((await found({ store, sealer }))[0]).toMatch(/^forged/);
    await close();
  });

  it('shows a removed stub as missing entries', async () => {
    const { store, work, close } = await withDays();
    await work({ nowMs: startMs + 4 * dayMs });
    await remove(store, stubKey);
    expect(await found({ store, sealer })).toEqual(['removed 1']);
    // Another replica, which knows only the store, does not start a new chain.
    await appendBlocks(auditLog(store), [['later']]);
    expect(await store.read(blockKey(0))).toBeUndefined();
    expect(await found({ store, sealer })).toEqual(['removed 1']);
    await close();
  });
});
