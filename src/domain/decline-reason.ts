/** What a bank's refusal comes down to. `unknown`: it gave no reason, or none that says what to do. */
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

/** `{time}` stands for when the card’s hold ends; of a card that is not on hold ` from {time}` is left out. */
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

/** The one table of what to do after a charge that failed: alerts, the charge window, look-ups and docs/agents.md. */
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
 * Words by which banks name a reason, on text as `plainWords` makes it. The first that fits counts: what must not be
 * tried again before what may, and a named reason before a plain refusal.
 */
const patterns: readonly [Exclude<DeclineReason, 'three_d_secure' | 'unknown'>, RegExp][] = [
  [
    'fraud',
    /\b(fraud|fraudulent|stolen|(lost|hot|retain|capture|pick ?up) card|card (reported )?lost)\b|^pick ?up$/,
  ],
  ['wrong_code', new RegExp(`\\b(${wrong} ${code}|${code} (\\w+ ){0,2}${wrong}|too many otp)\\b`)],
  // The specification's words for a code that ran out: its time, and no trouble of the bank.
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

/** No bank says more than this in earnest. */
const longestWords = 500;

/**
 * Reads a bank's own words for their reason, loosely, because each bank has its own, and never beyond what they say.
 * 3-D Secure goes by the phrases of `CHARGE_THREE_D_SECURE_WORDS`.
 *
 * Spec: charge a saved card (the bank's reason; its wording depends on bank and network).
 */
export function declineReason(
  bankWords: string | undefined,
  threeDSecurePhrases: readonly string[],
): DeclineReason {
  const words = plainWords((bankWords ?? '').slice(0, longestWords));
  const named = patterns.find(([, pattern]) => pattern.test(words))?.[0];
  // Nobody is sent to pay by link with a card that is called stolen.
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

/** The reason of a bot's own charge: its card's history knows 3-D Secure already, by the phrases of then. */
export function reasonAfter(bankWords: string | undefined, nextTry: RetryVerdict | undefined): DeclineReason {
  return nextTry?.kind === 'save_again' ? 'three_d_secure' : declineReason(bankWords, []);
}

/** Blanks, hyphens of every kind and soft hyphens: banks write 3D Secure, 3-D Secure and 3DSecure. */
const gap = '[\\s\\p{Pd}\\u00AD]';

/**
 * Whether a bank's refusal speaks of 3-D Secure. A phrase counts as a whole, never inside a word; case, blanks and
 * hyphens make no difference. No words or no phrases: false.
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

/** The settings by which a decline is read. */
export type DeclineRule = { threeDSecureWords: readonly string[]; waitMs: number };

/** How a charge ended that took no money: what its first line says wherever it is told. */
export type FailedHow = 'declined' | 'expired' | 'wrong_codes' | 'codes_closed';

/**
 * A failure that a signed event tells and a look-up does not contradict, or an end of the bot's own charge. Times are UTC
 * ms. `nextTryFrom`: when the card's hold ends; absent where the card is not on hold.
 */
export type KnownDecline = {
  how: FailedHow;
  atMs: number;
  bankWords?: string;
  reason: DeclineReason;
  nextTryFrom?: number;
};

/** The same by the reason alone: a code that ran out is no decline. */
export function failedHow(reason: DeclineReason): FailedHow {
  return reason === 'code_expired' ? 'expired' : 'declined';
}

/** A decline of a card that its history need not have: a signed event tells it, and the look-up bears that out. */
export type OutsideDecline = { reference: string; atMs: number; outcome: 'declined' | 'three_d_secure' };

/** What a failure counts for in a card's history; undefined: neither bank nor card spoke. */
export function outcomeOfReason(reason: DeclineReason): OutsideDecline['outcome'] | undefined {
  if (reason === 'wrong_code' || reason === 'code_expired') return undefined;
  return reason === 'three_d_secure' ? 'three_d_secure' : 'declined';
}

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
