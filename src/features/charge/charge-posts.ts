import type { ChargeNote } from '../../domain/charge-note.ts';
import type { Told } from '../../domain/charge-state.ts';
import { createMessages, type Messages, type MessagesDeps } from '../../messages/messages.ts';
import type { ChargeBodies } from './charge-message.ts';
import { messageKey, readMessageRecord } from '../../messages/message-record.ts';

type ChargePostsDeps = MessagesDeps & {
  /** Undefined: nothing of a charge is told but to its agents. */
  deskChannel: string | undefined;
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

/** Stores what is to be told of charges; `createDeliverPost` tells it. */
export function createChargePosts(deps: ChargePostsDeps): ChargePosts {
  const { store, deskChannel } = deps;
  const messages: Messages<ChargeBodies> = createMessages(deps);

  /** What stands in the channel is kept up with also when the channel is no longer set. */
  function refreshDesk(reference: string): Promise<void> {
    const key = messageKey('charge', reference);
    if (deskChannel === undefined) return messages.refresh(key);
    return messages.keep(key, { kind: 'charge', channel: deskChannel, body: { reference } });
  }

  return {
    async refresh(reference, agents) {
      const codes = [...new Set(agents)].map((userId) => codeRequestKey(reference, userId));
      await Promise.all([refreshDesk(reference), ...codes.map((key) => messages.refresh(key))]);
    },

    async note(reference, name, note) {
      if (deskChannel === undefined) return;
      const key = messageKey('charge_note', `${reference}:${name}`);
      await messages.post(key, { kind: 'charge_note', channel: deskChannel, body: { reference, note } });
    },

    async direct(userId, key, { reference, what }) {
      const message = { kind: 'charge_direct', channel: userId, body: { reference, what } } as const;
      if (what !== 'otp') return await messages.post(messageKey('charge_direct', key), message);
      // Asked for once, and edited from then on.
      await messages.post(codeRequestKey(reference, userId), message);
    },

    async deskPosted(reference, withinMs) {
      if (deskChannel === undefined) return false;
      const endsAtMs = deps.now() + withinMs;
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one look after the other
        const entry = await store.read(messageKey('charge', reference));
        if (entry && readMessageRecord(entry.value).posted) return true;
        const leftMs = endsAtMs - deps.now();
        if (leftMs <= 0) return false;
        // oxlint-disable-next-line no-await-in-loop
        await deps.wait(Math.min(lookAgainMs, leftMs));
      }
    },
  };
}

/** The request for a code, which is edited when the charge leaves that state; one for each agent who ever had it. */
function codeRequestKey(reference: string, userId: string): string {
  return messageKey('charge_direct', `otp:${reference}:${userId}`);
}
