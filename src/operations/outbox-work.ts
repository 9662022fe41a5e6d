import type { Entry, Store, WriteOptions } from '../store/store.ts';
import { writeOutboxRecord, type OutboxRecord } from './outbox.ts';

/** One record taken to be posted. */
export type Work = { entry: Entry; record: OutboxRecord };

export type WorkDeps = { store: Pick<Store, 'write'>; rememberMs: number };

/** Slack takes about one message a second in a channel. */
export const paceMs = 1_000;

/** Writes the record with a change. Undefined when somebody else has it by now, and our effect is to be dropped. */
export function save(
  deps: Pick<WorkDeps, 'store'>,
  work: Work,
  change: Partial<OutboxRecord>,
  options: WriteOptions,
): Promise<Entry | undefined> {
  return deps.store.write(work.entry, writeOutboxRecord({ ...work.record, ...change }), options);
}

/** Told, and remembered from now on. */
export async function finish(
  deps: WorkDeps,
  work: Work,
  posted: NonNullable<OutboxRecord['posted']>,
): Promise<void> {
  await save(deps, work, { doubt: undefined, posted }, { ttlMs: deps.rememberMs, pauseMs: paceMs });
}
