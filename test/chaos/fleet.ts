import { setTimeout as rest } from 'node:timers/promises';
import { type Bot, createBot } from '../support/bot.ts';
import type { RedisServer } from '../support/redis-server.ts';
import type { Random } from './random.ts';
import { withDeadline } from '../../src/deadline.ts';

/** The promise's own outcome if it comes in time; else a rejection with `what`. */
function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  return withDeadline(
    timeoutMs,
    () => promise,
    () => new Error(`Not within ${timeoutMs / 1_000} s: ${what}.`),
  );
}

export type Victim = 'bot' | 'redis';

export type Fleet = {
  start: () => Promise<void>;
  /** A bot that takes events, preferably a running one. */
  target: () => string | undefined;
  /**
   * Kills a running bot (the one at that address, if it runs) or Redis, and restarts it a little later. False if none
   * runs.
   */
  kill: (victim: Victim, url?: string) => Promise<boolean>;
  /** Resolves when everything that was killed runs again; rejects if that takes too long. */
  whole: () => Promise<void>;
  /** Rejects as soon as a restart fails; never resolves. */
  broken: Promise<never>;
  counts: { bots: number; redis: number; endedByThemselves: number };
  /** The output of all bots. */
  lines: () => string[];
  stop: () => Promise<void>;
};

export type FleetOptions = {
  bots: number;
  /** How many of them get events; all of them do the work. */
  ingesting: number;
  env: Readonly<Record<string, string>>;
  program: string;
  redis: RedisServer | undefined;
  random: Random;
};

const longestDownMs = 300;
/** The machine may be busy, and many start at once. */
const startMs = 60_000;
const endMs = 20_000;

/** Bots and their shared Redis, which are killed with SIGKILL and restarted on what they left. */
export function createFleet(options: FleetOptions): Fleet {
  const { random, redis } = options;
  const counts = { bots: 0, redis: 0, endedByThemselves: 0 };
  const starting = new Set<Promise<void>>();
  const broken = Promise.withResolvers<never>();
  // Avoids an unhandled rejection if no caller waits for it.
  broken.promise.catch(() => undefined);
  const wanted = new Set<Bot>();
  let redisRuns = true;

  const bots: Bot[] = Array.from({ length: options.bots }, () => {
    const bot: Bot = createBot(options.env, () => reviveIfEnded(bot), options.program);
    return bot;
  });
  const ingesting = bots.slice(0, options.ingesting);

  /** A bot that ends without being killed is a finding; restart it to see the rest. */
  function reviveIfEnded(bot: Bot): void {
    if (!wanted.has(bot) || bot.isRunning()) return;
    counts.endedByThemselves += 1;
    wanted.delete(bot);
    startAgain(() => startBot(bot));
  }

  async function startBot(bot: Bot): Promise<void> {
    const { length } = bot.lines;
    const said = (): string => bot.lines.slice(length).slice(-5).join('\n');
    await within(startMs, 'a bot listens', bot.start()).catch((error: unknown) => {
      throw new Error(`A bot did not start; it wrote:\n${said()}`, { cause: error });
    });
    wanted.add(bot);
    // It may have ended just after it reported that it listens.
    reviveIfEnded(bot);
  }

  function startAgain(start: () => Promise<void>): void {
    const begun = rest(random.below(longestDownMs))
      .then(start)
      .catch(broken.reject)
      .finally(() => starting.delete(begun));
    starting.add(begun);
  }

  async function killRedis(server: RedisServer): Promise<void> {
    redisRuns = false;
    await within(endMs, 'Redis is gone', server.kill9());
    counts.redis += 1;
    startAgain(async () => {
      await within(startMs, 'Redis runs again', server.restart());
      redisRuns = true;
    });
  }

  async function killBot(bot: Bot): Promise<void> {
    wanted.delete(bot);
    await within(endMs, 'a bot is gone', bot.kill9());
    counts.bots += 1;
    startAgain(() => startBot(bot));
  }

  return {
    counts,
    async start() {
      await Promise.all(bots.map(startBot));
    },
    target() {
      const running = ingesting.filter((bot) => wanted.has(bot));
      return running.length > 0 ? random.pick(running).url() : undefined;
    },
    async kill(victim, url) {
      if (victim === 'redis') {
        if (!redis || !redisRuns) return false;
        await killRedis(redis);
        return true;
      }
      const running = bots.filter((bot) => wanted.has(bot));
      if (running.length === 0) return false;
      await killBot(running.find((bot) => bot.url() === url) ?? random.pick(running));
      return true;
    },
    async whole() {
      while (starting.size > 0) await Promise.race([Promise.all(starting), broken.promise]);
      await Promise.race([broken.promise, Promise.resolve()]);
    },
    broken: broken.promise,
    lines: () => bots.flatMap((bot) => [...bot.lines]),
    async stop() {
      wanted.clear();
      await Promise.all(starting);
      await within(endMs, 'all bots are gone', Promise.all(bots.map((bot) => bot.kill9())));
    },
  };
}
