import type { Store } from '../../src/store/store.ts';

/** Ways in which a store can lie. `forgets`: it keeps nothing of some new records, and says that it did. */
export type Break = 'forgets' | 'repeats';

/**
 * A store that is broken on purpose, to see that the checker sees it. `repeats`: of some alerts it says that it
 * took what was written while they were first worked on, and did not, so that nobody remembers the post.
 */
export function breakStore(store: Store, how: Break): Store {
  return how === 'forgets'
    ? {
        ...store,
        create: (key, value, options) =>
          isChosen(key) ? Promise.resolve(true) : store.create(key, value, options),
      }
    : {
        ...store,
        write: (entry, value, options) =>
          isChosen(entry.key) && entry.attempts === 1
            ? Promise.resolve({ ...entry, value, version: entry.version + 1 })
            : store.write(entry, value, options),
      };
}

/** Alerts of every tenth event; the same ones in every process. */
export function isChosen(key: string): boolean {
  return key.startsWith('outbox:alert:') && key.endsWith('7');
}
