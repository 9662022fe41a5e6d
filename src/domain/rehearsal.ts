import { destinationsOf, needsLookUp, type RoutePlan } from './alert-route.ts';
import { eventAsLogged, type LoggedEvent } from './logged-event.ts';

/** What a rule would have posted to one of its channels; without a rule, what `channels` of the settings would have. */
export type RehearsedLine = { channel: string; rule?: string; posts: number; worstHour: number };

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

export const nothingRehearsed: Rehearsal = { events: 0, lines: [], unsure: 0 };

/** The rehearsal with the events of one more hour. */
export function rehearseHour(plan: RoutePlan, before: Rehearsal, events: readonly LoggedEvent[]): Rehearsal {
  const unmuted = { ...plan, rules: plan.rules.map(({ mutedUntilMs: _end, ...rule }) => rule) };
  const lines = new Map<string, RehearsedLine>();
  let unsure = 0;
  for (const logged of events) {
    const event = eventAsLogged(logged);
    if (!isLookedUp(logged) && needsLookUp(unmuted, event)) unsure += 1;
    for (const { channel, rule } of destinationsOf(unmuted, event, logged.receivedAtMs)) {
      const key = keyOf(channel, rule?.name);
      const posts = (lines.get(key)?.posts ?? 0) + 1;
      lines.set(key, { channel, ...(rule && { rule: rule.name }), posts, worstHour: posts });
    }
  }
  const { sinceMs = events[0]?.receivedAtMs } = before;
  return {
    events: before.events + events.length,
    ...(sinceMs === undefined ? {} : { sinceMs }),
    lines: addHour(before.lines, lines),
    unsure: before.unsure + unsure,
  };
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
    known.set(key, { ...line, posts, worstHour });
  }
  return [...known.values()];
}

/** What it would have told there; a line of zeros when that is nothing. */
export function rehearsedLine({ lines }: Rehearsal, channel: string, rule?: string): RehearsedLine {
  const found = lines.find((line) => line.channel === channel && line.rule === rule);
  return found ?? { channel, ...(rule === undefined ? {} : { rule }), posts: 0, worstHour: 0 };
}

function keyOf(channel: string, rule = ''): string {
  return `${channel} ${rule}`;
}
