import type { Store } from '../store/store.ts';
import { outboxKey, writeOutboxRecord, type Notice, type Sealer } from './outbox.ts';

export type TellDeps = {
  store: Pick<Store, 'create'>;
  sealer: Sealer;
  /** Where notices to the operators go; undefined: they are only logged. */
  opsChannel: string | undefined;
  now: () => number;
};

/** Stores a notice for the operators' channel, once per name. True when it is new and there is a channel. */
export async function tellOperators(deps: TellDeps, name: string, notice: Notice): Promise<boolean> {
  const { opsChannel } = deps;
  if (opsChannel === undefined) return false;
  const key = outboxKey('notice', name);
  const record = writeOutboxRecord({
    kind: 'notice',
    channel: opsChannel,
    fingerprint: '',
    receivedAtMs: deps.now(),
    sealed: deps.sealer.seal(key, JSON.stringify(notice)),
    misses: 0,
  });
  return await deps.store.create(key, record, { delayMs: 0, lane: opsChannel });
}
