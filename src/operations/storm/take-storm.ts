import type { NoteAudit } from '../../domain/audit-note.ts';
import type { StormRow, StormTaken } from '../../domain/storm-summary.ts';
import type { Entry, Store } from '../../store/store.ts';
import type { AlertCards } from '../alert/alert-cards.ts';
import { itemsPerPage } from '../work/paged-log.ts';
import { readStormTaken, stormTakenPrefix, type StoredStormTaken } from './storm-records.ts';
import type { Storms } from './storms.ts';

export type TakeStormDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  storms: Pick<Storms, 'see' | 'items' | 'refresh'>;
  cards: Pick<AlertCards, 'move' | 'read'>;
  rememberMs: number;
  now: () => number;
  wake: () => void;
  /** Writes into the audit, in the background; absent: nothing is written down. */
  note?: NoteAudit;
};

export type TakenStorm =
  | { kind: 'taken'; count: number }
  /** Somebody had it before; `by` may be who asks. */
  | { kind: 'had'; by: string; at: number; isOver: boolean }
  | { kind: 'unknown_storm' };

/** *Acknowledge all* of a storm, and what its list shows of each card. All of it throws StoreUnavailable. */
export type TakeStorm = {
  /**
   * One decision on all replicas. Whoever takes a storm on takes all of it, what is still to come too: it is one
   * incident, and nobody should press again for each alert. The cards follow as work that survives a crash.
   */
  acknowledge(storm: string, by: string): Promise<TakenStorm>;
  /** The items of one page with their cards as they are now. */
  rows(storm: string, page: number): Promise<readonly StormRow[]>;
  /** For work of the prefix `stormTakenPrefix`. */
  work(entry: Entry): Promise<void>;
};

/** How soon a storm that goes on is looked at for what has come since. */
const againMs = 5_000;
/** Longer than anybody may hold an alert that is about to be added: then nothing comes any more. */
const lateMs = 600_000;

export function createTakeStorm(deps: TakeStormDeps): TakeStorm {
  const { store, storms, cards } = deps;

  /** From where the cursor stands to the end of its page. Acknowledged already: somebody was first, and stays it. */
  async function tellPage({
    taken,
    storm,
    count,
  }: {
    taken: StoredStormTaken;
    storm: string;
    count: number;
  }): Promise<StoredStormTaken> {
    const items = await storms.items(storm, taken.page);
    const isForgotten = items.length === 0 && (taken.page + 1) * itemsPerPage <= count;
    // Older than what is remembered, in a storm that goes on: its cards are forgotten too, and it is passed by.
    if (isForgotten)
      return { ...taken, page: taken.page + 1, index: 0, done: taken.done + itemsPerPage - taken.index };
    const due = items.slice(taken.index);
    await Promise.all(due.map(({ id }) => cards.move(id, { kind: 'acknowledge', by: taken.by })));
    const done = taken.done + due.length;
    return items.length < itemsPerPage
      ? { ...taken, index: items.length, done }
      : { ...taken, page: taken.page + 1, index: 0, done };
  }

  return {
    async acknowledge(storm, by) {
      const seen = await storms.see(storm);
      // Payments ask nobody for anything.
      if (seen?.gathers !== 'payment_failed') return { kind: 'unknown_storm' };
      const key = stormTakenPrefix + storm;
      const at = deps.now();
      const taken: StoredStormTaken = { by, at, page: 0, index: 0, done: 0 };
      if (await store.create(key, JSON.stringify(taken), { delayMs: 0 })) {
        deps.note?.({
          what: 'step',
          who: by,
          reference: storm,
          result: 'storm_acknowledged',
          reason: `${seen.count} alerts`,
        });
        await storms.refresh(storm);
        deps.wake();
        return { kind: 'taken', count: seen.count };
      }
      const first = await store.read(key);
      const had: StormTaken = first ? readStormTaken(first.value) : taken;
      return { kind: 'had', by: had.by, at: had.at, isOver: seen.isOver };
    },

    async rows(storm, page) {
      const items = await storms.items(storm, page);
      return await Promise.all(
        items.map(async (item) => ({ ...item, card: (await cards.read(item.id)).card })),
      );
    },

    async work(entry) {
      const storm = entry.key.slice(stormTakenPrefix.length);
      const taken = readStormTaken(entry.value);
      const seen = await storms.see(storm);
      if (seen && taken.done < seen.count) {
        // A crash in between does the page again, whose cards are acknowledged by then.
        const next = await tellPage({ taken, storm, count: seen.count });
        await store.write(entry, JSON.stringify(next), { delayMs: 0 });
        await storms.refresh(storm);
        deps.wake();
        return;
      }
      const isLate = seen && deps.now() - seen.summary.lastAddedMs < lateMs;
      const mayGrow = seen !== undefined && (!seen.isOver || isLate === true);
      const delayMs = seen?.isOver === true ? 12 * againMs : againMs;
      await store.write(entry, entry.value, mayGrow ? { delayMs } : { ttlMs: deps.rememberMs });
    },
  };
}
