export type RateLimit = ReturnType<typeof createRateLimit>;

/** A fixed window per operation. Spec: Limits (the numeric quota: not shown). */
export function createRateLimit(options: { limit: number; windowMs: number; now: () => number }) {
  const { limit, windowMs, now } = options;
  const windows = new Map<string, { startedAt: number; used: number }>();

  function headers(remaining: number): Record<string, string> {
    return {
      'X-Rate-Limit-Limit': String(limit),
      'X-Rate-Limit-Remaining': String(remaining),
      'X-Rate-Limit-Window': `${Math.ceil(windowMs / 1000)}s`,
    };
  }

  return {
    /** Counts one call; `allowed` is false once the window's quota is used up. */
    take: (operation: string) => {
      const current = windows.get(operation);
      const fresh = !current || now() - current.startedAt >= windowMs;
      const window = fresh ? { startedAt: now(), used: 0 } : current;
      window.used += 1;
      windows.set(operation, window);
      return { allowed: window.used <= limit, headers: headers(Math.max(0, limit - window.used)) };
    },
    exceeded: () => headers(0),
  };
}
