import type { AlertNews } from './alert.ts';
import type { CardFace } from './card.ts';
import type { Money } from './money.ts';
import type { NotMade, RejectionReason } from './failure.ts';
import type { OrderReference } from './order-reference.ts';
import type { RetryVerdict } from './decline-reason.ts';
import { dayMs, hourMs } from './span.ts';

/** What an agent reviewed, whole. `tokenKey` is a secret: the terms are stored sealed. */
export type ChargeTerms = {
  tokenKey: string;
  card: CardFace;
  money: Money;
  /** The card's e-mail; the service refuses any other. */
  customerEmail: string;
  customerId?: string;
  /** The agent's words for colleagues, never sent to the service. */
  reason?: string;
  /** The id of the alert that this charge should resolve. Once the alert has ended, nothing is charged. */
  alert?: string;
};

/** The terms for people who may charge. */
export type ShownTerms = Omit<ChargeTerms, 'tokenKey'>;

/** In ms. */
export const chargeLimits = {
  /** A charge or OTP may leave only this soon after its state was stored. */
  leaveMs: 25_000,
  /** After this the answer is not awaited, and any replica may take over. */
  answerMs: 30_000,
  sends: 3,
  /** No repeats later than this: nobody expects a charge minutes after the click. */
  resendMs: 120_000,
  /** This long after the last send, "not found" may mean "on its way". */
  quietMs: 60_000,
  /** The service may still ask the bank this long after the code's time is over. */
  otpGraceMs: 60_000,
  shortestBackOffMs: 1_000,
  longestBackOffMs: 300_000,
  /** Review needs both: a day without proof, and this many answered look-ups. An outage is no answer. */
  doubtMs: dayMs,
  doubtAnswers: 144,
  /** A look-up that fails this long after the doubt began makes it a person's case all the same. */
  unansweredMs: 7 * dayMs,
  /** The first look-up under review; each later interval is twice as long, up to a week. */
  firstReviewMs: hourMs,
  longestReviewMs: 7 * dayMs,
  lateLookUpMs: dayMs,
} as const;

/**
 * A charge leaves at most `resendMs` + `leaveMs` of `chargeLimits` after its claim. A pending attempt without a charge is
 * cleared after `lostMs`. A repeat later than `renewMs` makes a new claim: its charge leaves long before anybody clears it,
 * even if clocks differ a little.
 */
export const claimTimes = { renewMs: 60_000, lostMs: 300_000 } as const;

/**
 * How a charge ends. `abandoned`: it never reached the service. `wrong_codes`: every code was refused. `expired`: nobody
 * paid in time. `given_back`: paid, then returned to the customer. `review`: a person must look.
 */
export type Verdict =
  | 'approved'
  | 'declined'
  | 'rejected'
  | 'abandoned'
  | 'wrong_codes'
  | 'expired'
  | 'given_back'
  | 'review';

/** Messages to the agent, each sent once. */
export type Told = Verdict | 'otp';

/**
 * What the service has said about the reference at any time. `exists`: it is known; `paid`: by an answer or a signed event,
 * which proves nothing; `declined`: the charge's own late answer.
 */
export type Heard = 'exists' | 'paid' | 'declined';

/**
 * `askedAt` identifies the look-up under way: an earlier one's answer may predate the last send. `answered`: answered
 * look-ups without proof since then. `why`: words of the bank, the service or the look-up; for `given_back` the record's
 * status.
 */
export type ChargeState =
  | { kind: 'charging' }
  | { kind: 'confirming'; since: number; askedAt: number; answered?: number }
  | { kind: 'otp'; askedAt?: number }
  | { kind: 'otp_checking' }
  | Conclusion;

export type Conclusion = { kind: Verdict; concludedAt: number; askedAt?: number } & Because;

/** `reason`: for rejections, each with its own fix. `from`: the record's words, as the bank gave none. */
export type Because = { why?: string; reason?: Refusal['reason']; from?: 'record' };

/** Why the service refused a request before it asked the bank; `message`: its own words. */
export type Refusal = {
  reason: Exclude<RejectionReason, 'reference_exists'> | NotMade['failure'];
  why?: string;
};

/** The bank's open OTP question. `triesLeft` counts a code under check as used. */
export type SeenOtp = {
  until: number;
  triesLeft: number;
  /** The last code's result; absent before the first code, and during a check. */
  lastCode?: 'refused' | 'unanswered' | 'time_over';
  /** The service takes no more codes, though tries were left. */
  isClosed?: true;
  /** A code's answer was lost: the bank may have accepted the code. */
  answerLost?: boolean;
};

/** One hand-over of the OTP between agents; Slack user ids. */
type HandOver = { at: number; from: string; to: string };

/** One request for another code; `answer` is absent while awaited. */
export type Resend = { at: number; by: string; answer?: 'resent' | 'refused' | NotMade['kind'] | 'unknown' };

/**
 * One charge for display: no token key, transaction id or code. The e-mail is whole here; channels get it masked. Times are
 * UTC ms, people Slack user ids.
 */
export type ChargeSeen = {
  reference: OrderReference;
  terms: ShownTerms;
  /** The card's fingerprint: its id in the card ledger. */
  card: string;
  /** Who pressed *Charge*. */
  by: string;
  /** Who gets the messages and may enter the code. */
  agent: string;
  submittedAt: number;
  /** Time of the last step. */
  at: number;
  state: ChargeState;
  /** What the service said; `paid` is not proof. */
  heard: readonly Heard[];
  /** The next look-up; absent when the charge is done. */
  dueAt?: number;
  /** How often it was sent, under the same reference. */
  sends: number;
  otp?: SeenOtp;
  /** The proof's status, and how its amount was computed if settings say so. */
  proof?: { status?: string; compared?: string };
  /** The bank's last words. */
  bankWords?: string;
  /** An earlier message to the agent that turned out wrong. */
  corrects?: Conclusion['kind'];
  handOvers: readonly HandOver[];
  /** The customer's code page: its link (hashed), maker, time and tries left. Absent: the agent types the code. */
  customer?: { link: string; by: string; at: number; triesLeft?: number };
  /** Who may type the code besides the agent, by the settings. */
  codeEntry?: 'customer' | 'both';
  /** When the customer pressed *I did not ask for this*, UTC ms. */
  notMineAt?: number;
  resends: readonly Resend[];
  /** Another payment, or a person, ended the alert it was begun from. */
  alertNews?: AlertNews;
  /** After a decline: whether this card may be charged now. */
  nextTry?: RetryVerdict;
};

/** A settled charge of the same card, amount and currency. `by`: Slack user id; `at`: UTC ms. */
export type Twin = {
  reference: OrderReference;
  by: string;
  at: number;
  outcome: 'approved' | 'given_back' | 'declined' | 'three_d_secure' | 'cleared' | 'review';
};

// Limits on charges by role. Amounts are integer minor units.

/** As written in `payops.yml`. */
export type LimitKind = 'per_charge' | 'per_agent_per_day' | 'per_card_per_day';

/** Why a card can't be charged now, at any amount. */
export type CardHold = Exclude<RetryVerdict, { kind: 'allowed' }> | { kind: 'limit'; limit: LimitKind };

/** One currency's limits, in minor units; an absent kind is unlimited. */
export type CurrencyLimits = Partial<Record<LimitKind, number>>;

/** By currency; absent currencies may not be charged. */
export type RoleLimits = Readonly<Record<string, CurrencyLimits>>;

/** All roles that may charge, by name; without `limits` unlimited. */
export type ChargingRoles = Readonly<Record<string, { limits?: RoleLimits }>>;

/** The time zone of a day, and the limited roles. */
export type LimitRules = { timeZone: string; roles: ChargingRoles };
