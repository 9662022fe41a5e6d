import { mostApprovals, mostRefusals, unexplained, type WebhookBatch } from './webhook-state.ts';

/** What this process has seen of webhooks since it was last put on record. */
export type Counted = Omit<WebhookBatch, 'cause'> & {
  lastRefused?: { explain: () => string; atMs: number } | undefined;
};

/** Counts in memory, within the bounds of one batch, and never throws. */
export type WebhookCounter = {
  accepted(atMs: number): void;
  refused(refusal: { id: string; atMs: number; explain: () => string }): void;
  /** The same charge again is the same as once. */
  approved(approval: { reference: string; atMs: number }): void;
  /** All of it, and counting starts anew; undefined when nothing was seen. */
  takeAll(): Counted | undefined;
  /** What was taken and is not on record: it is older than what was counted meanwhile. */
  putBack(counted: Counted): void;
};

export function createWebhookCounter(): WebhookCounter {
  let seen = nothingCounted();
  return {
    accepted(acceptedAtMs) {
      seen = { ...nothingCounted(), approvals: seen.approvals, acceptedAtMs };
    },
    refused({ id, atMs, explain }) {
      if (seen.refusals.length >= mostRefusals) seen.refusals.shift();
      seen.refusals.push({ id, atMs });
      seen.lastRefused = { explain, atMs };
    },
    approved({ reference, atMs }) {
      const isKnown = seen.approvals.some((one) => one.reference === reference);
      if (!isKnown && seen.approvals.length < mostApprovals) seen.approvals.push({ reference, atMs });
    },
    takeAll() {
      if (isEmpty(seen)) return undefined;
      const counted = seen;
      seen = nothingCounted();
      return counted;
    },
    putBack(counted) {
      seen = joined(counted, seen);
    },
  };
}

function nothingCounted(): Counted {
  return { refusals: [], approvals: [] };
}

function isEmpty({ acceptedAtMs, refusals, approvals }: Counted): boolean {
  return acceptedAtMs === undefined && refusals.length === 0 && approvals.length === 0;
}

function joined(older: Counted, newer: Counted): Counted {
  const acceptedAtMs = newer.acceptedAtMs ?? older.acceptedAtMs;
  const kept = newer.acceptedAtMs === undefined ? older.refusals : [];
  return {
    refusals: [...kept, ...newer.refusals].slice(-mostRefusals),
    approvals: [...older.approvals, ...newer.approvals].slice(0, mostApprovals),
    lastRefused: newer.lastRefused ?? (kept.length > 0 ? older.lastRefused : undefined),
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
