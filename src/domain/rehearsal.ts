import { contradicts } from './alert.ts';
import { destinationsOf, needsLookUp, type Destination, type RoutePlan } from './alert-route.ts';
import { eventAsLogged, type LoggedEvent } from './logged-event.ts';
import { countedWith, endsAtMs } from './storm.ts';
import { withPace, type StormPace } from './storm-summary.ts';

/** What a rule would have posted to one of its channels; without a rule, what `channels` of the settings would have. */
export type RehearsedLine = {
  channel: string;
  rule?: string;
  /** Messages: alerts on their own, and the digests that one of its alerts began. */
  posts: number;
  worstHour: number;
  /** Alerts that a digest would have told instead of a message of their own. */
  inDigests: number;
};

/** What makes a storm where no rule says otherwise; a threshold of 0: nothing. */
export type StormTerms = { threshold: number; windowMs: number };

/** What a plan would have told of the events of some hours. Mutes are left out: the question is what a rule asks for. */
export type Rehearsal = {
  events: number;
  /** When the first of them was received, UTC ms; undefined: there were none. */
  sinceMs?: number;
  /** Only of what would have been told at all. */
  lines: readonly RehearsedLine[];
  /** Events that nobody looked up, which the plan would have routed by a look-up: counted by what they say themselves. */
  unsure: number;
};

/** One that goes on: where each channel would stand with its storms, one for each kind of event, for the hours after. */
export type Rehearsing = Rehearsal & { channels: ReadonlyMap<string, Sky> };

type Sky = {
  /** What passed singly within a window. */
  singles: readonly { group: string; atMs: number }[];
  storm?: { sinceMs: number; groups: readonly string[]; pace: StormPace };
};

export const nothingRehearsed: Rehearsing = { events: 0, lines: [], unsure: 0, channels: new Map() };

/**
 * The rehearsal with the events of one more hour. Failures, and payments apart from them, are told on their own or by a
 * digest as in their channel, as if each were told when it was received.
 */
export function rehearseHour(
  plan: RoutePlan,
  before: Rehearsing,
  events: readonly LoggedEvent[],
  terms: StormTerms,
): Rehearsing {
  const unmuted = { ...plan, rules: plan.rules.map(({ mutedUntilMs: _end, ...rule }) => rule) };
  const lines = new Map<string, RehearsedLine>();
  const channels = new Map(before.channels);
  const inOrder = events.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs);
  let unsure = 0;
  for (const logged of inOrder) {
    const event = eventAsLogged(logged);
    if (!isLookedUp(logged) && needsLookUp(unmuted, event)) unsure += 1;
    for (const destination of destinationsOf(unmuted, event, logged.receivedAtMs)) {
      const { channel, rule } = destination;
      const told = mayBeGathered(logged) ? tell(channels, destination, logged, terms) : 'singly';
      const key = keyOf(channel, rule?.name);
      const line = lines.get(key) ?? rehearsedLine(nothingRehearsed, channel, rule?.name);
      lines.set(key, counted(line, told));
    }
  }
  const { sinceMs = inOrder[0]?.receivedAtMs } = before;
  return {
    events: before.events + events.length,
    ...(sinceMs === undefined ? {} : { sinceMs }),
    lines: addHour(before.lines, lines),
    unsure: before.unsure + unsure,
    channels,
  };
}

type HowTold = 'singly' | 'by_digest' | 'by_new_digest';

/** A payment that its look-up did not confirm, or whose card could not be kept, is told on its own, as in a channel. */
function mayBeGathered({ kind, lookup, lacksCard }: LoggedEvent): boolean {
  return kind === 'payment_failed' || (!lacksCard && !contradicts(lookup));
}

/** It arrives in its channel among its kind, where a storm may have ended meanwhile. */
function tell(
  channels: Map<string, Sky>,
  { channel, rule }: Destination,
  { kind, receivedAtMs: nowMs }: LoggedEvent,
  { threshold: usual, windowMs }: StormTerms,
): HowTold {
  const { group, threshold } = countedWith(rule, usual);
  if (threshold === 0) return 'singly';
  const stream = keyOf(channel, kind);
  const { singles, storm: last } = channels.get(stream) ?? { singles: [] };
  const storm = last && nowMs < endsAtMs(last.sinceMs, last.pace, windowMs) ? last : undefined;
  const fresh = singles.filter(({ atMs }) => nowMs - atMs < windowMs);
  const isTaken = storm?.groups.includes(group) === true;
  if (!isTaken && fresh.filter((single) => single.group === group).length < threshold) {
    const next = { singles: [...fresh, { group, atMs: nowMs }] };
    channels.set(stream, storm ? { ...next, storm } : next);
    return 'singly';
  }
  const { sinceMs = nowMs, groups = [], pace = still } = storm ?? {};
  channels.set(stream, {
    singles: fresh.filter((single) => single.group !== group),
    storm: { sinceMs, groups: isTaken ? groups : [...groups, group], pace: withPace(pace, nowMs) },
  });
  return storm ? 'by_digest' : 'by_new_digest';
}

const still: StormPace = { lastAddedMs: 0, lately: [] };

function counted(line: RehearsedLine, told: HowTold): RehearsedLine {
  const posts = line.posts + (told === 'by_digest' ? 0 : 1);
  const inDigests = line.inDigests + (told === 'singly' ? 0 : 1);
  return { ...line, posts, worstHour: posts, inDigests };
}

function isLookedUp({ lookup }: LoggedEvent): boolean {
  return lookup !== undefined && lookup !== 'unchecked';
}

function addHour(
  before: readonly RehearsedLine[],
  hour: ReadonlyMap<string, RehearsedLine>,
): RehearsedLine[] {
  const known = new Map(before.map((line) => [keyOf(line.channel, line.rule), line]));
  for (const [key, line] of hour) {
    const earlier = known.get(key);
    const posts = (earlier?.posts ?? 0) + line.posts;
    const worstHour = Math.max(earlier?.worstHour ?? 0, line.worstHour);
    const inDigests = (earlier?.inDigests ?? 0) + line.inDigests;
    known.set(key, { ...line, posts, worstHour, inDigests });
  }
  return [...known.values()];
}

/** What it would have told there; a line of zeros when that is nothing. */
export function rehearsedLine(
  { lines }: Pick<Rehearsal, 'lines'>,
  channel: string,
  rule?: string,
): RehearsedLine {
  const found = lines.find((line) => line.channel === channel && line.rule === rule);
  return found ?? { channel, ...(rule === undefined ? {} : { rule }), posts: 0, worstHour: 0, inDigests: 0 };
}

/** "41, worst hour 9; digests would have told 980 of them". */
export function rehearsedWords({ posts, worstHour, inDigests }: RehearsedLine): string {
  const worst = posts === 0 ? '' : `, worst hour ${worstHour}`;
  const rest = inDigests === 0 ? '' : `; digests would have told ${inDigests} more`;
  return `${posts}${worst}${rest}`;
}

function keyOf(channel: string, rule = ''): string {
  return `${channel} ${rule}`;
}
