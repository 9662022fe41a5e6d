import type { RoutePlan } from '../../domain/alert-route.ts';
import type { Lookup } from '../../domain/alert.ts';
import { loggedEvent, type LoggedEvent } from '../../domain/logged-event.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { nothingRehearsed, rehearseHour, type Rehearsal, type StormTerms } from '../../domain/rehearsal.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { pagesOf } from '../../records/change-record.ts';
import { sealingKeyFix } from '../../records/put-aside.ts';

/** What came within the last week, for rehearsals and summaries; see `LoggedEvent` for what is kept of it. */
export type EventLog = {
  /**
   * Called by whoever works the event's own record, before anything of it is told. Again for the same event: nothing
   * changes. Throws StoreUnavailable.
   */
  add(event: PaymentEvent, receivedAtMs: number, lookup?: Lookup): Promise<void>;
  /**
   * The events received from the one time up to and without the other, oldest first, an hour (UTC) at a time, hours
   * without any left out. Those that cannot be opened are told in the log and left out. Throws StoreUnavailable.
   */
  between(fromMs: number, untilMs: number): AsyncGenerator<{ events: readonly LoggedEvent[] }>;
};

export const rehearsedMs = 7 * 86_400_000;
/** A day more than is ever read. */
const keptMs = rehearsedMs + 86_400_000;
const list = 'events';
const hourMs = 3_600_000;

/** One record for each event, sealed, in one list by when it was received. */
export function createEventLog(deps: {
  store: Pick<Store, 'create' | 'list'>;
  sealer: Sealer;
  now: () => number;
  log: Log;
}): EventLog {
  const { store, sealer, now, log } = deps;

  function openIfPossible(key: string, value: string): LoggedEvent[] {
    try {
      return [JSON.parse(sealer.open(key, value)) as LoggedEvent];
    } catch (error) {
      log(
        'error',
        'an event of the last week cannot be read; it is left out',
        { key, fix: sealingKeyFix },
        error,
      );
      return [];
    }
  }

  return {
    async add(event, receivedAtMs, lookup) {
      const key = `event:${event.key}`;
      const logged = { ...loggedEvent(event, receivedAtMs, lookup), loggedAtMs: now() };
      const index = { [list]: receivedAtMs };
      await store.create(key, sealer.seal(key, JSON.stringify(logged)), { ttlMs: keptMs, index });
    },

    async *between(fromMs, untilMs) {
      let hour: LoggedEvent[] = [];
      pages: for await (const entries of pagesOf(store, list, { from: fromMs })) {
        for (const event of entries.flatMap(({ key, value }) => openIfPossible(key, value))) {
          if (event.receivedAtMs >= untilMs) break pages;
          const [first = event] = hour;
          if (hourOf(first) !== hourOf(event)) {
            yield { events: hour };
            hour = [];
          }
          hour.push(event);
        }
      }
      if (hour.length > 0) yield { events: hour };
    },
  };
}

function hourOf({ receivedAtMs }: LoggedEvent): number {
  return Math.floor(receivedAtMs / hourMs);
}

/**
 * What the plan would have told in the last 7 days, by the very functions that route events. Reads the whole log:
 * about a second for a hundred thousand events, in pieces that keep nobody else waiting. Throws StoreUnavailable.
 */
export async function rehearse(
  eventLog: Pick<EventLog, 'between'>,
  plan: RoutePlan,
  terms: StormTerms,
  nowMs: number,
): Promise<Rehearsal> {
  let rehearsal = nothingRehearsed;
  for await (const { events } of eventLog.between(nowMs - rehearsedMs, nowMs + 1)) {
    rehearsal = rehearseHour(plan, rehearsal, events, terms);
  }
  return rehearsal;
}
