import { expect, it } from 'vitest';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { deliverEntry } from '../../src/operations/deliver-outbox.ts';
import { alertKey, readOutboxRecord, writeOutboxRecord } from '../../src/operations/outbox.ts';
import { markStale } from '../../src/operations/outbox-work.ts';
import { receiveEvent } from '../../src/operations/receive-event.ts';
import { deliverNext, event, house, untouchedCards, type Delivering } from './house.ts';
import { onBothStores } from './two-stores.ts';

function numbered(number: number): PaymentEvent {
  return { ...event, key: `payment_failed/order/${number}`, orderReference: `ORDER-${number}` };
}

onBothStores('alerts that wait in a channel', (open) => {
  it('keep their order when the card of one changes while it leaves', async () => {
    const { one: store, close } = await open();
    const { receive, deliver, posts } = house();
    const first = alertKey(numbered(1).key);
    let changes = 2;
    const deps: Delivering = {
      ...deliver,
      store,
      now: () => Date.now(),
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
    const { one: store, close } = await open();
    const { receive, deliver, posts } = house();
    const first = alertKey(numbered(1).key);
    const deps: Delivering = { ...deliver, store, now: () => Date.now() };
    for (const number of [1, 2]) await receiveEvent({ ...receive, store }, numbered(number), 'f');
    const [taken] = await store.take(300);
    // Its worker is killed when it has read the card.
    const record = readOutboxRecord(taken?.value ?? '');
    const leaving = writeOutboxRecord({ ...record, progress: { kind: 'leaving', leaseMs: 300 } });
    expect(taken && (await store.write(taken, leaving, { holdMs: 300 }))).toBeDefined();
    await expect
      .poll(
        async () => {
          const [entry] = await store.take(45_000);
          if (!entry) return posts.length;
          if (entry.key === first && posts.length === 0) await markStale(store, first);
          await deliverEntry(deps, entry);
          return posts.length;
        },
        { timeout: 10_000 },
      )
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
