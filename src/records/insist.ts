import { StoreUnavailable } from '../domain/failure.ts';
import { type Log, newErrorId } from '../log.ts';

/** How long to retry storing an answer while the store is away; then timers take over. */
const insistMs = 30_000;
const insistAgainMs = 500;

/** Retries `work` while the store is away, for an answer that can't be had twice. */
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
 * Updates the bot's records after the service has acted. Never throws, since the service's answer stands: `behind`, logged as
 * `what`, when the records couldn't be updated.
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
