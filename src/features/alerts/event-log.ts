import { loggedEvent, type LoggedEvent } from '../../domain/logged-event.ts';
import type { Sealer } from '../../domain/sealer.ts';
import type { Log } from '../../log.ts';
import { pagesOf } from '../../records/change-record.ts';
import { sealingKeyFix } from '../../records/put-aside.ts';
import { isUnreadable } from '../../records/records.ts';
import type { Entry, Store } from '../../store/store.ts';
import { eventsList } from '../../messages/message-record.ts';
import { openKeptEvent } from './kept-event.ts';

/** What came within the last week, for rehearsals and summaries; see `LoggedEvent` for what is told of it. */
export type EventLog = {
  /**
   * The events received from the one time up to and without the other, oldest first, an hour (UTC) at a time, hours
   * without any left out. Those that cannot be opened are told in the log and left out. Throws StoreUnavailable.
   */
  between(fromMs: number, untilMs: number): AsyncGenerator<{ events: readonly LoggedEvent[] }>;
};

const hourMs = 3_600_000;

/** The events' own records, in one list by when they were received. */
export function createEventLog(deps: { store: Pick<Store, 'list'>; sealer: Sealer; log: Log }): EventLog {
  const { store, sealer, log } = deps;

  function openIfPossible(entry: Entry): LoggedEvent[] {
    try {
      const { event, receivedAtMs, lookup } = openKeptEvent(sealer, entry);
      return [loggedEvent(event, receivedAtMs, lookup)];
    } catch (error) {
      const about = { key: entry.key, fix: sealingKeyFix };
      log('error', 'an event of the last week cannot be read; it is left out', about, error);
      return [];
    }
  }

  return {
    async *between(fromMs, untilMs) {
      let hour: LoggedEvent[] = [];
      pages: for await (const entries of pagesOf(store, eventsList, { from: fromMs })) {
        for (const event of entries.flatMap(openIfPossible)) {
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

/** When the newest event was received (UTC ms); undefined: none is known, or its sealing key is gone. */
export async function newestEventMs({
  store,
  sealer,
}: {
  store: Pick<Store, 'list'>;
  sealer: Sealer;
}): Promise<number | undefined> {
  const [newest] = (await store.list(eventsList, { max: 1, newestFirst: true })).entries;
  try {
    return newest && openKeptEvent(sealer, newest).receivedAtMs;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

function hourOf({ receivedAtMs }: LoggedEvent): number {
  return Math.floor(receivedAtMs / hourMs);
}
