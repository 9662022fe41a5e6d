import type { OutsideDecline, RetryRule, RetryVerdict } from '../../domain/decline-reason.ts';
import type { Account } from '../../account.ts';
import { isUnsettled, type ChargeRecords } from './charge-record.ts';
import { z } from 'zod';
import { longestRequestMinutes } from '../../domain/approval.ts';
import { type Twin, claimTimes, notAccepted } from '../../domain/charge.ts';
import { isSameMoney, type Money } from '../../domain/money.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { createRecords, type RecordChange } from '../../records/records.ts';
import { referenceShape } from '../../records/shapes.ts';
import { hourMs, dayMs } from '../../domain/span.ts';

/** Why a card can't be charged now. */
export type CardRefusal =
  | Exclude<RetryVerdict, { kind: 'allowed' | 'under_way' }>
  /** Another charge of the card is open: with the same money, or one that may use up the last attempt. */
  | { kind: 'under_way'; reference: OrderReference; by: string; at: number };

/** A request to charge a card. `card`: fingerprint. `by`: Slack user id. */
export type CardClaim = {
  card: string;
  reference: OrderReference;
  money: Money;
  by: string;
  /** When the person first saw the terms, UTC ms; default: now. Twins are looked for from `twinMs` before that. */
  readAtMs?: number;
  /** The twins (equal recent charges) that the person saw and accepted; see `asAccepted`. */
  despite?: readonly string[];
  /** A second person lifts the hold after a decline; all other rules apply. */
  overridesRest?: true;
  /** The failed payment that this charge retries. Though made outside the bot, it counts like one of its charges. */
  outside?: OutsideDecline;
};

export type ClaimResult =
  | { kind: 'claimed' }
  | { kind: 'refused'; refusal: CardRefusal }
  /** Twins, newest first, without those in `despite`. */
  | { kind: 'twin'; twins: readonly Twin[] };

export type CardHistory = ReturnType<typeof createCardHistory>;

type CardRules = {
  rule: RetryRule;
  /**
   * A settled equal charge is a twin, which the person must confirm, if it was begun or found paid at most this long
   * before they saw the terms, or later. 0: only a charge that needs review is one, as always.
   */
  twinMs: number;
  /**
   * Whether the charge's outcome is unknown, also if it was told before and is in doubt again; undefined: the charge is
   * not stored. A claim without a charge is left over from a crash.
   */
  isUnsettled: (reference: string) => Promise<boolean | undefined>;
};

export function openCardHistory(account: Account, charges: Pick<ChargeRecords, 'read'>): CardHistory {
  const { settings } = account;
  return createCardHistory(account, {
    rule: {
      waitMs: settings.chargeRetryWaitHours * hourMs,
      attempts: settings.chargeRetryAttempts,
      forgetMs: settings.chargeRetryForgetDays * dayMs,
    },
    twinMs: settings.chargeTwinMinutes * 60_000,
    isUnsettled: (reference) => isUnsettled(charges, reference),
  });
}

const attemptRecord = z.object({
  reference: referenceShape,
  begunAt: z.number(),
  /** The time of the outcome; while pending, `begunAt`. */
  at: z.number(),
  /** `cleared`: it ended without a refusal by bank or card (rejected by the service, never sent, no code in time). */
  outcome: z.enum(['pending', 'approved', 'given_back', 'declined', 'three_d_secure', 'cleared', 'review']),
  by: z.string(),
  minor: z.number().int(),
  currency: z.string(),
});

type Attempt = z.infer<typeof attemptRecord>;
type Settled = Attempt & Pick<Twin, 'outcome'>;

/**
 * Enforces the rules for retrying cards, over all replicas: one record per card, checked and changed in one
 * compare-and-swap. If a card's record is unreadable, the card can't be charged. Methods throw StoreUnavailable.
 *
 * Spec: charge a saved card (retry rules); 3D Secure on a saved-card charge.
 */
export function createCardHistory(account: Account, { rule, twinMs, isUnsettled }: CardRules) {
  const { now } = account;
  const cards = createRecords<Attempt[]>(account, { prefix: 'card:', schema: z.array(attemptRecord) });
  // Twins of an approved charge are looked for from when its requester saw the terms, so keep them that much longer.
  const keepMs = Math.max(rule.forgetMs, twinMs + longestRequestMinutes * 60_000);

  /** Without settled attempts that are too old to count. */
  function stillCounting(attempts: Attempt[]): Attempt[] {
    const isOld = (attempt: Attempt) => isSettled(attempt) && now() - attempt.at >= keepMs;
    // A 3-D Secure refusal is dropped only after a later approval that is old itself: a recent one may be corrected.
    const approvedAt = lastApproval(attempts.filter(isOld));
    return attempts.filter(
      (attempt) => !isOld(attempt) || (attempt.outcome === 'three_d_secure' && attempt.at > approvedAt),
    );
  }

  /** The attempts that count. Claims that never became a charge get the outcome `cleared`. */
  function countingAttempts(kept: Attempt[] = []): Promise<Attempt[]> {
    return Promise.all(
      stillCounting(kept).map(async (attempt): Promise<Attempt> => {
        if (attempt.outcome !== 'pending' || now() - attempt.begunAt < claimTimes.lostMs) return attempt;
        return (await isUnsettled(attempt.reference)) === undefined
          ? { ...attempt, outcome: 'cleared', at: now() }
          : attempt;
      }),
    );
  }

  /**
   * Whether an earlier claim of the same charge still counts. An old one whose charge was never stored doesn't: another
   * process may clear it at any time.
   */
  async function stillHolds(own: Attempt): Promise<boolean> {
    if (own.outcome === 'pending' && now() - own.begunAt < claimTimes.renewMs) return true;
    if (own.outcome !== 'pending' && own.outcome !== 'cleared') return true;
    return (await isUnsettled(own.reference)) !== undefined;
  }

  /** An equal charge that ended without money, and that may be paid after all: a late event or answer says so. */
  async function doubtedAgain(attempts: Attempt[], money: Money): Promise<CardRefusal | undefined> {
    const unpaid = attempts.filter(
      (attempt) =>
        isSettled(attempt) &&
        isSameMoney(attempt, money) &&
        attempt.outcome !== 'approved' &&
        attempt.outcome !== 'given_back',
    );
    for (const attempt of unpaid) if (await isUnsettled(attempt.reference)) return underWay(attempt);
    return undefined;
  }

  async function decide(claim: CardClaim, before?: Attempt[]): Promise<RecordChange<Attempt[], ClaimResult>> {
    const at = now();
    const attempts = await countingAttempts(before);
    const own = attempts.find(({ reference }) => reference === claim.reference);
    if (own && (await stillHolds(own))) return { kind: 'keep', result: { kind: 'claimed' } };
    const others = attempts.filter((attempt) => attempt !== own);
    const refusal =
      (await doubtedAgain(others, claim.money)) ??
      refusalOf(withOutside(others, claim.outside), claim.money, rule, at);
    const isOverridden = refusal?.kind === 'on_hold' && claim.overridesRest === true;
    if (refusal && !isOverridden) return { kind: 'keep', result: { kind: 'refused', refusal } };
    // Declines are not shown as twins then: the person who allows the charge knows of them.
    const candidates = isOverridden ? others.filter(({ outcome }) => outcome !== 'declined') : others;
    const after = twinMs === 0 ? Infinity : Math.min(at, claim.readAtMs ?? at) - twinMs;
    const twins = twinsOf(candidates, claim, after);
    if (twins.length > 0) return { kind: 'keep', result: { kind: 'twin', twins } };
    const { reference, money, by } = claim;
    const attempt: Attempt = { reference, begunAt: at, at, outcome: 'pending', by, ...money };
    return written([...others, attempt], { kind: 'claimed' });
  }

  /** Stores the attempts for as long as one of them may count. */
  function written<Result>(value: Attempt[], result: Result): RecordChange<Attempt[], Result> {
    const approvedAt = lastApproval(value);
    const isLasting = value.some(
      ({ outcome, at }) => outcome === 'pending' || (outcome === 'three_d_secure' && at > approvedAt),
    );
    if (isLasting) return { kind: 'write', value, result };
    const lastAt = Math.max(...value.map(({ at }) => at));
    return { kind: 'write', value, schedule: { ttlMs: Math.max(0, lastAt + keepMs - now()) }, result };
  }

  return {
    /**
     * Stores the attempt as pending if the card may be charged now. Idempotent for a reference. Read the charge's time
     * before calling this: a process that is suspended after the claim then finds it too late to send the charge.
     */
    claim: (claim: CardClaim) => cards.change(claim.card, (before) => decide(claim, before)),
    /** What `claim` would return now. Changes nothing. */
    judge: async (claim: CardClaim) => (await decide(claim, await cards.read(claim.card))).result,
    /**
     * Stores an attempt's outcome; a later outcome (a correction) replaces it. Ignored for an attempt that no longer
     * counts.
     */
    settle: (card: string, reference: OrderReference, outcome: Twin['outcome']) =>
      cards.change<void>(card, (before = []) => {
        const attempts = stillCounting(before);
        const own = attempts.find((attempt) => attempt.reference === reference);
        if (!own || own.outcome === outcome) return { kind: 'keep', result: undefined };
        // Later than all earlier outcomes, even if this replica's clock is behind: an approval clears the outcomes
        // before it.
        const earlier = attempts.filter((attempt) => attempt !== own && isSettled(attempt));
        const at = Math.max(now(), ...earlier.map((attempt) => attempt.at + 1));
        const settled = attempts.map((attempt) => (attempt === own ? { ...own, outcome, at } : attempt));
        return written(settled, undefined);
      }),
    /**
     * A new payment has saved the card, perhaps under the same token: what it needed after a 3-D Secure refusal. Such
     * refusals no longer count.
     *
     * Spec: 3D Secure on a saved-card charge.
     */
    savedAgain: (card: string) =>
      cards.change<void>(card, (before = []) => {
        if (!before.some(({ outcome }) => outcome === 'three_d_secure'))
          return { kind: 'keep', result: undefined };
        const cleared = before.map((attempt): Attempt =>
          attempt.outcome === 'three_d_secure' ? { ...attempt, outcome: 'cleared' } : attempt,
        );
        return written(cleared, undefined);
      }),
    /** Whether the card may be charged now; see the function of the same name. */
    mayTry: async (card: string, outside?: OutsideDecline) =>
      mayTry(withOutside(await countingAttempts(await cards.read(card)), outside), rule, now()),
  };
}

/** Adds the retried failure, unless the history has it already, because it was a charge of the bot's own. */
function withOutside(attempts: readonly Attempt[], outside: OutsideDecline | undefined): readonly Attempt[] {
  if (!outside || attempts.some(({ reference }) => reference === outside.reference)) return attempts;
  const { reference, atMs: at, outcome } = outside;
  const money = { minor: 0, currency: '' };
  return [
    ...attempts,
    { reference: reference as OrderReference, begunAt: at, at, outcome, by: '', ...money },
  ];
}

function refusalOf(
  attempts: readonly Attempt[],
  money: Money,
  rule: RetryRule,
  now: number,
): CardRefusal | undefined {
  const same = attempts.find((attempt) => attempt.outcome === 'pending' && isSameMoney(attempt, money));
  if (same) return underWay(same);
  const verdict = mayTry(attempts, rule, now);
  switch (verdict.kind) {
    case 'allowed':
      return undefined;
    case 'under_way': {
      const found = attempts.find(({ reference }) => reference === verdict.reference);
      if (!found) throw new Error('The retry rule named an attempt that is not in the history.');
      return underWay(found);
    }
    case 'on_hold':
    case 'stopped':
    case 'save_again':
      return verdict;
  }
}

function underWay({ reference, by, begunAt }: Attempt): CardRefusal {
  return { kind: 'under_way', reference, by, at: begunAt };
}

/**
 * Settled charges with the same amount and currency since then, newest first, without those that the person accepted. One
 * that needs review counts at any age: money may have moved.
 */
function twinsOf(
  attempts: readonly Attempt[],
  { money, despite }: Pick<CardClaim, 'money' | 'despite'>,
  after: number,
): Twin[] {
  const equal = attempts
    .filter(isSettled)
    .filter(
      (attempt) => isSameMoney(attempt, money) && (attempt.outcome === 'review' || newsAt(attempt) > after),
    );
  return notAccepted(equal, despite)
    .toSorted((a, b) => b.begunAt - a.begunAt)
    .map(({ reference, by, begunAt, outcome }) => ({ reference, by, at: begunAt, outcome }));
}

/** A charge in doubt or under review may be found paid long after it was begun. */
function newsAt({ outcome, at, begunAt }: Settled): number {
  return outcome === 'approved' ? at : begunAt;
}

function isSettled(attempt: Attempt): attempt is Settled {
  return attempt.outcome !== 'pending';
}

/**
 * The time of the last approval, which restarts the count. A charge that was given back counts: the bank had approved
 * it.
 */
function lastApproval(attempts: readonly CardAttempt[]): number {
  const times = attempts
    .filter(({ outcome }) => outcome === 'approved' || outcome === 'given_back')
    .map(({ at }) => at);
  return Math.max(-Infinity, ...times);
}

/** One charge of a card. A history may have them in any order. */
export type CardAttempt = Pick<Attempt, 'reference' | 'at' | 'outcome'>;

/**
 * Whether a card may be charged now, from its whole history. Pure: if the history is written together with the new
 * `pending` attempt by compare-and-swap, the rule holds over all replicas. An open charge counts as a decline, so that
 * two open charges can't exceed the limit.
 *
 * Spec: charge a saved card (retry rules); 3D Secure on a saved-card charge.
 */
export function mayTry(history: readonly CardAttempt[], rule: RetryRule, now: number): RetryVerdict {
  const since = lastApproval(history);
  const counted = history.filter(({ at }) => at > since);
  if (counted.some(({ outcome }) => outcome === 'three_d_secure')) return { kind: 'save_again' };
  const declines = counted
    .filter(({ outcome, at }) => outcome === 'declined' && now - at < rule.forgetMs)
    .map(({ at }) => at)
    .toSorted((a, b) => a - b);
  // Open charges count at any age: they may still be declined.
  const pending = history.filter(({ outcome }) => outcome === 'pending');
  const [open] = pending;
  const used = declines.length + pending.length;
  if (open && (declines.length > 0 || used >= rule.attempts)) {
    return { kind: 'under_way', reference: open.reference };
  }
  const [first, last] = [declines[0], declines.at(-1)];
  if (first === undefined || last === undefined)
    return { kind: 'allowed', attemptsLeft: rule.attempts - used };
  if (used >= rule.attempts) {
    return { kind: 'stopped', declines: declines.length, nextTryFrom: nextTryAfterStop(declines, rule) };
  }
  const nextTryFrom = last + rule.waitMs;
  const attemptsLeft = rule.attempts - used;
  return now < nextTryFrom
    ? { kind: 'on_hold', nextTryFrom, attemptsLeft }
    : { kind: 'allowed', attemptsLeft };
}

/** When enough declines are forgotten for another attempt, and the hold after the last one is over. */
function nextTryAfterStop(declines: readonly number[], rule: RetryRule): number {
  // Once this decline is forgotten, fewer than `attempts` are left.
  const freeing = declines.at(-rule.attempts) ?? 0;
  return Math.max(freeing + rule.forgetMs, (declines.at(-1) ?? 0) + rule.waitMs);
}
