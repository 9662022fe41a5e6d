import type { Destination } from '../../domain/alert-route.ts';
import type { PaymentEventKind } from '../../domain/payment-event.ts';
import {
  afterStorm,
  arrivalOf,
  arrive,
  calm,
  endsAtMs,
  tellSingly,
  type ChannelStorm,
} from '../../domain/storm.ts';
import { lastStormyMs, type StormSummary } from '../../domain/storm-summary.ts';
import type { Entry } from '../../store/store.ts';
import { createChangeRecord, type Change, type RecordStore } from '../work/change-record.ts';
import {
  readChannelStorm,
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

/** Puts an alert that was told before the storm began on its list; see `TakeStorm`. */
export type ListAbove = { list(storm: string, key: string): Promise<boolean> };

/**
 * The storm state of each channel, one record for its failures and one for its payments, which is the work of ending
 * that storm. All of it throws StoreUnavailable.
 */
export type ChannelStorms = {
  /** The alert of that record has come for that channel: it counts from now on, whenever Slack lets it be posted. */
  arrived(to: Destination, key: string, gathers: PaymentEventKind): Promise<void>;
  /** The storm that tells it, when it is about to be posted; undefined: its own message does. */
  ask(to: Destination, key: string, gathers: PaymentEventKind): Promise<string | undefined>;
  /** What the channel has seen of late. */
  channel(channel: string, gathers: PaymentEventKind): Promise<ChannelStorm>;
  /** For work of the prefix `stormPrefix`. */
  work(entry: Entry, above: ListAbove): Promise<void>;
};

/** By then what was about to be posted when a storm began mostly stands, and can be listed. */
const listAgainMs = 1_000;
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
        const checkMs = Math.max(0, next.checkAtMs - now());
        const delayMs = next.storm.above.length > 0 ? Math.min(checkMs, listAgainMs) : checkMs;
        return { kind: 'write', value: text, delayMs, result };
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

  function count(
    { channel, rule }: Destination,
    key: string,
    gathers: PaymentEventKind,
    isTold: boolean,
  ): Promise<string | undefined> {
    const arrival = arrivalOf(rule, key, deps.threshold);
    if (arrival.threshold === 0) return Promise.resolve(undefined);
    const stream = streamOf(channel, gathers);
    return change(stream, (stored) => {
      const nowMs = now();
      const verdict = arrive(stored, arrival, { nowMs, windowMs, newStorm: stormId(stream, nowMs) });
      const { storm, begins } = verdict;
      const checkAtMs = begins ? nowMs + windowMs : stored.checkAtMs;
      const counted = verdict.next ?? stored;
      const next = isTold && storm === undefined ? tellSingly(counted, key) : verdict.next;
      return { ...(next ? { next: { ...next, checkAtMs } } : {}), result: storm };
    });
  }

  /** Those told singly before the storm began: each is listed once its message stands. */
  async function listAbove(stream: string, { storm }: StoredChannelStorm, above: ListAbove): Promise<void> {
    if (!storm || storm.above.length === 0) return;
    const isListed = await Promise.all(storm.above.map((key) => above.list(storm.id, key)));
    const done = storm.above.filter((_, index) => isListed[index]);
    await change(stream, (stored) => {
      if (stored.storm?.id !== storm.id) return { result: undefined };
      const left = stored.storm.above.filter((key) => !done.includes(key));
      return { next: { ...stored, storm: { ...stored.storm, above: left } }, result: undefined };
    });
  }

  return {
    async arrived(to, key, gathers) {
      await count(to, key, gathers, false);
    },

    ask: (to, key, gathers) => count(to, key, gathers, true),

    async channel(channel, gathers) {
      const entry = await store.read(stormPrefix + streamOf(channel, gathers));
      return entry ? readChannelStorm(entry.value) : calm;
    },

    async work(entry, above) {
      const stream = entry.key.slice(stormPrefix.length);
      const stored = readChannelStorm(entry.value);
      const { ended } = stored;
      if (!ended || ended.isTold) {
        await listAbove(stream, stored, above);
        return now() < stored.checkAtMs ? undefined : await end(stream, stored);
      }
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
