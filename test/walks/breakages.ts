import type { HistoryAnswer } from '../../src/domain/delivery.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import type { AlertCards } from '../../src/operations/alert/alert-cards.ts';
import type { Composed, Post } from '../../src/operations/outbox/prepare-post.ts';
import type { Store } from '../../src/store/store.ts';
import { onCall } from './plans.ts';

/** A mistake made on purpose, in one of the things that the alerting rests on. */
export type Breakage = {
  store?: (store: Store) => Store;
  post?: (post: Post) => Post;
  composed?: (made: Composed) => Composed;
  findByKey?: () => Promise<HistoryAnswer>;
  cards?: (cards: AlertCards) => AlertCards;
  forgetsPayments?: true;
};

/** Each with what a walk must say of it; `seed`: a little before the first that does, where that is far from 1. */
export const breakages: readonly { name: string; breakage: Breakage; seen: RegExp; seed?: number }[] = [
  {
    name: 'a store that loses an alert now and then',
    breakage: { store: losing('outbox:alert:') },
    seen: /is answered and not stored|belongs in|is lost|is in no digest/,
  },
  {
    name: 'a store whose compare-and-swap compares nothing',
    breakage: {
      store: (store) => ({
        ...store,
        async write(entry, value, options) {
          const current = await store.read(entry.key);
          return current && (await store.write(current, value, options));
        },
      }),
    },
    seen: /./,
  },
  {
    name: 'a store that keeps no lanes',
    breakage: {
      store: (store) => ({
        ...store,
        create: (key, value, options = {}) =>
          store.create(key, value, 'delayMs' in options ? { delayMs: options.delayMs } : options),
      }),
    },
    seen: /comes behind|sooner than Slack takes it/,
  },
  {
    name: 'a store that keeps no pace',
    breakage: {
      store: (store) => ({
        ...store,
        write: (entry, value, { pauseMs: _none, ...options } = {}) => store.write(entry, value, options),
      }),
    },
    seen: /sooner than Slack takes it/,
  },
  {
    name: 'work that never ends',
    breakage: {
      store: (store) => ({
        ...store,
        write: (entry, value, options = {}) =>
          store.write(
            entry,
            value,
            entry.key.startsWith('alert:') && options.ttlMs !== undefined ? { delayMs: 3_600_000 } : options,
          ),
      }),
    },
    seen: /pieces of work after all was done/,
  },
  {
    name: 'a post that is sent twice',
    breakage: {
      composed: (made) => ({
        ...made,
        async post(...place) {
          await made.post(...place);
          return await made.post(...place);
        },
      }),
    },
    seen: /stands already|sooner than Slack takes it/,
  },
  {
    name: 'a history that is never read',
    breakage: { findByKey: () => Promise.resolve({ kind: 'absent' }) },
    seen: /stands already/,
  },
  {
    name: 'clicks that all hear that theirs was the first',
    breakage: {
      cards: (cards) => ({
        ...cards,
        async move(id, move) {
          const result = await cards.move(id, move);
          if (result.kind !== 'refused' || move.kind !== 'acknowledge') return result;
          return { kind: 'moved', card: result.card, step: { kind: 'acknowledged', by: move.by, at: 0 } };
        },
      }),
    },
    seen: /never took the step/,
  },
  {
    name: 'payments that nobody keeps',
    breakage: { forgetsPayments: true },
    seen: /held against no failure/,
  },
  {
    name: 'a first post that names people',
    breakage: { post: (post) => ('isFirst' in post ? { ...post, isFirst: false } : post) },
    seen: /pings/,
  },
  {
    name: 'a rule whose quiet hours nobody keeps',
    breakage: {
      post: (post) =>
        post.kind === 'alert' && post.alert.route
          ? { ...post, alert: { ...post.alert, route: { ...post.alert.route, mention: onCall } } }
          : post,
    },
    seen: /calls S0ONCALL01 (in quiet hours|again)/,
    seed: 13,
  },
  {
    name: 'an old alert that says whose it was',
    breakage: {
      post: (post) =>
        post.kind === 'alert' && post.alert.event.isErased
          ? { ...post, alert: { ...post.alert, event: notErased(post.alert.event) } }
          : post,
    },
    seen: /shows its cust-1/,
  },
  {
    name: 'a log of events that loses one now and then',
    breakage: { store: losing('event:') },
    seen: /summaries count/,
  },
  {
    name: 'operators who are not told of an event that differs',
    breakage: {
      store: (store) => ({
        ...store,
        create: (key, ...rest) =>
          key.startsWith('outbox:notice:differs:') ? Promise.resolve(true) : store.create(key, ...rest),
      }),
    },
    seen: /nobody is told that .* differs/,
  },
  {
    name: 'a message that carries the transaction’s id',
    breakage: {
      post: (post) =>
        post.kind === 'alert'
          ? {
              ...post,
              alert: {
                ...post.alert,
                event: { ...post.alert.event, customerId: post.alert.event.transactionId ?? '' },
              },
            }
          : post,
    },
    seen: /canary-transaction leaves for Slack/,
  },
];

function notErased({ isErased: _is, ...event }: PaymentEvent): PaymentEvent {
  return { ...event, customerId: 'cust-1' };
}

/** What is changed there is changed, by what everybody hears. */
function losing(prefix: string): (store: Store) => Store {
  return (store) => {
    let count = 0;
    return {
      ...store,
      create(key, value, options) {
        if (key.startsWith(prefix)) count += 1;
        return key.startsWith(prefix) && count % 4 === 0
          ? Promise.resolve(true)
          : store.create(key, value, options);
      },
    };
  };
}
