import { z } from 'zod';
import type { PaymentEventKind } from '../../domain/payment-event.ts';
import type { ChannelStorm } from '../../domain/storm.ts';
import type { StormTaken } from '../../domain/storm-summary.ts';
import type { Store } from '../../store/store.ts';

/** What a channel has seen of late is work while a storm is on: somebody must end it. */
export const stormPrefix = 'storm:';

/** What became of one storm; work while its acknowledgement is still to be shown on the messages above its digest. */
export const stormRecordPrefix = 'storm-record:';

/** What one storm after the other is of: a channel’s failures, or its payments, each counted for itself. */
export function streamOf(channel: string, gathers: PaymentEventKind): string {
  return gathers === 'payment_failed' ? channel : `${channel}~paid`;
}

/** Made of the stream and its beginning, so that whoever makes it a second time makes the same. */
export function stormId(stream: string, sinceMs: number): string {
  return `${stream}/${sinceMs}`;
}

/** Undefined for a text that no storm is called by. */
export function readStormId(
  id: string,
): { stream: string; channel: string; gathers: PaymentEventKind } | undefined {
  const [, stream, channel, paid] = /^(([A-Z0-9]+)(~paid)?)\/\d+$/.exec(id) ?? [];
  if (stream === undefined || channel === undefined) return undefined;
  return { stream, channel, gathers: paid === undefined ? 'payment_failed' : 'payment_success' };
}

const channelStorm = z.object({
  singles: z.array(
    z.object({
      id: z.string(),
      group: z.string(),
      atMs: z.number(),
      isTold: z.literal(true).exactOptional(),
    }),
  ),
  storm: z
    .object({ id: z.string(), sinceMs: z.number(), groups: z.array(z.string()), above: z.array(z.string()) })
    .exactOptional(),
  ended: z
    .object({ id: z.string(), sinceMs: z.number(), endedMs: z.number(), isTold: z.boolean() })
    .exactOptional(),
  checkAtMs: z.number(),
});

/** `checkAtMs`: when the storm is next asked whether it is over; singles that pass beside it do not put that off. */
export type StoredChannelStorm = ChannelStorm & { checkAtMs: number };

export function readChannelStorm(value: string): StoredChannelStorm {
  return channelStorm.parse(JSON.parse(value));
}

/** An alert’s place on the list of a storm, from 0. */
export type StormMember = { storm: string; at: number };

/** `recovered`: a bit for each alert of the list that was resolved by a payment, in base64, so that each counts once. */
const stormRecord = z.object({
  taken: z.object({ by: z.string(), at: z.number(), isShown: z.boolean() }).exactOptional(),
  recovered: z.base64(),
});
export type StormRecord = z.infer<typeof stormRecord>;

export function readStormRecord(value: string | undefined): StormRecord {
  return value === undefined ? { recovered: '' } : stormRecord.parse(JSON.parse(value));
}

/** Undefined: that one is counted already. */
export function withRecovered(record: StormRecord, at: number): StormRecord | undefined {
  const before = Buffer.from(record.recovered, 'base64');
  const bits = Buffer.alloc(Math.max(before.length, (at >> 3) + 1));
  before.copy(bits);
  const bit = 1 << (at & 7);
  const byte = bits[at >> 3] ?? 0;
  if ((byte & bit) !== 0) return undefined;
  bits[at >> 3] = byte | bit;
  return { ...record, recovered: bits.toString('base64') };
}

export function countRecovered({ recovered }: StormRecord): number {
  let count = 0;
  for (const byte of Buffer.from(recovered, 'base64')) {
    for (let rest = byte; rest > 0; rest &= rest - 1) count += 1;
  }
  return count;
}

/** Who acknowledged all of the storm; undefined: nobody. Throws StoreUnavailable. */
export async function takenOf(store: Pick<Store, 'read'>, storm: string): Promise<StormTaken | undefined> {
  const entry = await store.read(stormRecordPrefix + storm);
  const taken = entry && readStormRecord(entry.value).taken;
  return taken && { by: taken.by, at: taken.at };
}
