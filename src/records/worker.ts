import type { Log } from '../log.ts';
import type { Entry, Store } from '../store/store.ts';

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
export function startWorker(options: {
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
}): Worker {
  const { workOnce: workNow, idleMs, failureDelayMs, isPressed, log } = options;
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
      const worked = await workNow();
      if (failing) log('info', 'work goes on');
      failing = false;
      if (stopped.signal.aborted) return;
      if (!worked) await rest(idleMs);
      else if (isPressed?.()) await new Promise((resolve) => setTimeout(resolve, pressedRestMs));
    } catch (error) {
      if (!failing) log('error', 'work failed; trying again until it succeeds', {}, error);
      failing = true;
      if (!stopped.signal.aborted) await rest(failureDelayMs);
    }
  }

  async function loop(): Promise<void> {
    while (!stopped.signal.aborted) await workOrRest();
  }

  const loops = Array.from({ length: options.concurrency }, () => loop());
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

/** Whose work a record is, by how its key begins. */
export type Kind = {
  prefix: string;
  work: (entry: Entry) => Promise<void>;
  /**
   * Does before its turn what need not wait for it, and keeps that with the record, which is given as it stands then.
   * Undefined: it is not ready, and what is behind it must wait, for which its `work` then ends the lane's lease.
   */
  ahead?: (entry: Entry) => Promise<Entry | undefined>;
};

/**
 * Takes one due record and hands it to its kind; false when nothing was due. Throws what that work throws: the record is
 * then due again when its lease ends.
 */
export async function workOnce(options: {
  store: Pick<Store, 'take'>;
  /** Longer than any kind of work takes. */
  leaseMs: number;
  /** The first that fits. */
  kinds: readonly Kind[];
  /** Of lanes whose names begin so, so many records are taken at once, for what can be done ahead; absent: one of any. */
  together?: { lanes: string; most: number; now: () => number };
}): Promise<boolean> {
  const { store, leaseMs, kinds, together } = options;
  const { lanes = '', most = 1, now = () => 0 } = together ?? {};
  const taken = await store.take(leaseMs, most, lanes);
  const ready = await Promise.all(
    taken.map(async (entry) =>
      taken.length === 1 ? entry : await (kindOf(kinds, entry).ahead?.(entry) ?? entry),
    ),
  );
  const heldAtMs = now();
  // In their order, up to the first that is not ready, and only while the lease is sure to hold: or another replica would
  // be given what comes after it first. What is behind is left as it was taken: it keeps its place.
  for (const [at, entry] of taken.entries()) {
    if (now() - heldAtMs > leaseMs / 2) break;
    const own = ready[at];
    await kindOf(kinds, entry).work(own ?? entry);
    if (!own) break;
  }
  return taken.length > 0;
}

function kindOf(kinds: readonly Kind[], { key }: Entry): Kind {
  const kind = kinds.find(({ prefix }) => key.startsWith(prefix));
  if (!kind) throw new Error('Work of no known kind is due.');
  return kind;
}
