import { countsAlone, type RoutedRule } from './alert-route.ts';
import { withoutUndefined } from './without-undefined.ts';

/**
 * An alert that came while its channel was calm, and whose threshold it counts against. `isTold`: its own message was
 * about to be posted; until then a storm that begins takes it in.
 */
export type Single = { id: string; group: string; atMs: number; isTold?: true };

/**
 * What a channel has seen of late. Calm without `storm`; in one, the groups of alerts that belong to it. An alert
 * counts when it comes, and once more when it is about to be posted if that is a window later: so a backlog that
 * Slack’s outage left is a storm like any other. Times are UTC milliseconds.
 */
export type ChannelStorm = {
  /** Oldest first, none older than the window when it was written. */
  singles: readonly Single[];
  /** `above`: alerts told singly before it began, which are still to be put on its list. */
  storm?: { id: string; sinceMs: number; groups: readonly string[]; above: readonly string[] };
  /** The one before; `isTold`: its digest says that it is over. */
  ended?: { id: string; sinceMs: number; endedMs: number; isTold: boolean };
};

export const calm: ChannelStorm = { singles: [] };

/** An alert that came, or is about to be posted. `threshold`: how many of its group pass singly in a window; 0: all of them. */
export type Arrival = { id: string; group: string; threshold: number };

/** By the rule that tells it, or by none; `usual`: the threshold where no rule says its own. */
export function arrivalOf(rule: RoutedRule | undefined, id: string, usual: number): Arrival {
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
 * Whether an alert is told on its own. The same arrival asked about again counts once, and joins a storm that began
 * meanwhile. Each group is counted for itself and shares the channel’s one storm; it leaves it with its end.
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
  const told = fresh.filter((single) => single.group === group && single.isTold).map((single) => single.id);
  const next = storm
    ? { ...storm, groups: [...storm.groups, group], above: [...storm.above, ...told] }
    : { id: at.newStorm, sinceMs: at.nowMs, groups: [group], above: told };
  return { storm: next.id, begins: !storm, next: { ...state, singles, storm: next } };
}

/** That alert is told on its own from here on. */
export function tellSingly(state: ChannelStorm, id: string): ChannelStorm {
  const singles = state.singles.map((single) =>
    single.id === id ? { ...single, isTold: true as const } : single,
  );
  return { ...state, singles };
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
