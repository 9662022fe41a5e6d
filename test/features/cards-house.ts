import { createHash } from 'node:crypto';
import type { Destination } from '../../src/features/alerts/routing.ts';
import type { BotCharge } from '../../src/domain/alert.ts';
import { messageDigest } from '../../src/messages/delivery.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { eventPrefix } from '../../src/features/alerts/alert-record.ts';
import { alertClaims, type AlertCards, createAlertCards } from '../../src/features/alerts/alert-cards.ts';
import { type AlertRecovery, createAlertRecovery } from '../../src/features/alerts/alert-recovery.ts';
import { createDeliverPost, type DeliverPostDeps, type Post } from './deliver-post.ts';
import { lookUpEvent } from '../../src/features/alerts/look-up-event.ts';
import type { Composed } from '../../src/messages/views.ts';
import { createStorms, stormPrefix, type Storms } from '../../src/features/alerts/storm/storm.ts';
import { workOnce } from '../../src/records/worker.ts';
import { stormMessage } from '../../src/features/alerts/storm/storm-message.ts';
import {
  alertDirectMessage,
  alertMessage,
  alertNoteMessage,
} from '../../src/features/alerts/alert-message.ts';
import { assertBlocks } from '../../src/simulators/slack/assert-blocks.ts';
import type { SlackMessage } from '../../src/slack/kit/message.ts';
import type { Entry, Store } from '../../src/store/store.ts';
import { shownLines } from '../slack/shown-text.ts';
import { house, receiveEvent, sealer } from './house.ts';
import { aroundStore } from '../support/around-store.ts';
import { ownStore, ownStorePath } from '../support/own-store.ts';

export const failed: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed/order/ORDER-1',
  orderReference: 'ORDER-1',
  customerId: 'cust-7',
  customerEmail: 'jane@example.com',
  amountMinor: 1_250_000,
  currency: 'NGN',
  reason: 'Insufficient funds',
};

export function paidBy(reference: string, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const { reason: _reason, ...rest } = failed;
  return {
    ...rest,
    kind: 'payment_success',
    key: `payment_success/order/${reference}`,
    orderReference: reference,
    ...more,
  };
}

export function recordOf(reference: string, status: string): Transaction {
  return {
    id: `T-${reference}`,
    status,
    amountMinor: 1_250_000,
    currency: 'NGN',
    orderReference: reference,
    customerEmail: 'jane@example.com',
  };
}

type Message = {
  channel: string;
  ts: string;
  threadTs?: string;
  shown: SlackMessage;
  edits?: number;
};

export type CardsHouse = ReturnType<typeof cardsHouse>;

/** No charge is stored here. */
const hasEnded = () => Promise.resolve(undefined);

function watchedStore(store: Store, pass: () => void): Store {
  return aroundStore(store, async (call) => {
    pass();
    const result = await call();
    pass();
    return result;
  });
}

/** Failed charges as a channel sees them, through the real outbox on the real store, with Slack's own blocks checked. */
export function cardsHouse({
  channels = ['C0ALERTS01'],
  threshold = 0,
}: { channels?: readonly string[]; threshold?: number } = {}) {
  const path = ownStorePath('cards');
  const { clock, deliver: plain, receive: plainReceive } = house();
  // Every call of the store and of Slack passes here, before it and after it.
  const watched = { pass: (): void => undefined };
  const store: Store = watchedStore(ownStore({ path, now: () => clock.nowMs }), () => watched.pass());
  const records = new Map<string, Transaction>();
  const charges = new Map<string, BotCharge>();
  const service = { isAway: false, asked: 0 };
  const messages: Message[] = [];

  async function lookUp(event: PaymentEvent) {
    return await lookUpEvent((reference) => {
      service.asked += 1;
      if (service.isAway) throw new ServiceFailure('network', 'away');
      return Promise.resolve(records.get(reference));
    }, event);
  }
  const shared = {
    store,
    sealer,
    lookUp,
    rememberMs: 30 * 86_400_000,
    leaseMs: plain.leaseMs,
    now: () => clock.nowMs,
    wake: () => undefined,
    wait: () => Promise.resolve(),
    log: () => undefined,
    fingerprint: async (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32),
  };
  const storms: Storms = createStorms(shared, threshold);
  const chargeOf = async (reference: string) => charges.get(reference);
  const cards: AlertCards = createAlertCards(shared, {
    storms,
    hasEnded,
    chargeOf,
    lookUp,
    lookUpSparingly: lookUp,
    search: (payment) => recovery.search(payment),
    tieFailure: (event, lookup, atMs) => recovery.tieFailure(event, lookup, atMs),
  });
  const claims = alertClaims(cards, { declineOf: () => Promise.resolve(undefined) });
  const alerts = cards.cases;
  const recovery: AlertRecovery = createAlertRecovery(shared, cards, lookUp, chargeOf);

  function compose(post: Post): Composed {
    const shown = messageOf(post);
    assertBlocks('message', shown.blocks);
    return {
      digest: messageDigest(shown),
      post(to, threadTs) {
        watched.pass();
        if (threadTs !== undefined && !messages.some((one) => one.ts === threadTs)) {
          return Promise.resolve({ kind: 'gone', slackError: 'thread_not_found' });
        }
        const ts = `${clock.nowMs / 1_000}.${String(messages.length + 1).padStart(6, '0')}`;
        const place = { channel: to, ts, ...(threadTs === undefined ? {} : { threadTs }) };
        messages.push({ ...place, shown });
        watched.pass();
        return Promise.resolve({ kind: 'posted', channel: to, ts });
      },
      edit(channel, ts) {
        const found = messages.find((one) => one.channel === channel && one.ts === ts);
        if (!found) return Promise.resolve({ kind: 'gone', slackError: 'message_not_found' });
        watched.pass();
        found.edits = (found.edits ?? 0) + 1;
        found.shown = shown;
        watched.pass();
        return Promise.resolve({ kind: 'posted', channel, ts });
      },
    };
  }

  const findByKey: typeof plain.findByKey = ({ channel, threadTs }, key) => {
    const found = messages.findLast(
      (one) =>
        one.channel === channel &&
        one.threadTs === threadTs &&
        one.shown.metadata?.event_payload['key'] === key,
    );
    return Promise.resolve(found ? { kind: 'found', ts: found.ts } : { kind: 'absent' });
  };

  /** Where payments are told; nowhere at first. */
  const paidTo: Destination[] = [];
  const route = ({ kind }: PaymentEvent) => ({
    routed: kind === 'payment_failed' ? channels.map((channel) => ({ channel })) : paidTo,
  });
  const deliver: DeliverPostDeps = {
    ...plain,
    route,
    store,
    lookUp,
    compose,
    findByKey,
    storms,
    cards,
    recovery,
  };
  const kinds = [
    { prefix: 'message:', work: createDeliverPost(deliver) },
    { prefix: eventPrefix, work: async (entry: Entry) => void (await alerts.work(entry)) },
    { prefix: stormPrefix, work: (entry: Entry) => storms.work(entry) },
  ];

  async function drain(forMs = 5_000): Promise<void> {
    const endsAtMs = clock.nowMs + forMs;
    for (;;) {
      while (await workOnce({ store, leaseMs: plain.leaseMs, kinds }));
      if (clock.nowMs >= endsAtMs) return;
      clock.nowMs += 1_000;
    }
  }

  const receiving = {
    ...plainReceive,
    route,
    store,
    addPayment: recovery.addPayment,
  };
  return {
    path,
    shared,
    watched,
    clock,
    store,
    records,
    charges,
    claims,
    service,
    alerts,
    messages,
    cards,
    deliver,
    recovery,
    storms,
    paidTo,
    drain,
    receiving,
    receive: (event: PaymentEvent) => receiveEvent(receiving, event, 'f'),
    /** The messages that stand in a channel itself, oldest first; in threads. */
    parents: () => messages.filter((one) => one.threadTs === undefined && one.channel[0] === 'C'),
    notes: (ts: string) => messages.filter((one) => one.threadTs === ts),
  };
}

function messageOf(post: Post): SlackMessage {
  switch (post.kind) {
    case 'alert':
      return alertMessage(post.alert);
    case 'alert_note':
      return alertNoteMessage(post.step, post.alert, post);
    case 'alert_direct':
      return alertDirectMessage(post.step, post.alert, post);
    case 'digest':
      return stormMessage(post, { environment: 'live', account: 'main account' });
    default:
      return { text: post.kind, blocks: [] };
  }
}

function peopleIn(message: SlackMessage): string[] {
  return [...JSON.stringify(message).matchAll(/"user_id":"(\w+)"/g)].map(([, userId]) => userId ?? '');
}

/** What a person reads of it, mentions left out. */
export function linesOf({ shown }: Message): string {
  return shownLines({ ...shown, blocks: shown.blocks.filter(({ type }) => type !== 'actions') }).join('\n');
}

/** What can be pressed in it, by its words; the choices of a menu too. */
export function pressables({ shown }: Message): string[] {
  return shown.blocks.flatMap((block) =>
    block.type !== 'actions'
      ? []
      : block.elements.flatMap((element) => {
          if (element.type === 'button') return [element.text.text];
          return element.type === 'overflow' ? element.options.map(({ text }) => `⋯ ${text.text}`) : [];
        }),
  );
}

export function mentionedIn({ shown }: Message): string[] {
  return peopleIn(shown);
}
