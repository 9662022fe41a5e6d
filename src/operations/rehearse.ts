import type { RoutePlan } from '../domain/alert-route.ts';
import { nothingRehearsed, rehearseHour, type Rehearsal } from '../domain/rehearsal.ts';
import { rehearsedMs, type EventLog } from './event-log.ts';

/**
 * What the plan would have told in the last 7 days, by the very function that routes events. Reads the whole log:
 * about a second for a hundred thousand events, in pieces that keep nobody else waiting. Throws StoreUnavailable.
 */
export async function rehearse(
  eventLog: Pick<EventLog, 'between'>,
  plan: RoutePlan,
  nowMs: number,
): Promise<Rehearsal> {
  let rehearsal = nothingRehearsed;
  for await (const { events } of eventLog.between(nowMs - rehearsedMs, nowMs + 1)) {
    rehearsal = rehearseHour(plan, rehearsal, events);
  }
  return rehearsal;
}
