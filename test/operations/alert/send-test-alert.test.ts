import { describe, expect, it } from 'vitest';
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
  it('is posted once though the worker died before the post left', async () => {
    const { send, drain, deliver, messages } = stage();
    await send(channel, ada);
    const dying = { ...deliver, compose: () => ({ digest: '', post: killed, edit: killed }) };
    await expect(deliverNext(dying)).rejects.toThrow('killed');
    await drain(300_000);
    expect(messages).toMatchObject([{ post: { askedBy: ada } }]);
  });
});
