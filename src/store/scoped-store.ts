import { merchantPrefix, type Merchant } from '../domain/merchant.ts';
import type { Kept } from './kept.ts';
import type { Entry, Index, Store } from './store.ts';

type Scope = {
  /** The same store, in which only the scope's own records exist. Takes no work: who does is above all scopes. */
  store: Store;
  /** An entry that the whole store gave out, as the scope knows it; undefined when it is none of the scope's. */
  entryOf: <Of extends Pick<Entry, 'key'>>(entry: Of) => Of | undefined;
};

/**
 * A part of the store that no other part can read or write: every key and list is the scope's own, while lanes and the
 * counting of versions stay shared. A lane is a Slack channel, and Slack's pace is one whoever writes.
 */
export function scopeStore(store: Store, name: string): Scope {
  const prefix = merchantPrefix(name);

  function inside<Of extends Pick<Entry, 'key'>>(entry: Of): Of {
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
        return entry && inside(entry);
      },
      async write(entry, value, options) {
        const own = { ...entry, key: prefix + entry.key };
        const written = await store.write(own, value, ownLists(options));
        return written && inside(written);
      },
      take: ofTheWhole('work'),
      replace: (entry, value, index) =>
        store.replace({ ...entry, key: prefix + entry.key }, value, index && ownIndex(index)),
      async list(name, options) {
        const listed = await store.list(prefix + name, options);
        return { ...listed, entries: listed.entries.map(inside) };
      },
      keysAfter: ofTheWhole('all keys'),
      backlog: ofTheWhole('what is due'),
      ping: () => store.ping(),
      close: () => store.close(),
    },
    entryOf: (entry) => (entry.key.startsWith(prefix) ? inside(entry) : undefined),
  };
}

function ofTheWhole(what: string) {
  return () => Promise.reject(new Error(`A part of the store was asked for ${what}.`));
}

/** What is kept of one account: `entryOf` gives an entry of the whole as the account knows it, and none of another's. */
export type KeptPart = Pick<Scope, 'entryOf'> & { kept: Kept };

/** The first account, or the only one, has what stands under no name. */
export function keptPart(kept: Kept, merchant: Merchant | undefined): KeptPart {
  if (!merchant || merchant.isFirst) {
    return { kept, entryOf: (entry) => (entry.key.startsWith('@') ? undefined : entry) };
  }
  const { sealer } = kept;
  const prefix = merchantPrefix(merchant.name);
  const { store, entryOf } = scopeStore(kept.store, merchant.name);
  return {
    kept: {
      ...kept,
      whole: kept,
      store,
      // What one account has sealed opens under no other's key.
      sealer: {
        seal: (key, text) => sealer.seal(prefix + key, text),
        open: (key, sealed) => sealer.open(prefix + key, sealed),
      },
    },
    entryOf,
  };
}
