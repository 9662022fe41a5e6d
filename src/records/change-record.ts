import { randomInt } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { growingDelayMs } from '../deadline.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import type { CreateOptions, Entry, Index, ListOptions, Store } from '../store/store.ts';

/**
 * What becomes of a record. Without `ttlMs` it is kept for ever; with `delayMs` it is work, due after that long. `index`:
 * the lists it is in from now on; absent: they stay.
 */
export type Change<Result> =
  | { kind: 'keep'; result: Result }
  | { kind: 'write'; value: string; ttlMs?: number; index?: Index; result: Result }
  | { kind: 'write'; value: string; delayMs: number; index?: Index; result: Result };

export type ChangeRecord = <Result>(
  key: string,
  /** Called again with the newer text whenever somebody else was faster; undefined: there is no record. */
  judge: (value: string | undefined) => Change<Result> | Promise<Change<Result>>,
) => Promise<Result>;

export type RecordStore = Pick<Store, 'create' | 'read' | 'write'>;

/** All of a list, 500 at a time where `max` says nothing else. Throws StoreUnavailable. */
export async function* pagesOf(
  store: Pick<Store, 'list'>,
  name: string,
  options: Partial<Omit<ListOptions, 'after'>> = {},
): AsyncGenerator<readonly Entry[]> {
  let next: string | undefined;
  do {
    // oxlint-disable-next-line no-await-in-loop -- each page begins where the one before it ended
    const page = await store.list(name, {
      max: 500,
      ...options,
      ...(next === undefined ? {} : { after: next }),
    });
    yield page.entries;
    ({ next } = page);
  } while (next !== undefined);
}

export async function entriesOf(store: Pick<Store, 'list'>, name: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const page of pagesOf(store, name)) entries.push(...page);
  return entries;
}

/** Whoever loses that often loses to somebody who wins every time: better an error than a person who waits. */
const mostTries = 100;
const firstRestMs = 1;
const longestRestMs = 30;

/**
 * Changes records by compare-and-swap, so that no change of any replica is lost. Changes of one record by this
 * process are made one after the other, so that it competes with other replicas alone. Throws StoreUnavailable
 * when the store is away; whoever waits behind that call gets it too, instead of waiting once more each.
 */
export function createChangeRecord(store: RecordStore): ChangeRecord {
  const takeTurn = createTurns();
  return (key, judge) => takeTurn(key, () => swap(store, key, judge));
}

/** Has the record looked at again, due after that long, whoever writes it meanwhile; nothing when there is none. */
export function makeDue(changeRecord: ChangeRecord, key: string, delayMs: number): Promise<void> {
  return changeRecord(key, (value) =>
    value === undefined
      ? { kind: 'keep', result: undefined }
      : { kind: 'write', value, delayMs, result: undefined },
  );
}

async function swap<Result>(
  store: RecordStore,
  key: string,
  judge: (value: string | undefined) => Change<Result> | Promise<Change<Result>>,
): Promise<Result> {
  /* oxlint-disable no-await-in-loop -- each try needs what the one before it left */
  for (let tries = 0; tries < mostTries; tries += 1) {
    const entry = await store.read(key);
    const change = await judge(entry?.value);
    if (change.kind === 'keep') return change.result;
    const { value } = change;
    const options = optionsOf(change);
    if (entry ? await store.write(entry, value, options) : await store.create(key, value, options)) {
      return change.result;
    }
    await rest(randomInt(1 + growingDelayMs(firstRestMs, tries, longestRestMs)));
  }
  /* oxlint-enable no-await-in-loop */
  throw new StoreUnavailable('A record is changed by others all the time.');
}

function optionsOf(change: Extract<Change<unknown>, { kind: 'write' }>): CreateOptions {
  const lists = change.index === undefined ? {} : { index: change.index };
  if ('delayMs' in change) return { delayMs: change.delayMs, ...lists };
  return change.ttlMs === undefined ? lists : { ttlMs: change.ttlMs, ...lists };
}

/** One after the other for one key, side by side for different ones. */
function createTurns(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return async function takeTurn(key, work) {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, (error: unknown) => {
      if (error instanceof StoreUnavailable) throw error;
      return work();
    });
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}
