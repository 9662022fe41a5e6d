import { describe, expect, it } from 'vitest';
import { postMessage } from '../../../src/app/post-message.ts';
import type { Approval } from '../../../src/domain/approval.ts';
import type { ChargeSeen } from '../../../src/domain/charge-seen.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentLink } from '../../../src/domain/payment-link.ts';
import type { Composed, Post } from '../../../src/operations/outbox/prepare-post.ts';
import { approvalCardKey } from '../../../src/operations/approval/prepare-approval.ts';
import { createDeadLetters } from '../../../src/operations/outbox/dead-letters.ts';
import { outboxKey } from '../../../src/operations/outbox/outbox.ts';
import { linkCardKey } from '../../../src/operations/link/prepare-link.ts';
import { markStale } from '../../../src/operations/outbox/outbox-work.ts';
import { createTestAlerts } from '../../../src/operations/alert/send-test-alert.ts';
import { storeMessage } from '../../../src/operations/outbox/store-message.ts';
import { messageDigest } from '../../../src/slack/delivery.ts';
import { cardsHouse, failed, paidBy, recordOf, type CardsHouse } from '../cards-house.ts';
import { house, sealer } from '../house.ts';
import { drainKilled, everFewer, killAtEachPoint } from '../killed-house.ts';

const ada = 'U0ADA00001';
const channel = 'C0ALERTS01';
const minuteMs = 60_000;
const words = ['edit_window_closed', 'cant_update_message', 'message_not_found'] as const;

function refuseEdits({ workspace }: CardsHouse, slackError: string): void {
  if (slackError === 'message_not_found') workspace.deletes = true;
  else workspace.refused = slackError;
}

/** The first lines of all cards and digests that were posted, whether they stand or not; no notes. */
function cardsOf({ messages }: CardsHouse): string[] {
  return messages.flatMap(({ shown }) =>
    /^outbox:(alert|digest):/.test(String(shown.metadata?.event_payload['key'])) ? [shown.text] : [],
  );
}

/** A failure that is told; Slack takes no edit from the first post on. */
async function toldCard(slackError: string): Promise<CardsHouse> {
  const one = cardsHouse();
  refuseEdits(one, slackError);
  one.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await one.receive(failed);
  await one.drain();
  return one;
}

async function recover(one: CardsHouse): Promise<void> {
  one.records.set('ORDER-1', recordOf('ORDER-1', 'SUCCESS'));
  await one.receive(paidBy('ORDER-1'));
}

async function burst(one: CardsHouse, count: number, everyMs: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    const orderReference = `BURST-${number}`;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await one.receive({ ...failed, key: `payment_failed/order/${orderReference}`, orderReference });
    // oxlint-disable-next-line no-await-in-loop
    if (everyMs > 0) await one.drain(everyMs);
  }
}

describe.each(words)('where Slack answers every edit with %s', (slackError) => {
  it('an acknowledged card is posted once more and no oftener, its note below it', async () => {
    const one = await toldCard(slackError);
    await one.cards.move(failed.key, { kind: 'acknowledge', by: ada });
    await one.drain(120 * minuteMs);
    expect(cardsOf(one)).toEqual(
      [/^❌ Declined/, /^👀 Acknowledged/].map((head) => expect.stringMatching(head)),
    );
    expect(one.messages).toHaveLength(3);
    expect(one.messages.flatMap(({ pinged }) => pinged)).toEqual([]);
  });

  it('a card that moves on is posted once more, and then listed as undelivered', async () => {
    const one = await toldCard(slackError);
    await one.cards.move(failed.key, { kind: 'acknowledge', by: ada });
    await one.drain(10_000);
    await recover(one);
    await one.drain(120 * minuteMs);
    expect(cardsOf(one)).toEqual(
      [/^❌ Declined/, /^👀 Acknowledged/].map((head) => expect.stringMatching(head)),
    );
    const letters = createDeadLetters({ store: one.store, now: () => one.clock.nowMs });
    expect(await letters.all()).toMatchObject([{ channel, messages: 1, slackError }]);
    // Two notes, and the person who had acknowledged it is told.
    expect(one.messages).toHaveLength(5);
    await letters.redrive(channel);
    await one.drain(minuteMs);
    expect(cardsOf(one).at(-1)).toMatch(/^✅ Resolved/);
    expect(await letters.all()).toEqual([]);
  });

  it('a storm is posted twice and then listed as undelivered, until somebody has it delivered', async () => {
    const one = cardsHouse(undefined, undefined, undefined, 2);
    refuseEdits(one, slackError);
    await burst(one, 60, 10_000);
    await one.drain(180 * minuteMs);
    const digests = () => cardsOf(one).filter((text) => /Storm/.test(text));
    expect(digests()).toHaveLength(2);
    const letters = createDeadLetters({ store: one.store, now: () => one.clock.nowMs });
    expect(await letters.all()).toMatchObject([{ channel, messages: 1, slackError }]);
    await letters.redrive();
    await one.drain(minuteMs);
    expect(digests().at(-1)).toContain('Storm over: 60 failed charges');
  });

  it.each(['test alert', 'approval', 'link', 'charge'] as const)(
    'what is told of one %s is posted once, however often it is to catch up with nothing new',
    async (what) => {
      const built = stage(slackError);
      const key = await built.begin(what);
      for (let round = 0; round < 3; round += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one round after the other
        await built.drain(30 * minuteMs);
        // oxlint-disable-next-line no-await-in-loop
        await markStale(built.store, key);
      }
      await built.drain(30 * minuteMs);
      expect(built.posts).toHaveLength(1);
    },
  );

  it.each(['approval', 'link', 'charge'] as const)(
    'the card of one %s is posted once more when it is decided',
    async (what) => {
      const built = stage(slackError);
      const key = await built.begin(what);
      await built.drain(minuteMs);
      built.goOn();
      await markStale(built.store, key);
      await built.drain(120 * minuteMs);
      expect(built.posts).toHaveLength(2);
      expect(built.posts[1]).not.toBe(built.posts[0]);
    },
  );

  it('nothing is posted again where only the answer to the post was lost', async () => {
    const built = stage(slackError);
    built.faults.lost.push('answer');
    await built.begin('charge');
    await built.drain(120 * minuteMs);
    expect(built.posts).toHaveLength(1);
  });

  it.each(['approval', 'link', 'charge'] as const)(
    'the old card of one %s, which stands there still, is not taken for the new one that got lost',
    async (what) => {
      const built = stage(slackError);
      const key = await built.begin(what);
      await built.drain(minuteMs);
      built.faults.lost.push('post');
      built.goOn();
      await markStale(built.store, key);
      await built.drain(120 * minuteMs);
      expect(built.posts).toHaveLength(2);
      expect(built.posts[1]).not.toBe(built.posts[0]);
    },
  );
});

it('a card is posted once more wherever the process is killed, by whoever goes on', async () => {
  const kills = await killAtEachPoint(async (killAt) => {
    const one = await toldCard('edit_window_closed');
    const two = cardsHouse(one.path, undefined, one);
    refuseEdits(two, 'edit_window_closed');
    await one.cards.move(failed.key, { kind: 'acknowledge', by: ada });
    const survived = await drainKilled(one, killAt, 30_000);
    one.clock.nowMs += minuteMs;
    await two.drain(2 * minuteMs);
    expect(cardsOf(two).filter((text) => text.startsWith('👀 Acknowledged'))).toHaveLength(1);
    await Promise.all([one.store.close(), two.store.close()]);
    return survived;
  }, everFewer);
  expect(kills).toBeGreaterThan(15);
});

it('an edit that an archived channel refuses is made once the channel is back, and nothing is posted again', async () => {
  const one = cardsHouse();
  one.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  await one.receive(failed);
  await one.drain();
  const fix = 'Unarchive it.';
  const archived = { kind: 'refused', slackError: 'is_inactive', fix, about: 'channel' } as const;
  one.editAnswers.push(archived, archived);
  await one.cards.move(failed.key, { kind: 'acknowledge', by: ada });
  await one.drain(10 * minuteMs);
  expect(cardsOf(one)).toEqual([expect.stringMatching(/^👀 Acknowledged/)]);
});

const place = { environment: 'live', account: 'main account' } as const;

/** Messages as people see them, in a workspace that takes posts and no edit. */
function stage(slackError: string) {
  const built = house();
  const { store, clock, deliver, drain } = built;
  const posts: string[] = [];
  let approval: Approval = {
    id: 'apr-1',
    shown: { kind: 'redrive', channel },
    termsHash: 'hash',
    rule: 'Delivering again what Slack refused needs one approver',
    by: ada,
    askedAtMs: 0,
    expiresAtMs: 90 * minuteMs,
    needed: 1,
    approvals: [],
    isWarned: false,
    state: { kind: 'waiting' },
  };
  let link: PaymentLink = {
    reference: 'LINK-1' as OrderReference,
    terms: { money: { minor: 15_000, currency: 'NGN' }, customerEmail: 'jane@example.com', savesCard: true },
    by: ada,
    askedAtMs: 0,
    state: { kind: 'open' },
    misses: 0,
    order: { orderId: 'order-1', checkoutLink: 'https://pay.example/1' },
    places: [channel],
  };
  let charge: ChargeSeen = {
    reference: 'pay-1' as OrderReference,
    terms: { card: {}, money: { minor: 1_250_000, currency: 'NGN' }, customerEmail: 'jane@example.com' },
    by: ada,
    agent: ada,
    submittedAt: 1_000_000,
    at: 1_000_000,
    state: { kind: 'charging' },
    sends: 1,
    heard: [],
    card: 'fingerprint',
    handOvers: [],
    resends: [],
  };
  /** What becomes of the next posts: its answer is lost, or it never arrives. */
  const faults: { lost: ('answer' | 'post')[] } = { lost: [] };
  const stamps = new Map<string | undefined, string>();
  deliver.findCharge = () => Promise.resolve(charge);
  deliver.findByKey = (_channel, key) => {
    const ts = stamps.get(key);
    return Promise.resolve(ts === undefined ? { kind: 'absent' } : { kind: 'found', ts });
  };
  deliver.findApproval = () => Promise.resolve({ approval, asked: 2 });
  deliver.findLink = () => Promise.resolve(link);
  deliver.compose = (post: Post): Composed => {
    const message = postMessage(post, place, undefined);
    return {
      digest: messageDigest(message),
      post(to) {
        const lost = faults.lost.shift();
        if (lost === 'post') return Promise.resolve({ kind: 'unsure', cause: 'lost' });
        posts.push(message.text);
        const ts = `${clock.nowMs / 1_000}.${String(posts.length).padStart(6, '0')}`;
        stamps.set(message.metadata?.event_payload.key, ts);
        if (lost === 'answer') return Promise.resolve({ kind: 'unsure', cause: 'lost' });
        return Promise.resolve({ kind: 'posted', channel: to, ts });
      },
      edit: () => Promise.resolve({ kind: 'gone', slackError }),
    };
  };
  const storing = { store, sealer, now: () => clock.nowMs, wake: () => undefined };

  /** Gives the key of its card. */
  async function begin(what: 'test alert' | 'approval' | 'link' | 'charge'): Promise<string> {
    if (what === 'test alert') {
      const keys: string[] = [];
      const create: typeof store.create = (key, ...given) => {
        keys.push(key);
        return store.create(key, ...given);
      };
      await createTestAlerts({ ...storing, store: { create } })(channel, ada);
      return keys[0] ?? '';
    }
    const cards = {
      approval: {
        key: approvalCardKey('apr-1', channel),
        message: { kind: 'approval', body: { id: 'apr-1', to: 'channel' } },
      },
      link: { key: linkCardKey('LINK-1', channel), message: { kind: 'link', body: { reference: 'LINK-1' } } },
      charge: {
        key: outboxKey('charge', 'pay-1'),
        message: { kind: 'charge', body: { reference: 'pay-1' } },
      },
    } as const;
    const { key, message } = cards[what];
    await storeMessage(storing, key, { ...message, channel, progress: { kind: 'waiting' } });
    return key;
  }

  function goOn(): void {
    approval = { ...approval, state: { kind: 'refused', atMs: clock.nowMs, by: 'U0BOLA0001', reason: 'no' } };
    charge = { ...charge, state: { kind: 'declined', concludedAt: clock.nowMs } };
    link = { ...link, state: { kind: 'paid', money: link.terms.money, atMs: clock.nowMs } };
  }
  return { posts, store, faults, begin, goOn, drain };
}
