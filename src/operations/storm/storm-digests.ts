import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { RecordStore } from '../work/change-record.ts';
import { digestLane } from '../outbox/digest-edits.ts';
import { outboxKey, readOutboxRecord } from '../outbox/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { markStale } from '../outbox/outbox-work.ts';
import { storeMessage } from '../outbox/store-message.ts';
import { readStormId } from './storm-records.ts';

type StormDigestsDeps = { store: RecordStore; sealer: Sealer; now: () => number; wake: () => void };

/** The messages that tell storms, as work of the outbox. All of it throws StoreUnavailable. */
export type StormDigests = {
  /** Tells the storm to its channel, or to one person; a message that stands is edited. */
  tell(storm: string, userId?: string): Promise<void>;
  place(storm: string): Promise<{ channel: string; ts: string } | undefined>;
};

export function createStormDigests(deps: StormDigestsDeps): StormDigests {
  const { store } = deps;
  return {
    async tell(storm: string, userId?: string): Promise<void> {
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
    },

    async place(storm) {
      const entry = await store.read(outboxKey('digest', storm));
      return entry && readOutboxRecord(entry.value).posted;
    },
  };
}
