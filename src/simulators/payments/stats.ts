/** Counted since the start, for assertions: what really reached the service, whatever its callers believe. */
export type PaymentsStats = {
  tokensIssued: number;
  tokensRefreshed: number;
  tokensRevoked: number;
  /** How often money was taken for a reference. Never above one, or the service broke its promise. */
  chargesByReference: Record<string, number>;
  lookups: number;
  lookupsByReference: Record<string, number>;
  otpSubmissions: number;
  otpResends: number;
  emailChanges: number;
  /** Requests by "METHOD /path", refused ones included. */
  calls: Record<string, number>;
};

export type Stats = {
  add: (
    name:
      | 'tokensIssued'
      | 'tokensRefreshed'
      | 'tokensRevoked'
      | 'otpSubmissions'
      | 'otpResends'
      | 'emailChanges',
  ) => void;
  charged: (reference: string) => void;
  lookedUp: (reference: string) => void;
  called: (method: string, path: string) => void;
  read: () => PaymentsStats;
};

export function createStats(): Stats {
  const stats: PaymentsStats = {
    tokensIssued: 0,
    tokensRefreshed: 0,
    tokensRevoked: 0,
    chargesByReference: {},
    lookups: 0,
    lookupsByReference: {},
    otpSubmissions: 0,
    otpResends: 0,
    emailChanges: 0,
    calls: {},
  };
  return {
    add: (name) => {
      stats[name] += 1;
    },
    charged: (reference) => increase(stats.chargesByReference, reference),
    lookedUp: (reference) => {
      stats.lookups += 1;
      increase(stats.lookupsByReference, reference);
    },
    called: (method, path) => increase(stats.calls, `${method} ${path}`),
    read: () => structuredClone(stats),
  };
}

function increase(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
