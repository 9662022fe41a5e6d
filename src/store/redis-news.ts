import { errorCode } from '../domain/failure.ts';
import type { Log } from '../log.ts';

/** Tells an outage once, and its end once. */
export type RedisNews = {
  /** Redis has given a sign of life. */
  hear: () => void;
  /** `forMs`: a sign of life within that long is not the end of the outage. */
  lose: (failure: string, forMs?: number) => void;
  /** Since the last sign of life. */
  silentMs: () => number;
};

export function createRedisNews(log: Log): RedisNews {
  let away = false;
  let heardAt = performance.now();
  let lostUntil = 0;
  return {
    hear() {
      heardAt = performance.now();
      if (heardAt < lostUntil) return;
      if (away) log('info', 'Redis answers again.');
      away = false;
    },
    lose(failure, forMs = 0) {
      lostUntil = performance.now() + forMs;
      if (away) return;
      away = true;
      log('error', 'Redis cannot be used. Every store call fails until it is back; trying again.', {
        failure,
        fix: 'Check that Redis runs and that the address, password and TLS setting are right.',
      });
    },
    silentMs: () => performance.now() - heardAt,
  };
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return [errorCode(error), error.message].filter((part) => part !== undefined && part !== '').join(': ');
}
