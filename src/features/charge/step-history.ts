import { isDeepStrictEqual } from 'node:util';
import type { ChargeEvent, ChargeIntent, Finding, PastStep } from './charge-intent.ts';

/**
 * The history with the step. Equal look-ups in a row, with only timer steps in between, are kept as the last one with a
 * count: a day in doubt has some 300 of them, and the record is written at each. `replay` still gives the same state,
 * because the last look-up with its count (`times`) sets everything that the omitted ones set.
 */
export function addToHistory(
  before: ChargeIntent,
  next: ChargeIntent,
  event: ChargeEvent,
  at: number,
): PastStep[] {
  const { history } = before;
  const unchanged = before.state.kind === next.state.kind;
  const isLookUp = event.kind === 'looked_up';
  // Only steps with a count may be merged.
  const isIdle = unchanged && (isLookUp || (event.kind === 'due' && !isJustConcluded(before)));
  const past: PastStep = isIdle ? { at, event, times: 1 } : { at, event };
  if (isIdleAgain(history, past)) return [...history.slice(0, -1), countedWith(past, history.at(-1))];
  if (!unchanged || !isLookUpAgain(history, event)) return [...history, past];
  const [earlierDue, earlier, due] = history.slice(-3);
  if (!due) return [...history, past];
  const counted = countedWith(past, earlier);
  return [...history.slice(0, -3), countedWith(due, earlierDue), counted];
}

/** The last step concluded the charge. The first timer step after it is never merged: `replay` needs it. */
function isJustConcluded({ state, at }: ChargeIntent): boolean {
  return 'concludedAt' in state && state.concludedAt === at;
}

/** A repeated timer step that changes no state, as while a verdict can't be told. */
function isIdleAgain(history: readonly PastStep[], past: PastStep): boolean {
  const last = history.at(-1);
  const isDue = past.event.kind === 'due' && last?.event.kind === 'due';
  return isDue && past.times !== undefined && last.times !== undefined;
}

/** The last three steps were timer, look-up, timer, without a change of state, and this look-up found the same. */
function isLookUpAgain(history: readonly PastStep[], event: ChargeEvent): boolean {
  const [earlierDue, earlier, due] = history.slice(-3);
  if (event.kind !== 'looked_up' || !earlierDue?.times || !earlier?.times || !due?.times) return false;
  // If the store's answer is lost, one look-up may be stepped twice, without a timer step in between.
  const areTimers = earlierDue.event.kind === 'due' && due.event.kind === 'due';
  return areTimers && isSameLookUp(earlier.event, event.finding);
}

function countedWith(past: PastStep, earlier: PastStep | undefined): PastStep {
  return { ...past, times: (past.times ?? 0) + (earlier?.times ?? 0) };
}

function isSameLookUp(event: ChargeEvent, finding: Finding): boolean {
  return event.kind === 'looked_up' && isDeepStrictEqual(event.finding, finding);
}
