type Pace = { burst: number; everyMs: number };

/** About one message a second and channel. */
const postEveryMs = 1000;
/** Slack's tier 2: about twenty a minute. */
export const tier2Pace: Pace = { burst: 20, everyMs: 3000 };

/** Slack's tier 3: about fifty a minute. */
export const tier3Pace: Pace = { burst: 50, everyMs: 1200 };

/** Slack's limit for the histories of apps that are distributed outside its marketplace. */
export const slowPace: Pace = { burst: 1, everyMs: 60_000 };
export const slowPage = 15;

/** `postBurst`: how many messages a channel takes at once; Infinity: no limit. */
export function createRateLimits(now: () => number, postBurst: number) {
  const buckets = new Map<string, { tokens: number; at: number }>();

  /** Undefined: allowed. A number: refused, and the seconds to wait. */
  function take(key: string, pace: Pace): number | undefined {
    const at = now();
    const before = buckets.get(key) ?? { tokens: pace.burst, at };
    const tokens = Math.min(pace.burst, before.tokens + (at - before.at) / pace.everyMs);
    const isTaken = tokens >= 1;
    buckets.set(key, { tokens: isTaken ? tokens - 1 : tokens, at });
    return isTaken ? undefined : Math.max(1, Math.ceil(((1 - tokens) * pace.everyMs) / 1000));
  }
  return {
    take,
    takePost: (channelId: string) => take(`post:${channelId}`, { burst: postBurst, everyMs: postEveryMs }),
  };
}
