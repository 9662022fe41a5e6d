import { randomBytes } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { ServiceFailure } from '../domain/failure.ts';
import type { Sealer, Store } from '../store/store.ts';
import type { Log } from '../log.ts';
import type { Token } from './tokens.ts';

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
  wait: (ms: number) => Promise<unknown>;
  now: () => number;
  log: Log;
};

export type AccessToken = {
  /** A token believed valid. Throws ServiceFailure when none can be had. */
  current(): Promise<string>;
  /** A token other than the one the service has just rejected: another replica's newer one, else a new one. */
  replace(rejected: string): Promise<string>;
};

type RenewableToken = AccessToken & {
  /** A new one, which every replica uses from then on: only so the credentials are proven. */
  renew(): Promise<string>;
  /** Whether a token was rejected soon after it was issued, in the last ten minutes. */
  isContended(): boolean;
};

/** How long a shared token is used from this process's memory before the shared one is read again. */
const trustMs = 30_000;
/** A token rejected sooner after it was issued is not at fault: another system has taken the session, or none is accepted. */
const tooNewToReplaceMs = 30_000;
/** How long the other system may use what it has just got before the session is taken back. */
const takenWaitMs = 1_000;
/** How long the health tells of it. */
const tellTakenMs = 600_000;
const pollMs = 50;

/**
 * One access token for all replicas. A service may allow one session per account, so the shared token is
 * always read again before a new one is asked for, one replica asks at a time, and nobody revokes it on
 * shutdown. With the store away it still works, unshared: a look-up must not fail for want of a cache; it
 * then goes on with what it holds for as long as that is fresh. A token that is rejected soon after it was issued is
 * replaced once, after a little while; after that no other is asked for until half a minute is over.
 *
 * Spec: Authentication; the lifetime and the bodies: not shown.
 */
export function createAccessToken(deps: TokenDeps): RenewableToken {
  const { memory, now } = deps;
  const held = createHeld(now);
  const issued = createLastIssued(now);
  const read = createReader(deps.log);
  let flight: Promise<string> | undefined;

  /**
   * All callers of this process wait for one request. A call that joined it late still has time when it gets no
   * answer, and asks again: otherwise it would fail at once with the deadline of another.
   */
  async function obtainOnce(rejected: string | undefined): Promise<string> {
    if (!flight) return await begin(rejected);
    const joinedAtMs = now();
    try {
      return await flight;
    } catch (error) {
      const isUnanswered = error instanceof ServiceFailure && error.kind === 'timeout';
      if (!isUnanswered || now() - joinedAtMs >= deps.timeoutMs) throw error;
      return await (flight ?? begin(rejected));
    }
  }

  function begin(rejected: string | undefined): Promise<string> {
    flight = obtain(rejected).finally(() => {
      flight = undefined;
    });
    return flight;
  }

  async function obtain(rejected: string | undefined): Promise<string> {
    const endsAtMs = now() + 2 * deps.timeoutMs;
    let hasWaited = false;
    while (now() < endsAtMs) {
      const found = await findToken(rejected);
      if (found !== undefined) return found;
      if (!hasWaited && issued.isTaken()) {
        hasWaited = true;
        deps.log(
          'warn',
          'The payments service rejected an access token that it had just given: another system seems to use the same credentials',
        );
        await deps.wait(Math.min(takenWaitMs, deps.timeoutMs / 4));
        continue;
      }
      const unlock = await memory.lock(2 * deps.timeoutMs).catch(() => noLockToEnd);
      // Somebody may have stored one between our look and our lock.
      if (unlock)
        return await locked(unlock, async () => (await findToken(rejected)) ?? (await obtainNew(rejected)));
      await rest(pollMs);
    }
    throw new ServiceFailure(
      'timeout',
      'Another replica is asking for an access token and got no answer in time.',
    );
  }

  /** The shared token; where that cannot be known, the one already held. */
  async function findToken(rejected: string | undefined): Promise<string | undefined> {
    const shared = await read(() => memory.readFresh());
    const token = shared === 'unreadable' ? held.fresh() : shared?.accessToken;
    return token === undefined || token === rejected ? undefined : held.hold(token, trustMs);
  }

  async function obtainNew(rejected: string | undefined): Promise<string> {
    // A rejection says that the session is at fault and not the token's age: a refresh could mint another useless one.
    const token = rejected === undefined ? await ask(deps, read) : await deps.issue();
    // A token that lives no longer than it is to be renewed ahead would be renewed at every use.
    const freshForMs = Math.max(token.lifetimeMs / 2, token.lifetimeMs - deps.refreshAheadMs);
    issued.note(freshForMs);
    try {
      await memory.write(token, freshForMs);
      return held.hold(token.accessToken, trustMs, freshForMs);
    } catch (error) {
      deps.log('warn', 'The access token could not be shared with other replicas', {}, error);
      // Nothing to be read again, and asking for another would end this one where there is one session.
      return held.hold(token.accessToken, freshForMs, freshForMs);
    }
  }

  function obtainOther(rejected: string): Promise<string> {
    held.distrust();
    issued.noteRejection();
    return obtainOnce(rejected);
  }

  return {
    current: async () => held.trusted() ?? (await obtainOnce(undefined)),
    async replace(rejected) {
      const newer = held.trusted();
      if (newer !== undefined && newer !== rejected) return newer;
      const token = await obtainOther(rejected);
      // A flight that was under way already did not know of the rejection.
      return token === rejected ? await obtainOther(rejected) : token;
    },
    async renew() {
      const unlock = await memory.lock(2 * deps.timeoutMs).catch(() => noLockToEnd);
      // Whoever has it is asking for a new one already.
      return unlock ? await locked(unlock, () => obtainNew('')) : await obtainOnce(undefined);
    },
    isContended: issued.isContended,
  };
}

/** The token in this process's memory: trusted until it is to be read again, and of no use once it is not fresh. */
function createHeld(now: () => number) {
  let held: { token: string; trustedUntilMs: number; freshUntilMs: number } | undefined;
  return {
    /** Of a shared token only the store knows how long it stays fresh; held already, it stays so for as long as was known. */
    hold(token: string, trustForMs: number, freshForMs?: number): string {
      const known = held?.token === token ? held.freshUntilMs : Infinity;
      const freshUntilMs = freshForMs === undefined ? known : now() + freshForMs;
      held = { token, trustedUntilMs: Math.min(now() + trustForMs, freshUntilMs), freshUntilMs };
      return token;
    },
    trusted: () => (held && held.trustedUntilMs > now() ? held.token : undefined),
    fresh: () => (held && held.freshUntilMs > now() ? held.token : undefined),
    /** Kept all the same: with the store away it is the only one there is until another may be asked for. */
    distrust(): void {
      if (held) held.trustedUntilMs = 0;
    },
  };
}

/** Keeps two systems that share one session from asking for it in turns. */
function createLastIssued(now: () => number) {
  let last: { tooNewUntilMs: number; isRejected: boolean } | undefined;
  let takenBackUntilMs = 0;
  let tellUntilMs = 0;
  return {
    note(freshForMs: number): void {
      last = { tooNewUntilMs: now() + Math.min(tooNewToReplaceMs, freshForMs), isRejected: false };
    },
    noteRejection(): void {
      if (last) last.isRejected = true;
    },
    /** The session may be taken back after a little while; throws when it was just before. */
    isTaken(): boolean {
      if (!last?.isRejected || now() >= last.tooNewUntilMs) return false;
      tellUntilMs = now() + tellTakenMs;
      if (now() < takenBackUntilMs) {
        const message =
          'The payments service rejects the access tokens it has only just given. Another system may use the same credentials.';
        throw new ServiceFailure('unauthorized', message, { httpStatus: 401 });
      }
      takenBackUntilMs = now() + tooNewToReplaceMs;
      return true;
    },
    isContended: () => now() < tellUntilMs,
  };
}

type Read = (
  reading: () => Promise<SharedToken | undefined>,
) => Promise<SharedToken | undefined | 'unreadable'>;

/** Says once an outage that the shared token cannot be read, and why: the store is away, or the sealing keys differ. */
function createReader(log: Log): Read {
  let isUnreadable = false;
  return async function read(reading) {
    try {
      const token = await reading();
      isUnreadable = false;
      return token;
    } catch (error) {
      const message = 'The shared access token cannot be read; this replica uses its own';
      if (!isUnreadable) log('warn', message, {}, error);
      isUnreadable = true;
      return 'unreadable';
    }
  };
}

async function ask(deps: TokenDeps, read: Read): Promise<Token> {
  const { memory, refresh } = deps;
  const last = refresh ? await read(() => memory.readLast()) : undefined;
  if (refresh && last && last !== 'unreadable' && last.refreshToken !== undefined) {
    try {
      return await refresh({ ...last, refreshToken: last.refreshToken });
    } catch (error) {
      deps.log('info', 'The access token could not be refreshed; a new one is issued', {}, error);
    }
  }
  return await deps.issue();
}

async function locked(unlock: () => Promise<void>, work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } finally {
    await unlock().catch(() => undefined);
  }
}

/** Stands in for a lock while the store is away. */
function noLockToEnd(): Promise<void> {
  return Promise.resolve();
}

/** How long a token that is no longer fresh is kept for the refresh token beside it. */
const keepLastMs = 7 * 86_400_000;

/**
 * One account's access token, shared by all replicas through the store and sealed there. What is fresh ends
 * by the store's clock. Every method throws StoreUnavailable while the store is away.
 */
export function shareToken(
  store: Pick<Store, 'create' | 'read' | 'write'>,
  sealer: Sealer,
  accountId: string,
): TokenMemory & { forget(): Promise<void> } {
  const freshKey = `token:fresh:${accountId}`;
  const lastKey = `token:last:${accountId}`;
  const lockKey = `token:lock:${accountId}`;

  async function readToken(key: string): Promise<SharedToken | undefined> {
    const entry = await store.read(key);
    return entry ? (JSON.parse(sealer.open(key, entry.value)) as SharedToken) : undefined;
  }

  async function put(key: string, token: SharedToken, ttlMs: number): Promise<void> {
    const value = sealer.seal(
      key,
      JSON.stringify({ accessToken: token.accessToken, refreshToken: token.refreshToken }),
    );
    const entry = await store.read(key);
    // Losing the race is no harm: the other replica's token is as good.
    if (entry) await store.write(entry, value, { ttlMs });
    else await store.create(key, value, { ttlMs });
  }

  return {
    readFresh: () => readToken(freshKey),
    readLast: () => readToken(lastKey),
    async write(token, freshForMs) {
      await put(lastKey, token, freshForMs + keepLastMs);
      await put(freshKey, token, freshForMs);
    },
    /** Nothing of it is left, for any replica. */
    async forget() {
      for (const key of [freshKey, lastKey]) {
        // oxlint-disable-next-line no-await-in-loop -- two keys
        const entry = await store.read(key);
        // oxlint-disable-next-line no-await-in-loop
        if (entry) await store.write(entry, '', { ttlMs: 0 });
      }
    },
    async lock(forMs) {
      const owner = randomBytes(8).toString('hex');
      if (!(await store.create(lockKey, owner, { ttlMs: forMs }))) return undefined;
      return async function unlock(): Promise<void> {
        const held = await store.read(lockKey);
        // Ours may have run out, and somebody else's stand there now.
        if (held?.value === owner) await store.write(held, owner, { ttlMs: 0 });
      };
    },
  };
}
