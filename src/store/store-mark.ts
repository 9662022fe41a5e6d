import { randomBytes } from 'node:crypto';
import { SealBroken, type Sealer, type Store } from './store.ts';

/** The store's random id, sealed. Created by the first bot; never changed, but `npm run reseal` reseals it. */
const markKey = 'store-mark';

/**
 * The form of the store's records: the number of steps (`store-steps.ts`) that it has taken. A new store starts with all
 * of them. The schema is another number: with another schema no bot starts, while a step is taken by a running bot.
 */
export const storeForm = { key: 'store-form', newest: 1 };

/**
 * The store's id, 64 hexadecimal digits; undefined: no bot of this release has started on the store. Throws SealBroken.
 */
export async function readStoreId({ store, sealer }: Keyed): Promise<string | undefined> {
  const entry = await store.read(markKey);
  return entry && sealer.open(markKey, entry.value);
}

type Keyed = { store: Pick<Store, 'read'>; sealer: Sealer };

/** Whether a bot has started on the store. Throws StoreUnavailable. */
export async function hasBegun(store: Pick<Store, 'read'>): Promise<boolean> {
  return (await store.read(markKey)) !== undefined;
}

/** Why nothing may be written with these keys; undefined if it may. Makes no mark. Throws StoreUnavailable. */
export async function whyNotWrite(storage: Keyed): Promise<string | undefined> {
  try {
    await readStoreId(storage);
    return undefined;
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    return wrongKey;
  }
}

/**
 * Checks that a process may work on this store: its keys must open the mark that the first bot sealed. With other keys
 * every record would be put aside as unreadable.
 */
export function createStoreMark({
  store,
  sealer,
}: {
  store: Pick<Store, 'create' | 'read'>;
  sealer: Sealer;
}) {
  let known: string | undefined;
  let refusal: string | undefined;

  async function openOrMake(begin: () => Promise<unknown>): Promise<string> {
    const found = await readStoreId({ store, sealer });
    if (found !== undefined) return found;
    await store.create(storeForm.key, String(storeForm.newest));
    await begin();
    const id = randomBytes(32).toString('hex');
    if (await store.create(markKey, sealer.seal(markKey, id))) return id;
    return await openOrMake(begin);
  }

  return {
    /**
     * Whether this process may take work. Makes the mark if there is none, after `begin` has made the records that
     * every store needs. Throws StoreUnavailable.
     */
    async claim(begin: () => Promise<unknown>): Promise<boolean> {
      if (known !== undefined) return true;
      try {
        known = await openOrMake(begin);
        refusal = undefined;
        return true;
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error;
        refusal = wrongKey;
        return false;
      }
    },
    refusal: () => refusal,
    /** Why this is no longer the store on which the process began; undefined if it is. Throws StoreUnavailable. */
    async lost(): Promise<string | undefined> {
      if (known === undefined) return undefined;
      const entry = await store.read(markKey);
      if (!entry) return 'The store was emptied while the bot ran';
      try {
        return sealer.open(markKey, entry.value) === known
          ? undefined
          : 'The store was replaced while the bot ran';
      } catch {
        // Another process has resealed the mark with a key that this process doesn't have.
        return undefined;
      }
    },
  };
}

export type StoreMark = ReturnType<typeof createStoreMark>;

const wrongKey =
  'The sealing keys do not open what this store holds: SEALING_KEYS lacks the key that sealed it, or sealing.key in DATA_DIR is another file. Put that key back, behind the first one.';

export const lostFix =
  'Stop the bots, restore the store from a backup, and start them again. To go on with the store as it is, restart every bot.';
