import type { Log } from '../../log.ts';
import { readSlackError, slackErrorWord } from '../slack-error.ts';

type Kept<Value> = { value: Value; atMs: number };

/** What all replicas have asked. Never throws: a cache that is away costs a call of Slack, nothing else. */
export type SharedAnswers = {
  get(key: string): Promise<Kept<unknown> | undefined>;
  set(key: string, answer: Kept<unknown>, ttlMs: number): Promise<void>;
};

type Asked<Value> = { kind: 'known'; value: Value } | { kind: 'unknown'; slackError: string };

const freshMs = 10 * 60_000;
/** How old an answer may be when Slack cannot be asked. */
const usableMs = 24 * 60 * 60_000;

/** More people than press in ten minutes. */
const mostHeld = 1_000;

/**
 * Answers of Slack that hold for ten minutes, and for a day while Slack is away. `what` stands before each key and in
 * the log; `ask` throws what Slack answers with.
 */
export function createRemembered<Value>(
  { cache, log, now }: { cache: SharedAnswers; log: Log; now: () => number },
  what: string,
  ask: (name: string) => Promise<Value>,
) {
  const asking = new Map<string, Promise<Asked<Value>>>();
  /** This process's own, so that a cache that is away costs no call for each question. */
  const own = new Map<string, Kept<Value>>();

  function isYounger({ atMs }: Kept<Value>, ms: number): boolean {
    return now() - atMs < ms;
  }

  function hold(name: string, answer: Kept<Value>): void {
    if (own.size >= mostHeld) own.clear();
    own.set(name, answer);
  }

  /** This process's own while it is younger than that, else the newest of all; none that is older than a day. */
  async function kept(name: string, ms: number): Promise<Kept<Value> | undefined> {
    const mine = own.get(name);
    if (mine && isYounger(mine, ms)) return mine;
    const shared = (await cache.get(`${what}:${name}`)) as Kept<Value> | undefined;
    const newest = shared && !(mine && mine.atMs >= shared.atMs) ? shared : mine;
    if (!newest || !isYounger(newest, usableMs)) return undefined;
    hold(name, newest);
    return newest;
  }

  async function answer(name: string): Promise<Asked<Value>> {
    const known = await kept(name, freshMs);
    if (known && isYounger(known, freshMs)) return { kind: 'known', value: known.value };
    try {
      const value = await ask(name);
      const fresh = { value, atMs: now() };
      hold(name, fresh);
      await cache.set(`${what}:${name}`, fresh, usableMs);
      return { kind: 'known', value };
    } catch (error) {
      const slackError = slackErrorWord(readSlackError(error));
      log('warn', `Slack was asked in vain for a ${what}`, { slackError });
      return known ? { kind: 'known', value: known.value } : { kind: 'unknown', slackError };
    }
  }

  return {
    /** What is known and not older than a day; asks Slack nothing. */
    known: async (name: string): Promise<Value | undefined> => (await kept(name, usableMs))?.value,
    /** What is not older than ten minutes, else asked of Slack: once for many who ask at the same time. Never throws. */
    async of(name: string): Promise<Asked<Value>> {
      const running = asking.get(name) ?? answer(name).finally(() => asking.delete(name));
      asking.set(name, running);
      return running;
    },
  };
}
