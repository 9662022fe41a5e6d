import { setTimeout as rest } from 'node:timers/promises';
import type { Fleet, Victim } from './fleet.ts';
import type { Random } from './random.ts';

/** What a kill can follow at once, when it is likeliest to cut something in two. */
type Sign = 'acknowledged' | 'posted';

export type Signs = {
  tell: (sign: Sign, url?: string) => void;
  /** Resolves at the next one with the bot that it is of, where that is known; or after a while without one. */
  next: (sign: Sign) => Promise<string | undefined>;
};

const signPatienceMs = 1_000;

export function createSigns(): Signs {
  const waiting = new Map<Sign, (url?: string) => void>();
  return {
    tell(sign, url) {
      waiting.get(sign)?.(url);
      waiting.delete(sign);
    },
    next: (sign) =>
      new Promise<string | undefined>((resolve) => {
        const timer = setTimeout(() => resolve(undefined), signPatienceMs);
        waiting.set(sign, (url) => {
          clearTimeout(timer);
          resolve(url);
        });
      }),
  };
}

export type Watch = {
  /** From 0 to 1: how much of what is to be acknowledged and posted is. */
  share: () => number;
  /** For how long nothing has been acknowledged or posted. */
  stillForMs: () => number;
  /** Resolves when that is so long that nothing ever will be. */
  hopeless: Promise<void>;
  stop: () => void;
};

type Wanted = { kills: number; store: 'redis' | 'sqlite' };

type Killing = Wanted & { fleet: Fleet; signs: Signs; watch: Watch; random: Random; over: AbortSignal };

/**
 * The kills, spread at random over the work, not over time: each waits for its share of it to be done, so that
 * all find work under way. One that waits in vain comes anyway. Rejects when it is over before that.
 */
export async function killAlong(killing: Killing): Promise<void> {
  const { fleet, signs, watch, random, over, ...wanted } = killing;
  for (const { moment, victim, after } of planKills(wanted, random)) {
    // oxlint-disable-next-line no-await-in-loop -- one kill after the other
    while (watch.share() < moment && watch.stillForMs() < 10_000) await rest(5, undefined, { signal: over });
    const url =
      // oxlint-disable-next-line no-await-in-loop
      after === 'anything' ? await rest(random.below(40), undefined) : await signs.next(after);
    // oxlint-disable-next-line no-await-in-loop
    while (!(await fleet.kill(victim, url))) await rest(5, undefined, { signal: over });
  }
}

type Kill = { moment: number; victim: Victim; after: Sign | 'anything' };

/** With Redis, one kill in eight is its own, and at least one is. */
function planKills({ kills, store }: Wanted, random: Random): Kill[] {
  const ofRedis = store === 'redis' ? Math.min(kills, Math.max(1, Math.floor(kills / 8))) : 0;
  return Array.from({ length: kills }, (_, index) => ({
    moment: 0.01 + 0.94 * random.next(),
    victim: index < ofRedis ? ('redis' as const) : ('bot' as const),
    after: random.pick(['anything', 'acknowledged', 'posted'] as const),
  })).toSorted((one, other) => one.moment - other.moment);
}
