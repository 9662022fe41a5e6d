import type { Log } from '../log.ts';
import { readSlackError, slackErrorWord } from './slack-error.ts';

/** Where answers of Slack are remembered between calls. A cache that fails costs a call to Slack, nothing else. */
export type DirectoryCache = {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
};

export type RememberDeps = { cache: DirectoryCache; log: Log; now: () => number };

export type Asked<Value> = { kind: 'known'; value: Value } | { kind: 'unknown'; slackError: string };

export type Remembered<Value> = {
  /** What is known and not older than a day; asks Slack nothing. */
  known(name: string): Promise<Value | undefined>;
  /** What is not older than ten minutes, else asked of Slack: once for many who ask at the same time. Never throws. */
  of(name: string): Promise<Asked<Value>>;
};

const freshMs = 10 * 60_000;
/** How old an answer may be when Slack cannot be asked. */
const usableMs = 24 * 60 * 60_000;

/** More people than press in ten minutes. */
const mostHeld = 1_000;

type Kept<Value> = { value: Value; atMs: number };

/**
 * Answers of Slack that hold for ten minutes, and for a day while Slack is away. `prefix` stands before each key,
 * `what` in the log; `ask` throws what Slack answers with.
 */
export function createRemembered<Value>(
  deps: RememberDeps,
  about: { prefix: string; what: string; ask: (name: string) => Promise<Value> },
): Remembered<Value> {
  const asking = new Map<string, Promise<Asked<Value>>>();
  /** This process's own, so that a cache that is away costs no call for each question. */
  const own = new Map<string, Kept<Value>>();

  /** The newest there is, of this process or of all replicas. */
  async function kept(name: string): Promise<Kept<Value> | undefined> {
    const mine = own.get(name);
    if (mine && isFresh(mine)) return mine;
    const shared = await read(name);
    if (!shared || (mine && mine.atMs >= shared.atMs)) return mine;
    hold(name, shared);
    return shared;
  }

  async function read(name: string): Promise<Kept<Value> | undefined> {
    try {
      const text = await deps.cache.get(about.prefix + name);
      return text === undefined ? undefined : (JSON.parse(text) as Kept<Value>);
    } catch {
      // A miss: Slack is asked instead.
      return undefined;
    }
  }

  function hold(name: string, answer: Kept<Value>): void {
    const oldest = own.size < mostHeld ? undefined : own.keys().next().value;
    if (oldest !== undefined) own.delete(oldest);
    own.set(name, answer);
  }

  async function keep(name: string, value: Value): Promise<void> {
    const answer = { value, atMs: deps.now() };
    hold(name, answer);
    try {
      await deps.cache.set(about.prefix + name, JSON.stringify(answer), usableMs);
    } catch (error) {
      deps.log('warn', `${about.what} could not be cached`, {}, error);
    }
  }

  function isFresh({ atMs }: { atMs: number }): boolean {
    return deps.now() - atMs < freshMs;
  }

  function isUsable({ atMs }: { atMs: number }): boolean {
    return deps.now() - atMs < usableMs;
  }

  async function ask(name: string): Promise<Asked<Value>> {
    const known = await kept(name);
    if (known && isFresh(known)) return { kind: 'known', value: known.value };
    try {
      const value = await about.ask(name);
      await keep(name, value);
      return { kind: 'known', value };
    } catch (error) {
      const slackError = slackErrorWord(readSlackError(error));
      deps.log('warn', `Slack was asked in vain: ${about.what.toLowerCase()}`, { slackError });
      return known && isUsable(known)
        ? { kind: 'known', value: known.value }
        : { kind: 'unknown', slackError };
    }
  }

  return {
    async known(name) {
      const mine = own.get(name);
      const known = mine && isUsable(mine) ? mine : await kept(name);
      return known && isUsable(known) ? known.value : undefined;
    },
    async of(name) {
      const running = asking.get(name) ?? ask(name).finally(() => asking.delete(name));
      asking.set(name, running);
      return running;
    },
  };
}
