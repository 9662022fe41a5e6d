import type { ChargeNote } from '../../domain/charge-note.ts';
import type { Told } from '../../domain/charge-state.ts';
import type { Store } from '../../store/store.ts';
import { codeRequestKey, outboxKey, readOutboxRecord, type OutboxRecord } from '../outbox/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import type { KindWithBody } from '../outbox/outbox-bodies.ts';
import { markStale } from '../outbox/outbox-work.ts';
import { storeMessage } from '../outbox/store-message.ts';

export type ChargePostsDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  /** Undefined: nothing of a charge is told but to its agents. */
  deskChannel: string | undefined;
  /** As long as a charge may still go on: after that its message would be posted a second time. */
  rememberMs: number;
  now: () => number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
  wait: (ms: number) => Promise<void>;
};

/**
 * What is told of a charge. Call it after the charge was stored: a message is made of the charge as the store
 * has it when the message leaves. All of it throws StoreUnavailable, and may then be called again.
 */
export type ChargePosts = {
  /**
   * The desk's message, if there is a desk channel, and the open requests for a code catch up with the charge.
   * `agents`: everybody who ever had it in hand. Durable once resolved.
   */
  refresh(reference: string, agents: readonly string[]): Promise<void>;
  /** In the thread below it, once per name. Nothing without a desk channel. */
  note(reference: string, name: string, note: ChargeNote): Promise<void>;
  /**
   * To one person, once per key. A request for a code goes to each person once for the charge, whatever the
   * key, and is edited from then on by `refresh`.
   */
  direct(userId: string, key: string, about: { reference: string; what: Told }): Promise<void>;
  /** Whether the desk's message stands in the channel within the time; at once false without a desk channel. */
  deskPosted(reference: string, withinMs: number): Promise<boolean>;
};

const lookAgainMs = 25;

/** Stores what is to be told of charges; `deliverPost` tells it. */
export function createChargePosts(deps: ChargePostsDeps): ChargePosts {
  const { store, deskChannel } = deps;

  function enqueue(key: string, channel: string, message: Message): Promise<boolean> {
    return storeMessage(deps, key, { ...message, channel, rememberMs: deps.rememberMs });
  }

  /** What stands in the channel is kept up with also when the channel is no longer set. */
  async function refreshDesk(reference: string): Promise<boolean> {
    const key = outboxKey('charge', reference);
    const message = { kind: 'charge', progress: { kind: 'waiting' }, body: { reference } } as const;
    const isNew = deskChannel !== undefined && (await enqueue(key, deskChannel, message));
    return isNew || (await markStale(store, key));
  }

  return {
    async refresh(reference, agents) {
      const refreshed = await Promise.all([
        refreshDesk(reference),
        ...[...new Set(agents)].map((userId) => markStale(store, codeRequestKey(reference, userId))),
      ]);
      if (refreshed.includes(true)) deps.wake();
    },

    async note(reference, name, note) {
      if (deskChannel === undefined) return;
      const key = outboxKey('charge_note', `${reference}:${name}`);
      if (await enqueue(key, deskChannel, { kind: 'charge_note', body: { reference, note } })) deps.wake();
    },

    async direct(userId, key, { reference, what }) {
      const body = { reference, what };
      const isNew =
        what === 'otp'
          ? await enqueue(codeRequestKey(reference, userId), userId, {
              kind: 'charge_direct',
              progress: { kind: 'waiting' },
              body,
            })
          : await enqueue(outboxKey('charge_direct', key), userId, { kind: 'charge_direct', body });
      if (isNew) deps.wake();
    },

    async deskPosted(reference, withinMs) {
      if (deskChannel === undefined) return false;
      const endsAtMs = deps.now() + withinMs;
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one look after the other
        const entry = await store.read(outboxKey('charge', reference));
        if (entry && readOutboxRecord(entry.value).posted) return true;
        const leftMs = endsAtMs - deps.now();
        if (leftMs <= 0) return false;
        // oxlint-disable-next-line no-await-in-loop
        await deps.wait(Math.min(lookAgainMs, leftMs));
      }
    },
  };
}

/** A message that is edited later starts out waiting; one that is said once has no progress. */
type Message = Pick<OutboxRecord, 'progress'> &
  Extract<KindWithBody, { kind: 'charge' | 'charge_note' | 'charge_direct' }>;
