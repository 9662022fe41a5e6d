// When an alert that stands in its channel loses its details, and where it waits for that.

import type { Entry, WriteOptions } from '../store/store.ts';
import type { OutboxRecord } from './outbox.ts';

export type AlertAgeDeps = {
  rememberMs: number;
  /** How old a posted alert gets before its details are taken away, shorter than it is remembered; absent: it keeps them. */
  detailsMs?: number;
  now: () => number;
};

/**
 * Where posted alerts wait until their details are taken away. A lane of its own, one for all channels: however many
 * are due, after an outage too, no new alert waits behind them, and no more than one in three seconds is edited.
 */
export const detailsLane = 'alert-details';

/** Memory from now on; but an alert that was posted is work once more, at the age at which its details go. */
export function restOf({ rememberMs, detailsMs, now }: AlertAgeDeps, record: OutboxRecord): WriteOptions {
  const ttlMs = record.rememberMs ?? rememberMs;
  if (record.kind !== 'alert' || !record.posted || detailsMs === undefined) return { ttlMs };
  if (record.isErased) return { ttlMs: Math.max(0, ttlMs - detailsMs) };
  return { delayMs: Math.max(0, toldAtMs(record) + detailsMs - now()), lane: detailsLane };
}

/** Whether an alert that was posted is so old that its details go. */
export function isOld({ detailsMs, now }: AlertAgeDeps, record: OutboxRecord): boolean {
  return detailsMs !== undefined && now() >= toldAtMs(record) + detailsMs;
}

/** What came in an outage is as old as its message, whose time Slack names it by, in seconds. */
function toldAtMs({ receivedAtMs, posted }: OutboxRecord): number {
  return Math.max(receivedAtMs, Number(posted?.ts ?? 0) * 1_000 || 0);
}

/** Out of the lane of old alerts, in which nothing hurries, into its channel’s, where what people wait for is done. */
export function toChannelLane(
  { lane }: Pick<Entry, 'lane'>,
  { channel }: Pick<OutboxRecord, 'channel'>,
): { lane?: string } {
  return lane === detailsLane ? { lane: channel } : {};
}
