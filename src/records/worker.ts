import type { Log } from '../log.ts';
import type { Entry, Store } from '../store/store.ts';

export type Worker = {
  /** Makes it look for work now, at most once per `wakeGapMs`: a burst of events costs few looks. */
  wake: () => void;
  /** Takes no more work; resolves when work in progress is done. */
  stop: () => Promise<void>;
};

const wakeGapMs = 25;

/** The rest between two pieces while requests wait: senders retry slow webhooks, so yield to requests. */
const pressedRestMs = 100;

/** Does due work until stopped. A throw ends one piece, never the loop: its lease runs out, and the cause is logged once per outage. */
export function startWorker(options: {
  /** Does one piece of due work; false: there was none. */
  workOnce: () => Promise<boolean>;
  /** How many pieces run at once in this replica. */
  concurrency: number;
  /** An idle loop's wait; `wake` cuts it short. */
  idleMs: number;
  /** The wait after a throw. */
  failureDelayMs: number;
  /** Whether requests wait for this process. */
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

/** Who works on a record, by its key's prefix. */
export type Kind = {
  prefix: string;
  work: (entry: Entry) => Promise<void>;
  /**
   * Does early what needn't wait for the record's turn, stores it, and returns the new entry. Undefined: not ready; `work`
   * then ends the lane's lease, so later records wait.
   */
  ahead?: (entry: Entry) => Promise<Entry | undefined>;
};

/** Takes due work and hands it to its kind; false: nothing was due. Throws what the work throws; it is due again when the lease ends. */
export async function workOnce(options: {
  store: Pick<Store, 'take'>;
  /** Longer than any kind of work takes. */
  leaseMs: number;
  /** First match wins. */
  kinds: readonly Kind[];
  /** From lanes with this prefix up to `most` records are taken at once, for `ahead`; absent: one from any lane. */
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
  // In order, up to the first that isn't ready, and only while the lease surely holds: another replica could otherwise get a
  // later record first. Later records stay leased, in order.
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
