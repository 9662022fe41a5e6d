import { newErrorId } from '../log.ts';
import type { Outside } from './outside.ts';

export type Background = {
  add: (work: Promise<unknown>) => void;
  /** Resolves when nothing is under way. */
  drained: () => Promise<void>;
};

/** Work that nobody waits for: a throw ends it, never the process, and its record is due again by its timer. */
export function createBackground({ log }: Pick<Outside, 'log'>, what: string): Background {
  const working = new Set<Promise<unknown>>();
  return {
    add(work) {
      const done = work
        .catch((error: unknown) => {
          const about = { errorId: newErrorId() };
          log('error', `work on ${what} broke off; its timer takes it up`, about, error);
        })
        .finally(() => working.delete(done));
      working.add(done);
    },
    async drained() {
      // What is under way may bring more.
      // oxlint-disable-next-line no-await-in-loop
      while (working.size > 0) await Promise.allSettled(working);
    },
  };
}
