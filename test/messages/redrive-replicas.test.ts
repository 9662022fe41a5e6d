import { expect, it } from 'vitest';
import { readUndelivered, redrive } from '../../src/messages/undelivered.ts';
import { listsOf, readMessageRecord, unsaid, writeMessageRecord } from '../../src/messages/message-record.ts';
import { again } from '../../src/messages/message-work.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores, type TwoReplicas } from '../features/two-stores.ts';

const channel = 'C0ALERTS01';
const other = 'C0OTHER001';
const rememberMs = 86_400_000;
const now = () => Date.now();
const record = { sealed: '', ...unsaid };

function keysOf(to: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `message:alert:${to}:${String(index).padStart(3, '0')}`);
}

/** Dead letters as the worker leaves them, given up in another order than they came. */
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

/** So many pieces of work, as they become due, in the order in which they are given out; and no more than those. */
async function takeAll(store: Store, count: number): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const [entry] = await store.take(10_000);
    if (!entry) continue;
    keys.push(entry.key);
    // Delivered: nothing is refused any more.
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

onBothStores('a re-drive', (open) => {
  it('makes each dead letter work once and in its old order, however many ask at once', () =>
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

  it('that ends in the middle is finished by the next one, and nothing is delivered twice', () =>
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

onBothStores('a record that makes its lane wait', (open) => {
  it('keeps its place before what came after it, and what is known of it', () =>
    use(open, async ({ one, two }) => {
      for (const key of ['first', 'second']) {
        const value = writeMessageRecord({ ...record, channel, receivedAtMs: 0 });
        await one.create(`message:alert:${key}`, value, { delayMs: 0, lane: channel });
      }
      const [entry] = await one.take(10_000);
      if (!entry) throw new Error('nothing is due');
      const work = { entry, record: readMessageRecord(entry.value) };
      const beganAtMs = now();
      expect(await again({ store: one }, work, { misses: 7 }, { holdMs: 50 })).toBe(true);
      const [next] = await takeWhenDue(two);
      expect(now() - beganAtMs).toBeGreaterThanOrEqual(49);
      expect(next).toMatchObject({ key: 'message:alert:first', attempts: 2 });
      expect(readMessageRecord(next?.value ?? '')).toMatchObject({ misses: 7 });
    }));

  it('waits all the same when its lease ended before that was written', () =>
    use(open, async ({ one, two }) => {
      const value = writeMessageRecord({ ...record, channel, receivedAtMs: 0 });
      await one.create('message:alert:late', value, { delayMs: 0, lane: channel });
      const [entry] = await one.take(1);
      if (!entry) throw new Error('nothing is due');
      const work = { entry, record: readMessageRecord(entry.value) };
      for (const overAtMs = now() + 20; now() < overAtMs;) await one.read(entry.key);
      const beganAtMs = now();
      expect(await again({ store: one }, work, { misses: 7 }, { holdMs: 50 })).toBe(true);
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
