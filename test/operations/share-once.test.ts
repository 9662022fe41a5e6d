import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../src/domain/delivery.ts';
import { createShareOnce } from '../../src/operations/share-once.ts';
import { memoryStore } from './memory-store.ts';

const posted: PostOutcome = { kind: 'posted', channel: 'C0', ts: '1.1' };
const refused: PostOutcome = {
  kind: 'refused',
  slackError: 'not_in_channel',
  fix: 'Invite it',
  about: 'channel',
};

function stage(outcomes: PostOutcome[]) {
  let posts = 0;
  const shareOnce = createShareOnce({ store: memoryStore({ nowMs: 0 }) });
  return {
    posts: () => posts,
    share: (key = 'a') =>
      shareOnce(key, async () => {
        const outcome = outcomes[posts] ?? posted;
        posts += 1;
        return outcome;
      }),
  };
}

describe('shareOnce', () => {
  it('posts once, however often and however many press', async () => {
    const { share, posts } = stage([]);
    const all = await Promise.all(Array.from({ length: 8 }, () => share()));
    expect(all.filter(({ kind }) => kind === 'shared')).toHaveLength(1);
    expect(all.filter(({ kind }) => kind === 'shared_before')).toHaveLength(7);
    expect((await share()).kind).toBe('shared_before');
    expect(posts()).toBe(1);
  });

  it('posts another answer', async () => {
    const { share, posts } = stage([]);
    await share('a');
    await share('b');
    expect(posts()).toBe(2);
  });

  it('lets a press try again after Slack surely posted nothing', async () => {
    const { share, posts } = stage([
      refused,
      { kind: 'rate_limited', retryAfterMs: 1 },
      { kind: 'not_sent', cause: 0 },
    ]);
    expect(await share()).toEqual({ kind: 'refused', slackError: 'not_in_channel', fix: 'Invite it' });
    expect((await share()).kind).toBe('busy');
    expect((await share()).kind).toBe('busy');
    expect((await share()).kind).toBe('shared');
    expect(posts()).toBe(4);
  });

  it('never repeats a post whose answer was lost', async () => {
    const { share, posts } = stage([{ kind: 'unsure', cause: 0 }]);
    expect((await share()).kind).toBe('unsure');
    expect((await share()).kind).toBe('shared_before');
    expect(posts()).toBe(1);
  });
});
