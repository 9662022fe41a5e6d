import { newErrorId, type Log } from './log.ts';

/**
 * A collection of things in progress, in no order. `enter` adds one, and returns the function that removes it; call
 * that once.
 *
 * An array, because a Set that is filled and emptied all the time keeps its old tables, and the objects in them, alive
 * in the old generation of the garbage collector. With a Set, a webhook cost twice the processor time, and the process
 * grew by hundreds of megabytes.
 */
export function createUnderWay<Item>() {
  const slots: { item: Item; at: number }[] = [];
  return {
    enter(item: Item): () => void {
      const slot = { item, at: slots.length };
      slots.push(slot);
      return () => {
        const last = slots.pop();
        if (!last || last === slot) return;
        slots[slot.at] = last;
        last.at = slot.at;
      };
    },
    all: () => slots.map(({ item }) => item),
    count: () => slots.length,
  };
}

/** Tracks promises that nothing else awaits, so that a stop can wait for them. */
export function createWorkUnderWay() {
  const working = createUnderWay<Promise<unknown>>();
  return {
    /** Returns the same promise; handling its rejection is up to the caller. */
    add: <Result>(work: Promise<Result>): Promise<Result> => {
      const leave = working.enter(work);
      work.then(leave, leave);
      return work;
    },
    /** Resolves when no work is under way, including work that was added meanwhile. Never rejects. */
    drained: async (): Promise<void> => {
      while (working.count() > 0) await Promise.allSettled(working.all());
    },
    count: working.count,
  };
}

/** Work in the background. An error is logged and never ends the process; the timer on the work's record retries it. */
export function createBackground(log: Log, what: string) {
  const working = createWorkUnderWay();
  return {
    add: (work: Promise<unknown>): void => {
      const handled = work.catch((error: unknown) => {
        const about = { errorId: newErrorId() };
        log('error', `work on ${what} broke off; its timer takes it up`, about, error);
      });
      void working.add(handled);
    },
    drained: working.drained,
  };
}
