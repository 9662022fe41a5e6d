import { createHash } from 'node:crypto';
import type { AlertRule } from '../domain/alert-route.ts';
import type { Environment } from '../domain/alert.ts';
import { afterStorm, arrive, calm, endsAtMs, type ChannelStorm } from '../domain/storm.ts';
import {
  emptySummary,
  summarise,
  type StormItem,
  type StormSeen,
  type StormSummary,
} from '../domain/storm-summary.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { Entry } from '../store/store.ts';
import { createChangeRecord, type Change, type RecordStore } from './change-record.ts';
import { outboxKey, readOutboxRecord, writeOutboxRecord, type DigestBody, type Sealer } from './outbox.ts';
import { markStale } from './outbox-work.ts';
import { createPagedLog } from './paged-log.ts';
import {
  channelOfStorm,
  readChannelStorm,
  readStormTaken,
  stormId,
  stormPrefix,
  stormTakenPrefix,
  type StoredChannelStorm,
} from './storm-records.ts';

export type StormsDeps = {
  store: RecordStore;
  sealer: Sealer;
  /** Alerts of one channel that pass singly in a window, where no rule says otherwise; 0: all of them. */
  threshold: number;
  /** The window they are counted in, and how long a channel is quiet before its storm is over. */
  windowMs: number;
  rememberMs: number;
  environment: Environment;
  account: string;
  now: () => number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
};

export type AskedStorm =
  | { kind: 'single' }
  /** `begins`: it is the first of its storm. */
  | { kind: 'digest'; storm: string; begins: boolean };

/**
 * The storms of the channels, and what their digests are made of. A storm is a record of its channel, its items a
 * log, its digest a message of the outbox that is edited as the log grows: all of it durable, and the storm’s own
 * record is the work that ends it. All of it throws StoreUnavailable.
 */
export type Storms = {
  /** Whether the alert of that record is posted on its own. Asked again, as after a crash, it answers the same. */
  ask(channel: string, rule: AlertRule | undefined, key: string): Promise<AskedStorm>;
  /** Counts the item once, though it be added again after a crash, and has the digest follow. */
  add(storm: string, item: StormItem): Promise<void>;
  /** A payment made the failure good: the digest counts it, and each of these people is told of the whole, in one message. */
  recovered(storm: string, id: string, userIds: readonly string[]): Promise<void>;
  /** The digest is looked at again: something that it shows has changed. */
  refresh(storm: string): Promise<void>;
  /** Undefined: there is no such storm, or it is forgotten. */
  see(storm: string): Promise<StormSeen | undefined>;
  items(storm: string, page: number): Promise<readonly StormItem[]>;
  /** Where the digest stands; undefined while it stands nowhere. */
  place(storm: string): Promise<{ channel: string; ts: string } | undefined>;
  /** What the channel has seen of late. */
  channel(channel: string): Promise<ChannelStorm>;
  /** For work of the prefix `stormPrefix`. */
  work(entry: Entry): Promise<void>;
};

/** So long after its end a channel’s last storm is spoken of. */
const spokenOfMs = 86_400_000;

export function createStorms(deps: StormsDeps): Storms {
  const { store, sealer, windowMs, rememberMs: ttlMs, now } = deps;
  const changeRecord = createChangeRecord(store);
  const list = createPagedLog<StormItem, StormSummary>({
    store,
    sealer,
    prefix: 'storm-list:',
    ttlMs,
    idOf: ({ id }) => id,
    empty: emptySummary,
    summarise,
  });
  const recoveries = createPagedLog<{ id: string }, null>({
    store,
    sealer,
    prefix: 'storm-recovered:',
    ttlMs,
    idOf: ({ id }) => id,
    empty: null,
    summarise: () => null,
  });

  function change<Result>(
    channel: string,
    judge: (stored: StoredChannelStorm) => { next?: StoredChannelStorm; result: Result },
  ): Promise<Result> {
    return changeRecord(stormPrefix + channel, (value): Change<Result> => {
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

  /** The message that tells the storm to a channel, or to one person; a message that stands is edited. */
  async function tell(storm: string, userId?: string): Promise<void> {
    const channel = userId ?? channelOfStorm(storm);
    if (channel === undefined) throw new Error('No storm is called so.');
    const key = outboxKey('digest', userId === undefined ? storm : `${storm}:${userId}`);
    if (!(await store.read(key))) {
      const body: DigestBody = { storm, ...withoutUndefined({ to: userId }) };
      const record = writeOutboxRecord({
        kind: 'digest',
        channel,
        fingerprint: '',
        receivedAtMs: now(),
        sealed: sealer.seal(key, JSON.stringify(body)),
        misses: 0,
        progress: { kind: 'waiting' },
      });
      // A lane of its own: behind a backlog in the channel’s it would come when the storm is over.
      if (await store.create(key, record, { delayMs: 0, lane: `digest:${channel}` })) return deps.wake();
    }
    if (await markStale(store, key)) deps.wake();
  }

  async function end(channel: string, { storm }: StoredChannelStorm): Promise<void> {
    const head = storm && (await list.head(storm.id));
    await change(channel, (stored) => {
      if (!stored.storm || stored.storm.id !== storm?.id) return { next: stored, result: undefined };
      const checkAtMs = endsAtMs(stored.storm, head?.summary.lastAddedMs, windowMs);
      const next = checkAtMs > now() ? stored : afterStorm(stored, now());
      return { next: { ...next, checkAtMs }, result: undefined };
    });
  }

  return {
    ask(channel, rule, key) {
      const hasOwn = rule?.digestAfter !== undefined;
      const threshold = rule?.digestAfter ?? deps.threshold;
      if (threshold === 0) return Promise.resolve({ kind: 'single' });
      const arrival = { id: shortName(key), group: hasOwn ? rule.name : '', threshold };
      return change<AskedStorm>(channel, (stored) => {
        const nowMs = now();
        const verdict = arrive(stored, arrival, { nowMs, windowMs, newStorm: stormId(channel, nowMs) });
        const { storm, begins, next } = verdict;
        const checkAtMs = begins ? nowMs + windowMs : stored.checkAtMs;
        return {
          ...(next ? { next: { ...next, checkAtMs } } : {}),
          result: storm === undefined ? { kind: 'single' } : { kind: 'digest', storm, begins },
        };
      });
    },

    async add(storm, item) {
      await list.add(storm, item);
      await tell(storm);
    },

    async recovered(storm, id, userIds) {
      await recoveries.add(storm, { id });
      await tell(storm);
      await Promise.all(userIds.map((userId) => tell(storm, userId)));
    },

    refresh: (storm) => tell(storm),

    async see(storm) {
      const channel = channelOfStorm(storm);
      if (channel === undefined) return undefined;
      const [head, made, state, taken] = await Promise.all([
        list.head(storm),
        recoveries.head(storm),
        store.read(stormPrefix + channel),
        store.read(stormTakenPrefix + storm),
      ]);
      if (!head) return undefined;
      const { environment, account } = deps;
      const { by, at, done } = taken ? readStormTaken(taken.value) : {};
      return {
        id: storm,
        count: head.count,
        summary: head.summary,
        isOver: !state || readChannelStorm(state.value).storm?.id !== storm,
        recovered: made?.count ?? 0,
        ...(by === undefined || at === undefined || done === undefined ? {} : { taken: { by, at, done } }),
        environment,
        account,
      };
    },

    items: (storm, page) => list.page(storm, page),

    async place(storm) {
      const entry = await store.read(outboxKey('digest', storm));
      return entry && readOutboxRecord(entry.value).posted;
    },

    async channel(channel) {
      const entry = await store.read(stormPrefix + channel);
      return entry ? readChannelStorm(entry.value) : calm;
    },

    async work(entry) {
      const channel = entry.key.slice(stormPrefix.length);
      const stored = readChannelStorm(entry.value);
      const { ended } = stored;
      if (!ended || ended.isTold) return await end(channel, stored);
      // Told first: a crash in between tells it again, which changes nothing.
      await tell(ended.id);
      await change(channel, (current) => {
        const isSame = current.ended?.id === ended.id;
        return {
          next: isSame ? { ...current, ended: { ...ended, isTold: true } } : current,
          result: undefined,
        };
      });
    },
  };
}

/** Enough to know an alert again within one window. */
function shortName(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 12);
}
