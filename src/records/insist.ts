import { StoreUnavailable } from '../domain/failure.ts';
import { type Log, newErrorId } from '../log.ts';

/** How long an answer is held on to while the store is away; then the timers take over. */
const insistMs = 30_000;
const insistAgainMs = 500;

/** An answer that cannot be had a second time (where a code was sent, say) is not let go because the store blinks. */
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

/** How often the bot's own records are told what the service has done already. */
const tries = 3;
const againMs = 200;

/**
 * Brings the bot's own records up to date with what the service has done. `behind` when that could not be, which is
 * in the log as `what`: the service's answer stands whatever becomes of our records, so nothing is thrown from here.
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
