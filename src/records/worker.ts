import type { Log } from '../log.ts';

export type WorkerDeps = {
  /** Does one piece of due work; false when there was none. */
  workOnce: () => Promise<boolean>;
  /** How many pieces may be under way at once in this replica; lanes keep them apart. */
  concurrency: number;
  /** How long an idle loop waits before it looks again; `wake` cuts it short. */
  idleMs: number;
  /** How long it waits after a throw. */
  failureDelayMs: number;
  /** Whether others wait for this process to answer them; what is due then waits for its turn. */
  isPressed?: () => boolean;
  log: Log;
};

export type Worker = {
  /** Lets it look at once, or as soon as the last time is long enough ago: a burst of events costs few looks. */
  wake: () => void;
  /** Takes no more work and resolves when what is under way is done. */
  stop: () => Promise<void>;
};

/** Between two times that it is woken, at least. */
const wakeGapMs = 25;

/**
 * Between two pieces of one loop while the process is pressed. Whoever sends events repeats what is not answered in
 * time, and what they are told about can wait: so answering goes first, and work goes on all the same.
 */
const pressedRestMs = 100;

/**
 * Keeps doing due work until stopped. A throw ends one piece, never the loop: its record is due again
 * when its lease runs out, and the cause is in the log, once per outage.
 */
export function startWorker(deps: WorkerDeps): Worker {
  const stopped = new AbortController();
  let failing = false;
  const sleepers = new Set<() => void>();

  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done(): void {
        clearTimeout(timer);
        sleepers.delete(done);
        resolve();
      }
      sleepers.add(done);
    });
  }

  function rouse(): void {
    for (const done of sleepers) done();
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
    rouse();
  }

  async function workOrRest(): Promise<void> {
    try {
      const worked = await deps.workOnce();
      if (failing) deps.log('info', 'work goes on');
      failing = false;
      if (stopped.signal.aborted) return;
      if (!worked) await rest(deps.idleMs);
      else if (deps.isPressed?.()) await new Promise((resolve) => setTimeout(resolve, pressedRestMs));
    } catch (error) {
      if (!failing) deps.log('error', 'work failed; trying again until it succeeds', {}, error);
      failing = true;
      if (!stopped.signal.aborted) await rest(deps.failureDelayMs);
    }
  }

  async function loop(): Promise<void> {
    while (!stopped.signal.aborted) await workOrRest();
  }

  const loops = Array.from({ length: deps.concurrency }, () => loop());
  return {
    wake,
    async stop(): Promise<void> {
      stopped.abort();
      clearTimeout(nextWake);
      rouse();
      await Promise.all(loops);
    },
  };
}
