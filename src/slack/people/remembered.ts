import type { Log } from '../../log.ts';
import { readSlackError, slackErrorWord } from '../slack-error.ts';
import { dayMs } from '../../domain/span.ts';

type Kept<Value> = { value: Value; atMs: number };

/** Answers shared by all replicas. Never throws: without the cache Slack is called. */
export type SharedAnswers = {
  get(key: string): Promise<Kept<unknown> | undefined>;
  set(key: string, answer: Kept<unknown>, ttlMs: number): Promise<void>;
};

type Asked<Value> = { kind: 'known'; value: Value } | { kind: 'unknown'; slackError: string };

const freshMs = 10 * 60_000;
/** The oldest answer usable while Slack is away. */
const usableMs = dayMs;

/** More people than press within ten minutes. */
const mostHeld = 1_000;

/**
 * Slack's answers, valid for ten minutes, and for a day while Slack is away. `what` prefixes keys and log lines; `ask`
 * throws Slack's error.
 */
export function createRemembered<Value>(
  { cache, log, now }: { cache: SharedAnswers; log: Log; now: () => number },
  what: string,
  ask: (name: string) => Promise<Value>,
) {
  const asking = new Map<string, Promise<Asked<Value>>>();
  /** Per process, so an outage of the cache doesn't cost a call for each question. */
  const own = new Map<string, Kept<Value>>();

  function isYounger({ atMs }: Kept<Value>, ms: number): boolean {
    return now() - atMs < ms;
  }

  function hold(name: string, answer: Kept<Value>): void {
    if (own.size >= mostHeld) own.clear();
    own.set(name, answer);
  }

  /** This process's answer if younger than `ms`, else the newest of all; none over a day old. */
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
    /** An answer up to a day old; never calls Slack. */
    known: async (name: string): Promise<Value | undefined> => (await kept(name, usableMs))?.value,
    /** An answer up to ten minutes old, else Slack's: one call for simultaneous questions. Never throws. */
    async of(name: string): Promise<Asked<Value>> {
      const running = asking.get(name) ?? answer(name).finally(() => asking.delete(name));
      asking.set(name, running);
      return running;
    },
  };
}
