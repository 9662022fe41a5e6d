import type { ChargeEvent, ChargeIntent, Finding, Past } from './charge-state.ts';

/**
 * The history with one more step. Look-ups that find the same again and again, while nothing else happens,
 * are kept as the last one with a count: a day in doubt is some 300 of them, and the record is written at
 * each. What is left out changed nothing that the last one does not set again, so replay still holds.
 */
export function remember(before: ChargeIntent, next: ChargeIntent, event: ChargeEvent, at: number): Past[] {
  const { history } = before;
  const unchanged = before.state.kind === next.state.kind;
  const past: Past = unchanged && event.kind === 'due' ? { at, event, times: 1 } : { at, event };
  const [earlierDue, earlier, due] = history.slice(-3);
  const repeats =
    unchanged && event.kind === 'looked_up' && earlier && isSameLookUp(earlier.event, event.finding);
  if (!repeats || !earlierDue?.times || !due?.times) return [...history, past];
  return [...history.slice(0, -3), { ...due, times: earlierDue.times + due.times }, past];
}

function isSameLookUp(event: ChargeEvent, finding: Finding): boolean {
  return event.kind === 'looked_up' && JSON.stringify(event.finding) === JSON.stringify(finding);
}
