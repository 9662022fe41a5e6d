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

/** How long a shared token is used from this process's memory before the shared one is read again. */
const trustMs = 30_000;
/** A token rejected sooner after it was issued is not at fault: another one would fare no better, and end other replicas' sessions. */
const tooNewToReplaceMs = 30_000;
const pollMs = 50;

/** Not read again before `trustedUntilMs`, and of no use after `freshUntilMs`. */
type Held = { token: string; trustedUntilMs: number; freshUntilMs: number };

/**
 * One access token for all replicas. A service may allow one session per account, so the shared token is
 * always read again before a new one is asked for, one replica asks at a time, and nobody revokes it on
 * shutdown. With the store away it still works, unshared: a look-up must not fail for want of a cache; it
 * then goes on with what it holds for as long as that is fresh. A service that rejects even new tokens is
 * asked for one in half a minute, not for one with each call.
 *
 * Spec: Authentication; the lifetime and the bodies: not shown.
 */
export function createAccessToken(deps: TokenDeps): AccessToken {
  let held: Held | undefined;
  let issued: { atMs: number; freshUntilMs: number; hasRejectionSince: boolean } | undefined;
  let flight: Promise<string> | undefined;
  let cannotRead = false;

  function hold(token: string, trustForMs: number, freshUntilMs: number): string {
    held = { token, trustedUntilMs: Math.min(deps.now() + trustForMs, freshUntilMs), freshUntilMs };
    return token;
  }

  /** Kept all the same: with the store away it is the only one there is until another may be asked for. */
  function distrust(): void {
    if (held) held = { ...held, trustedUntilMs: 0 };
    if (issued) issued.hasRejectionSince = true;
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
      const found = await findToken(rejected);
      if (found !== undefined) return found;
      refuseWhileTooNew();
      const unlock = await deps.memory.lock(2 * deps.timeoutMs).catch(() => noLockToEnd);
      if (unlock) return await obtainLocked(rejected, unlock);
      await rest(pollMs);
    }
    throw new ServiceFailure(
      'timeout',
      'Another replica is asking for an access token and got no answer in time.',
    );
  }

  /** The shared token; where that cannot be known, the one already held. */
  async function findToken(rejected: string | undefined): Promise<string | undefined> {
    const shared = await readOrLog(() => deps.memory.readFresh());
    if (shared.kind === 'read') {
      const token = shared.token?.accessToken;
      // How long it stays fresh only the store knows.
      return token === undefined || token === rejected ? undefined : hold(token, trustMs, Infinity);
    }
    const isUsable = held && held.token !== rejected && held.freshUntilMs > deps.now();
    return held && isUsable ? hold(held.token, trustMs, held.freshUntilMs) : undefined;
  }

  async function readOrLog(read: () => Promise<SharedToken | undefined>): Promise<Shared> {
    try {
      const token = await read();
      cannotRead = false;
      return { kind: 'read', token };
    } catch (error) {
      if (!cannotRead) {
        deps.log('warn', 'The shared access token cannot be read; this replica uses its own', {}, error);
      }
      cannotRead = true;
      return { kind: 'unreadable' };
    }
  }

  function refuseWhileTooNew(): void {
    if (!issued?.hasRejectionSince) return;
    if (deps.now() >= Math.min(issued.atMs + tooNewToReplaceMs, issued.freshUntilMs)) return;
    const message =
      'The payments service rejects the access token it has only just given; no other is asked for yet.';
    throw new ServiceFailure('unauthorized', message, { httpStatus: 401 });
  }

  async function obtainLocked(rejected: string | undefined, unlock: () => Promise<void>): Promise<string> {
    try {
      // Somebody may have stored one between our look and our lock.
      return (await findToken(rejected)) ?? (await obtainNew());
    } finally {
      await unlock().catch(() => undefined);
    }
  }

  async function obtainNew(): Promise<string> {
    const token = await ask();
    const freshForMs = Math.max(1_000, token.lifetimeMs - deps.refreshAheadMs);
    const freshUntilMs = deps.now() + freshForMs;
    issued = { atMs: deps.now(), freshUntilMs, hasRejectionSince: false };
    try {
      await deps.memory.write(token, freshForMs);
      return hold(token.accessToken, trustMs, freshUntilMs);
    } catch (error) {
      deps.log('warn', 'The access token could not be shared with other replicas', {}, error);
      // Nothing to be read again, and asking for another would end this one where there is one session.
      return hold(token.accessToken, freshForMs, freshUntilMs);
    }
  }

  async function ask(): Promise<Token> {
    const last = deps.refresh ? await readOrLog(() => deps.memory.readLast()) : undefined;
    const token = last?.kind === 'read' ? last.token : undefined;
    if (deps.refresh && token?.refreshToken !== undefined) {
      try {
        return await deps.refresh({ ...token, refreshToken: token.refreshToken });
      } catch (error) {
        deps.log('info', 'The access token could not be refreshed; a new one is issued', {}, error);
      }
    }
    return await deps.issue();
  }

  return {
    current() {
      if (held && held.trustedUntilMs > deps.now()) return Promise.resolve(held.token);
      return obtainOnce(undefined);
    },
    async replace(rejected) {
      if (held && held.token !== rejected && held.trustedUntilMs > deps.now()) return held.token;
      distrust();
      const token = await obtainOnce(rejected);
      if (token !== rejected) return token;
      // A flight that was under way already did not know of the rejection.
      distrust();
      return await obtainOnce(rejected);
    },
  };
}

type Shared = { kind: 'read'; token: SharedToken | undefined } | { kind: 'unreadable' };

/** Stands in for a lock while the store is away. */
function noLockToEnd(): Promise<void> {
  return Promise.resolve();
}
