import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceFailure } from '../domain/failure.ts';
import type { Sealer, Store } from '../store/store.ts';
import type { Log } from '../log.ts';
import { dayMs } from '../domain/span.ts';

export type Token = { accessToken: string; refreshToken?: string | undefined; lifetimeMs: number };

/** The token shared by all replicas. An expired one is kept for the refresh token beside it. */
export type SharedToken = {
  accessToken: string;
  refreshToken?: string | undefined;
  /** By the clock of the replica that got it. If clocks differ, the token is renewed early or after a rejection. */
  freshUntilMs: number;
};

export type AccessToken = {
  /** Returns a token believed valid. Throws ServiceFailure if none can be had. */
  current(): Promise<string>;
  /** Replaces the token that the service just rejected: by another replica's newer one, else by a new one. */
  replace(rejected: string): Promise<string>;
};

/** Tokens are renewed this long before they expire. */
const refreshAheadMs = 60_000;
/** A token rejected sooner after its issue did not expire: another system took the session, or no token is accepted. */
const newForMs = 30_000;
/** How long the other system may use its new session before we take it back. */
const takenWaitMs = 1_000;
/** How long `/readyz` and the doctor report a contended session. */
const tellTakenMs = 600_000;
const pollMs = 50;

/**
 * One access token for all replicas. A service may allow one session per account. So the shared token is read again before
 * a new one is requested, one replica requests at a time, and shutdown revokes nothing. With the store away it still works,
 * unshared: a look-up must not fail because a cache is missing. A token rejected soon after its issue is replaced once, after
 * `takenWaitMs`; then no other is requested for half a minute. `refresh` is absent when no refresh body is configured: a
 * new token is issued instead.
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

  /** Undefined also if the store is away or the sealing keys differ; logged once an outage. */
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

  /** All callers of this process share one request. */
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
        // Another replica may have stored a token before we got the lock.
        (await alone(async () => (await findOther(rejected)) ?? (await obtainInstead(rejected))));
      if (token !== undefined) return token;
      await sleep(pollMs);
    }
    throw new ServiceFailure(
      'timeout',
      'Another replica is asking for an access token and got no answer in time.',
    );
  }

  /** Undefined while another replica holds the lock. While the store is away there is no lock. */
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

  /** The shared token, else our own: with the store away, don't request a token for each call. */
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
    // A rejected token was not too old: a refresh could return another useless one.
    return await obtainNew();
  }

  /** Stops two systems from taking one session from each other in turns. Throws if it was taken back just before. */
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

  /** Refreshes `last` if given and possible. */
  async function obtainNew(last?: SharedToken): Promise<string> {
    const { lifetimeMs, ...token } = await ask(last);
    // Renewing ahead by more than its lifetime would renew the token at every use.
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
      // A request under way did not know of the rejection.
      return token === rejected ? await obtainOnce(rejected) : token;
    },
  };
  return {
    ...accessToken,
    /** Gets a new token for all replicas: only a new one proves the credentials. */
    renew: async (): Promise<string> =>
      // The replica with the lock is requesting a new token already.
      (await alone(() => obtainNew())) ?? (await obtainOnce()),
    /** Whether a token was rejected soon after its issue, in the last ten minutes. */
    isContended: (): boolean => now() < takenBackAtMs + tellTakenMs,
    /** Releases the lock when the process ends during a request, so no replica waits for it. Never throws. */
    letGo,
  };
}

/** How long an expired token is kept for the refresh token beside it. */
const keepLastMs = 7 * dayMs;

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
    /** The last token, fresh or not. */
    async read(): Promise<SharedToken | undefined> {
      const entry = await store.read(key);
      return entry && (JSON.parse(sealer.open(key, entry.value)) as SharedToken);
    },
    async write(token: SharedToken, freshForMs: number): Promise<void> {
      const value = sealer.seal(key, JSON.stringify(token));
      const rest = { ttlMs: freshForMs + keepLastMs };
      const entry = await store.read(key);
      // On a race either replica's token will do.
      await (entry ? store.write(entry, value, rest) : store.create(key, value, rest));
    },
    /** Removes the token for all replicas. */
    async forget(): Promise<void> {
      const entry = await store.read(key);
      if (entry) await store.write(entry, '', { ttlMs: 0 });
    },
    /** Locks the request for a new token, for at most `forMs`. Undefined while another replica has the lock. */
    async lock(forMs: number): Promise<(() => Promise<void>) | undefined> {
      const owner = randomBytes(8).toString('hex');
      if (!(await store.create(lockKey, owner, { ttlMs: forMs }))) return undefined;
      return async function unlock() {
        const entry = await store.read(lockKey);
        // Our lock may have expired, and another replica's may be there.
        if (entry?.value === owner) await store.write(entry, owner, { ttlMs: 0 });
      };
    },
  };
}
