import type { LimitKind } from './charge-limits.ts';
import type { OrderReference } from './order-reference.ts';
import type { RetryVerdict } from './retry-rule.ts';

/** The same card, amount and currency was charged shortly before, and that charge is settled. `by`: Slack user id. */
export type Twin = {
  reference: OrderReference;
  by: string;
  at: number;
  outcome: 'approved' | 'declined' | 'three_d_secure' | 'cleared' | 'review';
};

/** Why a card is not charged now. */
export type CardRefusal =
  | Exclude<RetryVerdict, { kind: 'allowed' | 'under_way' }>
  /** Another charge of it is unsettled: the very same one, or one that could still use up the last attempt. */
  | { kind: 'under_way'; reference: OrderReference; by: string; at: number };

/** Why a card can't be charged now, whatever the amount. */
export type CardHold = Exclude<RetryVerdict, { kind: 'allowed' }> | { kind: 'limit'; limit: LimitKind };
