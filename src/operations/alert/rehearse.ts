import type { RoutePlan } from '../../domain/alert-route.ts';
import { nothingRehearsed, rehearseHour, type Rehearsal, type StormTerms } from '../../domain/rehearsal.ts';
import { rehearsedMs, type EventLog } from './event-log.ts';

/**
 * What the plan would have told in the last 7 days, by the very functions that route events. Reads the whole log:
 * about a second for a hundred thousand events, in pieces that keep nobody else waiting. Throws StoreUnavailable.
 */
export async function rehearse(
  eventLog: Pick<EventLog, 'between'>,
  plan: RoutePlan,
  terms: StormTerms,
  nowMs: number,
): Promise<Rehearsal> {
  let rehearsal = nothingRehearsed;
  for await (const { events } of eventLog.between(nowMs - rehearsedMs, nowMs + 1)) {
    rehearsal = rehearseHour(plan, rehearsal, events, terms);
  }
  return rehearsal;
}
