import { randomBytes } from 'node:crypto';
import { SealBroken, type Sealer, type Store } from './store.ts';

/** Made by the first bot and never changed, except that `npm run reseal` seals it with the new key. */
const markKey = 'store-mark';

/** How many steps the store's form has taken: all of them in a new store; for an older one see `store-steps.ts`. */
export const storeForm = { key: 'store-form', newest: 1 };

/** The store's id, 64 hexadecimal digits. Undefined: no bot of this release has started on it. Throws SealBroken. */
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
 * Proves that a process may work on this store: its key opens what the first bot sealed. With another key every record
 * would be put aside. `sealedBefore`: a record sealed by an earlier release; its first line is the seal.
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
    /** Whether this process may take work. `begin` makes every store's records. Throws StoreUnavailable. */
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
    /** Why this is not the store the process began on; undefined if it is. Throws StoreUnavailable. */
    async lost(): Promise<string | undefined> {
      if (known === undefined) return undefined;
      const entry = await store.read(markKey);
      if (!entry) return 'The store was emptied while the bot ran';
      try {
        return sealer.open(markKey, entry.value) === known
          ? undefined
          : 'The store was replaced while the bot ran';
      } catch {
        // Sealed by a replica with a newer key: the mark is there.
        return undefined;
      }
    },
  };
}

export type StoreMark = ReturnType<typeof createStoreMark>;

const wrongKey =
  'The sealing keys do not open what this store holds: SEALING_KEYS lacks the key that sealed it, or sealing.key in DATA_DIR is another file. Put that key back, behind the first one.';

/** How to end the state *lost*. */
export const lostFix =
  'Stop the bots, restore the store from a backup, and start them again. To go on with the store as it is, restart every bot.';
