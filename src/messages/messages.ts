import { bold, code, rich } from '../slack/kit/blocks.ts';
import type { Sealer, Store } from '../store/store.ts';
import {
  laneOf,
  type MessageKey,
  messageKey,
  readMessageRecord,
  newCounters,
  writeMessageRecord,
  type MessageRecord,
} from './message-record.ts';
import type { Notice } from './notices.ts';

/**
 * Messages to Slack. A call resolves once the message is stored; a worker then sends it. A repeated call with the same
 * key posts nothing twice. Every method throws StoreUnavailable.
 */
export type Messages<Bodies> = {
  /** Posts a message; if it is already stored, requests a new rendering. Call it at each change of the message's subject. */
  postOrRefresh<Name extends keyof Bodies & string>(
    key: MessageKey<Name>,
    message: Message<Bodies[Name]>,
  ): Promise<void>;
  /** Posts a message once, and never edits it. */
  post<Name extends keyof Bodies & string>(
    key: MessageKey<Name>,
    message: Message<Bodies[Name]>,
  ): Promise<void>;
  /** Requests a new rendering of a stored message; does nothing if there is none. */
  refresh(key: string): Promise<void>;
};

/** Returns untyped methods; a feature assigns them to its own `Messages<Bodies>`, which checks keys and bodies. */
export function createMessages(account: {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  /** How long a settled message is remembered. If its subject changes later than that, it is posted a second time. */
  rememberMs: number;
  /** A worker's lease on one message. */
  leaseMs: number;
  now: () => number;
  /** Wakes the worker after work was stored. */
  wake: () => void;
}) {
  const { rememberMs, wake } = account;
  return {
    async postOrRefresh(key: string, message: Message<unknown>): Promise<void> {
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

/** `body` is stored encrypted. */
type Message<Body> = { channel: string; body: Body } & Pick<
  MessageRecord,
  'isNote' | 'isNeverGivenUp' | 'withinMs' | 'lane'
>;

/** Stores a message as due work, once per key. False: already stored. Throws StoreUnavailable. */
function storeMessage(
  { store, sealer, now }: { store: Pick<Store, 'create'>; sealer: Sealer; now: () => number },
  key: string,
  { body, ...message }: Message<unknown> & Pick<MessageRecord, 'rememberMs'>,
): Promise<boolean> {
  const sealed = sealer.seal(key, JSON.stringify(body));
  const record = writeMessageRecord({ ...message, ...newCounters, receivedAtMs: now(), sealed });
  return store.create(key, record, { delayMs: 0, lane: laneOf(message) });
}

/**
 * Requests a new version of a message; call it after the subject's change is stored. True: wake a worker. False: there
 * is no such record, it is already due, or a worker has it and will see the new version at its next write.
 */
async function refreshMessage(
  { store, leaseMs }: { store: Pick<Store, 'read' | 'write'>; leaseMs: number },
  key: string,
): Promise<boolean> {
  for (;;) {
    const entry = await store.read(key);
    if (!entry) return false;
    const record = readMessageRecord(entry.value);
    const next = { ...record, wanted: record.wanted + 1 };
    if (entry.attempts > record.turns) {
      // A worker has it. Keep its lease: if another worker took the record now, the message would be posted twice.
      if (await store.write(entry, writeMessageRecord(next), { holdMs: leaseMs })) return false;
      if ((await store.read(key))?.version !== entry.version) continue;
      // The record is unchanged, so its lease has expired.
    } else if (record.settled < record.wanted) return false;
    const value = writeMessageRecord({ ...next, turns: entry.attempts });
    if (await store.write(entry, value, { delayMs: 0, lane: laneOf(record) })) return true;
  }
}

export type NoticeNeeds = {
  store: Pick<Store, 'create'>;
  sealer: Sealer;
  now: () => number;
  /** Where notices to the operators go; undefined: they are only logged. */
  opsChannel: string | undefined;
  /** Wakes the worker after a notice was stored; absent inside a worker. */
  wake?: () => void;
};

/** Posts a notice to the `ops` channel, if there is one, once per name. Resolves once the notice is stored. */
export async function tellOperators(needs: NoticeNeeds, name: string, notice: Notice): Promise<void> {
  const { opsChannel, wake } = needs;
  if (opsChannel === undefined) return;
  const message = { channel: opsChannel, body: notice };
  if (await storeMessage(needs, messageKey('notice', name), message)) wake?.();
}

/** What operators call a record, by its key's prefix; the longer prefix first. */
const namesOfRecords: readonly (readonly [string, string])[] = [
  [messageKey('alert', ''), 'alert'],
  ['message:', 'message'],
  ['charge:', 'charge'],
  ['approval:', 'approval request'],
  ['link:', 'payment link'],
];

/**
 * Tells the operators once that a record is put aside or refused. Does nothing for a notice, which would cause another
 * notice, without end.
 */
export async function tellStuck(needs: NoticeNeeds, key: string, errorId: string): Promise<void> {
  if (key.startsWith(messageKey('notice', ''))) return;
  const [, named] = namesOfRecords.find(([prefix]) => key.startsWith(prefix)) ?? ['', 'record'];
  await tellOperators(needs, `stuck:${key}`, {
    state: `One ${named} could not be processed`,
    about: [],
    lines: [
      rich`It is kept, and tried again at the next start at the latest.`,
      rich`${bold('Next: ')}the log says why under ${errorId}, of ${code(key)}. If ${code('SEALING_KEYS')} changed, put the old key back behind the new one and restart.`,
    ],
  });
}
