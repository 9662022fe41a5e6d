import { mostCharges, mostRefusals, mostTallies, unexplained, type WebhookBatch } from './webhook-state.ts';

/** What this process has seen of webhooks since it was last put on record. */
export type Counted = Omit<WebhookBatch, 'cause'> & {
  lastRefused?: { explain: () => string; atMs: number } | undefined;
};

/** Counts in memory, within the bounds of one batch, and never throws. A delivery costs a few cheap steps. */
export type WebhookCounter = {
  accepted(atMs: number): void;
  refused(refusal: { id: string; atMs: number; explain: () => string }): void;
  /** The same charge again is the same as once. */
  processed(charge: { reference: string; atMs: number }): void;
  /** All of it, and counting starts anew; undefined when nothing was seen. */
  takeAll(): Counted | undefined;
  /** What was taken and is not on record: it is older than what was counted meanwhile. */
  putBack(counted: Counted): void;
};

/** `nextId`: never given twice, by whatever process; what is counted twice under one id counts once. */
export function createWebhookCounter(nextId: () => string): WebhookCounter {
  let seen = nothingCounted();
  let tally = { atMs: 0, accepted: 0, refused: 0 };
  return {
    // Every delivery comes here: nothing is made unless there were refusals.
    accepted(atMs) {
      if (tally.accepted + tally.refused === 0) tally.atMs = atMs;
      tally.accepted += 1;
      seen.acceptedAtMs = atMs;
      if (seen.refusals.length > 0) seen.refusals = [];
    },
    refused({ id, atMs, explain }) {
      if (tally.accepted + tally.refused === 0) tally.atMs = atMs;
      tally.refused += 1;
      if (seen.refusals.length >= mostRefusals) seen.refusals.shift();
      seen.refusals.push({ id, atMs });
      seen.lastRefused = { explain, atMs };
    },
    processed({ reference, atMs }) {
      const isKnown = seen.approvals.some((one) => one.reference === reference);
      if (!isKnown && seen.approvals.length < mostCharges) seen.approvals.push({ reference, atMs });
    },
    takeAll() {
      if (tally.accepted + tally.refused > 0) {
        seen.tallies = [...seen.tallies, { id: nextId(), ...tally }].slice(-mostTallies);
      }
      if (seen.tallies.length === 0 && seen.approvals.length === 0) return undefined;
      const counted = seen;
      seen = nothingCounted();
      tally = { atMs: 0, accepted: 0, refused: 0 };
      return counted;
    },
    putBack(counted) {
      seen = joined(counted, seen);
    },
  };
}

function nothingCounted(): Counted {
  return { refusals: [], approvals: [], tallies: [] };
}

function joined(older: Counted, newer: Counted): Counted {
  const acceptedAtMs = newer.acceptedAtMs ?? older.acceptedAtMs;
  const kept = newer.acceptedAtMs === undefined ? older.refusals : [];
  return {
    refusals: [...kept, ...newer.refusals].slice(-mostRefusals),
    approvals: [...older.approvals, ...newer.approvals].slice(0, mostCharges),
    tallies: [...older.tallies, ...newer.tallies].slice(-mostTallies),
    lastRefused: newer.lastRefused ?? older.lastRefused,
    ...(acceptedAtMs === undefined ? {} : { acceptedAtMs }),
  };
}

/** The cause is looked for here, once for all of the minute, and the delivery itself goes no further. */
export function batchOf({ lastRefused, ...counted }: Counted): string {
  const cause = lastRefused && { words: explained(lastRefused.explain), atMs: lastRefused.atMs };
  const batch: WebhookBatch = cause ? { ...counted, cause } : counted;
  return JSON.stringify(batch);
}

/** A bug in explaining must not keep what was counted from being put on record. */
function explained(explain: () => string): string {
  try {
    return explain();
  } catch {
    return unexplained;
  }
}
