export type Pace = { burst: number; everyMs: number };

/** About one message a second and channel; Slack lets a short burst through. */
export const postPace: Pace = { burst: 3, everyMs: 1000 };
/** Slack's tier 2: about twenty a minute. */
export const tier2Pace: Pace = { burst: 20, everyMs: 3000 };

/** Slack's tier 3: about fifty a minute. */
export const tier3Pace: Pace = { burst: 50, everyMs: 1200 };

export type RateLimits = {
  /** Undefined: go ahead. A number: refused, and the seconds to wait. */
  take(key: string, pace: Pace): number | undefined;
};

export function createRateLimits(now: () => number): RateLimits {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(key, pace) {
      const before = buckets.get(key) ?? { tokens: pace.burst, at: now() };
      const tokens = Math.min(pace.burst, before.tokens + (now() - before.at) / pace.everyMs);
      if (tokens < 1) {
        buckets.set(key, { tokens, at: now() });
        return Math.max(1, Math.ceil(((1 - tokens) * pace.everyMs) / 1000));
      }
      buckets.set(key, { tokens: tokens - 1, at: now() });
      return undefined;
    },
  };
}
