import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { counted } from '../domain/wording.ts';
import type { Log } from '../log.ts';
import { storeForm } from './store-mark.ts';
import type { Entry, Index, Store } from './store.ts';
import { explainStoreError } from './explain-error.ts';

/**
 * How one step changes the records with this key prefix. `unread`: the record can't be opened here, and stays as it is.
 * Must be idempotent, because an interrupted step is repeated.
 */
export type StepChange = {
  prefix: string;
  change: (entry: Entry) => Promise<{ value?: string; index?: Index } | 'unread'>;
};

/** One account's records, and how each step changes them. */
type Part = {
  store: Pick<Store, 'replace'>;
  /** An entry of the whole store under the account's own key; undefined for another account's entry. */
  entryOf: <Of extends Pick<Entry, 'key'>>(entry: Of) => Of | undefined;
  /** In order, beginning with the first step. */
  steps: readonly (readonly StepChange[])[];
};

/** The lock of the process that takes a step. */
const lockKey = 'store-form:lock';
const replicas = 'replicas';

const lookEveryMs = 20_000;
/** A process that has not announced itself for this long has ended. */
const goneAfterMs = 60_000;
/** Longer than one page of keys takes. */
const lockMs = 60_000;
const recordsAtOnce = 25;
const busyRetryMs = 1_000;
/** The most looks that are skipped after failed copies: an hour. */
const mostSkippedLooks = 180;

/**
 * Changes the store's records to this release's form, step by step. One process at a time does so, once no older
 * release runs, and copies an SQLite file first. After a crash or an outage of the store the step is repeated. `file`:
 * the embedded store's file. `claim`: returns false if this process must not work on the store.
 */
export function createStoreSteps(options: {
  /** The whole store, of all accounts. */
  store: Pick<Store, 'create' | 'read' | 'write' | 'replace' | 'list' | 'keysAfter'>;
  claim: () => Promise<boolean>;
  file: string | undefined;
  parts: readonly Part[];
  log: Log;
}) {
  const { store, claim, file, parts, log } = options;
  const replicaKey = `replica:${randomUUID()}`;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isStopped = false;
  let isWaitLogged = false;
  let isFailing = false;
  const copy = createStepCopy(file, log);

  /** Announces this process with its form, and returns the oldest form that any running process writes. */
  async function oldestForm(): Promise<number> {
    const value = String(storeForm.newest);
    const known = await store.read(replicaKey);
    if (known) await store.write(known, value, { ttlMs: goneAfterMs });
    else await store.create(replicaKey, value, { ttlMs: goneAfterMs, index: { [replicas]: 0 } });
    const { entries } = await store.list(replicas, { max: 1_000 });
    // This process counts even if its announcement was lost a moment ago.
    return Math.min(storeForm.newest, ...entries.map((entry) => Number(entry.value)));
  }

  async function readForm(): Promise<{ entry: Entry; taken: number }> {
    const entry = await store.read(storeForm.key);
    if (!entry) throw new Error('The store doesn’t say which steps it has taken.');
    return { entry, taken: Number(entry.value) };
  }

  async function look(): Promise<void> {
    if (!(await claim())) return;
    const oldest = await oldestForm();
    const { entry, taken } = await readForm();
    // A running process still writes records in an older form, so the steps after that form must be repeated.
    if (oldest < taken) await store.write(entry, String(oldest));
    if (oldest < storeForm.newest) {
      if (!isWaitLogged) log('info', 'the store takes its next step once the older replicas are gone');
      isWaitLogged = true;
    } else if (taken < storeForm.newest && !copy.isTooSoon()) {
      await locked(takeNext);
    }
  }

  /**
   * Runs `work` under the lock. `work` must call `hold` before the lock expires; that extends the lock, and returns
   * false if another process may have the lock, or an older release runs.
   */
  async function locked(work: (hold: () => Promise<boolean>) => Promise<void>): Promise<void> {
    if (!(await store.create(lockKey, replicaKey, { ttlMs: lockMs }))) return;
    let lock = await store.read(lockKey);
    async function hold(): Promise<boolean> {
      lock = lock && (await store.write(lock, replicaKey, { ttlMs: lockMs }));
      return (await oldestForm()) === storeForm.newest && lock !== undefined;
    }
    try {
      await work(hold);
    } finally {
      if (lock) await store.write(lock, '', { ttlMs: 0 });
    }
  }

  async function takeNext(hold: () => Promise<boolean>): Promise<void> {
    const { entry: form, taken } = await readForm();
    const number = taken + 1;
    if (number > storeForm.newest) return;
    log('info', `the store takes step ${number}`);
    const copied = copy.make(number).then(() => true);
    while (!(await Promise.race([copied, sleep(lookEveryMs, false, { ref: false })]))) await hold();
    const counts = { changed: 0, unread: 0 };
    // Keys of records that a worker had, or that changed meanwhile; they are retried.
    const busy: string[] = [];
    async function changeAll(keys: readonly string[]): Promise<void> {
      for (let from = 0; from < keys.length; from += recordsAtOnce) {
        const some = keys.slice(from, from + recordsAtOnce);
        const ends = await Promise.all(some.map((key) => changeOne(key, number)));
        for (const [at, end] of ends.entries()) {
          if (end === 'busy') busy.push(some[at] ?? '');
          else if (end !== 'stays') counts[end] += 1;
        }
      }
    }
    let after: string | undefined = '';
    while (after !== undefined) {
      const page: Awaited<ReturnType<Store['keysAfter']>> = await store.keysAfter(after);
      await changeAll(page.keys);
      if (isStopped || !(await hold())) return;
      after = page.next;
    }
    while (busy.length > 0) {
      await sleep(busyRetryMs);
      await changeAll(busy.splice(0));
      if (isStopped || !(await hold())) return;
    }
    if (!(await store.write(form, String(number)))) return;
    const unread = counts.unread === 0 ? '' : `; ${counts.unread} can’t be read here and stayed`;
    log('info', `the store took step ${number}: ${counted(counts.changed, 'record')} changed${unread}`);
  }

  /** `stays`: no step of this number is about the record. */
  async function changeOne(key: string, number: number): Promise<'changed' | 'unread' | 'busy' | 'stays'> {
    for (const { store: part, entryOf, steps } of parts) {
      const named = entryOf({ key });
      const step = named && steps[number - 1]?.find(({ prefix }) => named.key.startsWith(prefix));
      const entry = step && (await store.read(key));
      const own = entry && entryOf(entry);
      if (!step || !own) continue;
      const change = await step.change(own);
      if (change === 'unread') return change;
      return (await part.replace(own, change.value ?? own.value, change.index)) ? 'changed' : 'busy';
    }
    return 'stays';
  }

  /** Never throws. Logs a failure once, until a look succeeds. */
  async function lookAndLog(): Promise<void> {
    try {
      await look();
      isFailing = false;
    } catch (error) {
      const level = isFailing ? 'debug' : 'warn';
      const { message, cause = '' } = error instanceof Error ? error : { message: '' };
      const why = explainStoreError(`${message} ${cause instanceof Error ? cause.message : ''}`);
      log(level, 'the store’s next step failed; it is retried', why && { fix: why.fix }, error);
      isFailing = true;
    }
  }

  function lookNow(): Promise<void> {
    looking ??= lookAndLog().finally(() => (looking = undefined));
    return looking;
  }

  return {
    lookNow,
    start(): void {
      void lookNow();
      timer = setInterval(() => void lookNow(), lookEveryMs).unref();
    },
    async stop(): Promise<void> {
      isStopped = true;
      clearInterval(timer);
      await looking;
    },
  };
}

/** Copies the embedded store's file before a step. */
function createStepCopy(file: string | undefined, log: Log) {
  let failures = 0;
  let looksToSkip = 0;

  async function copyTo(path: string, copy: string): Promise<void> {
    const workerData = { path, copy };
    await once(new Worker(new URL('store-copy-thread.ts', import.meta.url), { workerData }), 'exit');
    log('info', 'the store’s file is copied before the step', { path: copy });
  }

  return {
    /**
     * Whether to skip this look because the last copy failed. Counts down the looks to skip, so call it once per look;
     * each failed copy doubles them.
     */
    isTooSoon(): boolean {
      looksToSkip -= 1;
      return looksToSkip >= 0;
    },
    /** Makes the copy unless there is one. It is complete, or doesn't exist. */
    async make(step: number): Promise<void> {
      const copy = `${file}.before-step-${step}`;
      if (file === undefined || existsSync(copy)) return;
      try {
        await copyTo(file, copy);
      } catch (error) {
        looksToSkip = Math.min(2 ** failures, mostSkippedLooks);
        failures += 1;
        throw error;
      }
    },
  };
}
