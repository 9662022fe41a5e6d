import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceFailure } from '../domain/failure.ts';
import type { Sealer, Store } from '../store/store.ts';
import type { Log } from '../log.ts';
import { dayMs } from '../domain/span.ts';

export type Token = { accessToken: string; refreshToken?: string | undefined; lifetimeMs: number };

/** The token shared by all replicas; kept after it has expired, because its refresh token may still work. */
export type SharedToken = {
  accessToken: string;
  refreshToken?: string | undefined;
  /** UTC ms, by the clock of the replica that got it. If clocks differ, it is renewed early, or after a rejection. */
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
/** How long the other system may use its session before this bot requests a new one. */
const contendedWaitMs = 1_000;
/** How long `/readyz` and the doctor report a contended session. */
const reportContendedMs = 600_000;
const pollMs = 50;

/**
 * One access token for all replicas, because a service may allow one session per account. So a replica reads the shared
 * token before it requests a new one, one replica requests at a time, and a stopping replica revokes nothing. While the
 * store is away each replica uses its own token, so that look-ups go on. A token rejected soon after its issue is
 * replaced once, after `contendedWaitMs`; then none is requested for half a minute. `refresh`: absent if no refresh
 * body is configured; then a new token is issued instead.
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
  let obtaining: Promise<string> | undefined;
  let unlock: (() => Promise<void>) | undefined;
  let isUnreadable = false;
  /** Until then a rejection of the last token doesn't mean that it expired. */
  let newUntilMs = -Infinity;
  let contendedAtMs = -Infinity;

  const isFresh = (token: SharedToken | undefined): token is SharedToken =>
    token !== undefined && token.freshUntilMs > now();

  /** Undefined also if the store is away or lacks the sealing key; logged once per outage. */
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
    obtaining ??= obtain(rejected).finally(() => {
      obtaining = undefined;
    });
    return obtaining;
  }

  async function obtain(rejected?: string): Promise<string> {
    const endsAtMs = now() + 2 * timeoutMs;
    while (now() < endsAtMs) {
      const token =
        (await findValid(rejected)) ??
        // Another replica may have stored a token before we got the lock.
        (await withLock(async () => (await findValid(rejected)) ?? (await requestInstead(rejected))));
      if (token !== undefined) return token;
      await sleep(pollMs);
    }
    throw new ServiceFailure(
      'timeout',
      'Another replica is asking for an access token and got no answer in time.',
    );
  }

  /**
   * Runs the work with the lock; undefined while another replica holds it. While the store is away there is no lock.
   */
  async function withLock(work: () => Promise<string>): Promise<string | undefined> {
    const own = await memory.lock(2 * timeoutMs).catch(() => () => Promise.resolve());
    if (!own) return undefined;
    unlock = own;
    try {
      return await work();
    } finally {
      await own().catch(() => undefined);
    }
  }

  async function releaseLock(): Promise<void> {
    await unlock?.().catch(() => undefined);
  }

  /** A fresh token other than the rejected one: the shared one, else this replica's own (while the store is away). */
  async function findValid(rejected?: string): Promise<string | undefined> {
    const found = [await readShared(), held].find(
      (token) => isFresh(token) && token.accessToken !== rejected,
    );
    held = found ?? held;
    return found?.accessToken;
  }

  /** After a rejection a token is issued, otherwise refreshed if possible. */
  async function requestInstead(rejected?: string): Promise<string> {
    if (rejected === undefined) return await requestAndShare(refresh && ((await readShared()) ?? held));
    if (now() < newUntilMs) await yieldToOther();
    // Don't refresh: the rejected token hadn't expired, so its refresh token may be useless as well.
    return await requestAndShare();
  }

  /**
   * Waits, so that two systems with the same credentials don't end each other's session in turns. Throws if that
   * happened just before.
   */
  async function yieldToOther(): Promise<void> {
    if (now() < contendedAtMs + newForMs) {
      const message =
        'The payments service rejects the access tokens it has only just given. Another system may use the same credentials.';
      throw new ServiceFailure('unauthorized', message, { httpStatus: 401 });
    }
    contendedAtMs = now();
    log(
      'warn',
      'The payments service rejected an access token that it had just given: another system seems to use the same credentials',
    );
    await wait(Math.min(contendedWaitMs, timeoutMs / 4));
  }

  /** Gets a token, by refreshing `last` if possible, and shares it. */
  async function requestAndShare(last?: SharedToken): Promise<string> {
    const { lifetimeMs, ...token } = await request(last);
    // At least half its lifetime: otherwise a short-lived token would be renewed at every use.
    const freshForMs = Math.max(lifetimeMs / 2, lifetimeMs - refreshAheadMs);
    newUntilMs = now() + Math.min(newForMs, freshForMs);
    held = { ...token, freshUntilMs: now() + freshForMs };
    await memory.write(held, freshForMs).catch((error: unknown) => {
      log('warn', 'The access token could not be shared with other replicas', {}, error);
    });
    return held.accessToken;
  }

  async function request(last: SharedToken | undefined): Promise<Token> {
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
      // A request that was already under way may return the rejected token.
      return token === rejected ? await obtainOnce(rejected) : token;
    },
  };
  return {
    ...accessToken,
    /** Gets a new token for all replicas, which proves that the credentials work. */
    renew: async (): Promise<string> =>
      // If another replica has the lock, it is requesting a new token already.
      (await withLock(() => requestAndShare())) ?? (await obtainOnce()),
    /** Whether a token was rejected soon after its issue, in the last ten minutes. */
    isContended: (): boolean => now() < contendedAtMs + reportContendedMs,
    /** Releases the lock when the process ends during a request, so no replica waits for it. Never throws. */
    releaseLock,
  };
}

/** How long an expired token is kept for its refresh token. */
const keepLastMs = 7 * dayMs;

export type TokenMemory = ReturnType<typeof shareToken>;

/** The access token with this id, sealed in the store. Methods throw StoreUnavailable. */
export function shareToken(store: Pick<Store, 'create' | 'read' | 'write'>, sealer: Sealer, id: string) {
  const key = `token:shared:${id}`;
  const lockKey = `token:lock:${id}`;
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
