import { errorCode } from '../domain/error-code.ts';
import type { Log } from '../log.ts';

/** Tells an outage once, and its end once. */
export type RedisNews = {
  /** Redis has given a sign of life. */
  hear: () => void;
  lose: (failure: string) => void;
  /** Since the last sign of life. */
  silentMs: () => number;
};

export function createRedisNews(log: Log): RedisNews {
  let away = false;
  let heardAt = performance.now();
  return {
    hear() {
      heardAt = performance.now();
      if (away) log('info', 'Redis answers again.');
      away = false;
    },
    lose(failure) {
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
