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

/** What is to stand in Slack. On record when it resolves, and again is the same as once; throws StoreUnavailable. */
export type Messages<Bodies> = {
  /** From now on the place shows what the body names, as that is whenever it changes: posted once, then edited. */
  keep<Name extends keyof Bodies & string>(
    key: MessageKey<Name>,
    message: Message<Bodies[Name]>,
  ): Promise<void>;
  /** Says it once. */
  post<Name extends keyof Bodies & string>(
    key: MessageKey<Name>,
    message: Message<Bodies[Name]>,
  ): Promise<void>;
  /** What stands there is made anew; nothing where it was never said. */
  refresh(key: string): Promise<void>;
};

/** Of whatever feature: see `Messages`. */
export function createMessages(account: {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  /** As long as what they tell of may still go on: after that they would be posted a second time. */
  rememberMs: number;
  /** How long one piece of work may be held. */
  leaseMs: number;
  now: () => number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
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

/** How a message differs from the usual, which is in its channel’s lane, kept, and told as late as it may get. */
type Policy = Pick<MessageRecord, 'isNote' | 'isNeverGivenUp' | 'withinMs' | 'lane'>;

/** `body` is sealed. */
type Message<Body> = Policy & { channel: string; body: Body };

type AnyMessage = Message<unknown> & Pick<MessageRecord, 'rememberMs'>;

/** Stores a message of ours as work that is due, once per key. False: it is there already. Throws StoreUnavailable. */
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
 * What a message tells of went on, and was stored before this call: another version of it is asked for. True when somebody
 * must be woken for it; false when there is no such record, when it waits and is read later than now, or when whoever
 * has it sees to it: that one loses its next write, or finds the new version when it is done. Its lease goes on meanwhile,
 * because a write that ended it would have the message taken, and posted, a second time while it leaves.
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
    // Nobody has it, or its lease is over, and its worker with it.
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
  /** Called after a notice was stored; absent: whoever stores it is a worker. */
  wake?: () => void;
};

/** Tells the operators in their channel, where there is one, once per name. On record when it resolves. */
export async function tellOperators(operators: Operators, name: string, notice: Notice): Promise<void> {
  const { opsChannel, wake } = operators;
  if (opsChannel === undefined) return;
  const message = { channel: opsChannel, body: notice };
  if (await storeMessage(operators, messageKey('notice', name), message)) wake?.();
}

/** What the operators call a record, by how its key begins. */
const namesOfRecords: readonly (readonly [string, string])[] = [
  [messageKey('alert', ''), 'alert'],
  ['message:', 'message'],
  ['charge:', 'charge'],
  ['approval:', 'approval request'],
  ['link:', 'payment link'],
];

/** Tells the operators that a record was put aside, once for each. A notice of a stuck notice would be one without end. */
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
