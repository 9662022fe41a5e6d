import type { Notice } from '../domain/notice.ts';
import { outboxKey } from './outbox.ts';
import { storeMessage, type StoreMessageDeps } from './messages.ts';

export type TellDeps = StoreMessageDeps & {
  /** Where notices to the operators go; undefined: they are only logged. */
  opsChannel: string | undefined;
  /** Called after a notice was stored; absent: whoever stores it is a worker. */
  wake?: () => void;
};

/** Tells the operators in their channel, where there is one, once per name. On record when it resolves. */
export async function tellOperators(deps: TellDeps, name: string, notice: Notice): Promise<void> {
  const { opsChannel, wake } = deps;
  if (opsChannel === undefined) return;
  const message = { kind: 'notice', channel: opsChannel, body: notice } as const;
  if (await storeMessage(deps, outboxKey('notice', name), message)) wake?.();
}

/** Tells the operators that a record was put aside, once for each. A notice of a stuck notice would be one without end. */
export async function tellStuck(deps: TellDeps, key: string, errorId: string): Promise<void> {
  if (key.startsWith(outboxKey('notice', ''))) return;
  await tellOperators(deps, `stuck:${key}`, { kind: 'stuck', record: key, errorId });
}
