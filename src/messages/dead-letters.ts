import type { Undelivered } from '../domain/delivery.ts';
import type { Entry, Store } from '../store/store.ts';
import { pagesOf } from '../records/change-record.ts';
import { toChannelLane } from './alert-age.ts';
import {
  deadLetters,
  deadLettersOf,
  listsOf,
  readOutboxRecord,
  writeOutboxRecord,
  type OutboxRecord,
} from './outbox.ts';

// Messages that Slack has refused for so long that they are tried no more by themselves: records of the outbox, in the
// lists of what is undelivered. All of it throws StoreUnavailable.

/** More are counted once these are delivered: their records are read for it. */
const mostCounted = 1_000;

/** What could not be delivered, by channel, the longest refused first: of the oldest thousand messages. */
export async function readUndelivered(store: Pick<Store, 'list'>): Promise<readonly Undelivered[]> {
  const { entries } = await store.list(deadLetters, { max: mostCounted });
  const byChannel = new Map<string, Undelivered>();
  for (const { refused } of entries.map(({ value }) => readOutboxRecord(value))) {
    if (!refused?.givenUp) continue;
    const { channel, sinceMs, givenUp } = refused;
    const found = byChannel.get(channel) ?? { messages: 0, sinceMs };
    const messages = found.messages + 1;
    byChannel.set(channel, { channel, messages, ...givenUp, sinceMs: Math.min(found.sinceMs, sinceMs) });
  }
  return [...byChannel.values()].toSorted((one, other) => one.sinceMs - other.sinceMs);
}

/**
 * Makes the letters of one channel, or of all, work again, the oldest first, and says how many. A letter is made
 * work by one caller alone, however many ask at once, and one that is being delivered is left alone.
 */
export async function redrive(
  store: Pick<Store, 'list' | 'read' | 'write'>,
  channel?: string,
): Promise<readonly { channel: string; messages: number }[]> {
  const revived = new Map<string, number>();
  let turn = 0;
  for await (const entries of pagesOf(store, channel === undefined ? deadLetters : deadLettersOf(channel))) {
    for (const entry of entries) {
      // In turn, and a moment apart, because a store may not tell apart what is due in the same one.
      // oxlint-disable-next-line no-await-in-loop
      const of = await revive(store, entry, turn);
      if (of !== undefined) revived.set(of, (revived.get(of) ?? 0) + 1);
      turn += 1;
    }
  }
  return [...revived].map(([of, messages]) => ({ channel: of, messages }));
}

/** The channel it was refused for. Undefined: it is work already, or was delivered meanwhile. */
async function revive(
  store: Pick<Store, 'read' | 'write'>,
  found: Entry,
  delayMs: number,
): Promise<string | undefined> {
  let entry: Entry | undefined = found;
  while (entry) {
    const record = readOutboxRecord(entry.value);
    const { refused, wanted, settled } = record;
    // A charge that went on made its message work by itself: ending a lease of that would post it twice.
    if (!refused?.givenUp || settled < wanted) return undefined;
    const mended = { refused: undefined, misses: 0, reposted: undefined };
    const again: OutboxRecord = { ...record, ...mended, wanted: wanted + 1 };
    const due = { delayMs, index: listsOf(again), ...toChannelLane(entry, record) };
    // oxlint-disable-next-line no-await-in-loop -- each round looks at what the one before lost to
    if (await store.write(entry, writeOutboxRecord(again), due)) return refused.channel;
    // oxlint-disable-next-line no-await-in-loop
    entry = await store.read(found.key);
  }
  return undefined;
}
