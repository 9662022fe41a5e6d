import { setImmediate as breathe } from 'node:timers/promises';
import type { Lookup } from '../../domain/alert.ts';
import { loggedEvent, type LoggedEvent } from '../../domain/logged-event.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Log } from '../../log.ts';
import type { RecordStore } from '../work/change-record.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { sealingKeyFix } from '../work/put-aside.ts';
import { createPagedLog } from '../work/paged-log.ts';

/** The events of one hour, by when they were received: `hourMs` is when it began, UTC. */
export type LoggedHour = { hourMs: number; events: readonly LoggedEvent[] };

/** What came within the last week, for rehearsals and summaries; see `LoggedEvent` for what is kept of it. */
export type EventLog = {
  /**
   * Called by whoever works the event's own record, before anything of it is told. Throws StoreUnavailable alone:
   * a log that cannot be read must not keep an alert from its channel.
   */
  add(event: PaymentEvent, receivedAtMs: number, lookup?: Lookup): Promise<void>;
  /**
   * The hours between the two times, oldest first, each event once, hours without any left out. An hour that
   * nobody can open is told in the log and left out too. Lets other work through between two hours. Throws
   * StoreUnavailable.
   */
  between(fromMs: number, untilMs: number): AsyncGenerator<LoggedHour>;
};

export const rehearsedMs = 7 * 86_400_000;
const hourMs = 3_600_000;
/** A day more than is ever read, so that the oldest hour read is whole. */
const keptMs = 8 * 86_400_000;

/**
 * One log for each UTC hour, under the hour that the event was received in, whoever adds it and whenever: so an
 * event that is added again, after a crash and by another replica, meets itself in the same log. When more came in
 * between than the log looks back on, it stands there twice and is read once.
 */
export function createEventLog(deps: {
  store: RecordStore;
  sealer: Sealer;
  now: () => number;
  log: Log;
}): EventLog {
  const { store, sealer, now, log } = deps;
  const hours = createPagedLog<LoggedEvent, undefined>({
    store,
    sealer,
    prefix: 'event-log:',
    ttlMs: keptMs,
    idOf: ({ id }) => id,
    empty: undefined,
    summarise: () => undefined,
  });

  return {
    async add(event, receivedAtMs, lookup) {
      const name = nameOf(receivedAtMs);
      try {
        await hours.add(name, { ...loggedEvent(event, receivedAtMs, lookup), loggedAtMs: now() });
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        log('error', 'an event is missing in the log of its hour', { key: name, fix: sealingKeyFix }, error);
      }
    },

    async *between(fromMs, untilMs) {
      const first = Math.floor(fromMs / hourMs) * hourMs;
      for (let atMs = first; atMs < untilMs; atMs += hourMs) {
        // oxlint-disable-next-line no-await-in-loop -- an hour at a time is what keeps this from holding up others
        const all = await readHour(nameOf(atMs));
        // oxlint-disable-next-line no-await-in-loop
        await breathe();
        const events = all.filter(({ receivedAtMs }) => receivedAtMs >= fromMs && receivedAtMs < untilMs);
        if (events.length > 0) yield { hourMs: atMs, events };
      }
    },
  };

  async function readHour(name: string): Promise<readonly LoggedEvent[]> {
    try {
      return await hours.all(name);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      log(
        'error',
        'the events of an hour cannot be read; they are left out',
        { key: name, fix: sealingKeyFix },
        error,
      );
      return [];
    }
  }
}

/** `2026-11-21T10` */
function nameOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 13);
}
