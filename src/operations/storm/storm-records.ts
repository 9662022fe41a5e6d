import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { PaymentEventKind } from '../../domain/payment-event.ts';
import type { ChannelStorm } from '../../domain/storm.ts';

/** What a channel has seen of late is work while a storm is on: somebody must end it. */
export const stormPrefix = 'storm:';

/** The decision to take all of a storm on, and the work of telling it to every card. */
export const stormTakenPrefix = 'storm-taken:';

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

/** Enough to know an alert again among those of one storm. */
export function shortName(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 12);
}

const channelStorm = z.object({
  singles: z.array(z.object({ id: z.string(), group: z.string(), atMs: z.number() })),
  storm: z.object({ id: z.string(), sinceMs: z.number(), groups: z.array(z.string()) }).exactOptional(),
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

/** `page` and `index`: the first item whose card is not told yet. */
const stormTaken = z.object({
  by: z.string(),
  at: z.number(),
  page: z.int(),
  index: z.int(),
  done: z.int(),
});

export type StoredStormTaken = z.infer<typeof stormTaken>;

export function readStormTaken(value: string): StoredStormTaken {
  return stormTaken.parse(JSON.parse(value));
}
