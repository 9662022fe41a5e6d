import type { ChargeSeen, Conclusion, Refusal, Verdict } from '../../../src/domain/charge.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { RetryVerdict } from '../../../src/domain/decline-reason.ts';
import type { ShownAccount } from '../../../src/slack/words/account-foot.ts';

export const nowMs = Date.UTC(2026, 8, 14, 13, 37);
export const minuteMs = 60_000;

export const live: ShownAccount = { environment: 'live', account: 'Lagos' };
export const sandbox: ShownAccount = { environment: 'sandbox', account: 'Lagos' };
export const places = [live, sandbox];

export const agent = 'U0AGENT01';
export const colleague = 'U0OTHER01';

/** A charge from two minutes ago, in this state. */
export function seen(changes: Partial<ChargeSeen> = {}): ChargeSeen {
  return {
    reference: 'pay-mfrggzdfmztwq2lknnwg23tpob' as OrderReference,
    terms: {
      card: { cardType: 'Visa', lastFour: '4242' },
      money: { minor: 1_250_000, currency: 'NGN' },
      customerEmail: 'ada.obi@example.com',
      customerId: 'CUST-7',
      reason: 'September rent',
    },
    by: agent,
    agent,
    submittedAt: nowMs - 2 * minuteMs,
    at: nowMs - minuteMs,
    state: { kind: 'charging' },
    heard: [],
    card: 'f00dcafef00dcafef00dcafef00dcafe',
    dueAt: nowMs + minuteMs,
    sends: 1,
    handOvers: [],
    resends: [],
    ...changes,
  };
}

export function concluded(
  kind: Verdict,
  changes: Partial<ChargeSeen> = {},
  because: Partial<Conclusion> = {},
) {
  return seen({ state: { kind, concludedAt: nowMs - minuteMs, ...because }, ...changes });
}

export function inDoubt(changes: Partial<ChargeSeen> = {}): ChargeSeen {
  return seen({
    state: { kind: 'confirming', since: nowMs - minuteMs, askedAt: nowMs - minuteMs },
    ...changes,
  });
}

export function waiting(triesLeft = 3, changes: Partial<ChargeSeen> = {}): ChargeSeen {
  return seen({
    state: { kind: 'otp' },
    otp: {
      until: nowMs + 13 * minuteMs,
      triesLeft,
      ...(triesLeft === 3 ? {} : { lastCode: 'refused' as const }),
    },
    bankWords: 'Enter the code sent to 0803***7788',
    ...changes,
  });
}

export const reasons: readonly Refusal['reason'][] = [
  'invalid_token',
  'email_mismatch',
  'email_invalid',
  'card_not_supported',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'invalid_request',
  'other',
];

export const verdicts: readonly RetryVerdict[] = [
  { kind: 'allowed', attemptsLeft: 2 },
  { kind: 'on_hold', nextTryFrom: nowMs + 86_400_000, attemptsLeft: 2 },
  { kind: 'under_way', reference: 'pay-other' },
  { kind: 'stopped', declines: 3, nextTryFrom: nowMs + 86_400_000 },
  { kind: 'save_again' },
];

/** Every state, with all data that affects what is shown. */
export const everyCharge: readonly (readonly [string, ChargeSeen])[] = [
  ['charging', seen()],
  ['charging, sent twice', seen({ sends: 2 })],
  ['in doubt', inDoubt()],
  ['in doubt, heard declined', inDoubt({ heard: ['exists', 'declined'] })],
  ['heard approved', inDoubt({ heard: ['paid'] })],
  ['waits for a code', waiting()],
  ['waits for a code, one refused', waiting(2)],
  ['waits for a code, time over', waiting(1, { otp: { until: nowMs - 1, triesLeft: 1 } })],
  ['waits for a code, nothing known of it', seen({ state: { kind: 'otp' } })],
  ['checks the code', waiting(1, { state: { kind: 'otp_checking' } })],
  ['approved', concluded('approved', { heard: ['paid'] })],
  ['approved, corrects', concluded('approved', { corrects: 'declined' })],
  ['declined', concluded('declined', { bankWords: 'Insufficient Funds' })],
  ['declined without a word', concluded('declined', {}, { why: ' ' })],
  ...verdicts.map((nextTry) => [`declined, ${nextTry.kind}`, concluded('declined', { nextTry })] as const),
  ['declined, with a link', concluded('declined', { nextTry: { kind: 'save_again' } })],
  ...reasons.map(
    (reason) => [`rejected, ${reason}`, concluded('rejected', {}, { reason, why: 'their words' })] as const,
  ),
  ['rejected', concluded('rejected')],
  ['abandoned', concluded('abandoned')],
  ['code wrong three times, checking', inDoubt({ otp: { until: nowMs + 13 * minuteMs, triesLeft: 0 } })],
  ['time for the code over, checking', inDoubt({ otp: { until: nowMs, triesLeft: 2 } })],
  ['wrong codes', concluded('wrong_codes', { otp: { until: nowMs + 13 * minuteMs, triesLeft: 0 } })],
  ['expired', concluded('expired', { otp: { until: nowMs, triesLeft: 2 } })],
  ['expired, an answer lost', concluded('expired')],
  ['review', concluded('review', {}, { why: 'Amount NGN 1.00 differs from the charge’s' })],
  ['review, corrects', concluded('review', { corrects: 'abandoned' })],
];
