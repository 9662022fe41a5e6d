import { withLookUp } from '../../domain/alert-route.ts';
import type { NoteAudit } from '../../domain/audit-note.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { itemOf, type StormRow } from '../../domain/storm-summary.ts';
import type { Entry } from '../../store/store.ts';
import type { AlertCards } from '../alert/alert-cards.ts';
import { openEvent, openEvidence, readOutboxRecord } from '../outbox/outbox.ts';
import type { RecordStore } from '../work/change-record.ts';
import { readStormRecord, stormRecordPrefix, takenOf } from './storm-records.ts';
import type { Storms } from './storms.ts';

export type TakeStormDeps = {
  store: RecordStore;
  sealer: Sealer;
  storms: Pick<Storms, 'see' | 'items' | 'allItems' | 'addAgain' | 'recovered' | 'refresh' | 'take'>;
  cards: Pick<AlertCards, 'read' | 'joinStorm' | 'retell'>;
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

/** What a storm and the cards of its alerts have to do with each other. All of it throws StoreUnavailable. */
export type TakeStorm = {
  /**
   * One decision on all replicas, and one field of the storm, which every card of it reads: those told above the digest
   * too, and what is still to come.
   */
  acknowledge(storm: string, by: string): Promise<TakenStorm>;
  /** The items of one page with their cards as they are now. */
  rows(storm: string, page: number): Promise<readonly StormRow[]>;
  /** Puts an alert that was told before the storm began on its list. False: it is still on its way to its channel. */
  list(storm: string, key: string): Promise<boolean>;
  /** For work of the prefix `stormRecordPrefix`. */
  work(entry: Entry): Promise<void>;
};

const retoldAtOnce = 50;

export function createTakeStorm(deps: TakeStormDeps): TakeStorm {
  const { store, sealer, storms, cards, now } = deps;

  return {
    async acknowledge(storm, by) {
      const seen = await storms.see(storm);
      // Payments ask nobody for anything.
      if (seen?.gathers !== 'payment_failed') return { kind: 'unknown_storm' };
      const at = now();
      if (!(await storms.take(storm, by, at))) {
        const had = (await takenOf(store, storm)) ?? { by, at };
        return { kind: 'had', ...had, isOver: seen.isOver };
      }
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
    },

    async rows(storm, page) {
      const items = await storms.items(storm, page);
      return await Promise.all(
        items.map(async (item) => ({ ...item, card: (await cards.read(item.id)).card })),
      );
    },

    async list(storm, key) {
      const entry = await store.read(key);
      if (!entry) return true;
      const record = readOutboxRecord(entry.value);
      // Its message never came to stand, and the storm took it in.
      if (record.digest) return true;
      if (!record.posted) return false;
      const event = openEvent(sealer, key, record);
      const lookup = openEvidence(sealer, key, record)?.lookup;
      const times = { receivedAtMs: record.receivedAtMs, addedAtMs: now() };
      const known = lookup ? withLookUp(event, lookup) : event;
      const item = itemOf(known, times, lookup?.kind === 'confirmed');
      const at = await storms.addAgain(storm, { ...item, isAbove: true });
      if (event.kind !== 'payment_failed') return true;
      await cards.joinStorm(event.key, { storm, at });
      if ((await cards.read(event.key)).card.kind === 'recovered')
        await storms.recovered(storm, event.key, at);
      return true;
    },

    async work(entry) {
      const storm = entry.key.slice(stormRecordPrefix.length);
      const record = readStormRecord(entry.value);
      const { taken } = record;
      const items = await storms.allItems(storm);
      // Above the digest, or in another channel: what has no message has no card record either, and is not made work.
      for (let from = 0; from < items.length; from += retoldAtOnce) {
        // oxlint-disable-next-line no-await-in-loop -- some at a time, so that the store answers others in between
        await Promise.all(items.slice(from, from + retoldAtOnce).map(({ id }) => cards.retell(id)));
      }
      await storms.refresh(storm);
      const shown = taken ? { ...record, taken: { ...taken, isShown: true } } : record;
      await store.write(entry, JSON.stringify(shown), { ttlMs: deps.rememberMs });
      deps.wake();
    },
  };
}
