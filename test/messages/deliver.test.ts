import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../src/messages/delivery.ts';
import { alertKey } from '../../src/messages/message-record.ts';
import { createMessages, tellOperators } from '../../src/messages/messages.ts';
import { channel, deliverNext, event, house, ops, receiveEvent } from '../features/house.ts';

const minuteMs = 60_000;

describe('a message', () => {
  it.each<[string, PostOutcome]>([
    ['Slack’s wish to wait', { kind: 'rate_limited', retryAfterMs: 30_000 }],
    ['a refusal', { kind: 'refused', slackError: 'not_in_channel', fix: 'invite', about: 'channel' }],
    ['a connection refused', { kind: 'not_sent', cause: new Error('x') }],
  ])('is posted again after %s, and does not say that it may be a repeat', async (_what, outcome) => {
    const { receive, drain, posts } = house({ posts: [outcome] });
    await receiveEvent(receive, event, 'f');
    await drain(120_000);
    expect(posts).toHaveLength(2);
    expect(posts[1]?.post).toMatchObject({ alert: { mayBeRepeat: false } });
  });

  it('is posted at Slack’s rate: one a second in a channel', async () => {
    const { receive, drain, posts, clock } = house();
    for (const name of ['A', 'B', 'C'])
      await receiveEvent(receive, { ...event, key: name, orderReference: name }, 'f');
    await drain();
    expect(posts).toHaveLength(1);
    clock.nowMs += 1_000;
    await drain();
    expect(posts).toHaveLength(2);
  });

  it('keeps the channel it was stored for, even if the settings name another now', async () => {
    const wrong = { kind: 'refused', slackError: 'channel_not_found', fix: 'check the id' } as const;
    const { receive, deliver, drain, posts } = house({
      posts: [
        { ...wrong, about: 'channel' },
        { ...wrong, about: 'channel' },
      ],
    });
    await receiveEvent(receive, event, 'f');
    await tellOperators(receive, 'a', { state: 'An event', about: ['x'], lines: [] });
    await drain();
    deliver.route = () => ({ routed: [{ channel: 'C0OTHER001' }] });
    deliver.opsChannel = 'C0RIGHT001';
    await drain(120_000);
    expect(posts.map((one) => one.channel).toSorted()).toEqual([channel, channel, ops, ops].toSorted());
  });

  it('that Slack refuses for its content blocks no other, and the operators get a notice', async () => {
    const { receive, drain, posts } = house({
      posts: [{ kind: 'refused', slackError: 'msg_too_long', fix: 'report it', about: 'message' }],
    });
    await receiveEvent(receive, event, 'f');
    await receiveEvent(receive, { ...event, key: 'next' }, 'f');
    await drain(2_000);
    expect(posts.map((one) => one.channel).toSorted()).toEqual([channel, channel, ops]);
  });

  it('that is a refused notice causes no further notice', async () => {
    const tooLong = {
      kind: 'refused',
      slackError: 'msg_too_long',
      fix: 'report it',
      about: 'message',
    } as const;
    const { receive, drain, store } = house({ posts: Array.from({ length: 50 }, () => tooLong) });
    await receiveEvent(receive, event, 'f');
    await drain(60_000);
    expect(store.keys().filter((key) => key.startsWith('message:notice:'))).toHaveLength(1);
  });

  it('is not delayed while Slack refuses another channel', async () => {
    const { receive, deliver, drain, posts } = house();
    const { compose } = deliver;
    const refused = {
      kind: 'refused',
      slackError: 'is_archived',
      fix: 'unarchive it',
      about: 'channel',
    } as const;
    deliver.compose = (post) => {
      const composed = compose(post);
      return { ...composed, post: async (to) => (to === 'C0REFUSED1' ? refused : await composed.post(to)) };
    };
    for (const to of ['C0REFUSED1', 'C0OTHER001']) {
      await tellOperators({ ...receive, opsChannel: to }, to, { state: 'A notice', about: [], lines: [] });
      const routed = { routed: [{ channel: to }] };
      await receiveEvent({ ...receive, route: () => routed }, { ...event, key: to }, 'f');
    }
    await drain(1_000);
    expect(posts.map((one) => one.channel)).toEqual(['C0OTHER001', 'C0OTHER001']);
  });

  it('is still posted at most once a second if Slack asks to wait zero seconds', async () => {
    const { receive, drain, posts } = house({
      posts: Array.from({ length: 5 }, (): PostOutcome => ({ kind: 'rate_limited', retryAfterMs: 0 })),
    });
    await receiveEvent(receive, event, 'f');
    await drain(3_000);
    expect(posts).toHaveLength(4);
  });

  it('is not posted by a process that was suspended until too little of the lease was left', async () => {
    const { receive, deliver, posts, clock } = house();
    await receiveEvent(receive, event, 'f');
    const { store } = deliver;
    await deliverNext({
      ...deliver,
      store: {
        ...store,
        async write(...args) {
          const written = await store.write(...args);
          clock.nowMs += 40_000;
          return written;
        },
      },
    });
    expect(posts).toEqual([]);
  });

  it('no longer blocks later alerts once the answers to its edit were lost many times', async () => {
    const { clock, receive, deliver, drain, posts } = house();
    let looks = 0;
    const { compose } = deliver;
    deliver.compose = (post) => ({
      ...compose(post),
      digest: String((looks += 1)),
      edit: () => Promise.resolve({ kind: 'unsure', cause: new Error('timeout') }),
    });
    await receiveEvent(receive, event, 'f');
    await drain(minuteMs);
    await createMessages({ ...deliver, wake: () => undefined }).refresh(alertKey(event.key));
    await drain(minuteMs);
    await receiveEvent(receive, { ...event, key: 'payment_failed:SUB-2', orderReference: 'SUB-2' }, 'f');
    const receivedAtMs = clock.nowMs;
    while (posts.length < 2 && clock.nowMs < receivedAtMs + 24 * 60 * minuteMs) await drain(minuteMs);
    expect(posts).toHaveLength(2);
    expect(clock.nowMs - receivedAtMs).toBeLessThanOrEqual(30 * minuteMs);
  });
});
