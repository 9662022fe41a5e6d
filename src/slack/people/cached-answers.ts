import type { Log } from '../../log.ts';
import { readSlackError, slackErrorWord } from '../slack-error.ts';
import { dayMs } from '../../domain/span.ts';

type CachedAnswer<Value> = { value: Value; atMs: number };

/** The cache that all replicas share. Never throws: without the cache Slack is asked. */
export type SharedAnswers = {
  get(key: string): Promise<CachedAnswer<unknown> | undefined>;
  set(key: string, answer: CachedAnswer<unknown>, ttlMs: number): Promise<void>;
};

type Answer<Value> = { kind: 'known'; value: Value } | { kind: 'unknown'; slackError: string };

const freshMs = 10 * 60_000;
/** The oldest answer usable while Slack is away. */
const usableMs = dayMs;

/** Enough for everybody who uses the bot within ten minutes. With one more, all are forgotten. */
const mostCached = 1_000;

/**
 * Slack's answers, valid for ten minutes, and for a day while Slack gives none. `kind` names the answers in keys and log lines;
 * `ask` throws Slack's error.
 */
export function createCachedAnswers<Value>(
  { cache, log, now }: { cache: SharedAnswers; log: Log; now: () => number },
  kind: string,
  ask: (name: string) => Promise<Value>,
) {
  const underWay = new Map<string, Promise<Answer<Value>>>();
  /** This process's answers, so an outage of the shared cache doesn't cost a call for each question. */
  const local = new Map<string, CachedAnswer<Value>>();

  /** An answer from far in the future is not younger: the clock was put back. Clocks of replicas differ a little. */
  function isYounger({ atMs }: CachedAnswer<Value>, ms: number): boolean {
    return Math.abs(now() - atMs) < ms;
  }

  function remember(name: string, answer: CachedAnswer<Value>): void {
    if (local.size >= mostCached) local.clear();
    local.set(name, answer);
  }

  /** This process's answer if younger than `ms`, else the newest of any process; none over a day old. */
  async function newestCached(name: string, ms: number): Promise<CachedAnswer<Value> | undefined> {
    const ours = local.get(name);
    if (ours && isYounger(ours, ms)) return ours;
    const shared = (await cache.get(`${kind}:${name}`)) as CachedAnswer<Value> | undefined;
    const newest = shared && !(ours && ours.atMs >= shared.atMs) ? shared : ours;
    if (!newest || !isYounger(newest, usableMs)) return undefined;
    remember(name, newest);
    return newest;
  }

  async function answer(name: string): Promise<Answer<Value>> {
    const known = await newestCached(name, freshMs);
    if (known && isYounger(known, freshMs)) return { kind: 'known', value: known.value };
    try {
      const value = await ask(name);
      const fresh = { value, atMs: now() };
      remember(name, fresh);
      await cache.set(`${kind}:${name}`, fresh, usableMs);
      return { kind: 'known', value };
    } catch (error) {
      const slackError = slackErrorWord(readSlackError(error));
      log('warn', `Slack was asked in vain for a ${kind}`, { slackError });
      return known ? { kind: 'known', value: known.value } : { kind: 'unknown', slackError };
    }
  }

  return {
    /** An answer up to a day old, if cached; never asks Slack. */
    cached: async (name: string): Promise<Value | undefined> => (await newestCached(name, usableMs))?.value,
    /** A cached answer up to ten minutes old, else Slack's: one call for simultaneous questions. Never throws. */
    async of(name: string): Promise<Answer<Value>> {
      const running = underWay.get(name) ?? answer(name).finally(() => underWay.delete(name));
      underWay.set(name, running);
      return running;
    },
  };
}
