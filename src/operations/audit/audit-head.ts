import type { Log } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import {
  believed,
  endOf,
  headKey,
  readBlock,
  readHeadMark,
  signMark,
  type Mark,
  type Tail,
} from './audit-blocks.ts';
import type { Sealer } from '../../domain/sealer.ts';

type HeadDeps = { store: Pick<Store, 'create' | 'read' | 'write'>; sealer: Sealer; log: Log };

/**
 * The signed record of how far the chain went. It moves only along the chain: one that says what the chain does not
 * hold stays as it is for ever, because it is what shows that the chain's end was cut off or written anew.
 */
export type HeadMark = {
  /** Forward to this tail, unless it is there already. Throws StoreUnavailable. */
  move(tail: Tail): Promise<void>;
};

export function createHeadMark({ store, sealer, log }: HeadDeps): HeadMark {
  let isTold = false;
  function tellDamage(what: string): void {
    if (isTold) return;
    isTold = true;
    const fix = 'Run npm run audit -- verify, which says where; keep a copy of the store as it is.';
    log('error', `The audit trail was damaged: ${what}. It is written on all the same`, { fix });
  }
  return {
    async move(tail) {
      const entry = await store.read(headKey);
      // It is made before the first block: where there are blocks, somebody removed it.
      if (!entry) return tellDamage(`the record ${headKey} is gone`);
      const mark = readHeadMark(sealer, entry.value);
      if (!(await isOnChain({ store, sealer }, mark))) {
        return tellDamage(`it does not lead on from the record ${headKey}`);
      }
      // Another replica may have moved it further meanwhile.
      if ((mark.said?.seq ?? 0) < tail.seq) await store.write(entry, signMark(sealer, headKey, tail));
    },
  };
}

async function isOnChain(
  deps: { store: Pick<Store, 'read'>; sealer: Sealer },
  mark: Mark<Tail>,
): Promise<boolean> {
  const said = believed(mark);
  if (!said) return false;
  if (said.block < 0) return true;
  const block = await readBlock(deps, said.block);
  const end = block && endOf(block);
  return end?.seq === said.seq && end.hash === said.hash;
}
