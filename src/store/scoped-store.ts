import { merchantPrefix, type Merchant } from '../domain/merchant.ts';
import type { Storage } from './storage.ts';
import type { Entry, Index, Store } from './store.ts';

type Scope = {
  /** The store with only the part's records. `take` throws: workers take from the whole store. */
  store: Store;
  /** An entry of the whole store under the part's own key; undefined for another part's entry. */
  entryOf: <Of extends Pick<Entry, 'key'>>(entry: Of) => Of | undefined;
};

/**
 * A part of the store that no other part can read or write. Keys and lists are the part's own. Lanes and versions are
 * shared, because Slack limits the posts in a channel, which are a lane, for all accounts together.
 */
export function scopeStore(store: Store, name: string): Scope {
  const prefix = merchantPrefix(name);

  function asOwn<Of extends Pick<Entry, 'key'>>(entry: Of): Of {
    return { ...entry, key: entry.key.slice(prefix.length) };
  }
  function ownIndex(index: Index): Index {
    return Object.fromEntries(Object.entries(index).map(([name, place]) => [prefix + name, place]));
  }
  function ownLists<Options extends { index?: Index }>(options: Options | undefined): Options | undefined {
    return options?.index === undefined ? options : { ...options, index: ownIndex(options.index) };
  }
  return {
    store: {
      create: (key, value, options) => store.create(prefix + key, value, ownLists(options)),
      async read(key) {
        const entry = await store.read(prefix + key);
        return entry && asOwn(entry);
      },
      async write(entry, value, options) {
        const own = { ...entry, key: prefix + entry.key };
        const written = await store.write(own, value, ownLists(options));
        return written && asOwn(written);
      },
      take: refuse('work'),
      replace: (entry, value, index) =>
        store.replace({ ...entry, key: prefix + entry.key }, value, index && ownIndex(index)),
      async list(name, options) {
        const listed = await store.list(prefix + name, options);
        return { ...listed, entries: listed.entries.map(asOwn) };
      },
      keysAfter: refuse('all keys'),
      backlog: refuse('what is due'),
      ping: () => store.ping(),
      close: () => store.close(),
    },
    entryOf: (entry) => (entry.key.startsWith(prefix) ? asOwn(entry) : undefined),
  };
}

function refuse(what: string) {
  return () => Promise.reject(new Error(`A part of the store was asked for ${what}.`));
}

/** One account's part of the store. */
export type StoragePart = Pick<Scope, 'entryOf'> & { storage: Storage };

/** The first account's records have no prefix, like those of a bot with one account. */
export function storagePart(storage: Storage, merchant: Merchant | undefined): StoragePart {
  if (!merchant || merchant.isFirst) {
    return { storage, entryOf: (entry) => (entry.key.startsWith('@') ? undefined : entry) };
  }
  const { sealer } = storage;
  const prefix = merchantPrefix(merchant.name);
  const { store, entryOf } = scopeStore(storage.store, merchant.name);
  return {
    storage: {
      ...storage,
      whole: storage,
      store,
      // Sealed for the whole key, so that no other account can open it.
      sealer: {
        seal: (key, text) => sealer.seal(prefix + key, text),
        open: (key, sealed) => sealer.open(prefix + key, sealed),
      },
    },
    entryOf,
  };
}
