import { describe, expect, it } from 'vitest';
import type { Lookup } from '../../src/domain/alert.ts';
import type { HistoryAnswer, PostOutcome } from '../../src/domain/delivery.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { deliverNext, type DeliverDeps, type Post } from '../../src/operations/deliver-outbox.ts';
import { keepUnknownEvent, receiveEvent, type ReceiveDeps } from '../../src/operations/receive-event.ts';
import { memoryStore } from './memory-store.ts';

const channel = 'C0ALERTS01';
const ops = 'C0OPS00001';
const event: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed:SUB-1',
  orderReference: 'SUB-1',
  transactionId: 'canary-transaction',
  customerEmail: 'jane@example.com',
  reason: 'Insufficient funds',
};
const sealer = {
  seal: (context: string, plain: string) => Buffer.from(`${context}|${plain}`).toString('base64'),
  open: (context: string, sealed: string) =>
    Buffer.from(sealed, 'base64')
      .toString()
      .slice(context.length + 1),
};

type Answers = { posts?: PostOutcome[]; lookups?: Lookup[]; history?: HistoryAnswer[] };

function house(answers: Answers = {}) {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const posts: { channel: string; post: Post }[] = [];
  const receive: ReceiveDeps = {
    store,
    sealer,
    channelFor: (kind) => (kind === 'payment_failed' ? channel : undefined),
    opsChannel: ops,
    rememberMs: 30 * 86_400_000,
    now: () => clock.nowMs,
    wake: () => undefined,
  };
  const deliver: DeliverDeps = {
    store,
    sealer,
    lookUp: () => Promise.resolve(answers.lookups?.shift() ?? { kind: 'not_found' }),
    post(to, post) {
      posts.push({ channel: to, post });
      return Promise.resolve(answers.posts?.shift() ?? { kind: 'posted', ts: `${clock.nowMs}.0001` });
    },
    findByKey: () => Promise.resolve(answers.history?.shift() ?? { kind: 'absent' }),
    environment: 'live',
    account: 'main account',
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
  return { clock, store, posts, receive, deliver, drain };
}

describe('receiveEvent', () => {
  it('stores an event once: a repeat is a duplicate and one alert is posted', async () => {
    const { receive, drain, posts } = house();
    expect(await receiveEvent(receive, event, 'f')).toBe('new');
    expect(await receiveEvent(receive, event, 'f')).toBe('duplicate');
    await drain(60_000);
    expect(await receiveEvent(receive, event, 'f')).toBe('duplicate');
    await drain(60_000);
    expect(posts.map((one) => one.channel)).toEqual([channel]);
  });

  it('tells the operators, once, of a repeat with another amount or outcome', async () => {
    const { receive, drain, posts } = house();
    await receiveEvent(receive, event, 'f');
    expect(await receiveEvent(receive, event, 'g')).toBe('differs');
    expect(await receiveEvent(receive, event, 'g')).toBe('differs');
    await drain(60_000);
    expect(posts.filter((one) => one.channel === ops)).toHaveLength(1);
    expect(posts.find((one) => one.channel === ops)?.post).toMatchObject({
      notice: { kind: 'event_differs' },
    });
  });

  it('remembers an event that is told nowhere', async () => {
    const { receive, drain, posts } = house();
    const success: PaymentEvent = { ...event, kind: 'payment_success', key: 'payment_success:SUB-1' };
    expect(await receiveEvent(receive, success, 'f')).toBe('new');
    expect(await receiveEvent(receive, success, 'f')).toBe('duplicate');
    await drain(60_000);
    expect(posts).toEqual([]);
  });

  it('keeps nothing of the customer in the clear, and no card token at all', async () => {
    const { receive, store } = house();
    await receiveEvent(receive, { ...event, savedCard: { tokenKey: 'canary-token' } }, 'f');
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value ?? ''));
    const dump = `${store.keys().join()} ${values.join()}`;
    for (const secret of ['canary-transaction', 'canary-token', 'jane@example.com']) {
      expect(dump).not.toContain(secret);
    }
    const opened = values.map((value) =>
      sealer.open(store.keys()[0] ?? '', (JSON.parse(value) as { sealed: string }).sealed),
    );
    expect(opened.join()).toContain('SUB-1');
    expect(opened.join()).not.toContain('canary-token');
  });
});

describe('keepUnknownEvent', () => {
  it('keeps every delivery and tells the operators once per kind', async () => {
    const { receive, store, drain, posts } = house();
    await keepUnknownEvent(receive, { eventKind: 'refund', key: 'a', body: Buffer.from('{}') });
    await keepUnknownEvent(receive, { eventKind: 'refund', key: 'b', body: Buffer.from('{}') });
    await drain(60_000);
    expect(store.keys()).toEqual(expect.arrayContaining(['unknown:a', 'unknown:b']));
    expect(posts).toMatchObject([
      { channel: ops, post: { notice: { kind: 'unknown_event', eventKind: 'refund' } } },
    ]);
  });
});

describe('deliverNext', () => {
  it('looks up before it tells', async () => {
    const { receive, drain, posts } = house({ lookups: [{ kind: 'not_found' }] });
    await receiveEvent(receive, event, 'f');
    await drain();
    expect(posts[0]?.post).toMatchObject({ alert: { lookup: { kind: 'not_found' }, mayBeRepeat: false } });
  });

  it('waits for a service that is away, then tells unchecked rather than late', async () => {
    const away: Lookup = { kind: 'unchecked', failure: 'network' };
    const { receive, drain, posts, clock } = house({ lookups: [away, away, away] });
    await receiveEvent(receive, event, 'f');
    await drain(60_000);
    expect(posts).toMatchObject([{ post: { alert: { lookup: away } } }]);
    expect(clock.nowMs).toBeGreaterThanOrEqual(1_010_000);
  });

  it.each<[string, PostOutcome]>([
    ['Slack’s wish to wait', { kind: 'rate_limited', retryAfterMs: 30_000 }],
    ['a refusal', { kind: 'refused', slackError: 'not_in_channel', fix: 'invite' }],
    ['a connection refused', { kind: 'not_sent', cause: new Error('x') }],
  ])('posts again after %s, unmarked', async (_what, outcome) => {
    const { receive, drain, posts } = house({ posts: [outcome] });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts).toHaveLength(2);
    expect(posts[1]?.post).toMatchObject({ alert: { mayBeRepeat: false } });
  });

  it('goes on trying through an outage of hours', async () => {
    const outage = Array.from({ length: 100 }, (): PostOutcome => ({
      kind: 'not_sent',
      cause: new Error('away'),
    }));
    const { receive, drain, posts } = house({ posts: outage });
    await receiveEvent(receive, event, 'f');
    await drain(3 * 3_600_000);
    expect(posts).toHaveLength(101);
  });

  it('does not repeat a post that the channel’s history shows', async () => {
    const { receive, drain, posts } = house({
      posts: [{ kind: 'unsure', cause: new Error('reset') }],
      history: [{ kind: 'found', ts: '1.2' }],
    });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts).toHaveLength(1);
  });

  it('repeats an unsure post that the history does not show', async () => {
    const { receive, drain, posts } = house({ posts: [{ kind: 'unsure', cause: new Error('reset') }] });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts).toHaveLength(2);
    expect(posts[1]?.post).toMatchObject({ alert: { mayBeRepeat: false } });
  });

  it('marks the repeat when the history may not be read', async () => {
    const { receive, drain, posts } = house({
      posts: [{ kind: 'unsure', cause: new Error('reset') }],
      history: [{ kind: 'unknown', slackError: 'missing_scope' }],
    });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts[1]?.post).toMatchObject({ alert: { mayBeRepeat: true } });
  });

  it('waits, before it marks, for a history that only does not answer now', async () => {
    const silent = Array.from({ length: 3 }, (): HistoryAnswer => ({
      kind: 'unknown',
      slackError: 'timeout',
    }));
    const { receive, drain, posts } = house({
      posts: [{ kind: 'unsure', cause: new Error('reset') }],
      history: [...silent, { kind: 'found', ts: '1.2' }],
    });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts).toHaveLength(1);
  });

  it('asks the history after a crash between post and record', async () => {
    const { receive, deliver, drain, posts } = house({ history: [{ kind: 'found', ts: '1.2' }] });
    await receiveEvent(receive, event, 'f');
    await expect(
      deliverNext({ ...deliver, post: () => Promise.reject(new Error('killed')) }),
    ).rejects.toThrow('killed');
    await drain(120_000);
    expect(posts).toEqual([]);
  });

  it('posts once after a crash before the post, however long it took', async () => {
    const { receive, deliver, drain, posts } = house();
    await receiveEvent(receive, event, 'f');
    await expect(
      deliverNext({ ...deliver, lookUp: () => Promise.reject(new Error('killed')) }),
    ).rejects.toThrow('killed');
    await drain(120_000);
    expect(posts).toHaveLength(1);
    expect(posts[0]?.post).toMatchObject({ alert: { mayBeRepeat: false } });
  });

  it('posts nothing when its lease ran out and another worker has the record', async () => {
    const { receive, deliver, drain, posts, clock } = house();
    await receiveEvent(receive, event, 'f');
    await deliverNext({
      ...deliver,
      async lookUp() {
        clock.nowMs += 46_000;
        await drain();
        return { kind: 'not_found' };
      },
    });
    expect(posts).toHaveLength(1);
  });

  it('keeps Slack’s pace: one message a second in a channel', async () => {
    const { receive, drain, posts, clock } = house();
    for (const name of ['A', 'B', 'C'])
      await receiveEvent(receive, { ...event, key: name, orderReference: name }, 'f');
    await drain();
    expect(posts).toHaveLength(1);
    clock.nowMs += 1_000;
    await drain();
    expect(posts).toHaveLength(2);
  });
});
