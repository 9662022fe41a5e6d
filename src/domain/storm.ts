import { countsAlone, type RoutedRule } from './alert-route.ts';
import { emptySummary, lastStormyMs, type StormSummary, type StormTaken } from './storm-summary.ts';
import { withoutUndefined } from './without-undefined.ts';

/** What the alerts of a storm come to; `recovered`: how many of them a later payment resolved. */
export type StormCount = { count: number; recovered: number; summary: StormSummary };

/** The digest; the direct message to whoever took the storm; the messages of its alerts, which show who did. */
type Telling = 'digest' | 'taker' | 'alerts';

/**
 * A storm of one channel. Its alerts are on a list of the store, each by its own record; here is what holds for all of
 * them. Times are UTC milliseconds.
 */
export type Storm = {
  sinceMs: number;
  /** The alerts that it takes in: of rules that count alone, by their names, and '' for those of all others. */
  groups: readonly string[];
  /** Records of alerts that were posted just before: their messages stand above the digest, and belong to it. */
  above: readonly string[];
  /** As they were last counted. */
  counted: StormCount;
  taken?: StormTaken;
  endedMs?: number;
  /** When its alerts are counted again; absent: not before another of them is resolved. */
  lookAtMs?: number;
  /** The last count found nothing new: what comes next has them counted soon. Else they are counted twice more anyway. */
  isQuiet: boolean;
  /** Still to be brought to Slack. */
  untold: readonly Telling[];
};

export type StormEvent =
  /** So many alerts of a group came that they belong to it. */
  | { kind: 'joined'; group: string; above: readonly string[] }
  /** `paceMs`: how long until they are counted again. */
  | { kind: 'counted'; counted: StormCount; paceMs: number; windowMs: number }
  | { kind: 'taken'; by: string }
  /** An alert is about to be put on its list, or on that of those which payments resolved. */
  | { kind: 'stirred' }
  | { kind: 'told' };

/** How long after its end it is counted once more: what was on its way to its list by then stands there. */
export const settleMs = 120_000;
/** By then what stirs it stands on the list, and mostly more of the kind. */
const soonMs = 1_000;

export function newStorm(nowMs: number): Storm {
  const counted = { count: 0, recovered: 0, summary: emptySummary };
  return {
    sinceMs: nowMs,
    groups: [],
    above: [],
    counted,
    lookAtMs: nowMs + soonMs,
    isQuiet: false,
    untold: [],
  };
}

/**
 * What becomes of a storm; undefined: nothing. The promises, which `storm-model.test.ts` holds it to:
 * - An alert that it takes in is told by its digest, and counted once; one that it does not, by its own message.
 * - As long as it is on, all alerts of its groups belong to it. It has one digest, and ends when few come.
 * - The first who takes it has all of its alerts, those above the digest and those still to come; nobody else can.
 * - Its digest is told of a change after the change is stored, and again until that is known to have happened.
 */
export function stepStorm(storm: Storm, event: StormEvent, nowMs: number): Storm | undefined {
  const isOver = storm.endedMs !== undefined;
  switch (event.kind) {
    case 'joined':
      if (isOver) return undefined;
      return {
        ...storm,
        groups: distinct([...storm.groups, event.group]),
        above: distinct([...storm.above, ...event.above]),
      };
    case 'taken':
      if (storm.taken) return undefined;
      return {
        ...storm,
        taken: { by: event.by, at: nowMs },
        untold: distinct([...storm.untold, 'digest', 'alerts']),
      };
    case 'stirred':
      // Written only where nobody counts: in a burst no count would ever be finished.
      return storm.isQuiet ? { ...storm, isQuiet: false, lookAtMs: nowMs + soonMs } : undefined;
    case 'told':
      return { ...storm, untold: [] };
    case 'counted':
      return counted(storm, event, nowMs);
  }
}

function counted(
  storm: Storm,
  { counted: now, paceMs, windowMs }: Extract<StormEvent, { kind: 'counted' }>,
  nowMs: number,
): Storm {
  const { taken, counted: before } = storm;
  const endsMs = endsAtMs(storm.sinceMs, now.summary, windowMs);
  const endedMs = storm.endedMs ?? (nowMs < endsMs ? undefined : nowMs);
  const isNews = endedMs !== storm.endedMs || JSON.stringify(now) !== JSON.stringify(before);
  const hasItems = now.count > (now.summary.above ?? 0);
  const untold: Telling[] = [
    ...(isNews && hasItems ? (['digest'] as const) : []),
    ...(taken && now.recovered > before.recovered ? (['taker'] as const) : []),
    // Those above may have been resolved before they belonged to it.
    ...((now.summary.above ?? 0) > (before.summary.above ?? 0) ? (['alerts'] as const) : []),
  ];
  const { lookAtMs: _last, ...rest } = storm;
  const lastMs = endedMs === undefined ? endsMs : endedMs + settleMs;
  const lookAtMs = isNews || !storm.isQuiet ? nowMs + paceMs : nowMs < lastMs ? lastMs : undefined;
  return {
    ...rest,
    counted: now,
    ...withoutUndefined({ endedMs, lookAtMs }),
    isQuiet: !isNews,
    untold: untold.length === 0 ? storm.untold : distinct([...storm.untold, ...untold]),
  };
}

/** When it is work again; undefined: not before something happens to it. */
export function dueInMs({ untold, lookAtMs }: Storm, nowMs: number): number | undefined {
  if (untold.length > 0) return 0;
  return lookAtMs === undefined ? undefined : Math.max(0, lookAtMs - nowMs);
}

/** When a storm is over if nothing more comes: it goes on for as long as no fewer come than can be told one by one. */
export function endsAtMs(
  sinceMs: number,
  pace: Pick<StormSummary, 'lastAddedMs' | 'lately'>,
  windowMs: number,
): number {
  return Math.max(sinceMs, lastStormyMs(pace)) + windowMs;
}

/**
 * What an alert is counted with, by the rule that tells it or by none, and how many of these pass singly in a window;
 * 0: all of them. `usual`: where no rule says its own.
 */
export function countedWith(
  rule: RoutedRule | undefined,
  usual: number,
): { group: string; threshold: number } {
  return { group: rule && countsAlone(rule) ? rule.name : '', threshold: rule?.digestAfter ?? usual };
}

function distinct<Text extends string>(all: readonly Text[]): Text[] {
  return [...new Set(all)];
}
