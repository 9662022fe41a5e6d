import { createHash } from 'node:crypto';
import type { Lookup } from '../../src/domain/alert.ts';
import type { HistoryAnswer, PostOutcome } from '../../src/messages/delivery.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { createDeliverPost, type DeliverPostDeps, type Post } from './deliver-post.ts';
import type { Composed } from '../../src/messages/views.ts';
import { tellStuck } from '../../src/messages/messages.ts';
import { createReceiving } from '../../src/features/alerts/receive-event.ts';
import { createLookUps, toRouteLanes } from '../../src/features/alerts/route-event.ts';
import type { Storms } from '../../src/features/alerts/storm/storm.ts';
import { createEventLog } from '../../src/features/alerts/event-log.ts';
import { createPutAside } from '../../src/records/put-aside.ts';
import { createRecords } from '../../src/records/records.ts';
import { eventKind, paymentCase } from '../../src/features/alerts/event-case.ts';
import { workOnce } from '../../src/records/worker.ts';
import type { Entry, Store } from '../../src/store/store.ts';
import { memoryStore } from './memory-store.ts';

export const channel = 'C0ALERTS01';
export const ops = 'C0OPS00001';
export const event: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed:SUB-1',
  orderReference: 'SUB-1',
  transactionId: 'canary-transaction',
  customerEmail: 'jane@example.com',
  reason: 'Insufficient funds',
};
export const sealer = {
  seal: (context: string, plain: string) => Buffer.from(`${context}|${plain}`).toString('base64'),
  open: (context: string, sealed: string) =>
    Buffer.from(sealed, 'base64')
      .toString()
      .slice(context.length + 1),
};

/** What a kill leaves behind: nothing is written any more. */
export const killed = () => Promise.reject(new StoreUnavailable('killed'));

export function killedWhileSending(): Composed {
  return { digest: '', post: killed, edit: killed };
}

export type Delivering = DeliverPostDeps & { store: Pick<Store, 'take' | 'list'> };

/** One round of the worker, as the bot runs it. */
export function deliverNext(deps: Delivering, lookUpsAtOnce = 8): Promise<boolean> {
  const { store, leaseMs } = deps;
  const { guard } = createPutAside({
    ...deps,
    tell: ({ key }, errorId) => tellStuck(deps, key, errorId),
    count: () => undefined,
  });
  const kind = {
    prefix: 'message:',
    work: createDeliverPost(deps),
    prepare: (entry: Entry) => createLookUps(deps, deps).lookUpAhead(entry),
  };
  const together = { lanes: toRouteLanes, most: lookUpsAtOnce, now: deps.now };
  return workOnce({ store, leaseMs, kinds: guard([kind]), together });
}

/** What the door of the webhooks works with. */
export type Receiving = Parameters<typeof createReceiving>[0] & Parameters<typeof createReceiving>[1];

/** Whatever a test changes of them holds from then on. */
export function receiveEvent(receive: Receiving, event: PaymentEvent, fingerprint: string) {
  return createReceiving(receive, receive).receive(event, fingerprint);
}

/** No channel has too many alerts. */
export const noStorms: Pick<
  Storms,
  'join' | 'recovered' | 'taker' | 'replacesEscalation' | 'takenElsewhere' | 'find'
> = {
  join: () => Promise.resolve(undefined),
  recovered: () => Promise.resolve(),
  taker: () => Promise.resolve(undefined),
  replacesEscalation: () => Promise.resolve(false),
  takenElsewhere: () => Promise.resolve(undefined),
  find: () => Promise.resolve(undefined),
};

/** Remembers payments, and holds none of them against failures. */
export function keepsPayments(store: Store): Receiving['addPayment'] {
  const payments = createRecords({ store, sealer, wait: () => Promise.resolve() }, eventKind);
  return (event, receivedAtMs, alone) => {
    const state = paymentCase({ event, receivedAtMs, ...(alone && { alone }) });
    return payments.create(event.key, { state, turn: 1, told: 1, unwritten: [] }, { ttlMs: 86_400_000 });
  };
}

type Answers = { posts?: PostOutcome[]; lookups?: Lookup[]; history?: HistoryAnswer[] };

export function house(answers: Answers = {}) {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const eventLog = createEventLog({ store, sealer, log: () => undefined });
  const posts: { channel: string; post: Post }[] = [];
  const receive: Receiving = {
    store,
    sealer,
    fingerprint: async (text) => createHash('sha256').update(text).digest('hex').slice(0, 32),
    log: () => undefined,
    route: ({ kind }) => ({ routed: kind === 'payment_failed' ? [{ channel }] : [] }),
    needsLookUp: () => false,
    opsChannel: ops,
    rememberMs: 30 * 86_400_000,
    now: () => clock.nowMs,
    wake: () => undefined,
    rememberCard: undefined,
    beforeReceived: () => Promise.resolve(),
    addPayment: keepsPayments(store),
  };
  const deliver: Delivering = {
    store,
    sealer,
    opsChannel: ops,
    route: receive.route,
    postTimeoutMs: 10_000,
    giveUpMs: 24 * 3_600_000,
    lookUp: () => Promise.resolve(answers.lookups?.shift() ?? { kind: 'not_found' }),
    declines: { threeDSecureWords: [], waitMs: 24 * 3_600_000 },
    findCharge: () => Promise.resolve(undefined),
    // Nobody acts on any card, and nothing is paid later.
    cards: {
      read: () => Promise.resolve({ card: { kind: 'open' } }),
      cases: { apply: () => Promise.resolve(undefined) },
    },
    recovery: { tieFailure: () => Promise.resolve() },
    judging: { look: () => Promise.resolve({}) },
    storms: noStorms,
    compose: (post) => ({
      digest: JSON.stringify(post),
      post(to) {
        posts.push({ channel: to, post });
        const ts = `${clock.nowMs}.0001`;
        return Promise.resolve(answers.posts?.shift() ?? { kind: 'posted', channel: to, ts });
      },
      // After a crash nobody knows what it shows, and it is edited once more.
      edit: (to, ts) => Promise.resolve({ kind: 'posted', channel: to, ts }),
    }),
    findByKey: () => Promise.resolve(answers.history?.shift() ?? { kind: 'absent' }),
    place: { environment: 'live', account: 'main account' },
    rememberMs: 30 * 86_400_000,
    leaseMs: 45_000,
    now: () => clock.nowMs,
    log: () => undefined,
  };
  async function drain(forMs = 0): Promise<void> {
    const endsAtMs = clock.nowMs + forMs;
    for (;;) {
      while (await deliverNext(deliver));
      if (clock.nowMs >= endsAtMs) return;
      clock.nowMs += 1_000;
    }
  }
  return { clock, store, eventLog, posts, receive, deliver, drain };
}
