import { destinationsOf, needsLookUp } from './routing.ts';
import type { RoutePlan } from '../../domain/alert-route.ts';
import { counted } from '../../domain/wording.ts';
import type { EventLog, LoggedEvent } from './event-log.ts';

export const rehearsedMs = 7 * 86_400_000;

/** What a rule would have told one of its channels; without a rule, what `channels` of the settings would have. */
export type RehearsedLine = { channel: string; rule?: string; alerts: number; worstHour: number };

/**
 * What a plan would have told of the events of some days, by a digest or not. Mutes are left out: the question is what a
 * rule asks for.
 */
export type Rehearsal = {
  events: number;
  /** When the first of them was received, UTC ms; undefined: there were none. */
  sinceMs?: number;
  /** Only of what would have been told at all. */
  lines: readonly RehearsedLine[];
  /** Events that nobody looked up, which the plan would have routed by a look-up: counted by what they say themselves. */
  unsure: number;
};

/**
 * What the plan would have told in the last 7 days, by the very functions that route events. Reads the whole log:
 * about a second for a hundred thousand events, in pieces that keep nobody else waiting. Throws StoreUnavailable.
 */
export async function rehearse(
  eventLog: Pick<EventLog, 'between'>,
  plan: RoutePlan,
  nowMs: number,
): Promise<Rehearsal> {
  let rehearsal: Rehearsal = { events: 0, lines: [], unsure: 0 };
  for await (const { events } of eventLog.between(nowMs - rehearsedMs, nowMs + 1)) {
    rehearsal = rehearseHour(plan, rehearsal, events);
  }
  return rehearsal;
}

/** With the events of one more hour. */
function rehearseHour(plan: RoutePlan, before: Rehearsal, events: readonly LoggedEvent[]): Rehearsal {
  const unmuted = { ...plan, rules: plan.rules.map(({ mutedUntilMs: _end, ...rule }) => rule) };
  const hour = new Map<string, RehearsedLine>();
  let { unsure } = before;
  for (const { event, receivedAtMs, lookup } of events) {
    const isLookedUp = lookup !== undefined && lookup !== 'unchecked';
    if (!isLookedUp && needsLookUp(unmuted, event)) unsure += 1;
    for (const { channel, rule } of destinationsOf(unmuted, event, receivedAtMs)) {
      const { alerts, ...line } = hour.get(keyOf(channel, rule?.name)) ?? noLine(channel, rule?.name);
      hour.set(keyOf(channel, rule?.name), { ...line, alerts: alerts + 1 });
    }
  }
  const lines = new Map(before.lines.map((line) => [keyOf(line.channel, line.rule), line]));
  for (const [key, { alerts, ...line }] of hour) {
    const earlier = lines.get(key) ?? noLine(line.channel, line.rule);
    const worstHour = Math.max(earlier.worstHour, alerts);
    lines.set(key, { ...line, alerts: earlier.alerts + alerts, worstHour });
  }
  const sinceMs = before.sinceMs ?? events[0]?.receivedAtMs;
  return {
    events: before.events + events.length,
    ...(sinceMs === undefined ? {} : { sinceMs }),
    lines: [...lines.values()],
    unsure,
  };
}

function noLine(channel: string, rule?: string): RehearsedLine {
  return { channel, ...(rule === undefined ? {} : { rule }), alerts: 0, worstHour: 0 };
}

function keyOf(channel: string, rule = ''): string {
  return `${channel} ${rule}`;
}

/** What it would have told there; a line of zeros when that is nothing. */
export function rehearsedLine(
  { lines }: Pick<Rehearsal, 'lines'>,
  channel: string,
  rule?: string,
): RehearsedLine {
  return lines.find((line) => line.channel === channel && line.rule === rule) ?? noLine(channel, rule);
}

/** "41 alerts, worst hour 9". */
export function rehearsedWords({ alerts, worstHour }: RehearsedLine): string {
  return alerts === 0 ? 'no alerts' : `${counted(alerts, 'alert')}, worst hour ${worstHour}`;
}
