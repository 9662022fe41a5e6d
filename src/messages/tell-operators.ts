import type { Notice } from '../domain/notice.ts';
import { outboxKey } from './outbox.ts';
import { storeMessage, type StoreMessageDeps } from './messages.ts';

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

/** Tells the operators that a record was put aside, once for each. A notice of a stuck notice would be one without end. */
export async function tellStuck(deps: TellDeps, key: string, errorId: string): Promise<boolean> {
  if (key.startsWith(outboxKey('notice', ''))) return false;
  return await tellOperators(deps, `stuck:${key}`, { kind: 'stuck', record: key, errorId });
}
