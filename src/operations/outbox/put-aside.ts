import { growingDelayMs } from '../../domain/growing-delay.ts';
import { newErrorId, type Log } from '../../log.ts';
import type { Entry } from '../../store/store.ts';
import { longestPutAsideMs } from '../work/keep-for-later.ts';
import { outboxKey, type OutboxRecord } from './outbox.ts';
import { again, paceMs, type WorkDeps } from './outbox-work.ts';
import { tellOperators, type TellDeps } from './tell-operators.ts';

export type PutAsideDeps = WorkDeps & TellDeps & { store: TellDeps['store'] & WorkDeps['store']; log: Log };

/** Failures in a row after which the operators are told that a record is stuck. */
const stuckAfter = 5;

/**
 * What cannot be read, opened or told is kept and tried ever more rarely, and never holds up its channel. The
 * record is absent when it is the one thing that cannot be read; then how often it was taken has to do.
 */
export async function putAside(
  deps: PutAsideDeps,
  held: { entry: Entry; record?: OutboxRecord },
  error: unknown,
): Promise<void> {
  const { entry, record } = held;
  const errorId = newErrorId();
  const about = { errorId, key: entry.key, channel: entry.lane, attempt: entry.attempts };
  deps.log('error', 'this cannot be posted as it is; trying again later', about, error);
  const failures = record ? record.misses + 1 : entry.attempts;
  const options = { delayMs: growingDelayMs(paceMs, failures, longestPutAsideMs), pauseMs: paceMs };
  const written = record
    ? await again(deps, { entry, record }, { misses: failures }, options)
    : (await deps.store.write(entry, entry.value, options)) !== undefined;
  if (written && failures >= stuckAfter) await tellStuck(deps, entry.key, errorId);
}

/**
 * Tells the operators that a record cannot be worked on, once for each. True when that is news. A notice of a stuck
 * notice would be one without end.
 */
export async function tellStuck(deps: TellDeps, key: string, errorId: string): Promise<boolean> {
  if (key.startsWith(outboxKey('notice', ''))) return false;
  return await tellOperators(deps, `stuck:${key}`, { kind: 'stuck', record: key, errorId });
}
