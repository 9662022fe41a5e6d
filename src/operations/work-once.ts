import type { Log } from '../log.ts';
import type { Entry, Store } from '../store/store.ts';
import { keepForLater } from './keep-for-later.ts';

export type WorkOnceDeps = {
  store: Pick<Store, 'take' | 'write'>;
  /** Longer than any kind of work takes. */
  leaseMs: number;
  /** Whose work a record is, by how its key begins; the first that fits. */
  kinds: readonly { prefix: string; work: (entry: Entry) => Promise<void> }[];
  log: Log;
};

/**
 * Takes one due record and hands it to its kind; false when nothing was due. Throws what that work throws:
 * the record is then due again when its lease ends. A record of no known kind, as a newer release may have
 * left it, is kept, put off ever longer, and logged the first time.
 */
export async function workOnce(deps: WorkOnceDeps): Promise<boolean> {
  const [entry] = await deps.store.take(deps.leaseMs);
  if (!entry) return false;
  const kind = deps.kinds.find(({ prefix }) => entry.key.startsWith(prefix));
  if (kind) await kind.work(entry);
  else await putOff(deps, entry);
  return true;
}

async function putOff(deps: WorkOnceDeps, entry: Entry): Promise<void> {
  if (entry.attempts === 1) {
    const fix = 'Run the release that wrote it, or a newer one.';
    deps.log('error', 'work of an unknown kind is due; it is kept', { key: entry.key, fix });
  }
  await keepForLater(deps, entry);
}
