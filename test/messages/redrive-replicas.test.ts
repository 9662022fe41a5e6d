import { expect, it } from 'vitest';
import { readUndelivered, redrive } from '../../src/messages/undelivered.ts';
import {
  listsOf,
  newCounters,
  readMessageRecord,
  reschedule,
  writeMessageRecord,
} from '../../src/messages/message-record.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores, type TwoReplicas } from '../features/two-stores.ts';

const channel = 'C0ALERTS01';
const other = 'C0OTHER001';
const rememberMs = 86_400_000;
const now = () => Date.now();
const record = { sealed: '', ...newCounters };

function keysOf(to: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `message:alert:${to}:${String(index).padStart(3, '0')}`);
}

/** Stores dead letters as a worker does, given up in another order than received. */
async function giveUp(store: Store, to: string, count: number): Promise<string[]> {
  const keys = keysOf(to, count);
  const beganAtMs = now();
  for (const [index, key] of [...keys.entries()].toReversed()) {
    const receivedAtMs = beganAtMs + index;
    const givenUp = { slackError: 'is_archived', fix: 'Unarchive it.' };
    const refused = { channel: to, sinceMs: beganAtMs, givenUp };
    await store.create(key, '', { delayMs: 0, lane: to });
    const [entry] = await store.take(10_000);
    if (!entry) throw new Error('nothing to give up');
    const dead = { ...record, settled: record.wanted, channel: to, receivedAtMs, refused };
    await store.write(entry, writeMessageRecord(dead), { ttlMs: rememberMs, index: listsOf(key, dead) });
  }
  return keys;
}

/** Leases `count` records as they become due; returns their keys in that order. Fails if more are due. */
async function takeAll(store: Store, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const [entry] = await store.take(10_000);
    if (!entry) continue;
    keys.push(entry.key);
    // As after a successful delivery.
    const value = writeMessageRecord({ ...readMessageRecord(entry.value), refused: undefined });
    await store.write(entry, value, { ttlMs: rememberMs });
  }
  expect(await store.take(10_000)).toEqual([]);
  return keys;
}

async function use<T>(
  open: () => Promise<TwoReplicas>,
  test: (replicas: TwoReplicas) => Promise<T>,
): Promise<T> {
  const replicas = await open();
  try {
    return await test(replicas);
  } finally {
    await replicas.close();
  }
}

onBothStores('redelivery of dead letters', (open) => {
  it('makes each letter due once, in the old order, for any number of simultaneous calls', () =>
    use(open, async ({ one, two }) => {
      const keys = await giveUp(one, channel, 40);
      const others = await giveUp(one, other, 5);
      const redriven = await Promise.all(
        [one, two, one, two].map((store, index) => redrive(store, index < 2 ? channel : undefined)),
      );
      const messages = redriven.flat().reduce((sum, found) => sum + found.messages, 0);
      expect(messages).toBe(45);
      const taken = await takeAll(two, 45);
      expect(taken.filter((key) => key.includes(channel))).toEqual(keys);
      expect(taken.filter((key) => key.includes(other))).toEqual(others);
      expect(await readUndelivered(two)).toEqual([]);
    }));

  it('is finished by the next call after a kill halfway, and delivers nothing twice', () =>
    use(open, async ({ one, two }) => {
      const keys = await giveUp(one, channel, 10);
      let writes = 0;
      const dying = {
        ...one,
        write: (...args: Parameters<Store['write']>) => {
          writes += 1;
          return writes > 4 ? Promise.reject(new StoreUnavailable('killed')) : one.write(...args);
        },
      };
      await expect(redrive(dying)).rejects.toThrow('killed');
      expect(await takeAll(two, 4)).toEqual(keys.slice(0, 4));
      expect(await readUndelivered(two)).toMatchObject([{ messages: 6 }]);
      expect(await redrive(two)).toEqual([{ channel, messages: 6 }]);
      expect(await takeAll(one, 6)).toEqual(keys.slice(4));
      expect(await readUndelivered(two)).toEqual([]);
    }));
});

onBothStores('a record that holds its lane', (open) => {
  it('stays first in it, and keeps its change', () =>
    use(open, async ({ one, two }) => {
      for (const key of ['first', 'second']) {
        const value = writeMessageRecord({ ...record, channel, receivedAtMs: 0 });
        await one.create(`message:alert:${key}`, value, { delayMs: 0, lane: channel });
      }
      const [entry] = await one.take(10_000);
      if (!entry) throw new Error('nothing is due');
      const work = { entry, record: readMessageRecord(entry.value) };
      const beganAtMs = now();
      expect(await reschedule({ store: one }, work, { misses: 7 }, { holdMs: 50 })).toBe(true);
      const [next] = await takeWhenDue(two);
      expect(now() - beganAtMs).toBeGreaterThanOrEqual(49);
      expect(next).toMatchObject({ key: 'message:alert:first', attempts: 2 });
      expect(readMessageRecord(next?.value ?? '')).toMatchObject({ misses: 7 });
    }));

  it('waits just as long if its lease expired before the write', () =>
    use(open, async ({ one, two }) => {
      const value = writeMessageRecord({ ...record, channel, receivedAtMs: 0 });
      await one.create('message:alert:late', value, { delayMs: 0, lane: channel });
      const [entry] = await one.take(1);
      if (!entry) throw new Error('nothing is due');
      const work = { entry, record: readMessageRecord(entry.value) };
      for (const overAtMs = now() + 20; now() < overAtMs;) await one.read(entry.key);
      const beganAtMs = now();
      expect(await reschedule({ store: one }, work, { misses: 7 }, { holdMs: 50 })).toBe(true);
      const [next] = await takeWhenDue(two);
      expect(now() - beganAtMs).toBeGreaterThanOrEqual(49);
      expect(readMessageRecord(next?.value ?? '')).toMatchObject({ misses: 7 });
    }));
});

async function takeWhenDue(store: Store) {
  for (;;) {
    const taken = await store.take(10_000);
    if (taken.length > 0) return taken;
  }
}
