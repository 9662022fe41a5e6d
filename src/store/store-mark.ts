import { randomBytes } from 'node:crypto';
import { SealBroken, type Sealer, type Store } from './store.ts';

/** A record of the store's own, which the first bot makes and nobody changes: `npm run reseal` seals it anew. */
const markKey = 'store-mark';

/** How many steps the store's form has taken: of a new store all that there are, of an older one see `store-steps.ts`. */
export const storeForm = { key: 'store-form', newest: 1 };

/** Which store it is: 64 hexadecimal digits. Undefined: no bot of this release has started on it. Throws SealBroken. */
export async function readStoreId({
  store,
  sealer,
}: {
  store: Pick<Store, 'read'>;
  sealer: Sealer;
}): Promise<string | undefined> {
  const entry = await store.read(markKey);
  return entry && sealer.open(markKey, entry.value);
}

/**
 * What shows that a process may work on this store: it opens what the first bot sealed here. With another key every
 * record would be put aside. `sealedBefore`: a record that an earlier release sealed, with a line for its seal.
 */
export function createStoreMark(
  { store, sealer }: { store: Pick<Store, 'create' | 'read'>; sealer: Sealer },
  sealedBefore: string,
) {
  let known: string | undefined;
  let refusal: string | undefined;

  async function openOrMake(begin: () => Promise<unknown>): Promise<string> {
    const found = await readStoreId({ store, sealer });
    if (found !== undefined) return found;
    const older = await store.read(sealedBefore);
    if (older) sealer.open(sealedBefore, older.value.split('\n')[0] ?? '');
    else await store.create(storeForm.key, String(storeForm.newest));
    await begin();
    const id = randomBytes(32).toString('hex');
    if (await store.create(markKey, sealer.seal(markKey, id))) return id;
    return await openOrMake(begin);
  }

  return {
    /** Whether this process may take work. `begin` makes what every store with a mark has. Throws StoreUnavailable. */
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
    /** Why it is not the store that this process began on; undefined: it is. Throws StoreUnavailable. */
    async lost(): Promise<string | undefined> {
      if (known === undefined) return undefined;
      const entry = await store.read(markKey);
      if (!entry) return 'The store was emptied while the bot ran';
      try {
        return sealer.open(markKey, entry.value) === known
          ? undefined
          : 'The store was replaced while the bot ran';
      } catch {
        // Sealed by a replica that has another key already: it is there.
        return undefined;
      }
    },
  };
}

export type StoreMark = ReturnType<typeof createStoreMark>;

const wrongKey =
  'The sealing keys do not open what this store holds: SEALING_KEYS lacks the key that sealed it, or sealing.key in DATA_DIR is another file. Put that key back, behind the first one.';

/** What ends that a store was lost. */
export const lostFix =
  'Stop the bots, restore the store from a backup, and start them again. To go on with the store as it is, restart every bot.';
