import { chargeOperation, referenceOf } from './faults.ts';
import type { Call } from './route.ts';

/** Counted since the start, for assertions: what really reached the service, whatever its callers believe. */
export type PaymentsStats = {
  tokensIssued: number;
  tokensRefreshed: number;
  tokensRevoked: number;
  /** How often money was taken for a reference. Never above one, or the service broke its promise. */
  chargesByReference: Record<string, number>;
  /** How often a saved-card charge was asked for under a reference, refused and faulted ones included. */
  chargesAskedByReference: Record<string, number>;
  lookups: number;
  lookupsByReference: Record<string, number>;
  otpSubmissions: number;
  otpResends: number;
  emailChanges: number;
  /** Requests by "METHOD /path", refused ones included. */
  calls: Record<string, number>;
  /** 429s given, for the quota or by a fault. */
  rateLimited: number;
  /** Calls that a fault struck, by its kind. */
  faults: Record<string, number>;
};

export type Stats = {
  add: (
    name:
      | 'tokensIssued'
      | 'tokensRefreshed'
      | 'tokensRevoked'
      | 'otpSubmissions'
      | 'otpResends'
      | 'emailChanges'
      | 'rateLimited',
  ) => void;
  charged: (reference: string) => void;
  lookedUp: (reference: string) => void;
  /** `operation` is "METHOD /path". */
  called: (operation: string, call: Pick<Call, 'query' | 'body'>) => void;
  read: () => Omit<PaymentsStats, 'faults'>;
};

export function createStats(): Stats {
  const stats: Omit<PaymentsStats, 'faults'> = {
    tokensIssued: 0,
    tokensRefreshed: 0,
    tokensRevoked: 0,
    chargesByReference: {},
    chargesAskedByReference: {},
    lookups: 0,
    lookupsByReference: {},
    otpSubmissions: 0,
    otpResends: 0,
    emailChanges: 0,
    calls: {},
    rateLimited: 0,
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
    called: (operation, call) => {
      increase(stats.calls, operation);
      const reference = operation === chargeOperation ? referenceOf(call) : undefined;
      if (reference !== undefined) increase(stats.chargesAskedByReference, reference);
    },
    read: () => structuredClone(stats),
  };
}

function increase(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
