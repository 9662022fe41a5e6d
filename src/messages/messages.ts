import type { Sealer } from '../domain/sealer.ts';
import type { Store } from '../store/store.ts';
import { refreshMessage } from './outbox-work.ts';
import { unsaid, writeOutboxRecord, type OutboxRecord } from './outbox.ts';
import type { KindWithBody } from './outbox-bodies.ts';
import { policyOf } from './policies.ts';

/** What is to stand in Slack. On record when it resolves, and again is the same as once; throws StoreUnavailable. */
export type Messages = {
  /** From now on the place shows what the body names, as that is whenever it changes: posted once, then edited. */
  keep(key: string, message: Message): Promise<void>;
  /** Says it once. */
  post(key: string, message: Message): Promise<void>;
  /** What stands there is made anew; nothing where it was never said. */
  refresh(key: string): Promise<void>;
};

export type MessagesDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  /** As long as what they tell of may still go on: after that they would be posted a second time. */
  rememberMs: number;
  /** How long one piece of work may be held. */
  leaseMs: number;
  now: () => number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
};

export function createMessages(deps: MessagesDeps): Messages {
  const { rememberMs, wake } = deps;
  return {
    async keep(key, message) {
      if ((await storeMessage(deps, key, { ...message, rememberMs })) || (await refreshMessage(deps, key)))
        wake();
    },
    async post(key, message) {
      if (await storeMessage(deps, key, { ...message, rememberMs })) wake();
    },
    async refresh(key) {
      if (await refreshMessage(deps, key)) wake();
    },
  };
}

export type StoreMessageDeps = { store: Pick<Store, 'create'>; sealer: Sealer; now: () => number };

/** `body` is sealed. */
export type Message = KindWithBody & Pick<OutboxRecord, 'channel' | 'rememberMs'>;

/** Stores a message of ours as work that is due, once per key. False: it is there already. Throws StoreUnavailable. */
export function storeMessage(
  { store, sealer, now }: StoreMessageDeps,
  key: string,
  { body, ...message }: Message,
): Promise<boolean> {
  const { kind, channel } = message;
  const sealed = sealer.seal(key, JSON.stringify(body));
  const record = writeOutboxRecord({ ...message, ...unsaid, receivedAtMs: now(), sealed });
  return store.create(key, record, { delayMs: 0, lane: (policyOf(kind).lane ?? '') + channel });
}
