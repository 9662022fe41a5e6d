import type { AlertRule } from '../../domain/alert-route.ts';
import type { Environment } from '../../domain/alert.ts';
import {
  emptySummary,
  summarise,
  type StormItem,
  type StormSeen,
  type StormSummary,
} from '../../domain/storm-summary.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { createChangeRecord, type Change, type RecordStore } from '../work/change-record.ts';
import { createChannelStorms, type ChannelStorms, type ChannelStormsDeps } from './channel-storms.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { digestLane } from '../outbox/digest-edits.ts';
import { outboxKey, readOutboxRecord } from '../outbox/outbox.ts';
import { markStale } from '../outbox/outbox-work.ts';
import { storeMessage } from '../outbox/store-message.ts';
import { createPagedLog } from '../work/paged-log.ts';
import {
  countRecovered,
  readChannelStorm,
  readStormId,
  readStormRecord,
  stormPrefix,
  stormRecordPrefix,
  takenOf,
  withRecovered,
  type StormRecord,
} from './storm-records.ts';

export type StormsDeps = Pick<ChannelStormsDeps, 'threshold' | 'windowMs'> & {
  store: RecordStore;
  sealer: Sealer;
  rememberMs: number;
  environment: Environment;
  account: string;
  /** The rules that are muted now and name that channel. */
  mutedIn: (channel: string) => readonly AlertRule[];
  now: () => number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
};

/**
 * The storms of the channels, and what their digests are made of. A storm is a record of its channel’s stream, its items a
 * log, its digest a message of the outbox that is edited as the log grows: all of it durable, and the storm’s own
 * record is the work that ends it. All of it throws StoreUnavailable.
 */
export type Storms = ChannelStorms & {
  /** Counts the item, has the digest follow, and says at which place of the list it stands. */
  add(storm: string, item: StormItem): Promise<number>;
  /** The same for what may be counted since long ago, or come late: the whole list is looked through. */
  addAgain(storm: string, item: StormItem): Promise<number>;
  /**
   * A payment resolved the failure: the digest counts it, and whoever acknowledged the storm is told of the whole in
   * one message. Says who that is. `at`: its place on the list; undefined where its sender does not know it.
   */
  recovered(storm: string, id: string, at: number | undefined): Promise<string | undefined>;
  /** The digest is looked at again: something that it shows has changed. */
  refresh(storm: string): Promise<void>;
  /** Undefined: there is no such storm, or it is forgotten. */
  see(storm: string): Promise<StormSeen | undefined>;
  items(storm: string, page: number): Promise<readonly StormItem[]>;
  /** All of it, each once. */
  allItems(storm: string): Promise<readonly StormItem[]>;
  /** Where the digest stands; undefined while it stands nowhere. */
  place(storm: string): Promise<{ channel: string; ts: string } | undefined>;
  /** False: somebody acknowledged it before. The work of showing it on the messages above the digest follows. */
  take(storm: string, by: string, at: number): Promise<boolean>;
};

export function createStorms(deps: StormsDeps): Storms {
  const { store, sealer, rememberMs: ttlMs } = deps;
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

  /** Tells the storm to its channel, or to one person; a message that stands is edited. */
  async function tell(storm: string, userId?: string): Promise<void> {
    const channel = userId ?? readStormId(storm)?.channel;
    if (channel === undefined) throw new Error('No storm is called so.');
    const key = outboxKey('digest', userId === undefined ? storm : `${storm}:${userId}`);
    if (!(await store.read(key))) {
      const body = { storm, ...withoutUndefined({ to: userId }) };
      const progress = { kind: 'waiting' } as const;
      // A lane of its own: behind a backlog in the channel’s it would come when the storm is over.
      const lane = digestLane(channel);
      if (await storeMessage(deps, key, { kind: 'digest', channel, lane, body, progress }))
        return deps.wake();
    }
    if (await markStale(store, key)) deps.wake();
  }

  function change(storm: string, next: (record: StormRecord) => StormRecord | undefined): Promise<boolean> {
    return changeRecord(stormRecordPrefix + storm, (value): Change<boolean> => {
      const record = next(readStormRecord(value));
      if (!record) return { kind: 'keep', result: false };
      const text = JSON.stringify(record);
      return record.taken?.isShown === false
        ? { kind: 'write', value: text, delayMs: 0, result: true }
        : { kind: 'write', value: text, ttlMs, result: true };
    });
  }

  async function add(storm: string, item: StormItem): Promise<number> {
    const at = await list.add(storm, item);
    await tell(storm);
    return at;
  }

  return {
    ...createChannelStorms({
      ...deps,
      tell,
      summaryOf: async (storm) => (await list.head(storm))?.summary,
    }),
    add,

    async addAgain(storm, item) {
      const at = await list.indexOf(storm, item.id);
      if (at < 0) return await add(storm, item);
      await tell(storm);
      return at;
    },

    async recovered(storm, id, known) {
      const at = known ?? (await list.indexOf(storm, id));
      // Not counted yet: whoever counts it asks whether it is resolved.
      if (at < 0) return undefined;
      await change(storm, (record) => withRecovered(record, at));
      await tell(storm);
      const taken = await takenOf(store, storm);
      if (taken) await tell(storm, taken.by);
      return taken?.by;
    },

    refresh: (storm) => tell(storm),

    async see(storm) {
      const named = readStormId(storm);
      if (!named) return undefined;
      const { channel, stream, gathers } = named;
      const [head, state, record] = await Promise.all([
        list.head(storm),
        store.read(stormPrefix + stream),
        store.read(stormRecordPrefix + storm),
      ]);
      if (!head) return undefined;
      const { taken, ...counts } = readStormRecord(record?.value);
      return {
        id: storm,
        gathers,
        count: head.count,
        summary: head.summary,
        isOver: !state || readChannelStorm(state.value).storm?.id !== storm,
        recovered: countRecovered(counts),
        muted: deps.mutedIn(channel),
        ...(taken ? { taken: { by: taken.by, at: taken.at } } : {}),
        environment: deps.environment,
        account: deps.account,
      };
    },

    items: (storm, page) => list.page(storm, page),
    allItems: (storm) => list.all(storm),

    async place(storm) {
      const entry = await store.read(outboxKey('digest', storm));
      return entry && readOutboxRecord(entry.value).posted;
    },

    take: (storm, by, at) =>
      change(storm, (record) =>
        record.taken ? undefined : { ...record, taken: { by, at, isShown: false } },
      ),
  };
}
