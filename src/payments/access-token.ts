import { setTimeout as rest } from 'node:timers/promises';
import { ServiceFailure } from '../domain/failure.ts';
import type { Log } from '../log.ts';
import type { Token } from './token-answer.ts';

/** The token all replicas share. `fresh` ends by the store's clock; `last` outlives it, for its refresh token. */
export type SharedToken = { accessToken: string; refreshToken?: string | undefined };

export type TokenMemory = {
  readFresh(): Promise<SharedToken | undefined>;
  readLast(): Promise<SharedToken | undefined>;
  write(token: SharedToken, freshForMs: number): Promise<void>;
  /** The one right to ask for a new token, for at most `forMs`; undefined while another replica has it. */
  lock(forMs: number): Promise<(() => Promise<void>) | undefined>;
};

export type TokenDeps = {
  memory: TokenMemory;
  issue: () => Promise<Token>;
  /** Undefined when no refresh body is configured: an ended token is issued anew. */
  refresh: ((last: SharedToken & { refreshToken: string }) => Promise<Token>) | undefined;
  refreshAheadMs: number;
  timeoutMs: number;
  now: () => number;
  log: Log;
};

export type AccessToken = {
  /** A token believed valid. Throws ServiceFailure when none can be had. */
  current(): Promise<string>;
  /** A token other than the one the service has just rejected: another replica's newer one, else a new one. */
  replace(rejected: string): Promise<string>;
};

/** How long a token is used from this process's memory before the shared one is read again. */
const trustMs = 30_000;
const pollMs = 50;

/**
 * One access token for all replicas. A service may allow one session per account, so the shared token is
 * always read again before a new one is asked for, one replica asks at a time, and nobody revokes it on
 * shutdown. With the store away it still works, unshared: a look-up must not fail for want of a cache.
 *
 * Spec: Authentication; the lifetime and the bodies: not shown.
 */
export function createAccessToken(deps: TokenDeps): AccessToken {
  let held: { token: string; untilMs: number } | undefined;
  let flight: Promise<string> | undefined;

  function hold(token: string, forMs: number): string {
    held = { token, untilMs: deps.now() + Math.min(trustMs, forMs) };
    return token;
  }

  /** All callers of this process wait for one request. */
  function obtainOnce(rejected: string | undefined): Promise<string> {
    flight ??= obtain(rejected).finally(() => {
      flight = undefined;
    });
    return flight;
  }

  async function obtain(rejected: string | undefined): Promise<string> {
    const endsAtMs = deps.now() + 2 * deps.timeoutMs;
    while (deps.now() < endsAtMs) {
      const found = await readShared(rejected);
      if (found !== undefined) return hold(found, trustMs);
      const unlock = await deps.memory.lock(2 * deps.timeoutMs).catch(() => noLockToEnd);
      if (unlock) return await obtainLocked(rejected, unlock);
      await rest(pollMs);
    }
    throw new ServiceFailure(
      'timeout',
      'Another replica is asking for an access token and got no answer in time.',
    );
  }

  async function readShared(rejected: string | undefined): Promise<string | undefined> {
    const fresh = await deps.memory.readFresh().catch(() => undefined);
    return fresh && fresh.accessToken !== rejected ? fresh.accessToken : undefined;
  }

  async function obtainLocked(rejected: string | undefined, unlock: () => Promise<void>): Promise<string> {
    try {
      // Somebody may have stored one between our look and our lock.
      const found = await readShared(rejected);
      if (found !== undefined) return hold(found, trustMs);
      const token = await ask();
      const freshForMs = Math.max(1_000, token.lifetimeMs - deps.refreshAheadMs);
      await deps.memory.write(token, freshForMs).catch((error: unknown) => {
        deps.log('warn', 'the access token could not be shared with other replicas', {}, error);
      });
      return hold(token.accessToken, freshForMs);
    } finally {
      await unlock().catch(() => undefined);
    }
  }

  async function ask(): Promise<Token> {
    const last = deps.refresh ? await deps.memory.readLast().catch(() => undefined) : undefined;
    if (deps.refresh && last?.refreshToken !== undefined) {
      try {
        return await deps.refresh({ ...last, refreshToken: last.refreshToken });
      } catch (error) {
        deps.log('info', 'the access token could not be refreshed; a new one is issued', {}, error);
      }
    }
    return await deps.issue();
  }

  return {
    current() {
      if (held && held.untilMs > deps.now()) return Promise.resolve(held.token);
      return obtainOnce(undefined);
    },
    async replace(rejected) {
      if (held && held.token !== rejected && held.untilMs > deps.now()) return held.token;
      held = undefined;
      const token = await obtainOnce(rejected);
      // A flight that was under way already did not know of the rejection.
      return token === rejected ? await obtainOnce(rejected) : token;
    },
  };
}

/** Stands in for a lock while the store is away. */
function noLockToEnd(): Promise<void> {
  return Promise.resolve();
}
