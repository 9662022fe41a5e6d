import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessToken, shareToken, type TokenMemory } from '../../src/payments/access-token.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { sealer } from '../features/house.ts';
import { memoryStore } from '../features/memory-store.ts';

type Options = Parameters<typeof createAccessToken>[0];

const day = 86_400_000;
let clock: { nowMs: number };
let store: ReturnType<typeof memoryStore>;
let memory: TokenMemory;
beforeEach(() => {
  clock = { nowMs: 1_000_000 };
  store = memoryStore(clock);
  memory = shareToken(store, sealer, 'account');
});

const away = () => Promise.reject(new Error('store away'));
const storeAway = () => ({ read: away, write: away, lock: away });
/** A store that answers but keeps nothing, like one that was away for this write. */
const forgetful = () => ({ ...memory, write: away });

/** A replica that shares the store with the others; it issues `issued-1`, `issued-2`, … counted over all replicas. */
function replica(more: Partial<Options> = {}, issued: string[] = []) {
  const token = createAccessToken({
    memory,
    issue: async () => {
      issued.push(`issued-${issued.length + 1}`);
      await Promise.resolve();
      return { accessToken: issued.at(-1) ?? '', refreshToken: 'r', lifetimeMs: 600_000 };
    },
    timeoutMs: 2_000,
    now: () => clock.nowMs,
    wait: () => Promise.resolve(),
    log: () => undefined,
    ...more,
  });
  return { token, issued };
}

function kept(accessToken: string, freshForMs = 60_000) {
  return memory.write({ accessToken, refreshToken: 'r', freshUntilMs: clock.nowMs + freshForMs }, freshForMs);
}

function kindOf(error: unknown): string {
  return (error as ServiceFailure).kind;
}

describe('access token', () => {
  it('is issued once for a hundred callers at the same time', async () => {
    const { token, issued } = replica();
    const tokens = await Promise.all(Array.from({ length: 100 }, () => token.current()));
    expect(new Set(tokens)).toEqual(new Set(['issued-1']));
    expect(issued).toHaveLength(1);
  });

  it('is shared by replicas: two at once and a third one later request one token', async () => {
    const issued: string[] = [];
    const [first, second, third] = [replica({}, issued), replica({}, issued), replica({}, issued)];
    const tokens = await Promise.all([first.token.current(), second.token.current()]);
    expect([...tokens, await third.token.current()]).toEqual(['issued-1', 'issued-1', 'issued-1']);
    expect(issued).toHaveLength(1);
  });

  it('is a new one for every replica after `renew`', async () => {
    const issued: string[] = [];
    const [first, second] = [replica({}, issued), replica({}, issued)];
    expect(await first.token.current()).toBe('issued-1');
    expect(await first.token.renew()).toBe('issued-2');
    expect([await first.token.current(), await second.token.current()]).toEqual(['issued-2', 'issued-2']);
    const refused = replica({ issue: () => Promise.reject(new ServiceFailure('unauthorized', 'no')) });
    await expect(refused.token.renew()).rejects.toThrow('no');
    expect(await refused.token.current()).toBe('issued-2');
  });

  it('takes another replica’s newer token before asking for one after a rejection', async () => {
    const { token, issued } = replica();
    const rejected = await token.current();
    await kept('theirs');
    expect(await token.replace(rejected)).toBe('theirs');
    expect(issued).toHaveLength(1);
  });

  it('is replaced when the shared one is the rejected one', async () => {
    const { token } = replica();
    const rejected = await token.current();
    clock.nowMs += 30_000;
    expect(await token.replace(rejected)).toBe('issued-2');
  });

  it('is issued again after a short wait if another system took the session, and logs it', async () => {
    const told: unknown[] = [];
    const { token } = replica({
      wait: async (ms) => void told.push(ms),
      log: (level, message) => told.push(`${level} ${message}`),
    });
    const first = await token.current();
    clock.nowMs += 5_000;
    expect(token.isContended()).toBe(false);
    expect(await token.replace(first)).toBe('issued-2');
    expect(told).toEqual([
      'warn The payments service rejected an access token that it had just given: another system seems to use the same credentials',
      500,
    ]);
    expect(token.isContended()).toBe(true);
    clock.nowMs += 600_000;
    expect(token.isContended()).toBe(false);
  });

  it.each([
    ['in the store', () => memory],
    ['while the store is away', storeAway],
    ['if the store was away for the one write', forgetful],
  ])(
    'is requested only twice in half a minute by 50 calls if even a new one is rejected (%s)',
    async (_when, memoryOf) => {
      const { token, issued } = replica({ memory: memoryOf() });
      const kinds = new Set<string>();
      for (let call = 0; call < 50; call += 1) {
        kinds.add(await token.replace(await token.current()).catch(kindOf));
      }
      expect([...kinds]).toEqual(['issued-2', 'unauthorized']);
      expect(issued).toHaveLength(2);
      clock.nowMs += 30_000;
      expect(await token.replace('issued-2')).toBe('issued-3');
    },
  );

  it('is requested only once by several replicas whose every token is rejected', async () => {
    const issued: string[] = [];
    const replicas = [replica({}, issued), replica({}, issued)];
    for (let call = 0; call < 20; call += 1) {
      for (const { token } of replicas) {
        await token.replace(await token.current()).catch(() => undefined);
      }
    }
    expect(issued).toHaveLength(4);
  });

  it('is replaced at once if it expired before it was rejected', async () => {
    const { token } = replica({
      issue: () => Promise.resolve({ accessToken: `at-${clock.nowMs}`, lifetimeMs: 1_500 }),
    });
    const first = await token.current();
    clock.nowMs += 1_500;
    expect(await token.replace(first)).toBe('at-1001500');
    expect(token.isContended()).toBe(false);
  });

  it('is replaced even if the rejection joins a request under way', async () => {
    await kept('stale');
    const { token } = replica();
    expect(await Promise.all([token.current(), token.replace('stale')])).toEqual(['stale', 'issued-1']);
  });

  it('is refreshed if it expired and can be, issued if that is refused, and issued after a rejection', async () => {
    await kept('old');
    clock.nowMs += 60_000;
    const last: unknown[] = [];
    const refreshing = replica({
      refresh(shared) {
        last.push(shared);
        return Promise.resolve({ accessToken: 'refreshed', lifetimeMs: 60_000 });
      },
    });
    expect(await refreshing.token.current()).toBe('refreshed');
    expect(last).toMatchObject([{ accessToken: 'old', refreshToken: 'r' }]);
    clock.nowMs += 60_000;
    await kept('rejected');
    expect(await refreshing.token.replace('rejected')).toBe('issued-1');
    clock.nowMs += 600_000;
    const refused = replica({ refresh: () => Promise.reject(new ServiceFailure('unauthorized', 'no')) });
    expect(await refused.token.current()).toBe('issued-1');
    expect([last.length, refreshing.issued.length, refused.issued.length]).toEqual([1, 1, 1]);
  });

  it.each([
    ['while the store is away', storeAway],
    ['if the store was away for the one write', forgetful],
  ])('is used unshared, as long as it is fresh, %s', async (_when, memoryOf) => {
    const { token, issued } = replica({ memory: memoryOf() });
    for (let minute = 0; minute < 9; minute += 1) {
      expect(await token.current()).toBe('issued-1');
      clock.nowMs += 60_000;
    }
    expect(await token.current()).toBe('issued-2');
    expect(issued).toHaveLength(2);
  });

  it('stays in use when the store goes away, until it is rejected', async () => {
    await kept('theirs');
    let isAway = false;
    const { token, issued } = replica({
      memory: { ...storeAway(), read: () => (isAway ? away() : memory.read()) },
    });
    expect(await token.current()).toBe('theirs');
    isAway = true;
    expect(await token.current()).toBe('theirs');
    expect(await token.replace('theirs')).toBe('issued-1');
    expect(issued).toHaveLength(1);
  });

  it('logs once an outage that the shared one can’t be read, and why', async () => {
    const told: unknown[] = [];
    const sealBroken = new Error('Sealed with a key that is not configured');
    let isBroken = true;
    const { token } = replica({
      memory: { ...memory, read: () => (isBroken ? Promise.reject(sealBroken) : memory.read()) },
      log: (level, message, _fields, error) => told.push([level, message, error]),
    });
    const line = ['warn', 'The shared access token cannot be read; this replica uses its own', sealBroken];
    for (const [broken, lines] of [
      [true, 1],
      [true, 1],
      [false, 1],
      [true, 2],
    ] as const) {
      isBroken = broken;
      await token.current();
      clock.nowMs += 600_000;
      expect(told).toEqual(Array.from({ length: lines }, () => line));
    }
  });

  it('fails with words while another replica holds the lock without a token, until it releases it', async () => {
    const held = replica({ issue: () => new Promise(() => undefined) });
    void held.token.current();
    const waiting = replica({ timeoutMs: 60, now: () => Date.now() });
    await expect(waiting.token.current()).rejects.toMatchObject({ kind: 'timeout' });
    await held.token.releaseLock();
    expect(await waiting.token.current()).toBe('issued-1');
  });

  it('uses the shared one even if its replica has not released the lock', async () => {
    await memory.lock(10_000);
    await kept('theirs');
    const { token } = replica({ timeoutMs: 60, now: () => (clock.nowMs += 10) });
    expect(await token.current()).toBe('theirs');
  });

  it('releases the lock if two callers in one process renew at the same time', async () => {
    const { token } = replica({ timeoutMs: 60, now: () => Date.now() });
    const tokens = await Promise.all([token.renew(), token.renew()]);
    expect(tokens).toEqual(['issued-1', 'issued-1']);
    expect(await memory.lock(10_000)).toBeDefined();
  });

  it('lets the next caller retry after a failure', async () => {
    let fails = true;
    const { token } = replica({
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

describe('shareToken', () => {
  it('gives one replica’s token to the other, and stores no plain text', async () => {
    await kept('canary-access', 30 * day);
    // On its eighth day, so that it can still be used and revoked.
    clock.nowMs += 8 * day;
    expect(await shareToken(store, sealer, 'account').read()).toMatchObject({ accessToken: 'canary-access' });
    const values = await Promise.all(store.keys().map(async (key) => (await store.read(key))?.value));
    expect(values.join()).not.toContain('canary');
  });

  it('gives the lock to one caller at a time, and releases it afterwards', async () => {
    const second = shareToken(store, sealer, 'account');
    const unlock = await memory.lock(10_000);
    expect(await second.lock(10_000)).toBeUndefined();
    await unlock?.();
    expect(await second.lock(10_000)).toBeDefined();
  });
});
