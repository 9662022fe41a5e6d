import { newErrorId, type Log } from './log.ts';

/**
 * What has begun and not ended, in no order; `enter` gives what is to be called once, at its end.
 *
 * Not a Set: one that is filled and emptied all the time leaves its tables behind, and each keeps the next, and all
 * that stood in it, from the quick part of garbage collection. A webhook cost twice the processor time by it, and the
 * process hundreds of megabytes.
 */
export function createUnderWay<One>() {
  const places: { one: One; at: number }[] = [];
  return {
    enter(one: One): () => void {
      const place = { one, at: places.length };
      places.push(place);
      return () => {
        const last = places.pop();
        if (!last || last === place) return;
        places[place.at] = last;
        last.at = place.at;
      };
    },
    all: () => places.map(({ one }) => one),
    count: () => places.length,
  };
}

/** Promises under way that nobody else may wait for. */
export function createWorkUnderWay() {
  const working = createUnderWay<Promise<unknown>>();
  return {
    /** Gives it back. What it rejects with is its caller's. */
    add: <Result>(work: Promise<Result>): Promise<Result> => {
      const leave = working.enter(work);
      work.then(leave, leave);
      return work;
    },
    /** Resolves, and never rejects, when nothing is under way, nor what that brought. */
    drained: async (): Promise<void> => {
      while (working.count() > 0) await Promise.allSettled(working.all());
    },
    count: working.count,
  };
}

/** Work that nobody waits for: a throw ends it, never the process, and its record is due again by its timer. */
export function createBackground(log: Log, what: string) {
  const working = createWorkUnderWay();
  return {
    add: (work: Promise<unknown>): void => {
      const told = work.catch((error: unknown) => {
        const about = { errorId: newErrorId() };
        log('error', `work on ${what} broke off; its timer takes it up`, about, error);
      });
      void working.add(told);
    },
    drained: working.drained,
  };
}
