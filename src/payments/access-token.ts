import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceFailure } from '../domain/failure.ts';
import type { Sealer, Store } from '../store/store.ts';
import type { Log } from '../log.ts';

export type Token = { accessToken: string; refreshToken?: string | undefined; lifetimeMs: number };

/** The token all replicas share, kept past its freshness for the refresh token beside it. */
export type SharedToken = {
  accessToken: string;
  refreshToken?: string | undefined;
  /** By the clock of who got it: where clocks differ it is asked for too early, or the service rejects it and it is replaced. */
  freshUntilMs: number;
};

export type AccessToken = {
  /** A token believed valid. Throws ServiceFailure when none can be had. */
  current(): Promise<string>;
  /** A token other than the one the service has just rejected: another replica's newer one, else a new one. */
  replace(rejected: string): Promise<string>;
};

/** A token that ends sooner is renewed. */
const refreshAheadMs = 60_000;
/** A token rejected sooner after it was issued is not at fault: another system has taken the session, or none is accepted. */
const newForMs = 30_000;
/** How long the other system may use what it has just got before the session is taken back. */
const takenWaitMs = 1_000;
/** How long the health tells of it. */
const tellTakenMs = 600_000;
const pollMs = 50;

/**
 * One access token for all replicas. A service may allow one session per account, so the shared token is
 * always read again before a new one is asked for, one replica asks at a time, and nobody revokes it on
 * shutdown. With the store away it still works, unshared: a look-up must not fail for want of a cache. A token that is
 * rejected soon after it was issued is replaced once, after a little while; after that no other is asked for until half
 * a minute is over. `refresh` is absent when no refresh body is configured: an ended token is issued anew.
 *
 * Spec: Authentication; the lifetime and the bodies: not shown.
 */
export function createAccessToken(options: {
  memory: Pick<TokenMemory, 'read' | 'write' | 'lock'>;
  issue: () => Promise<Token>;
  refresh?: ((last: SharedToken) => Promise<Token>) | undefined;
  timeoutMs: number;
  wait?: (ms: number) => Promise<unknown>;
  now: () => number;
  log: Log;
}) {
  const { memory, issue, refresh, timeoutMs, wait = sleep, now, log } = options;
  let held: SharedToken | undefined;
  let flight: Promise<string> | undefined;
  let unlock: (() => Promise<void>) | undefined;
  let isUnreadable = false;
  let newUntilMs = -Infinity;
  let takenBackAtMs = -Infinity;

  const isFresh = (token: SharedToken | undefined): token is SharedToken =>
    token !== undefined && token.freshUntilMs > now();

  /** Undefined also when it cannot be read, which is said once an outage: the store is away, or the sealing keys differ. */
  async function readShared(): Promise<SharedToken | undefined> {
    try {
      const shared = await memory.read();
      isUnreadable = false;
      return shared;
    } catch (error) {
      const message = 'The shared access token cannot be read; this replica uses its own';
      if (!isUnreadable) log('warn', message, {}, error);
      isUnreadable = true;
      return undefined;
    }
  }

  /** All callers of this process wait for one request. */
  function obtainOnce(rejected?: string): Promise<string> {
    flight ??= obtain(rejected).finally(() => {
      flight = undefined;
    });
    return flight;
  }

  async function obtain(rejected?: string): Promise<string> {
    const endsAtMs = now() + 2 * timeoutMs;
    while (now() < endsAtMs) {
      const token =
        (await findOther(rejected)) ??
        // Somebody may have stored one between our look and our right to ask.
        (await alone(async () => (await findOther(rejected)) ?? (await obtainInstead(rejected))));
      if (token !== undefined) return token;
      await sleep(pollMs);
    }
    throw new ServiceFailure(
      'timeout',
      'Another replica is asking for an access token and got no answer in time.',
    );
  }

  /** Undefined while another replica has the one right to ask. While the store is away there is no such right. */
  async function alone(work: () => Promise<string>): Promise<string | undefined> {
    const own = await memory.lock(2 * timeoutMs).catch(() => () => Promise.resolve());
    if (!own) return undefined;
    unlock = own;
    try {
      return await work();
    } finally {
      await own().catch(() => undefined);
    }
  }

  async function letGo(): Promise<void> {
    await unlock?.().catch(() => undefined);
  }

  /** The shared one, else the one held already: what could not be shared is not asked for with each call. */
  async function findOther(rejected?: string): Promise<string | undefined> {
    const found = [await readShared(), held].find(
      (token) => isFresh(token) && token.accessToken !== rejected,
    );
    held = found ?? held;
    return found?.accessToken;
  }

  async function obtainInstead(rejected?: string): Promise<string> {
    if (rejected === undefined) return await obtainNew(refresh && ((await readShared()) ?? held));
    if (now() < newUntilMs) await takeBack();
    // A rejection says that the session is at fault and not the token's age: a refresh could mint another useless one.
    return await obtainNew();
  }

  /** Keeps two systems that share one session from asking for it in turns: throws when it was taken back just before. */
  async function takeBack(): Promise<void> {
    if (now() < takenBackAtMs + newForMs) {
      const message =
        'The payments service rejects the access tokens it has only just given. Another system may use the same credentials.';
      throw new ServiceFailure('unauthorized', message, { httpStatus: 401 });
    }
    takenBackAtMs = now();
    log(
      'warn',
      'The payments service rejected an access token that it had just given: another system seems to use the same credentials',
    );
    await wait(Math.min(takenWaitMs, timeoutMs / 4));
  }

  /** `last`: to be refreshed, where it can be. */
  async function obtainNew(last?: SharedToken): Promise<string> {
    const { lifetimeMs, ...token } = await ask(last);
    // A token that lives no longer than it is to be renewed ahead would be renewed at every use.
    const freshForMs = Math.max(lifetimeMs / 2, lifetimeMs - refreshAheadMs);
    newUntilMs = now() + Math.min(newForMs, freshForMs);
    held = { ...token, freshUntilMs: now() + freshForMs };
    await memory.write(held, freshForMs).catch((error: unknown) => {
      log('warn', 'The access token could not be shared with other replicas', {}, error);
    });
    return held.accessToken;
  }

  async function ask(last: SharedToken | undefined): Promise<Token> {
    if (!refresh || last?.refreshToken === undefined) return await issue();
    try {
      return await refresh(last);
    } catch (error) {
      log('info', 'The access token could not be refreshed; a new one is issued', {}, error);
      return await issue();
    }
  }

  const accessToken: AccessToken = {
    current: async () => (isFresh(held) ? held.accessToken : await obtainOnce()),
    async replace(rejected) {
      if (isFresh(held) && held.accessToken !== rejected) return held.accessToken;
      const token = await obtainOnce(rejected);
      // A request that was under way already did not know of the rejection.
      return token === rejected ? await obtainOnce(rejected) : token;
    },
  };
  return {
    ...accessToken,
    /** A new one, which every replica uses from then on: only so the credentials are proven. */
    renew: async (): Promise<string> =>
      // Whoever else has the right is asking for a new one already.
      (await alone(() => obtainNew())) ?? (await obtainOnce()),
    /** Whether a token was rejected soon after it was issued, in the last ten minutes. */
    isContended: (): boolean => now() < takenBackAtMs + tellTakenMs,
    /** For a process that ends while it asks for a token: no other replica waits for it any longer. Never throws. */
    letGo,
  };
}

/** How long a token that is no longer fresh is kept for the refresh token beside it. */
const keepLastMs = 7 * 86_400_000;

export type TokenMemory = ReturnType<typeof shareToken>;

/** One account's access token, shared by all replicas through the store and sealed there. Every method throws StoreUnavailable while the store is away. */
export function shareToken(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  sealer: Sealer,
  accountId: string,
) {
  const key = `token:shared:${accountId}`;
  const lockKey = `token:lock:${accountId}`;
  return {
    /** The last one, fresh or not. */
    async read(): Promise<SharedToken | undefined> {
      const entry = await store.read(key);
      return entry && (JSON.parse(sealer.open(key, entry.value)) as SharedToken);
    },
    async write(token: SharedToken, freshForMs: number): Promise<void> {
      const value = sealer.seal(key, JSON.stringify(token));
      const rest = { ttlMs: freshForMs + keepLastMs };
      const entry = await store.read(key);
      // Losing the race is no harm: the other replica's token is as good.
      await (entry ? store.write(entry, value, rest) : store.create(key, value, rest));
    },
    /** Nothing of it is left, for any replica. */
    async forget(): Promise<void> {
      const entry = await store.read(key);
      if (entry) await store.write(entry, '', { ttlMs: 0 });
    },
    /** The one right to ask for a new token, for at most `forMs`; undefined while another replica has it. */
    async lock(forMs: number): Promise<(() => Promise<void>) | undefined> {
      const owner = randomBytes(8).toString('hex');
      if (!(await store.create(lockKey, owner, { ttlMs: forMs }))) return undefined;
      return async function unlock() {
        const entry = await store.read(lockKey);
        // Ours may have run out, and somebody else's stand there now.
        if (entry?.value === owner) await store.write(entry, owner, { ttlMs: 0 });
      };
    },
  };
}
