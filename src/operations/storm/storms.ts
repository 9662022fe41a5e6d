import type { AlertRule } from '../../domain/alert-route.ts';
import type { Environment } from '../../domain/alert.ts';
import {
  emptySummary,
  summarise,
  type StormItem,
  type StormSeen,
  type StormSummary,
  type StormTaken,
} from '../../domain/storm-summary.ts';
import { createChangeRecord, makeDue, type RecordStore } from '../work/change-record.ts';
import { createChannelStorms, type ChannelStorms, type ChannelStormsDeps } from './channel-storms.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { createPagedLog } from '../work/paged-log.ts';
import { createStormDigests } from './storm-digests.ts';
import { createStormRecoveries } from './storm-recoveries.ts';
import {
  readChannelStorm,
  readStormId,
  readStormTaken,
  stormPrefix,
  stormTakenPrefix,
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
  /** Counts the item, and has the digest follow. */
  add(storm: string, item: StormItem): Promise<void>;
  /** The same for what may be counted since long ago, or come late: the whole list is looked through. */
  addAgain(storm: string, item: StormItem): Promise<void>;
  /** A payment made the failure good: the digest counts it, and each of these people is told of the whole, in one message. */
  recovered(storm: string, id: string, userIds: readonly string[]): Promise<void>;
  /** The digest is looked at again: something that it shows has changed. */
  refresh(storm: string): Promise<void>;
  /** Undefined: there is no such storm, or it is forgotten. `shownIn`: whose mutes it says; absent: its channel’s. */
  see(storm: string, shownIn?: string): Promise<StormSeen | undefined>;
  items(storm: string, page: number): Promise<readonly StormItem[]>;
  /** Where the digest stands; undefined while it stands nowhere. */
  place(storm: string): Promise<{ channel: string; ts: string } | undefined>;
};

export function createStorms(deps: StormsDeps): Storms {
  const { store, sealer, rememberMs: ttlMs } = deps;
  const changeRecord = createChangeRecord(store);
  const digests = createStormDigests(deps);
  const tell = (storm: string, userId?: string): Promise<void> => digests.tell(storm, userId);
  const list = createPagedLog<StormItem, StormSummary>({
    store,
    sealer,
    prefix: 'storm-list:',
    ttlMs,
    idOf: ({ id }) => id,
    empty: emptySummary,
    summarise,
  });
  const recoveries = createStormRecoveries(deps);

  const channels = createChannelStorms({
    ...deps,
    tell,
    summaryOf: async (storm) => (await list.head(storm))?.summary,
  });

  async function add(storm: string, item: StormItem): Promise<void> {
    await list.add(storm, item);
    await tell(storm);
  }

  return {
    ...channels,
    place: (storm) => digests.place(storm),
    add,

    async addAgain(storm, item) {
      const isThere = (await list.all(storm)).some(({ id }) => id === item.id);
      await (isThere ? tell(storm) : add(storm, item));
      // Taken on and told to every card before this one came, it is work no more.
      await makeDue(changeRecord, stormTakenPrefix + storm, 0);
    },

    async recovered(storm, id, userIds) {
      await recoveries.add(storm, id);
      await tell(storm);
      await Promise.all(userIds.map((userId) => tell(storm, userId)));
    },

    refresh: (storm) => tell(storm),

    async see(storm, shownIn) {
      const named = readStormId(storm);
      if (!named) return undefined;
      const { channel, stream, gathers } = named;
      const [head, recovered, state, taken] = await Promise.all([
        list.head(storm),
        recoveries.count(storm),
        store.read(stormPrefix + stream),
        store.read(stormTakenPrefix + storm),
      ]);
      if (!head) return undefined;
      return {
        id: storm,
        gathers,
        count: head.count,
        summary: head.summary,
        isOver: !state || readChannelStorm(state.value).storm?.id !== storm,
        recovered,
        muted: deps.mutedIn(shownIn ?? channel),
        ...(taken ? { taken: takenOf(taken.value) } : {}),
        environment: deps.environment,
        account: deps.account,
      };
    },

    items: (storm, page) => list.page(storm, page),
  };
}

function takenOf(value: string): StormTaken {
  const { by, at, done } = readStormTaken(value);
  return { by, at, done };
}
