// Where storms' digests wait for their turn to be edited.

import type { Entry, WriteOptions } from '../../store/store.ts';
import type { OutboxRecord } from './outbox.ts';

/**
 * Where digests that stand wait to be edited. A lane of its own, one for all channels and replicas, because Slack
 * counts the edits of a whole app: however many storms there are, each has its turn, whoever has waited longest first,
 * and no more than twenty a minute of some fifty are theirs. No first post waits here.
 */
export const digestEditsLane = 'digest-edits';

/** Between two edits of any digests. */
export const digestEditPaceMs = 3_000;

/** Where a digest is posted, and rests between two edits: behind no backlog of its channel’s, and held up by no other. */
export function digestLane(channel: string): string {
  return `digest:${channel}`;
}

/**
 * Whether it is to go into the lane of edits. What Slack refuses its channel is tried where it holds up no other.
 */
export function awaitsTurn({ lane }: Entry, { kind, posted, doubt, refused }: OutboxRecord): boolean {
  const mayWait = kind === 'digest' && posted !== undefined && !doubt && !refused;
  return mayWait && lane !== digestEditsLane;
}

/**
 * Its turn is over, whatever became of it: it goes back to its own lane. The others wait for the pace if something was
 * sent; and as long as it does if Slack is away or asks to wait, which is so for all of them, but not if Slack refuses
 * its channel.
 */
export function outOfEdits(
  { lane }: Entry,
  { channel, refused }: OutboxRecord,
  options: WriteOptions,
): WriteOptions {
  if (lane !== digestEditsLane) return options;
  const { holdMs, pauseMs = 0, ...rest } = options;
  const waitMs = holdMs ?? pauseMs;
  const pace = { pauseMs: waitMs === 0 ? 0 : Math.max(digestEditPaceMs, refused ? 0 : waitMs) };
  return {
    ...rest,
    ...(holdMs === undefined ? {} : { delayMs: holdMs }),
    ...pace,
    lane: digestLane(channel),
  };
}
