import { newErrorId } from '../log.ts';
import { createWorkUnderWay } from '../under-way.ts';
import type { Outside } from './outside.ts';

export type Background = {
  add: (work: Promise<unknown>) => void;
  /** Resolves when nothing is under way. */
  drained: () => Promise<void>;
};

/** Work that nobody waits for: a throw ends it, never the process, and its record is due again by its timer. */
export function createBackground({ log }: Pick<Outside, 'log'>, what: string): Background {
  const working = createWorkUnderWay();
  return {
    add(work) {
      const told = work.catch((error: unknown) => {
        const about = { errorId: newErrorId() };
        log('error', `work on ${what} broke off; its timer takes it up`, about, error);
      });
      void working.add(told);
    },
    drained: working.drained,
  };
}
