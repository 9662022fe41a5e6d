import { StoreUnavailable } from '../domain/failure.ts';
import { type Log, newErrorId } from '../log.ts';

/** How long to retry. After that a worker does, once the record is due. */
const retryForMs = 30_000;
const retryEveryMs = 500;

/** For storing an answer that can't be requested again. Throws what `work` throws, StoreUnavailable only after 30 s. */
export async function untilStored<T>(
  { now, wait }: { now: () => number; wait: (ms: number) => Promise<unknown> },
  work: () => Promise<T>,
): Promise<T> {
  const until = now() + retryForMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || now() >= until) throw error;
      await wait(retryEveryMs);
    }
  }
}

const tries = 3;
const againMs = 200;

/**
 * Updates the bot's own records after the service has acted; tries three times. Never throws, because the service's
 * answer is valid in any case. `behind`: the records could not be updated; logs `failure` then.
 */
export async function updateOwnRecords(
  { log, wait }: { log: Log; wait: (ms: number) => Promise<unknown> },
  failure: string,
  work: () => Promise<unknown>,
): Promise<'current' | 'behind'> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return 'current';
    } catch (error) {
      if (attempt >= tries) {
        log('error', failure, { errorId: newErrorId() }, error);
        return 'behind';
      }
      await wait(againMs);
    }
  }
}
