import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import type { Post } from '../../../src/operations/outbox/prepare-post.ts';
import { createTestAlerts } from '../../../src/operations/alert/send-test-alert.ts';
import { channel, deliverNext, house, killed, sealer } from '../house.ts';

const ada = 'U0ADA00001';

/** What stands in the channel: the last of each message, and how often it was edited. */
function stage(answers: Parameters<typeof house>[0] = {}) {
  const opened = house(answers);
  const { clock, store, deliver } = opened;
  const messages: { post: Post; edits: number }[] = [];
  const wakes = { count: 0 };
  const plain = deliver.compose;
  deliver.compose = (post) => {
    const composed = plain(post);
    return {
      ...composed,
      async post(to) {
        const outcome = await composed.post(to);
        if (outcome.kind === 'posted') messages.push({ post, edits: 0 });
        return outcome;
      },
      async edit(to, ts) {
        const found = messages.at(-1);
        if (found) Object.assign(found, { post, edits: found.edits + 1 });
        return { kind: 'posted', channel: to, ts };
      },
    };
  };
  const send = createTestAlerts({
    store,
    sealer,
    now: () => clock.nowMs,
    wake: () => {
      wakes.count += 1;
    },
  });
  return { ...opened, send, messages, wakes };
}

describe('a test alert', () => {
  it('is posted once to the channel without a name, and edited at once to say who asked', async () => {
    const { send, drain, messages, posts, wakes } = stage();
    await send(channel, ada);
    expect(wakes.count).toBe(1);
    await drain();
    expect(posts).toMatchObject([{ channel, post: { kind: 'test_alert', isFirst: true } }]);
    await drain(60_000);
    expect(posts).toHaveLength(1);
    expect(messages).toMatchObject([
      { edits: 1, post: { kind: 'test_alert', isFirst: false, askedBy: ada } },
    ]);
  });

  it('is no repeat where the store did not answer one read right after the post', async () => {
    const built = stage({
      history: Array.from({ length: 5 }, () => ({ kind: 'unreadable', slackError: 'missing_scope' })),
    });
    const { send, drain, deliver, posts, messages, store } = built;
    let isArmed = true;
    deliver.store = {
      ...store,
      read(key) {
        const fails = isArmed && messages.length === 1;
        if (fails) isArmed = false;
        return fails ? killed() : store.read(key);
      },
    };
    await send(channel, ada);
    await drain().catch(() => undefined);
    await drain(120_000);
    expect(posts).toHaveLength(1);
    expect(messages).toMatchObject([{ edits: 1, post: { mayBeRepeat: false, askedBy: ada } }]);
  });

  it('comes once for each time it is asked for', async () => {
    const { send, drain, messages } = stage();
    await send(channel, ada);
    await send(channel, ada);
    await drain(60_000);
    expect(messages).toHaveLength(2);
  });

  it('waits for Slack like an alert, and is not posted at all when that takes longer than ten minutes', async () => {
    const refused = {
      kind: 'refused',
      slackError: 'not_in_channel',
      fix: 'invite',
      about: 'channel',
    } as const;
    const soon = stage({ posts: [refused, refused] });
    await soon.send(channel, ada);
    await soon.drain(300_000);
    expect(soon.messages).toHaveLength(1);

    const late = stage({ posts: Array.from({ length: 100 }, () => refused) });
    await late.send(channel, ada);
    await late.drain(3_600_000);
    // The notices of the refusal to the operators are none of it.
    const here = () => late.posts.filter((one) => one.channel === channel).length;
    const attempts = here();
    expect(attempts).toBeGreaterThan(1);
    expect(attempts).toBeLessThan(12);
    await late.drain(3_600_000);
    expect(here()).toBe(attempts);
    expect(late.messages.map(({ post }) => post.kind)).not.toContain('test_alert');
  });

  it('is posted once though the worker died before the post left', async () => {
    const { send, drain, deliver, messages } = stage();
    await send(channel, ada);
    const dying = { ...deliver, compose: () => ({ digest: '', post: killed, edit: killed }) };
    await expect(deliverNext(dying)).rejects.toThrow('killed');
    await drain(300_000);
    expect(messages).toMatchObject([{ post: { askedBy: ada } }]);
  });

  it('says who asked only in sealed form in the store, and that the store is away by throwing', async () => {
    const { send, store } = stage();
    await send(channel, ada);
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value));
    expect(values.join()).not.toContain(ada);
    const away = createTestAlerts({
      store: { create: () => Promise.reject(new StoreUnavailable('away')) },
      sealer,
      now: () => 0,
      wake: () => undefined,
    });
    await expect(away(channel, ada)).rejects.toThrow(StoreUnavailable);
  });
});
