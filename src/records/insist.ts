import { StoreUnavailable } from '../domain/failure.ts';

type InsistDeps = { now: () => number; wait: (ms: number) => Promise<unknown> };

/** How long an answer is held on to while the store is away; then the timers take over. */
const insistMs = 30_000;
const insistAgainMs = 500;

/** An answer that cannot be had a second time (where a code was sent, say) is not let go because the store blinks. */
export async function insist<T>({ now, wait }: InsistDeps, work: () => Promise<T>): Promise<T> {
  const until = now() + insistMs;
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other is the point
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || now() >= until) throw error;
      // oxlint-disable-next-line no-await-in-loop
      await wait(insistAgainMs);
    }
  }
}
