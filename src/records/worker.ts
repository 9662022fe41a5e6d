import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Entry, Store } from '../store/store.ts';

export type Worker = {
  /**
   * Makes the worker look for work now; at most once in `wakeGapMs`, so that a burst of events costs only a few looks.
   */
  wake: () => void;
  /** Takes no more work; resolves when the work in progress is done. */
  stop: () => Promise<void>;
};

const wakeGapMs = 25;

/**
 * The pause between two pieces of work while many requests wait: they come first, because senders repeat a webhook that
 * is not answered in time.
 */
const busyPauseMs = 100;

/** Works until stopped. If a piece of work throws, it is due again when its lease ends. Logs an outage once. */
export function startWorker(options: {
  /** Does one piece of due work; false: nothing was due. */
  workOnce: () => Promise<boolean>;
  /** How many pieces of work run at once in this process. */
  concurrency: number;
  /** How long to wait when nothing was due; `wake` ends the wait. */
  idleMs: number;
  /** How long to wait after an error. */
  failureDelayMs: number;
  /** Whether many requests are waiting for this process. */
  isBusy?: () => boolean;
  log: Log;
}): Worker {
  const { idleMs, failureDelayMs, isBusy, log } = options;
  const stopped = new AbortController();
  let failing = false;
  let waking = new AbortController();

  function sleepUntilWoken(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: waking.signal }).catch(() => undefined);
  }

  function endWaits(): void {
    waking.abort();
    waking = new AbortController();
  }

  let nextWake: NodeJS.Timeout | undefined;
  let wokenAtMs = -Infinity;
  function wake(): void {
    const waitMs = wokenAtMs + wakeGapMs - performance.now();
    if (waitMs > 0) {
      nextWake ??= setTimeout(wakeNow, waitMs);
      return;
    }
    wakeNow();
  }
  function wakeNow(): void {
    clearTimeout(nextWake);
    nextWake = undefined;
    wokenAtMs = performance.now();
    endWaits();
  }

  async function workOrSleep(): Promise<void> {
    try {
      const worked = await options.workOnce();
      if (failing) log('info', 'work goes on');
      failing = false;
      if (stopped.signal.aborted) return;
      if (!worked) await sleepUntilWoken(idleMs);
      else if (isBusy?.()) await new Promise((resolve) => setTimeout(resolve, busyPauseMs));
    } catch (error) {
      if (!failing) log('error', 'work failed; trying again until it succeeds', {}, error);
      failing = true;
      if (!stopped.signal.aborted) await sleepUntilWoken(failureDelayMs);
    }
  }

  async function loop(): Promise<void> {
    while (!stopped.signal.aborted) await workOrSleep();
  }

  const loops = Array.from({ length: options.concurrency }, () => loop());
  return {
    wake,
    async stop(): Promise<void> {
      stopped.abort();
      clearTimeout(nextWake);
      endWaits();
      await Promise.all(loops);
    },
  };
}

/** How to work on the records whose keys have this prefix. */
export type WorkKind = {
  prefix: string;
  work: (entry: Entry) => Promise<unknown>;
  /**
   * Optional: up to `most` records are taken at once from a lane whose name begins with `lanes`. `run` does the part of
   * the work that needn't wait for the record's turn, stores it, and returns the new entry. Undefined: the record is not
   * ready; then `work` must hold the lane (`holdMs`), so that later records wait.
   */
  prepare?: { lanes: string; most: number; run: (entry: Entry) => Promise<Entry | undefined> };
};

/**
 * Takes due work and passes it to its kind; false: nothing was due. Throws what the work throws; the work is then due
 * again when its lease ends.
 */
export async function workOnce(options: {
  store: Pick<Store, 'take'>;
  /** Must be longer than any work takes. */
  leaseMs: number;
  /** First match wins. Kinds with `prepare`, one per account, must all name the same `lanes` and `most`. */
  kinds: readonly WorkKind[];
  now?: () => number;
}): Promise<boolean> {
  const { store, leaseMs, kinds, now = Date.now } = options;
  const { lanes = '', most = 1 } = kinds.find(({ prepare }) => prepare)?.prepare ?? {};
  const taken = await store.take(leaseMs, most, lanes);
  const ready = await Promise.all(
    taken.map(async (entry) =>
      taken.length === 1 ? entry : await (kindOf(kinds, entry).prepare?.run(entry) ?? entry),
    ),
  );
  const preparedAtMs = now();
  // In order, up to the first record that isn't ready. Ends at half of the lease, which `prepare` has renewed: once it is
  // over, another replica could take a later record first. The remaining records stay leased and in order.
  for (const [at, entry] of taken.entries()) {
    if (now() - preparedAtMs > leaseMs / 2) break;
    const prepared = ready[at];
    await kindOf(kinds, entry).work(prepared ?? entry);
    if (!prepared) break;
  }
  return taken.length > 0;
}

function kindOf(kinds: readonly WorkKind[], { key }: Entry): WorkKind {
  const kind = kinds.find(({ prefix }) => key.startsWith(prefix));
  if (!kind) throw new Error('Work of no known kind is due.');
  return kind;
}
