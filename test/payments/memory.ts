import type { SharedToken, TokenMemory } from '../../src/payments/access-token.ts';

/** What replicas share, without a store: a token and a lock. Ending the freshness is the test's business. */
export function sharedMemory(): TokenMemory & { expire(): void } {
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
