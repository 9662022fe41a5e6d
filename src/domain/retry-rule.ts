import type { LimitKind } from './charge-limits.ts';
import type { OrderReference } from './order-reference.ts';

/** How long a card is on hold after a bank decline and how many attempts it gets: settings, because the spec only gives examples. */
export type RetryRule = {
  waitMs: number;
  attempts: number;
  /** A decline older than this no longer counts, so that next month's charge starts anew. */
  forgetMs: number;
};

/** Where the settings say nothing else. */
export const defaultRetryRule: RetryRule = {
  waitMs: 24 * 3_600_000,
  attempts: 3,
  forgetMs: 30 * 24 * 3_600_000,
};

/**
 * One charge of a card, in any order; `at` (UTC ms) is when it got its outcome, for `pending` when it began.
 * `cleared`: neither bank nor card spoke (rejected, never sent, no OTP in time).
 */
export type CardAttempt = {
  reference: string;
  at: number;
  outcome: 'pending' | 'approved' | 'declined' | 'three_d_secure' | 'cleared' | 'review';
};

export type RetryVerdict =
  | { kind: 'allowed'; attemptsLeft: number }
  /** On hold after a decline, until `nextTryFrom`. */
  | { kind: 'resting'; nextTryFrom: number; attemptsLeft: number }
  /** Another charge of this card is unsettled and could use up the last attempt, or be declined right now. */
  | { kind: 'under_way'; reference: string }
  /** The attempts are used up; `nextTryFrom` is when the first of them is forgotten. */
  | { kind: 'stopped'; declines: number; nextTryFrom: number }
  /** 3-D Secure cannot be completed on a saved card: only a new card-saving payment helps. */
  | { kind: 'save_again' };

/**
 * Whether a card may be charged now, from everything it went through. Pure, so whoever writes the card's
 * history by compare-and-swap together with the new `pending` attempt enforces it on every replica. A charge
 * that is unsettled counts as a decline that has not come yet: two at once cannot slip past the cap.
 *
 * Spec: charge a saved card (retry rules); 3D Secure on a saved-card charge.
 */
export function mayTry(history: readonly CardAttempt[], rule: RetryRule, now: number): RetryVerdict {
  const since = lastFresh(history);
  const counted = history.filter(({ at }) => at > since);
  if (counted.some(({ outcome }) => outcome === 'three_d_secure')) return { kind: 'save_again' };
  const declines = counted
    .filter(({ outcome, at }) => outcome === 'declined' && now - at < rule.forgetMs)
    .map(({ at }) => at)
    .toSorted((a, b) => a - b);
  // Unsettled charges count however old and wherever they stand: they can still be declined.
  const pending = history.filter(({ outcome }) => outcome === 'pending');
  const [oldest] = pending;
  const used = declines.length + pending.length;
  if (oldest && (declines.length > 0 || used >= rule.attempts)) {
    return { kind: 'under_way', reference: oldest.reference };
  }
  const [first, last] = [declines[0], declines.at(-1)];
  if (first === undefined || last === undefined)
    return { kind: 'allowed', attemptsLeft: rule.attempts - used };
  if (used >= rule.attempts) {
    return { kind: 'stopped', declines: declines.length, nextTryFrom: freeAgain(declines, rule) };
  }
  const nextTryFrom = last + rule.waitMs;
  const attemptsLeft = rule.attempts - used;
  return now < nextTryFrom
    ? { kind: 'resting', nextTryFrom, attemptsLeft }
    : { kind: 'allowed', attemptsLeft };
}

/** An approval starts the count anew. */
function lastFresh(history: readonly CardAttempt[]): number {
  const times = history.filter(({ outcome }) => outcome === 'approved').map(({ at }) => at);
  return Math.max(-Infinity, ...times);
}

/** When so many declines are forgotten that one attempt is left, and the last one's rest is over. */
function freeAgain(declines: readonly number[], rule: RetryRule): number {
  const decisive = declines.at(-rule.attempts) ?? 0;
  return Math.max(decisive + rule.forgetMs, (declines.at(-1) ?? 0) + rule.waitMs);
}

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
