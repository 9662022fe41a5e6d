import { merchantPrefix } from '../domain/merchant.ts';
import type { Entry, Store } from './store.ts';

export type Scope = {
  /** The same store, in which only the scope's own records exist. Takes no work: who does is above all scopes. */
  store: Store;
  /** An entry that the whole store gave out, as the scope knows it; undefined when it is none of the scope's. */
  entryOf: (entry: Entry) => Entry | undefined;
};

/**
 * A part of the store that no other part can read or write: every key is the scope's own, while lanes and the
 * counting of versions stay shared. A lane is a Slack channel, and Slack's pace is one whoever writes.
 */
export function scopeStore(store: Store, name: string): Scope {
  const prefix = merchantPrefix(name);

  function inside(entry: Entry): Entry {
    return { ...entry, key: entry.key.slice(prefix.length) };
  }
  return {
    store: {
      create: (key, value, options) => store.create(prefix + key, value, options),
      async read(key) {
        const entry = await store.read(prefix + key);
        return entry && inside(entry);
      },
      async write(entry, value, options) {
        const written = await store.write({ ...entry, key: prefix + entry.key }, value, options);
        return written && inside(written);
      },
      take() {
        return Promise.reject(new Error('A part of the store was asked for work.'));
      },
      replace: (entry, value) => store.replace({ ...entry, key: prefix + entry.key }, value),
      keysAfter() {
        return Promise.reject(new Error('A part of the store was asked for all keys.'));
      },
      ping: () => store.ping(),
      close: () => store.close(),
    },
    entryOf: (entry) => (entry.key.startsWith(prefix) ? inside(entry) : undefined),
  };
}
