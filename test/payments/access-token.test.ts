import { describe, expect, it } from 'vitest';
import { createAccessToken, type TokenDeps, type TokenMemory } from '../../src/payments/access-token.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { sharedMemory } from './memory.ts';

const away = () => Promise.reject(new Error('store away'));

function replica(memory: TokenMemory, overrides: Partial<TokenDeps> = {}) {
  let issued = 0;
  const deps: TokenDeps = {
    memory,
    issue: async () => {
      issued += 1;
      await Promise.resolve();
      return { accessToken: `issued-${issued}`, refreshToken: `refresh-${issued}`, lifetimeMs: 600_000 };
    },
    refresh: undefined,
    refreshAheadMs: 60_000,
    timeoutMs: 2_000,
    now: () => Date.now(),
    log: () => undefined,
    ...overrides,
  };
  return { token: createAccessToken(deps), issued: () => issued };
}

describe('access token', () => {
  it('is issued once for a hundred callers at the same time', async () => {
    const { token, issued } = replica(sharedMemory());
    const tokens = await Promise.all(Array.from({ length: 100 }, () => token.current()));
    expect(new Set(tokens)).toEqual(new Set(['issued-1']));
    expect(issued()).toBe(1);
  });

  it('is shared by replicas: two racing and a third one started cold ask once', async () => {
    const memory = sharedMemory();
    const [first, second, third] = [replica(memory), replica(memory), replica(memory)];
    const tokens = await Promise.all([first.token.current(), second.token.current()]);
    expect(await third.token.current()).toBe(tokens[0]);
    expect(tokens[1]).toBe(tokens[0]);
    expect(first.issued() + second.issued() + third.issued()).toBe(1);
  });

  it('takes another replica’s newer token before asking for one after a rejection', async () => {
    const memory = sharedMemory();
    const { token, issued } = replica(memory);
    const rejected = await token.current();
    await memory.write({ accessToken: 'theirs' }, 60_000);
    expect(await token.replace(rejected)).toBe('theirs');
    expect(issued()).toBe(1);
  });

  it('is replaced when the shared one is the rejected one', async () => {
    const { token, issued } = replica(sharedMemory());
    const rejected = await token.current();
    expect(await token.replace(rejected)).toBe('issued-2');
    expect(issued()).toBe(2);
  });

  it('is replaced even when the rejection joins a read that was under way', async () => {
    const memory = sharedMemory();
    await memory.write({ accessToken: 'stale' }, 60_000);
    const { token } = replica(memory);
    const [current, replaced] = await Promise.all([token.current(), token.replace('stale')]);
    expect(current).toBe('stale');
    expect(replaced).toBe('issued-1');
  });

  it('is refreshed when it can be, and issued when the refresh is refused', async () => {
    const memory = sharedMemory();
    await memory.write({ accessToken: 'old', refreshToken: 'r' }, 60_000);
    memory.expire();
    const refreshed = replica(memory, {
      refresh: (last) =>
        Promise.resolve({ accessToken: `refreshed-from-${last.refreshToken}`, lifetimeMs: 600_000 }),
    });
    expect(await refreshed.token.current()).toBe('refreshed-from-r');
    memory.expire();
    await memory.write({ accessToken: 'old', refreshToken: 'r' }, 60_000);
    memory.expire();
    const refused = replica(memory, {
      refresh: () => Promise.reject(new ServiceFailure('unauthorized', 'no')),
    });
    expect(await refused.token.current()).toBe('issued-1');
  });

  it('still works, unshared, while the store is away', async () => {
    const { token, issued } = replica({ readFresh: away, readLast: away, write: away, lock: away });
    expect(await token.current()).toBe('issued-1');
    expect(await token.current()).toBe('issued-1');
    expect(issued()).toBe(1);
  });

  it('gives up in words when another replica holds the lock and brings nothing', async () => {
    const memory = { ...sharedMemory(), lock: () => Promise.resolve(undefined) };
    const { token } = replica(memory, { timeoutMs: 60 });
    await expect(token.current()).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('lets the next caller try again after a failure', async () => {
    let fails = true;
    const { token } = replica(sharedMemory(), {
      issue: () =>
        fails
          ? Promise.reject(new ServiceFailure('network', 'away'))
          : Promise.resolve({ accessToken: 'later', lifetimeMs: 600_000 }),
    });
    await expect(token.current()).rejects.toMatchObject({ kind: 'network' });
    fails = false;
    expect(await token.current()).toBe('later');
  });
});
