import { isDeepStrictEqual } from 'node:util';
import { isConcluded } from '../../domain/charge.ts';
import type { ChargeEvent, ChargeIntent, PastStep } from './charge-intent.ts';

/**
 * The history with the step. Idle steps (look-ups and timer steps that change no state) have a count, and the audit leaves
 * repeated ones out. Equal look-ups in a row, with only timer steps in between, are kept as the last one with a count: a
 * day in doubt has some 300 of them, and the record is written at each. `replay` still gives the same state, because the
 * last look-up with its count (`times`) sets everything that the omitted ones set.
 */
export function addToHistory(
  before: ChargeIntent,
  next: ChargeIntent,
  event: ChargeEvent,
  at: number,
): PastStep[] {
  const { history } = before;
  const isUnchanged = before.state.kind === next.state.kind;
  if (isUnchanged && event.kind === 'looked_up') return withLookUp(history, event, at);
  if (!isUnchanged || event.kind !== 'due' || isJustConcluded(before)) return [...history, { at, event }];
  const last = history.at(-1);
  const due: PastStep = { at, event, times: 1 };
  // A repeated timer step, as while a verdict can't be told.
  const isRepeated = last?.event.kind === 'due' && last.times !== undefined;
  return isRepeated ? [...history.slice(0, -1), countedWith(due, last)] : [...history, due];
}

/** The last step concluded the charge. The first timer step after that is not idle: it has an audit entry. */
function isJustConcluded({ state, at }: ChargeIntent): boolean {
  return isConcluded(state) && state.concludedAt === at;
}

/** Merges the look-up if the last three steps were timer, look-up, timer, all idle, and it found the same. */
function withLookUp(
  history: readonly PastStep[],
  event: Extract<ChargeEvent, { kind: 'looked_up' }>,
  at: number,
): PastStep[] {
  const past: PastStep = { at, event, times: 1 };
  const [earlierDue, earlier, due] = history.slice(-3);
  if (!earlierDue?.times || !earlier?.times || !due?.times) return [...history, past];
  // If the store's answer is lost, one look-up may be stepped twice, without a timer step in between.
  const areTimers = earlierDue.event.kind === 'due' && due.event.kind === 'due';
  const isSame =
    earlier.event.kind === 'looked_up' && isDeepStrictEqual(earlier.event.finding, event.finding);
  if (!areTimers || !isSame) return [...history, past];
  return [...history.slice(0, -3), countedWith(due, earlierDue), countedWith(past, earlier)];
}

function countedWith(past: PastStep, earlier: PastStep): PastStep {
  return { ...past, times: (past.times ?? 0) + (earlier.times ?? 0) };
}
