import type { Lookup } from '../../src/domain/alert.ts';
import type { PostOutcome } from '../../src/domain/delivery.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { alertCardPrefix, createAlertCards } from '../../src/operations/alert/alert-cards.ts';
import { deliverPost } from '../../src/operations/posts/deliver-post.ts';
import type { Composed, Post } from '../../src/operations/outbox/prepare-post.ts';
import { lookUpAhead, toRouteLanes } from '../../src/operations/alert/route-event.ts';
import { receiveEvent } from '../../src/operations/alert/receive-event.ts';
import { stormPrefix, stormRecordPrefix } from '../../src/operations/storm/storm-records.ts';
import { createStorms } from '../../src/operations/storm/storms.ts';
import { createTakeStorm } from '../../src/operations/storm/take-storm.ts';
import { workOnce } from '../../src/operations/work/work-once.ts';
import type { Entry, Store } from '../../src/store/store.ts';
import { everyPoint, type Points } from './charge-house.ts';
import { channel, house, sealer, untouchedCards } from './house.ts';
import { memoryStore } from './memory-store.ts';

export const windowMs = 300_000;

/** One message that stands in Slack, by the key it carries. */
export type Standing = { key: string; ts: string; post: Post; postedAtMs: number; editedAtMs: number[] };

/** What outlives a process: the store, and what stands in the channel. */
export function openStormWorld(store?: Store, clock = { nowMs: 1_800_000_000_000 }) {
  const messages: Standing[] = [];
  return { clock, store: store ?? memoryStore(clock), messages };
}

export type StormWorld = ReturnType<typeof openStormWorld> & {
  /** Where an event is told; absent: all in one channel. */
  channelOf?: (event: PaymentEvent) => string;
  /** More channels that are told all of them. */
  further?: readonly string[];
  /** Whether only a look-up says where an event is told; absent: none waits for one. */
  needsLookUp?: (event: PaymentEvent) => boolean;
  /** What Slack says instead of taking it; absent or undefined: it takes it. */
  refuse?: (way: 'post' | 'edit', channel: string) => PostOutcome | undefined;
};

export function failure(number: number): PaymentEvent {
  const orderReference = `BURST-${number}`;
  return {
    kind: 'payment_failed',
    key: `payment_failed/order/${orderReference}`,
    orderReference,
    customerEmail: `canary-${number}@example.com`,
    amountMinor: 1_000 + number,
    currency: 'NGN',
    reason: 'Insufficient funds',
  };
}

export function payment(number: number): PaymentEvent {
  const { reason: _reason, ...rest } = failure(number);
  const key = `payment_success/order/${rest.orderReference ?? ''}`;
  return { ...rest, key, kind: 'payment_success' };
}

const proven = { part: '', holds: true, statement: '' } as const;

/** What the service says of a payment: it was made. */
function lookUp({
  kind,
  orderReference = '',
  amountMinor = 0,
  currency = '',
}: PaymentEvent): Promise<Lookup> {
  if (kind === 'payment_failed') return Promise.resolve({ kind: 'not_found' });
  return Promise.resolve({
    kind: 'confirmed',
    transaction: { status: 'SUCCESS', orderReference, amountMinor, currency },
    money: { minor: amountMinor, currency },
    evidence: {
      status: { ...proven, part: 'status' },
      reference: { ...proven, part: 'reference' },
      amount: { ...proven, part: 'amount' },
    },
  });
}

/** One process of the bot, over what outlives it; dead from the point on that is given. */
export function startStormProcess(world: StormWorld, threshold: number, points: Points = everyPoint()) {
  const { clock, messages } = world;
  const { deliver: plain, receive: plainReceive } = house();
  const store = pointed(world.store, points);
  const route = (event: PaymentEvent) =>
    [world.channelOf?.(event) ?? channel, ...(world.further ?? [])].map((to) => ({ channel: to }));
  const needsLookUp = (event: PaymentEvent) => world.needsLookUp?.(event) ?? false;
  const shared = {
    store,
    sealer,
    rememberMs: 30 * 86_400_000,
    now: () => clock.nowMs,
    wake: () => undefined,
    log: () => undefined,
  };
  const storms = createStorms({
    mutedIn: () => [],
    ...shared,
    threshold,
    windowMs,
    environment: 'live',
    account: 'main account',
  });
  const cards = createAlertCards({
    ...shared,
    storms,
    hasEnded: () => Promise.resolve(undefined),
    lookUp: () => Promise.resolve({ kind: 'not_found' }),
  });
  const takeStorm = createTakeStorm({ ...shared, storms, cards });

  function compose(post: Post): Composed {
    const key = keyOf(post);
    return {
      digest: JSON.stringify(post),
      post: (to) =>
        points.pass('post', () => {
          const refusal = world.refuse?.('post', to);
          if (refusal) return refusal;
          const ts = `${clock.nowMs / 1_000}.${String(messages.length).padStart(6, '0')}`;
          messages.push({ key, ts, post, postedAtMs: clock.nowMs, editedAtMs: [] });
          return { kind: 'posted', channel: to, ts };
        }),
      edit: (to, ts) =>
        points.pass('edit', () => {
          const refusal = world.refuse?.('edit', to);
          if (refusal) return refusal;
          const found = messages.find((one) => one.ts === ts);
          if (found) found.post = post;
          found?.editedAtMs.push(clock.nowMs);
          return { kind: 'posted', channel: to, ts };
        }),
    };
  }

  const deliver = {
    ...plain,
    store,
    storms,
    route,
    lookUp,
    compose,
    now: shared.now,
    cards: {
      ...untouchedCards,
      read: (id: string) => cards.read(id),
      join: (id: string, key: string) => cards.join(id, key),
      retell: (id: string) => cards.retell(id),
    },
    findByKey: (_channel: string, key: string) => {
      const found = messages.find((one) => one.key === key);
      return Promise.resolve(found ? { kind: 'found' as const, ts: found.ts } : { kind: 'absent' as const });
    },
  };
  const kinds = [
    {
      prefix: 'outbox:',
      work: (entry: Entry) => deliverPost(deliver, entry),
      ahead: (entry: Entry) => lookUpAhead(deliver, entry),
    },
    { prefix: alertCardPrefix, work: (entry: Entry) => cards.work(entry) },
    { prefix: stormPrefix, work: (entry: Entry) => storms.work(entry, takeStorm) },
    { prefix: stormRecordPrefix, work: (entry: Entry) => takeStorm.work(entry) },
  ];
  const together = { lanes: toRouteLanes, most: 8, now: shared.now };
  const once = (): Promise<boolean> => workOnce({ store, leaseMs: plain.leaseMs, kinds, together });

  async function drain(forMs: number, stepMs = 1_000): Promise<void> {
    const endsAtMs = clock.nowMs + forMs;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      while (await once());
      if (clock.nowMs >= endsAtMs) return;
      clock.nowMs += stepMs;
    }
  }

  return {
    storms,
    cards,
    takeStorm,
    once,
    drain,
    receive: (event: PaymentEvent) =>
      receiveEvent({ ...plainReceive, route, needsLookUp, store, storms, now: shared.now }, event, 'f'),
  };
}

/** What the channel shows: alerts on their own, and digests. */
export function standing({ messages }: StormWorld) {
  const digests = messages.flatMap(({ post }) => (post.kind === 'digest' ? [post.storm] : []));
  const singles = messages.flatMap(({ post }) =>
    post.kind === 'alert' ? [post.alert.event.orderReference ?? ''] : [],
  );
  return { digests, singles };
}

export { channel };

function keyOf(post: Post): string {
  return post.kind === 'alert' ? post.alert.event.key : post.key;
}

function pointed(store: Store, points: Points): Store {
  return {
    ...store,
    create: (...given) => points.pass(`create ${kindOf(given[0])}`, () => store.create(...given)),
    read: (key) => points.pass(`read ${kindOf(key)}`, () => store.read(key)),
    write: (...given) => points.pass(`write ${kindOf(given[0].key)}`, () => store.write(...given)),
    take: (...given) => points.pass('take', () => store.take(...given)),
  };
}

function kindOf(key: string): string {
  return key
    .split(':')
    .slice(0, key.startsWith('outbox:') ? 2 : 1)
    .join(':');
}
