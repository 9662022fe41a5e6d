import { randomBytes } from 'node:crypto';
import type { Store } from '../store/store.ts';
import type { Sealer } from '../domain/sealer.ts';

/** What is shared: never in the clear outside this process. */
type Token = { accessToken: string; refreshToken?: string | undefined };

export type TokenMemory = {
  readFresh(): Promise<Token | undefined>;
  readLast(): Promise<Token | undefined>;
  write(token: Token, freshForMs: number): Promise<void>;
  lock(forMs: number): Promise<(() => Promise<void>) | undefined>;
  /** Nothing of it is left, for any replica. */
  forget(): Promise<void>;
};

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
): TokenMemory {
  const freshKey = `token:fresh:${accountId}`;
  const lastKey = `token:last:${accountId}`;
  const lockKey = `token:lock:${accountId}`;

  async function readToken(key: string): Promise<Token | undefined> {
    const entry = await store.read(key);
    return entry ? (JSON.parse(sealer.open(key, entry.value)) as Token) : undefined;
  }

  async function put(key: string, token: Token, ttlMs: number): Promise<void> {
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
