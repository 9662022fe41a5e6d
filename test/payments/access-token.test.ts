import { describe, expect, it, vi } from 'vitest';
import {
  createAccessToken,
  shareToken,
  type SharedToken,
  type TokenDeps,
  type TokenMemory,
} from '../../src/payments/access-token.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { sealer } from '../features/house.ts';
import { memoryStore } from '../features/memory-store.ts';

/** What replicas share, without a store: a token and a lock. Ending the freshness is the test's business. */
function sharedMemory(): TokenMemory & { expire(): void } {
  let last: SharedToken | undefined;
  let isFresh = false;
  let locked = false;
  return {
    readFresh: () => Promise.resolve(isFresh ? last : undefined),
    readLast: () => Promise.resolve(last),
    write(token) {
      last = { accessToken: token.accessToken, refreshToken: token.refreshToken };
      isFresh = true;
      return Promise.resolve();
    },
    lock() {
      if (locked) return Promise.resolve(undefined);
      locked = true;
      return Promise.resolve(() => {
        locked = false;
        return Promise.resolve();
      });
    },
    expire() {
      isFresh = false;
    },
  };
}

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
    wait: () => Promise.resolve(),
    log: () => undefined,
    ...overrides,
  };
  return { token: createAccessToken(deps), issued: () => issued };
}

function testClock() {
  let ms = 0;
  return { now: () => ms, passMs: (by: number) => void (ms += by) };
}

function storeAway(): TokenMemory {
  return { readFresh: away, readLast: away, write: away, lock: away };
}

/** Answers, and keeps nothing: a store that was away for the one write. */
function forgetful(): TokenMemory {
  return { ...sharedMemory(), write: away };
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

  it('is a new one once it is renewed, for every replica', async () => {
    const memory = sharedMemory();
    const [first, second] = [replica(memory), replica(memory)];
    expect(await first.token.current()).toBe('issued-1');
    expect(await first.token.renew()).toBe('issued-2');
    expect([await first.token.current(), await second.token.current()]).toEqual(['issued-2', 'issued-2']);
    const refused = replica(memory, {
      issue: () => Promise.reject(new ServiceFailure('unauthorized', 'no')),
    });
    await expect(refused.token.renew()).rejects.toThrow('no');
    expect(await refused.token.current()).toBe('issued-2');
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
    const clock = testClock();
    const { token, issued } = replica(sharedMemory(), { now: clock.now });
    const rejected = await token.current();
    clock.passMs(30_000);
    expect(await token.replace(rejected)).toBe('issued-2');
    expect(issued()).toBe(2);
  });

  it('is issued once more, after a little while, when another system took the session, and says so', async () => {
    const clock = testClock();
    const logged: string[] = [];
    const waits: number[] = [];
    const { token, issued } = replica(sharedMemory(), {
      now: clock.now,
      wait(ms) {
        waits.push(ms);
        return Promise.resolve();
      },
      log: (level, message) => logged.push(`${level} ${message}`),
    });
    const first = await token.current();
    clock.passMs(5_000);
    expect(token.isContended()).toBe(false);
    expect(await token.replace(first)).toBe('issued-2');
    expect(issued()).toBe(2);
    expect(waits).toEqual([500]);
    expect(logged).toEqual([
      'warn The payments service rejected an access token that it had just given: another system seems to use the same credentials',
    ]);
    expect(token.isContended()).toBe(true);
    clock.passMs(600_000);
    expect(token.isContended()).toBe(false);
  });

  it('is asked for twice in half a minute, not with each of 50 calls, where even a new one is rejected', async () => {
    for (const memory of [sharedMemory(), storeAway(), forgetful()]) {
      const clock = testClock();
      const { token, issued } = replica(memory, { now: clock.now });
      const kinds = new Set<string>();
      for (let call = 0; call < 50; call += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one call after the other
        const refused = token.current().then((rejected) => token.replace(rejected));
        // oxlint-disable-next-line no-await-in-loop
        kinds.add(await refused.catch((error: unknown) => (error as ServiceFailure).kind));
      }
      expect([...kinds]).toEqual(['issued-2', 'unauthorized']);
      expect(issued()).toBe(2);
      clock.passMs(30_000);
      // oxlint-disable-next-line no-await-in-loop
      expect(await token.replace('issued-2')).toBe('issued-3');
    }
  });

  it('is not asked for in turns by replicas whose every token is rejected', async () => {
    const memory = sharedMemory();
    const clock = testClock();
    const issued: string[] = [];
    const replicas = ['a', 'b'].map((name) =>
      replica(memory, {
        now: clock.now,
        issue: () => {
          issued.push(name);
          return Promise.resolve({ accessToken: `${name}-${issued.length}`, lifetimeMs: 600_000 });
        },
      }),
    );
    for (let call = 0; call < 20; call += 1) {
      for (const { token } of replicas) {
        // oxlint-disable-next-line no-await-in-loop -- one call after the other
        await token.replace(await token.current()).catch(() => undefined);
      }
    }
    expect(issued.toSorted()).toEqual(['a', 'a', 'b', 'b']);
  });

  it('is replaced at once when it was rejected because its short life was over', async () => {
    const clock = testClock();
    const memory = sharedMemory();
    const { token } = replica(memory, {
      now: clock.now,
      issue: () => Promise.resolve({ accessToken: `at-${clock.now()}`, lifetimeMs: 1_500 }),
    });
    const first = await token.current();
    clock.passMs(1_500);
    expect(await token.replace(first)).toBe('at-1500');
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

  it.each([
    ['while the store is away', storeAway],
    ['after the store was away for the one write', forgetful],
  ])('still works, unshared, %s: one for all the time it is fresh', async (_when, memory) => {
    const clock = testClock();
    const { token, issued } = replica(memory(), { now: clock.now });
    for (let minute = 0; minute < 9; minute += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await token.current()).toBe('issued-1');
      clock.passMs(60_000);
    }
    expect(await token.current()).toBe('issued-2');
    expect(issued()).toBe(2);
  });

  it('goes on with the shared one when the store goes away, until it is rejected', async () => {
    const clock = testClock();
    const memory = sharedMemory();
    await memory.write({ accessToken: 'theirs' }, 60_000);
    let isAway = false;
    const { token, issued } = replica(
      { ...memory, readFresh: () => (isAway ? away() : memory.readFresh()) },
      { now: clock.now },
    );
    expect(await token.current()).toBe('theirs');
    isAway = true;
    clock.passMs(3_600_000);
    expect(await token.current()).toBe('theirs');
    expect(await token.replace('theirs')).toBe('issued-1');
    expect(issued()).toBe(1);
  });

  it('says once an outage that the shared one cannot be read, and why', async () => {
    const clock = testClock();
    const logged: unknown[] = [];
    const sealBroken = new Error('Sealed with a key that is not configured');
    let isBroken = true;
    const memory = sharedMemory();
    const { token } = replica(
      { ...memory, readFresh: () => (isBroken ? Promise.reject(sealBroken) : memory.readFresh()) },
      { now: clock.now, log: (level, message, _fields, error) => logged.push([level, message, error]) },
    );
    for (let minute = 0; minute < 5; minute += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await token.current();
      clock.passMs(60_000);
    }
    const line = ['warn', 'The shared access token cannot be read; this replica uses its own', sealBroken];
    expect(logged).toEqual([line]);
    isBroken = false;
    await token.current();
    clock.passMs(60_000);
    isBroken = true;
    await token.current();
    expect(logged).toEqual([line, line]);
  });

  it('gives up in words when another replica holds the lock and brings nothing', async () => {
    const memory = { ...sharedMemory(), lock: () => Promise.resolve(undefined) };
    const { token } = replica(memory, { timeoutMs: 60 });
    await expect(token.current()).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('is issued anew, not refreshed, when the service has rejected it', async () => {
    const memory = sharedMemory();
    await memory.write({ accessToken: 'old', refreshToken: 'r' }, 60_000);
    let refreshed = 0;
    const { token } = replica(memory, {
      refresh() {
        refreshed += 1;
        return Promise.resolve({ accessToken: 'useless', lifetimeMs: 600_000 });
      },
    });
    expect(await token.replace('old')).toBe('issued-1');
    expect(refreshed).toBe(0);
  });

  it('is asked for again by a call that joined a request which then got no answer, and not by one as old', async () => {
    const clock = testClock();
    const ends: { reject: (reason: unknown) => void; resolve: (token: string) => void }[] = [];
    const { token } = replica(sharedMemory(), {
      now: clock.now,
      issue: () =>
        new Promise((resolve, reject) => {
          ends.push({ reject, resolve: (accessToken) => resolve({ accessToken, lifetimeMs: 600_000 }) });
        }),
    });
    const asked = async (): Promise<string> =>
      await token.current().catch((error: unknown) => (error as ServiceFailure).kind);
    const old = [asked(), asked()];
    await vi.waitFor(() => expect(ends).toHaveLength(1));
    clock.passMs(1_900);
    const late = [asked(), asked()];
    clock.passMs(100);
    ends[0]?.reject(new ServiceFailure('timeout', 'No answer.'));
    expect(await Promise.all(old)).toEqual(['timeout', 'timeout']);
    await vi.waitFor(() => expect(ends).toHaveLength(2));
    ends[1]?.resolve('fresh');
    expect(await Promise.all(late)).toEqual(['fresh', 'fresh']);
    expect(ends).toHaveLength(2);
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

const day = 86_400_000;

function replicas() {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  return {
    clock,
    store,
    first: shareToken(store, sealer, 'account'),
    second: shareToken(store, sealer, 'account'),
  };
}

describe('shareToken', () => {
  it('gives one replica’s token to the other, and nothing in the clear to the store', async () => {
    const { store, first, second } = replicas();
    await first.write({ accessToken: 'canary-access', refreshToken: 'canary-refresh' }, 30 * day);
    expect(await second.readFresh()).toMatchObject({ accessToken: 'canary-access' });
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value));
    expect(values.join()).not.toContain('canary');
  });

  it('gives the right to ask to one at a time, and back when it is done', async () => {
    const { first, second } = replicas();
    const unlock = await first.lock(10_000);
    expect(await second.lock(10_000)).toBeUndefined();
    await unlock?.();
    expect(await second.lock(10_000)).toBeDefined();
  });

  it('still knows a token that is used on its eighth day, so that it can be revoked', async () => {
    const { clock, first } = replicas();
    await first.write({ accessToken: 'a' }, 30 * day);
    clock.nowMs += 8 * day;
    expect(await first.readLast()).toMatchObject({ accessToken: 'a' });
  });
});
