import { expect, it } from 'vitest';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { deliverPost } from '../../../src/operations/posts/deliver-post.ts';
import { alertKey, readOutboxRecord, writeOutboxRecord } from '../../../src/operations/outbox/outbox.ts';
import { markStale } from '../../../src/operations/outbox/outbox-work.ts';
import { receiveEvent } from '../../../src/operations/alert/receive-event.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { hastenedStore } from '../../support/kill-points.ts';
import { deliverNext, event, house, untouchedCards, type Delivering } from '../house.ts';
import { onBothStores } from '../two-stores.ts';

function numbered(number: number): PaymentEvent {
  return { ...event, key: `payment_failed/order/${number}`, orderReference: `ORDER-${number}` };
}

/** So that the second between two posts passes sooner. */
const factor = 10;

onBothStores('alerts that wait in a channel', (open) => {
  it('keep their order when the card of one changes while it leaves', async () => {
    const { one, close } = await open();
    const store = hastenedStore(one, factor);
    const { receive, deliver, posts } = house();
    const first = alertKey(numbered(1).key);
    let changes = 2;
    const deps: Delivering = {
      ...deliver,
      store,
      now: fastClock({ fromMs: Date.now(), factor }),
      cards: {
        ...untouchedCards,
        // What a payment that came first does, and what a further channel of the alert does.
        async linkFailure({ key }) {
          if (alertKey(key) !== first || changes === 0) return;
          changes -= 1;
          await markStale(store, first);
        },
      },
    };
    for (const number of [1, 2, 3]) await receiveEvent({ ...receive, store }, numbered(number), 'f');
    await expect.poll(() => deliverNext(deps).then(() => posts.length), { timeout: 10_000 }).toBe(3);
    const told = posts.map(({ post }) => (post.kind === 'alert' ? post.alert.event.orderReference : ''));
    expect(told).toEqual(['ORDER-1', 'ORDER-2', 'ORDER-3']);
    await close();
  });

  it('keep it when the card changed between a crash and the next try', async () => {
    const { one, close } = await open();
    const store = hastenedStore(one, factor);
    const { receive, deliver, posts } = house();
    const first = alertKey(numbered(1).key);
    const deps: Delivering = { ...deliver, store, now: fastClock({ fromMs: Date.now(), factor }) };
    for (const number of [1, 2]) await receiveEvent({ ...receive, store }, numbered(number), 'f');
    const [taken] = await store.take(3_000);
    // Its worker is killed when it has read the card.
    const record = readOutboxRecord(taken?.value ?? '');
    const leaving = writeOutboxRecord({ ...record, progress: { kind: 'leaving', leaseMs: 3_000 } });
    expect(taken && (await store.write(taken, leaving, { holdMs: 3_000 }))).toBeDefined();
    await expect
      .poll(async () => {
        const [entry] = await store.take(45_000);
        if (!entry) return posts.length;
        if (entry.key === first && posts.length === 0) await markStale(store, first);
        await deliverPost(deps, entry);
        return posts.length;
      })
      .toBe(2);
    const told = posts.map(({ post }) => (post.kind === 'alert' ? post.alert.event.orderReference : ''));
    expect(told).toEqual(['ORDER-1', 'ORDER-2']);
    await close();
  });
});

it('an alert that waits for its look-up is told before those that came after it, and holds them up for 10 s at most', async () => {
  const away = { kind: 'unchecked', failure: 'server' } as const;
  const { receive, drain, posts } = house({ lookups: [away, { kind: 'not_found' }] });
  for (const number of [1, 2]) await receiveEvent(receive, numbered(number), 'f');
  await drain(60_000);
  expect(posts.map(({ post }) => post.kind === 'alert' && post.alert.event.orderReference)).toEqual([
    'ORDER-1',
    'ORDER-2',
  ]);
  const stuck = house({ lookups: Array.from({ length: 10 }, () => away) });
  for (const number of [1, 2]) await receiveEvent(stuck.receive, numbered(number), 'f');
  await stuck.drain(12_000);
  expect(stuck.posts).toHaveLength(2);
});

it('an alert waits for its look-up no longer where the clock is behind the one that it came by', async () => {
  const lookups = Array.from({ length: 100 }, () => ({ kind: 'unchecked', failure: 'server' }) as const);
  const { receive, deliver, drain, posts, clock } = house({ lookups });
  await receiveEvent(receive, numbered(1), 'f');
  deliver.now = () => clock.nowMs - 600_000;
  await drain(12_000);
  expect(posts).toHaveLength(1);
});

it('keep their order also when the card of one changes once the lease of its killed worker is over', async () => {
  const { clock, store, receive, drain, posts } = house();
  for (const number of [1, 2]) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await receiveEvent(receive, numbered(number), 'f');
    clock.nowMs += 1_000;
  }
  const [taken] = await store.take(300);
  const record = readOutboxRecord(taken?.value ?? '');
  const leaving = writeOutboxRecord({ ...record, progress: { kind: 'leaving', leaseMs: 300 } });
  expect(taken && (await store.write(taken, leaving, { holdMs: 300 }))).toBeDefined();
  clock.nowMs += 1_000;
  expect(await markStale(store, alertKey(numbered(1).key))).toBe(true);
  await drain(60_000);
  const told = posts.map(({ post }) => (post.kind === 'alert' ? post.alert.event.orderReference : ''));
  expect(told).toEqual(['ORDER-1', 'ORDER-2']);
});

it('keep their order also when the card of one changes while a digest takes it that is over then', async () => {
  const { clock, store, receive, deliver, drain, posts } = house();
  for (const number of [1, 2]) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await receiveEvent(receive, numbered(number), 'f');
    clock.nowMs += 1_000;
  }
  let asked = 0;
  deliver.storms = {
    ...deliver.storms,
    async ask(_to, key) {
      asked += 1;
      if (asked > 1) return undefined;
      await markStale(store, key);
      return 'C0ALERTS01/1';
    },
  };
  await drain(60_000);
  const told = posts.map(({ post }) => (post.kind === 'alert' ? post.alert.event.orderReference : ''));
  expect(told).toEqual(['ORDER-1', 'ORDER-2']);
});
