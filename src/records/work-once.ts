import type { Entry, Store } from '../store/store.ts';

/** Whose work a record is, by how its key begins. */
export type Kind = {
  prefix: string;
  work: (entry: Entry) => Promise<void>;
  /**
   * Does before its turn what need not wait for it, and keeps that with the record, which is given as it stands then.
   * Undefined: it is not ready, and what is behind it must wait, for which its `work` then ends the lane's lease.
   */
  ahead?: (entry: Entry) => Promise<Entry | undefined>;
};

export type WorkOnceDeps = {
  store: Pick<Store, 'take' | 'write'>;
  /** Longer than any kind of work takes. */
  leaseMs: number;
  /** The first that fits. */
  kinds: readonly Kind[];
  /** Of lanes whose names begin so, so many records are taken at once, for what can be done ahead; absent: one of any. */
  together?: { lanes: string; most: number; now: () => number };
};

/**
 * Takes one due record and hands it to its kind; false when nothing was due. Throws what that work throws:
 * the record is then due again when its lease ends.
 */
export async function workOnce(deps: WorkOnceDeps): Promise<boolean> {
  const { lanes = '', most = 1, now = () => 0 } = deps.together ?? {};
  const [first, ...others] = await deps.store.take(deps.leaseMs, most, lanes);
  if (!first) return false;
  if (others.length === 0) await work(deps, first);
  else await workInTurn(deps, now, [first, ...others]);
  return true;
}

/**
 * For all of them at once what can be done ahead, and the rest one after the other, up to the first that is not ready,
 * and only while the lease is sure to hold: or another replica would be given what comes after it first.
 * What is behind is left as it was taken: it keeps its place, and its lease ends with the lane's.
 */
async function workInTurn(deps: WorkOnceDeps, now: () => number, taken: readonly Entry[]): Promise<void> {
  const done = await Promise.all(
    taken.map(async (entry) => ({ entry, ready: await (kindOf(deps, entry)?.ahead?.(entry) ?? entry) })),
  );
  const heldAtMs = now();
  for (const { entry, ready } of done) {
    if (now() - heldAtMs > deps.leaseMs / 2) return;
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await work(deps, ready ?? entry);
    if (!ready) return;
  }
}

async function work(deps: WorkOnceDeps, entry: Entry): Promise<void> {
  const kind = kindOf(deps, entry);
  if (!kind) throw new Error('Work of no known kind is due.');
  await kind.work(entry);
}

function kindOf({ kinds }: WorkOnceDeps, { key }: Entry): Kind | undefined {
  return kinds.find(({ prefix }) => key.startsWith(prefix));
}
