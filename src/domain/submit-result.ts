import type { AlertTaken } from './alert-card.ts';
import type { Approval } from './approval.ts';
import type { CardRefusal, Twin } from './card-refusal.ts';
import type { LimitRefusal } from './charge-limits.ts';
import type { ChargeSeen } from './charge-seen.ts';
import type { ChargeTerms } from './charge-terms.ts';
import type { OrderReference } from './order-reference.ts';

/** What became of a charge that was agreed to. */
export type SubmitResult =
  /** Stored: whatever happens now, it is settled. `carryOn` sends it, and resolves when this process has done what it can. */
  | { kind: 'begun'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** This very dialogue has charged already: a double click, a repeated delivery. Nothing more happens. */
  | { kind: 'known'; charge: ChargeSeen }
  | { kind: 'refused'; refusal: CardRefusal }
  | { kind: 'twin'; twin: Twin }
  /** More than the person's roles let charge, by now: nothing was sent. */
  | { kind: 'over_limit'; refusal: LimitRefusal }
  /** A second person decides: nothing was sent, and this dialogue's charge is what they decide about, whatever it is asked again. */
  | { kind: 'awaiting_approval'; approval: Approval }
  /** The alert it was begun from is resolved, closed or being charged by now: nothing was sent. */
  | { kind: 'alert_taken'; taken: AlertTaken }
  /** The reviewed terms are gone (half an hour) or different by now: nothing was sent. */
  | { kind: 'stale' }
  /** The store stopped answering while the charge was being written: if it is there it will be charged, once. */
  | { kind: 'unsure'; reference: string };

/** What is charged, once enough people have approved exactly this. */
export type ApprovedCharge = {
  reference: OrderReference;
  terms: ChargeTerms;
  card: string;
  by: string;
  viewId: string;
  /** The twin the person was shown and chose to charge beside. */
  despite?: string;
  overridesRest?: true;
};
