import { countsAlone, type AlertRule } from './alert-route.ts';
import { withoutUndefined } from './without-undefined.ts';

/** An alert that was let through to its channel, by a short name of it, and whose threshold it counts against. */
export type Single = { id: string; group: string; atMs: number };

/**
 * What a channel has seen of late. Calm without `storm`; in one, the groups of alerts that belong to it. Times are
 * UTC milliseconds of when an alert was about to be posted, not of when it came: so a backlog that Slack’s outage
 * left is a storm like any other, whenever its events came.
 */
export type ChannelStorm = {
  /** Oldest first, none older than the window when it was written. */
  singles: readonly Single[];
  storm?: { id: string; sinceMs: number; groups: readonly string[] };
  /** The one before; `isTold`: its digest says that it is over. */
  ended?: { id: string; sinceMs: number; endedMs: number; isTold: boolean };
};

export const calm: ChannelStorm = { singles: [] };

/** An alert that is about to be posted. `threshold`: how many of its group pass singly in a window; 0: all of them. */
export type Arrival = { id: string; group: string; threshold: number };

/** By the rule that tells it, or by none; `usual`: the threshold where no rule says its own. */
export function arrivalOf(rule: AlertRule | undefined, id: string, usual: number): Arrival {
  return { id, group: rule && countsAlone(rule) ? rule.name : '', threshold: rule?.digestAfter ?? usual };
}

export type ArrivalVerdict = {
  /** With a storm’s id: it is told by that storm’s digest. Without: on its own. */
  storm?: string;
  /** This arrival began the storm. */
  begins: boolean;
  /** What is to be stored; absent when nothing changed. */
  next?: ChannelStorm;
};

/**
 * Whether an alert is told on its own. The same arrival asked about again, as after a crash, gets the same answer
 * and counts once. Each group is counted for itself and shares the channel’s one storm; it leaves it with its end.
 */
export function arrive(
  state: ChannelStorm,
  { id, group, threshold }: Arrival,
  at: { nowMs: number; windowMs: number; newStorm: string },
): ArrivalVerdict {
  const { storm } = state;
  if (threshold === 0) return { begins: false };
  if (storm?.groups.includes(group)) return { storm: storm.id, begins: false };
  // What lies a window ahead is of another clock, or of this one before it was put back.
  const fresh = state.singles.filter(({ atMs }) => Math.abs(at.nowMs - atMs) < at.windowMs);
  if (fresh.some((single) => single.id === id)) return { begins: false };
  if (fresh.filter((single) => single.group === group).length < threshold) {
    return { begins: false, next: { ...state, singles: [...fresh, { id, group, atMs: at.nowMs }] } };
  }
  const singles = fresh.filter((single) => single.group !== group);
  const next = storm
    ? { ...storm, groups: [...storm.groups, group] }
    : { id: at.newStorm, sinceMs: at.nowMs, groups: [group] };
  return { storm: next.id, begins: !storm, next: { ...state, singles, storm: next } };
}

/** When the storm is over if nothing more comes. `lastMs`: when it was last one; see `lastStormyMs`. */
export function endsAtMs(
  { sinceMs }: NonNullable<ChannelStorm['storm']>,
  lastMs: number | undefined,
  windowMs: number,
): number {
  return Math.max(sinceMs, lastMs ?? sinceMs) + windowMs;
}

/** Without its storm; its digest is still to say so. */
export function afterStorm({ singles, storm }: ChannelStorm, endedMs: number): ChannelStorm {
  const ended = storm && { id: storm.id, sinceMs: storm.sinceMs, endedMs, isTold: false };
  return { singles, ...withoutUndefined({ ended }) };
}
