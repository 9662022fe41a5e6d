import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../../src/domain/delivery.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { createShareOnce } from '../../../src/features/lookup/share.ts';
import { memoryStore } from '../memory-store.ts';

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
    share: () =>
      shareOnce('a', async () => {
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
    expect((await share()).kind).toBe('shared_before');
    expect(posts()).toBe(1);
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
    expect((await share()).kind).toBe('unsure');
    expect(posts()).toBe(1);
  });

  it('does not call shared what was claimed and never posted, because the process was killed in between', async () => {
    const store = memoryStore({ nowMs: 0 });
    void createShareOnce({ store })('a', () => new Promise(() => undefined));
    const after = await createShareOnce({ store })('a', () => Promise.resolve(posted));
    expect(after).toEqual({ kind: 'unsure' });
  });

  it('is shared also when the store is away as soon as it was posted', async () => {
    const store = memoryStore({ nowMs: 0 });
    let isAway = false;
    const away = async <T>(call: () => Promise<T>): Promise<T> => {
      if (isAway) throw new StoreUnavailable('away');
      return await call();
    };
    const shareOnce = createShareOnce({
      store: {
        create: (...args) => away(() => store.create(...args)),
        read: (...args) => away(() => store.read(...args)),
        write: (...args) => away(() => store.write(...args)),
      },
    });
    const shared = await shareOnce('a', () => {
      isAway = true;
      return Promise.resolve(posted);
    });
    expect(shared.kind).toBe('shared');
    isAway = false;
    expect((await shareOnce('a', () => Promise.resolve(posted))).kind).toBe('unsure');
  });
});
