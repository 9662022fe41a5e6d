import type { Destination } from '../../domain/alert-route.ts';
import type { PaymentEventKind } from '../../domain/payment-event.ts';
import { afterStorm, arrivalOf, arrive, calm, endsAtMs, type ChannelStorm } from '../../domain/storm.ts';
import { lastStormyMs, type StormSummary } from '../../domain/storm-summary.ts';
import type { Entry } from '../../store/store.ts';
import { createChangeRecord, type Change, type RecordStore } from '../work/change-record.ts';
import {
  readChannelStorm,
  shortName,
  stormId,
  stormPrefix,
  streamOf,
  type StoredChannelStorm,
} from './storm-records.ts';

export type ChannelStormsDeps = {
  store: RecordStore;
  /** Alerts of one channel that pass singly in a window, where no rule says otherwise; 0: all of them. */
  threshold: number;
  /** The window they are counted in, and how long no more than a few come before a storm is over. */
  windowMs: number;
  /** What has come to that storm; undefined: nothing yet. */
  summaryOf: (storm: string) => Promise<StormSummary | undefined>;
  /** Its digest is to say that it is over. */
  tell: (storm: string) => Promise<void>;
  now: () => number;
};

export type AskedStorm =
  | { kind: 'single' }
  /** `begins`: it is the first of its storm. */
  | { kind: 'digest'; storm: string; begins: boolean };

/**
 * The storm state of each channel, one record for its failures and one for its payments, which is the work of ending
 * that storm. All of it throws StoreUnavailable.
 */
export type ChannelStorms = {
  /** Whether the alert of that record is posted on its own. Asked again, as after a crash, it answers the same. */
  ask(to: Destination, key: string, gathers: PaymentEventKind): Promise<AskedStorm>;
  /** What the channel has seen of late. */
  channel(channel: string, gathers: PaymentEventKind): Promise<ChannelStorm>;
  /** For work of the prefix `stormPrefix`. */
  work(entry: Entry): Promise<void>;
};

/** So long after its end a channel’s last storm is spoken of. */
const spokenOfMs = 86_400_000;

export function createChannelStorms(deps: ChannelStormsDeps): ChannelStorms {
  const { store, windowMs, now } = deps;
  const changeRecord = createChangeRecord(store);

  function change<Result>(
    stream: string,
    judge: (stored: StoredChannelStorm) => { next?: StoredChannelStorm; result: Result },
  ): Promise<Result> {
    return changeRecord(stormPrefix + stream, (value): Change<Result> => {
      const { next, result } = judge(
        value === undefined ? { ...calm, checkAtMs: 0 } : readChannelStorm(value),
      );
      if (!next) return { kind: 'keep', result };
      const text = JSON.stringify(next);
      if (next.ended && !next.ended.isTold) return { kind: 'write', value: text, delayMs: 0, result };
      if (next.storm) {
        return { kind: 'write', value: text, delayMs: Math.max(0, next.checkAtMs - now()), result };
      }
      return { kind: 'write', value: text, ttlMs: Math.max(windowMs, spokenOfMs), result };
    });
  }

  async function end(stream: string, { storm }: StoredChannelStorm): Promise<void> {
    const summary = storm && (await deps.summaryOf(storm.id));
    const lastMs = summary && lastStormyMs(summary);
    await change(stream, (stored) => {
      if (!stored.storm || stored.storm.id !== storm?.id) return { next: stored, result: undefined };
      const checkAtMs = endsAtMs(stored.storm, lastMs, windowMs);
      const next = checkAtMs > now() ? stored : afterStorm(stored, now());
      return { next: { ...next, checkAtMs }, result: undefined };
    });
  }

  return {
    ask({ channel, rule }, key, gathers) {
      const arrival = arrivalOf(rule, shortName(key), deps.threshold);
      if (arrival.threshold === 0) return Promise.resolve({ kind: 'single' });
      const stream = streamOf(channel, gathers);
      return change<AskedStorm>(stream, (stored) => {
        const nowMs = now();
        const verdict = arrive(stored, arrival, { nowMs, windowMs, newStorm: stormId(stream, nowMs) });
        const { storm, begins, next } = verdict;
        const checkAtMs = begins ? nowMs + windowMs : stored.checkAtMs;
        return {
          ...(next ? { next: { ...next, checkAtMs } } : {}),
          result: storm === undefined ? { kind: 'single' } : { kind: 'digest', storm, begins },
        };
      });
    },

    async channel(channel, gathers) {
      const entry = await store.read(stormPrefix + streamOf(channel, gathers));
      return entry ? readChannelStorm(entry.value) : calm;
    },

    async work(entry) {
      const stream = entry.key.slice(stormPrefix.length);
      const stored = readChannelStorm(entry.value);
      const { ended } = stored;
      if (!ended || ended.isTold) return await end(stream, stored);
      // Told first: a crash in between tells it again, which changes nothing.
      await deps.tell(ended.id);
      await change(stream, (current) => {
        const isSame = current.ended?.id === ended.id;
        return {
          next: isSame ? { ...current, ended: { ...ended, isTold: true } } : current,
          result: undefined,
        };
      });
    },
  };
}
