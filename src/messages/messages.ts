import { bold, code, rich } from '../slack/kit/blocks.ts';
import type { Sealer, Store } from '../store/store.ts';
import {
  laneOf,
  type MessageKey,
  messageKey,
  readMessageRecord,
  unsaid,
  writeMessageRecord,
  type MessageRecord,
} from './message-record.ts';
import type { Notice } from './notices.ts';

/** Messages to Slack. Stored when it resolves; idempotent; throws StoreUnavailable. */
export type Messages<Bodies> = {
  /** Posts a message once, then edits it whenever its subject changes. */
  keep<Name extends keyof Bodies & string>(
    key: MessageKey<Name>,
    message: Message<Bodies[Name]>,
  ): Promise<void>;
  /** Posts it once. */
  post<Name extends keyof Bodies & string>(
    key: MessageKey<Name>,
    message: Message<Bodies[Name]>,
  ): Promise<void>;
  /** Renders a posted message again; does nothing if it was never posted. */
  refresh(key: string): Promise<void>;
};

/** Of whatever feature: see `Messages`. */
export function createMessages(account: {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  /** At least as long as their subjects may change: later they would be posted a second time. */
  rememberMs: number;
  /** How long one piece of work may take. */
  leaseMs: number;
  now: () => number;
  /** Wakes the worker after work was stored. */
  wake: () => void;
}) {
  const { rememberMs, wake } = account;
  return {
    async keep(key: string, message: Message<unknown>): Promise<void> {
      if (
        (await storeMessage(account, key, { ...message, rememberMs })) ||
        (await refreshMessage(account, key))
      )
        wake();
    },
    async post(key: string, message: Message<unknown>): Promise<void> {
      if (await storeMessage(account, key, { ...message, rememberMs })) wake();
    },
    async refresh(key: string): Promise<void> {
      if (await refreshMessage(account, key)) wake();
    },
  };
}

/** How a message differs from the usual one, which waits in its channel’s lane, however late. */
type Policy = Pick<MessageRecord, 'isNote' | 'isNeverGivenUp' | 'withinMs' | 'lane'>;

/** `body` is sealed. */
type Message<Body> = Policy & { channel: string; body: Body };

type AnyMessage = Message<unknown> & Pick<MessageRecord, 'rememberMs'>;

/** Stores a message as due work, once per key. False: it exists. Throws StoreUnavailable. */
function storeMessage(
  { store, sealer, now }: { store: Pick<Store, 'create'>; sealer: Sealer; now: () => number },
  key: string,
  { body, ...message }: AnyMessage,
): Promise<boolean> {
  const sealed = sealer.seal(key, JSON.stringify(body));
  const record = writeMessageRecord({ ...message, ...unsaid, receivedAtMs: now(), sealed });
  return store.create(key, record, { delayMs: 0, lane: laneOf(message) });
}

/**
 * Asks for another version of a message; call it after its subject's change was stored. True: wake a worker. False: there is
 * no such record, it is due later anyway, or the worker that has it will see the new version or lose its next write. That
 * worker's lease goes on: ending it would have the message posted twice.
 */
async function refreshMessage(
  { store, leaseMs }: { store: Pick<Store, 'read' | 'write'>; leaseMs: number },
  key: string,
): Promise<boolean> {
  for (;;) {
    const entry = await store.read(key);
    if (!entry) return false;
    const record = readMessageRecord(entry.value);
    const isTaken = entry.attempts > record.turns;
    if (!isTaken && record.settled < record.wanted) return false;
    const next = { ...record, wanted: record.wanted + 1 };
    if (isTaken && (await store.write(entry, writeMessageRecord(next), { holdMs: leaseMs }))) return false;
    if (isTaken && (await store.read(key))?.version !== entry.version) continue;
    // No worker has it, or that worker's lease is over.
    const value = writeMessageRecord({ ...next, turns: entry.attempts });
    if (await store.write(entry, value, { delayMs: 0, lane: laneOf(record) })) return true;
  }
}

/** The operators' channel, and what a notice to them is stored with. */
export type Operators = {
  store: Pick<Store, 'create'>;
  sealer: Sealer;
  now: () => number;
  /** Where notices to the operators go; undefined: they are only logged. */
  opsChannel: string | undefined;
  /** Called after a notice was stored; absent in a worker. */
  wake?: () => void;
};

/** Posts a notice to the `ops` channel, if there is one, once per name. Stored when it resolves. */
export async function tellOperators(operators: Operators, name: string, notice: Notice): Promise<void> {
  const { opsChannel, wake } = operators;
  if (opsChannel === undefined) return;
  const message = { channel: opsChannel, body: notice };
  if (await storeMessage(operators, messageKey('notice', name), message)) wake?.();
}

/** A record's name for operators, by its key's prefix. */
const namesOfRecords: readonly (readonly [string, string])[] = [
  [messageKey('alert', ''), 'alert'],
  ['message:', 'message'],
  ['charge:', 'charge'],
  ['approval:', 'approval request'],
  ['link:', 'payment link'],
];

/** Tells operators once that a record was put aside; not of a notice, which would never end. */
export async function tellStuck(operators: Operators, key: string, errorId: string): Promise<void> {
  if (key.startsWith(messageKey('notice', ''))) return;
  const [, named] = namesOfRecords.find(([prefix]) => key.startsWith(prefix)) ?? ['', 'record'];
  await tellOperators(operators, `stuck:${key}`, {
    state: `One ${named} could not be processed`,
    about: [],
    lines: [
      rich`It is kept and tried again at the next start.`,
      rich`${bold('Next: ')}the log says why under ${errorId}, of ${code(key)}. If ${code('SEALING_KEYS')} changed, put the old key back behind the new one and restart.`,
    ],
  });
}
