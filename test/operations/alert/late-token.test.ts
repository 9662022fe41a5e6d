import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Lookup } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/confirmation.ts';
import type { PostOutcome } from '../../../src/domain/delivery.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import type { SavedCard } from '../../../src/domain/saved-card.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { receiveEvent, type ReceiveDeps } from '../../../src/operations/alert/receive-event.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { deliverNext, event, house, killed, type Delivering } from '../house.ts';
import { onBothStores } from '../two-stores.ts';

const [alerts, further] = ['C0ALERTS01', 'C0FURTHER1'];
const card: SavedCard = { tokenKey: 'canary-token', cardType: 'Visa', cardPan: '411111******1111' };
const { reason: _reason, ...plain } = event;
const bare: PaymentEvent = {
  ...plain,
  kind: 'payment_success',
  key: 'payment_success/order/SUB-1',
  isSavedCardCharge: false,
  cardSaved: { kind: 'no_token' },
};
const { cardSaved: _none, ...withToken } = { ...bare, savedCard: card };
const paid: Lookup = confirm(
  { reference: 'SUB-1' as OrderReference, amount: { minor: 500, currency: 'NGN', source: 'event' } },
  { status: 'SUCCESS', orderReference: 'SUB-1', amountMinor: 500, currency: 'NGN' },
);

const folder = mkdtempSync(join(tmpdir(), 'payops-late-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

type Message = { channel: string; ts: string; saved: string | undefined; lookup: string; edits: number };

/** A store as strict about leases as the real one, which it is; a Slack whose messages are edited. */
function lateHouse(channels: readonly string[] = [alerts], isRouted = true, given?: Store) {
  const opened = house();
  const { clock } = opened;
  const path = join(folder, `${(files += 1)}.sqlite`);
  const store = given ?? openSqliteStore({ path, now: () => clock.nowMs });
  const messages: Message[] = [];
  const remembered: SavedCard[] = [];
  const service = { lookup: paid };
  const hooks = { beforePost: (): Promise<void> => Promise.resolve(), answers: [] as PostOutcome[] };
  const route: ReceiveDeps['route'] = () => channels.map((channel) => ({ channel }));
  const needsLookUp = () => !isRouted;
  const receive: ReceiveDeps = {
    ...opened.receive,
    store,
    route,
    needsLookUp,
    rememberCard(told) {
      remembered.push(told);
      return Promise.resolve();
    },
  };
  const deliver: Delivering = {
    ...opened.deliver,
    store,
    route,
    needsLookUp,
    lookUp: () => Promise.resolve(service.lookup),
    compose(post) {
      const alert = post.kind === 'alert' ? post.alert : undefined;
      const shown = { saved: alert?.event.cardSaved?.kind, lookup: alert?.lookup.kind ?? '' };
      return {
        digest: JSON.stringify(shown),
        async post(channel) {
          await hooks.beforePost();
          const given = hooks.answers.shift();
          if (given) return given;
          const ts = `${clock.nowMs / 1_000}.${messages.length}`;
          messages.push({ channel, ts, ...shown, edits: 0 });
          return { kind: 'posted', channel, ts };
        },
        edit(channel, ts) {
          const found = messages.find((one) => one.channel === channel && one.ts === ts);
          if (!found) return Promise.resolve({ kind: 'gone', slackError: 'message_not_found' });
          Object.assign(found, shown, { edits: found.edits + 1 });
          return Promise.resolve({ kind: 'posted', channel, ts });
        },
      };
    },
  };
  async function drain(forMs = 10_000): Promise<void> {
    const endsAtMs = clock.nowMs + forMs;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      while (await deliverNext(deliver));
      if (clock.nowMs >= endsAtMs) return;
      clock.nowMs += 1_000;
    }
  }
  const told = (...events: PaymentEvent[]) => receiveAll(receive, events);
  return { clock, store, messages, remembered, service, hooks, receive, deliver, drain, told };
}

async function receiveAll(deps: ReceiveDeps, events: readonly PaymentEvent[]): Promise<string[]> {
  const results: string[] = [];
  // oxlint-disable-next-line no-await-in-loop
  for (const one of events) results.push(await receiveEvent(deps, one, 'f'));
  return results;
}

describe('a card token that comes in a repeat alone', () => {
  it('is remembered, once, and the message is edited to say so, with what it was told by', async () => {
    const { told, drain, messages, remembered, service } = lateHouse();
    expect(await told(bare)).toEqual(['new']);
    await drain();
    expect(messages).toMatchObject([{ saved: 'no_token', edits: 0 }]);
    service.lookup = { kind: 'unchecked', failure: 'network' };
    expect(await told(withToken, withToken)).toEqual(['duplicate', 'duplicate']);
    await drain();
    await told(withToken, bare);
    await drain();
    expect(remembered).toEqual([card]);
    expect(messages).toMatchObject([{ channel: alerts, saved: 'kept', lookup: 'confirmed', edits: 1 }]);
  });

  it('is in the one message when it comes before that leaves', async () => {
    const { told, drain, messages, remembered } = lateHouse();
    await told(bare, withToken);
    await drain(60_000);
    expect(remembered).toEqual([card]);
    expect(messages).toMatchObject([{ saved: 'kept', edits: 0 }]);
  });

  it('is told by an edit, and by no second message, when it comes while that leaves', async () => {
    const { told, drain, messages, hooks, deliver } = lateHouse();
    await told(bare);
    hooks.beforePost = async () => {
      hooks.beforePost = () => Promise.resolve();
      await told(withToken);
      // Whoever else looks for work meanwhile is not given the message that is under way.
      expect(await deliverNext(deliver)).toBe(false);
    };
    await drain(120_000);
    expect(messages).toMatchObject([{ saved: 'kept', edits: 1 }]);
  });

  it('keeps its channel waiting no longer when it comes while the event is looked up', async () => {
    const { told, drain, messages, deliver } = lateHouse();
    await told(bare);
    const { lookUp } = deliver;
    deliver.lookUp = async (about) => {
      deliver.lookUp = lookUp;
      await told(withToken);
      return await lookUp(about);
    };
    await drain(5_000);
    expect(messages).toMatchObject([{ saved: 'kept' }]);
  });

  it.each([
    ['by its event', true],
    ['by its look-up', false],
  ])('is told in every channel that it was routed to %s', async (_how, isRouted) => {
    const { told, drain, messages } = lateHouse([alerts, further], isRouted);
    await told(bare);
    await drain();
    expect(messages.map(({ saved }) => saved)).toEqual(['no_token', 'no_token']);
    await told(withToken);
    await drain();
    expect(messages.map(({ channel }) => channel).toSorted()).toEqual([alerts, further]);
    expect(messages).toMatchObject([
      { saved: 'kept', edits: 1 },
      { saved: 'kept', edits: 1 },
    ]);
  });

  it('is remembered before the record says so: a crash in between has the sender send again', async () => {
    const { told, receive, drain, messages, remembered, store } = lateHouse();
    await told(bare);
    await drain();
    const dying = { ...receive, store: { ...store, write: killed } };
    await expect(receiveEvent(dying, withToken, 'f')).rejects.toThrow(StoreUnavailable);
    const unable = { ...receive, rememberCard: killed };
    await expect(receiveEvent(unable, withToken, 'f')).rejects.toThrow(StoreUnavailable);
    await drain();
    expect(messages).toMatchObject([{ saved: 'no_token' }]);
    expect(await told(withToken, withToken)).toEqual(['duplicate', 'duplicate']);
    await drain();
    expect(remembered).toEqual([card, card]);
    expect(messages).toMatchObject([{ saved: 'kept', edits: 1 }]);
  });

  it('changes the record once when several repeats come at once', async () => {
    const { told, receive, drain, messages, store } = lateHouse();
    await told(bare);
    await drain();
    let woken = 0;
    const counted = { ...receive, wake: () => (woken += 1) };
    await Promise.all(Array.from({ length: 8 }, () => receiveEvent(counted, withToken, 'f')));
    expect(woken).toBe(1);
    await drain();
    expect(messages).toMatchObject([{ saved: 'kept', edits: 1 }]);
    const kept = await store.read(`outbox:alert:${bare.key}`);
    expect(JSON.stringify(kept)).not.toContain('canary-token');
    expect(Buffer.from(JSON.parse(kept?.value ?? '').sealed, 'base64').toString()).not.toContain(
      'canary-token',
    );
  });

  it('is said not to be kept while the ledger is off', async () => {
    const { told, receive, drain, messages } = lateHouse();
    await told(bare);
    await drain();
    await receiveEvent({ ...receive, rememberCard: undefined }, withToken, 'f');
    await drain();
    expect(messages).toMatchObject([{ saved: 'not_kept', edits: 1 }]);
  });

  it('leaves a dead letter dead, which tells it once it is delivered again', async () => {
    const { told, store, drain, messages } = lateHouse();
    await told(bare);
    const key = `outbox:alert:${bare.key}`;
    const entry = await store.read(key);
    if (!entry) throw new Error('no record');
    const refused = { channel: alerts, sinceMs: 0, givenUp: true };
    const dead = JSON.stringify({ ...JSON.parse(entry.value), refused });
    await store.write(entry, dead, { ttlMs: 86_400_000 });
    await told(withToken);
    await drain();
    expect(messages).toEqual([]);
    const left = await store.read(key);
    if (left) await store.write(left, left.value, { delayMs: 0 });
    await drain();
    expect(messages).toMatchObject([{ saved: 'kept' }]);
  });

  it('costs the first delivery and the ordinary repeat no call of the store more', async () => {
    const { receive, store, drain } = lateHouse();
    const calls: string[] = [];
    const spied: Store = {
      ...store,
      create: (...given) => (calls.push('create'), store.create(...given)),
      read: (...given) => (calls.push('read'), store.read(...given)),
      write: (...given) => (calls.push('write'), store.write(...given)),
    };
    const counted = { ...receive, store: spied };
    await receiveAll(counted, [bare]);
    expect(calls.splice(0)).toEqual(['create']);
    await receiveAll(counted, [bare]);
    expect(calls.splice(0)).toEqual(['create', 'read']);
    await receiveAll(counted, [withToken]);
    calls.splice(0);
    await drain();
    await receiveAll(counted, [withToken]);
    expect(calls).toEqual(['read', 'create', 'read']);
  });
});

onBothStores('a card token that comes while the message of its event leaves', (open) => {
  it('is told by an edit of that message, which no other replica is given meanwhile', async () => {
    const { one, two, close } = await open();
    const { told, receive, deliver, messages, hooks } = lateHouse([alerts], true, one);
    await told(bare);
    hooks.beforePost = async () => {
      hooks.beforePost = () => Promise.resolve();
      await receiveEvent({ ...receive, store: two }, withToken, 'f');
      expect(await two.take(45_000)).toEqual([]);
    };
    await expect
      .poll(() => deliverNext(deliver).then(() => messages), { timeout: 10_000 })
      .toMatchObject([{ saved: 'kept', edits: 1 }]);
    await close();
  });
});
