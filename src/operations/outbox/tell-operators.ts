import type { Notice } from '../../domain/notice.ts';
import { outboxKey } from './outbox.ts';
import { storeMessage, type StoreMessageDeps } from './store-message.ts';

export type TellDeps = StoreMessageDeps & {
  /** Where notices to the operators go; undefined: they are only logged. */
  opsChannel: string | undefined;
};

/** Stores a notice for the operators' channel, once per name. True when it is new and there is a channel. */
export async function tellOperators(deps: TellDeps, name: string, notice: Notice): Promise<boolean> {
  const { opsChannel } = deps;
  if (opsChannel === undefined) return false;
  const message = { kind: 'notice', channel: opsChannel, body: notice } as const;
  return await storeMessage(deps, outboxKey('notice', name), message);
}
