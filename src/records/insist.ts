import { StoreUnavailable } from '../domain/failure.ts';
import { type Log, newErrorId } from '../log.ts';

/** How long storing an answer is retried while the store is away. After that the record's own timer takes over. */
const insistMs = 30_000;
const insistAgainMs = 500;

/** Retries `work` while the store is away. For storing an answer that can't be requested again. */
export async function insist<T>(
  { now, wait }: { now: () => number; wait: (ms: number) => Promise<unknown> },
  work: () => Promise<T>,
): Promise<T> {
  const until = now() + insistMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || now() >= until) throw error;
      await wait(insistAgainMs);
    }
  }
}

const tries = 3;
const againMs = 200;

/**
 * Updates the bot's own records after the service has acted; tries three times. Never throws, because the service's
 * answer stands in any case. `behind`: the records could not be updated, which is logged as `what`.
 */
export async function catchUp(
  { log, wait }: { log: Log; wait: (ms: number) => Promise<unknown> },
  what: string,
  work: () => Promise<unknown>,
): Promise<'current' | 'behind'> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return 'current';
    } catch (error) {
      if (attempt >= tries) {
        log('error', what, { errorId: newErrorId() }, error);
        return 'behind';
      }
      await wait(againMs);
    }
  }
}
