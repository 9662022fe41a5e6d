import { dayMs } from './span.ts';

/** The class of a bank's refusal. `unknown`: the bank gave no reason, or none that says what to do. */
export type DeclineReason =
  | 'fraud'
  | 'three_d_secure'
  | 'wrong_code'
  | 'code_expired'
  | 'expired_card'
  | 'insufficient_funds'
  | 'limit_exceeded'
  | 'issuer_unavailable'
  | 'refused_card'
  | 'unknown';

/** `{time}` is replaced by the end of the card’s hold; without a hold ` from {time}` is dropped. */
type NextStep = {
  kind:
    | 'do_not_retry'
    | 'payment_link'
    | 'customer_phone'
    | 'still_wanted'
    | 'another_card'
    | 'wait'
    | 'nothing_known';
  text: string;
};

const anotherCard: NextStep = { kind: 'another_card', text: 'Ask the customer for another card.' };

const wait: NextStep = {
  kind: 'wait',
  text: 'Try again from {time}, or use another card.',
};

/** What to do after a failed charge: the one table for alerts, charge window, look-ups and docs/agents.md. */
export const nextSteps: Readonly<Record<DeclineReason, NextStep>> = {
  fraud: { kind: 'do_not_retry', text: 'Don’t try again. The customer should ask their bank.' },
  three_d_secure: {
    kind: 'payment_link',
    text: 'Send a payment link.',
  },
  wrong_code: {
    kind: 'customer_phone',
    text: 'Check the customer’s phone, then charge again from {time}.',
  },
  code_expired: {
    kind: 'still_wanted',
    text: 'Charge again from {time} if the customer still wants it.',
  },
  expired_card: anotherCard,
  insufficient_funds: wait,
  limit_exceeded: wait,
  issuer_unavailable: wait,
  refused_card: anotherCard,
  unknown: { kind: 'nothing_known', text: '' },
};

const code = '(?:otp|verification code|one time (?:password|pin|passcode|code))';

const wrong = '(?:wrong|invalid|incorrect|expired|mismatch|failed)';

const offline = '(?:inoperative|unavailable|not available|down|offline|unreachable|no response)';

/**
 * Patterns for each reason in the words of banks, matched on `plainWords`. The first match wins: fraud is first,
 * because it forbids a retry, and the plain refusal is last.
 */
const patterns: readonly [Exclude<DeclineReason, 'three_d_secure' | 'unknown'>, RegExp][] = [
  [
    'fraud',
    /\b(fraud|fraudulent|stolen|(lost|hot|retain|capture|pick ?up) card|card (reported )?lost)\b|^pick ?up$/,
  ],
  ['wrong_code', new RegExp(`\\b(${wrong} ${code}|${code} (\\w+ ){0,2}${wrong}|too many otp)\\b`)],
  // The specification's words when the code was not entered in time.
  ['code_expired', /\b(exceeded (the )?time allowed|time allowed (has been |was )?exceeded)\b/],
  ['expired_card', /\b(expired card|card (has |is |was )?expired)\b/],
  [
    'insufficient_funds',
    /\b((insufficient|no sufficient|not sufficient|not enough) (available )?(funds?|balance|money|credit)|(funds?|balance) (is |are )?(insufficient|too low)|nsf)\b/,
  ],
  [
    'limit_exceeded',
    /\b(exceed(s|ed|ing)?|over|above|reached) ((?!time )\w+ ){0,4}limit\b|\b(?<!time )limit (has been |is |was )?(exceeded|reached)\b/,
  ],
  [
    'issuer_unavailable',
    new RegExp(
      `\\b(issuer|bank|switch) (\\w+ ){0,3}${offline}\\b|\\b(no response from (issuer|bank)|timed? ?out|system malfunction)\\b`,
    ),
  ],
  [
    'refused_card',
    /\b(do not hono(u)?r|not permitted to (card ?holder|terminal)|refer to (card )?issuer|(restricted|invalid|inactive|blocked|closed) card|card (number )?(is )?(restricted|invalid|inactive|blocked|closed|declined|refused|not (active|activated|supported))|declined by (the )?(card )?(issuer|bank)|no card record)\b/,
  ],
];

/** Only the beginning of a text is searched: a bank's reason is shorter than this. */
const longestWords = 500;

/**
 * Finds the reason in a bank's own words. Matches loosely, since every bank has its own words, but never guesses beyond
 * them. 3-D Secure is found by the phrases of `CHARGE_THREE_D_SECURE_WORDS`.
 *
 * Spec: charge a saved card (the bank's reason; its wording depends on bank and network).
 */
export function declineReason(
  bankWords: string | undefined,
  threeDSecurePhrases: readonly string[],
): DeclineReason {
  const words = plainWords((bankWords ?? '').slice(0, longestWords));
  const named = patterns.find(([, pattern]) => pattern.test(words))?.[0];
  // Fraud first: after 3-D Secure a payment link is offered, which must not happen for a card reported stolen.
  if (named === 'fraud') return named;
  return isThreeDSecure(bankWords, threeDSecurePhrases) ? 'three_d_secure' : (named ?? 'unknown');
}

function plainWords(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/**
 * The reason for a failed charge of the bot's own. Its card's history already knows whether it was 3-D Secure, by the
 * phrases that were set at that time.
 */
export function reasonAfter(bankWords: string | undefined, nextTry: RetryVerdict | undefined): DeclineReason {
  return nextTry?.kind === 'save_again' ? 'three_d_secure' : declineReason(bankWords, []);
}

/** What may stand between the letters of a phrase: banks write 3D Secure, 3-D Secure and 3DSecure. */
const gap = '[\\s\\p{Pd}\\u00AD]';

/**
 * Whether a bank's refusal means 3-D Secure. Phrases match whole words, ignoring case, blanks and hyphens. False
 * without words or phrases.
 *
 * Spec: 3D Secure on a saved-card charge; what the bank says then: not shown, so the phrases are a setting.
 */
export function isThreeDSecure(bankWords: string | undefined, phrases: readonly string[]): boolean {
  if (bankWords === undefined) return false;
  return phrases.some((phrase) => patternOf(phrase)?.test(bankWords.normalize('NFKC')) ?? false);
}

function patternOf(phrase: string): RegExp | undefined {
  const letters = [...phrase.normalize('NFKC').replace(new RegExp(gap, 'gu'), '')].map((letter) =>
    letter.replace(/[$()*+./?[\\\]^{|}]/, '\\$&'),
  );
  if (letters.length === 0) return undefined;
  return new RegExp(`(?<![\\p{L}\\p{N}])${letters.join(`${gap}*`)}(?![\\p{L}\\p{N}])`, 'iu');
}

export type DeclineRule = { threeDSecureWords: readonly string[]; waitMs: number };

/**
 * How a charge ended without money. The first line of every message about the charge depends on this. `codes_closed`:
 * the service accepted no more codes, although tries were left.
 */
export type FailedHow = 'declined' | 'expired' | 'wrong_codes' | 'codes_closed';

/**
 * A failure that a signed event reports and no look-up contradicts, or a failure of the bot's own charge. Times are UTC
 * ms. `nextTryFrom`: the end of the card's hold; absent without a hold.
 */
export type KnownDecline = {
  how: FailedHow;
  atMs: number;
  bankWords?: string;
  reason: DeclineReason;
  nextTryFrom?: number;
};

/** How a charge with this reason ended: an expired code is not a decline. */
export function failedHow(reason: DeclineReason): FailedHow {
  return reason === 'code_expired' ? 'expired' : 'declined';
}

/**
 * A decline that the card's history may lack, because the charge was not the bot's: from a signed event, confirmed by
 * the look-up.
 */
export type OutsideDecline = { reference: string; atMs: number; outcome: 'declined' | 'three_d_secure' };

/** How a failure counts in the card's history. Undefined: not at all, because only the code was wrong or late. */
export function outcomeOfReason(reason: DeclineReason): OutsideDecline['outcome'] | undefined {
  if (reason === 'wrong_code' || reason === 'code_expired') return undefined;
  return reason === 'three_d_secure' ? 'three_d_secure' : 'declined';
}

/**
 * The length of the hold after a decline, and the number of attempts. Settings, because the specification only gives
 * examples.
 */
export type RetryRule = {
  waitMs: number;
  attempts: number;
  /** Declines older than this don't count, so that next month's charge has all attempts again. */
  forgetMs: number;
};

export const defaultRetryRule: RetryRule = {
  waitMs: dayMs,
  attempts: 3,
  forgetMs: 30 * dayMs,
};

export type RetryVerdict =
  | { kind: 'allowed'; attemptsLeft: number }
  /** On hold after a decline, until `nextTryFrom`. */
  | { kind: 'on_hold'; nextTryFrom: number; attemptsLeft: number }
  /** Another charge of this card is open. It could use up the last attempt, or be declined and put the card on hold. */
  | { kind: 'under_way'; reference: string }
  /** No attempts are left until `nextTryFrom`, when the first decline no longer counts. */
  | { kind: 'stopped'; declines: number; nextTryFrom: number }
  /** Saved cards can't complete 3-D Secure: only a new card-saving payment helps. */
  | { kind: 'save_again' };
