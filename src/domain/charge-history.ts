import type { ChargeEvent, ChargeIntent, Finding, Past } from './charge-state.ts';

/**
 * The history with one more step. Look-ups that find the same again and again, while nothing else happens,
 * are kept as the last one with a count: a day in doubt is some 300 of them, and the record is written at
 * each. What is left out changed nothing that the last one does not set again, so replay still holds.
 */
export function remember(before: ChargeIntent, next: ChargeIntent, event: ChargeEvent, at: number): Past[] {
  const { history } = before;
  const unchanged = before.state.kind === next.state.kind;
  const isIdle = unchanged && event.kind === 'due' && !isJustConcluded(before);
  const past: Past = isIdle ? { at, event, times: 1 } : { at, event };
  if (isIdleAgain(history, past)) return [...history.slice(0, -1), countedWith(past, history.at(-1))];
  if (!unchanged || !isLookUpAgain(history, event)) return [...history, past];
  const [earlierDue, , due] = history.slice(-3);
  return due ? [...history.slice(0, -3), countedWith(due, earlierDue), past] : [...history, past];
}

/** The step before concluded it: replay needs that one, whatever is found the same after it. */
function isJustConcluded({ state, at }: ChargeIntent): boolean {
  return 'concludedAt' in state && state.concludedAt === at;
}

/** A verdict that cannot be told is tried again and again: the same nothing, kept once. */
function isIdleAgain(history: readonly Past[], past: Past): boolean {
  const last = history.at(-1);
  return past.times !== undefined && last?.times !== undefined && last.event.kind === 'due';
}

/** Due, looked up, due: and now the same is found again. */
function isLookUpAgain(history: readonly Past[], event: ChargeEvent): boolean {
  const [earlierDue, earlier, due] = history.slice(-3);
  if (event.kind !== 'looked_up' || !earlierDue?.times || !earlier || !due?.times) return false;
  return isSameLookUp(earlier.event, event.finding);
}

function countedWith(past: Past, earlier: Past | undefined): Past {
  return { ...past, times: (past.times ?? 0) + (earlier?.times ?? 0) };
}

function isSameLookUp(event: ChargeEvent, finding: Finding): boolean {
  return event.kind === 'looked_up' && JSON.stringify(event.finding) === JSON.stringify(finding);
}
