import type { AlertNews } from './alert.ts';
import type { CardFace } from './card.ts';
import type { Money } from './money.ts';
import type { NotMade, RejectionReason } from './failure.ts';
import type { OrderReference } from './order-reference.ts';
import type { RetryVerdict } from './decline-reason.ts';

/** What an agent agreed to, whole. `tokenKey` is a secret: the terms are kept sealed. */
export type ChargeTerms = {
  tokenKey: string;
  card: CardFace;
  money: Money;
  /** The e-mail linked to the card; the service refuses any other. */
  customerEmail: string;
  customerId?: string;
  /** The agent's own words, for colleagues; never sent to the service. */
  reason?: string;
  /** The failed charge it makes good, by the id of its card: once that has ended, nothing is charged. */
  alert?: string;
};

/** The terms as they may be read out to a person who is allowed to charge. */
export type ShownTerms = Omit<ChargeTerms, 'tokenKey'>;

/** All in ms. */
export const chargeLimits = {
  /** A charge or an OTP may leave only this long after its state was written. */
  leaveMs: 25_000,
  /** Then its answer is no longer waited for, and any replica may take over. */
  answerMs: 30_000,
  sends: 3,
  /** Nothing is sent again later than this: nobody expects a charge minutes after the click. */
  resendMs: 120_000,
  /** How long after the last send "not found" may still mean "on its way". */
  quietMs: 60_000,
  /** How long after the end of the time for a code the service may still be asking the bank. */
  otpGraceMs: 60_000,
  shortestBackOffMs: 1_000,
  longestBackOffMs: 300_000,
  /** Both: a day without proof, and so many look-ups that were answered. An outage of a day is no answer. */
  doubtMs: 24 * 3_600_000,
  doubtAnswers: 144,
  /** A look-up that fails this long after the doubt began makes it a person's case all the same. */
  unansweredMs: 7 * 24 * 3_600_000,
  /** Under review a charge is looked at after this long, then each time after twice as long, at the rarest once a week. */
  firstReviewMs: 3_600_000,
  longestReviewMs: 7 * 24 * 3_600_000,
  lateLookUpMs: 24 * 3_600_000,
} as const;

/**
 * A charge leaves at most `resendMs` + `leaveMs` of `chargeLimits` after its claim. A pending attempt without a
 * charge is cleared after `lostMs`; one that is claimed again later than `renewMs` is claimed anew, so that what
 * the new claim sends has left long before anybody could clear it, though the replicas' clocks differ a little.
 */
export const claimTimes = { renewMs: 60_000, lostMs: 300_000 } as const;

/**
 * How a charge ends. `abandoned`: nothing of it ever reached the service. `wrong_codes`: each code was refused.
 * `expired`: nobody paid while a code could be open. `given_back`: it was paid, and its money went back to the customer.
 * `review`: a person must look.
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

/** What the agent is told, each once. */
export type Told = Verdict | 'otp';

/**
 * What the service has said about the reference, whoever said it and whenever. `exists`: it knows it; `paid`: an
 * answer or a signed event says so, which is no proof; `declined`: the charge's own answer, when it came late.
 */
export type Heard = 'exists' | 'paid' | 'declined';

/**
 * `askedAt` names the look-up under way: an answer to an earlier one may be older than the last send.
 * `answered`: look-ups since then that the service answered, without proof. `why` is the bank's, the service's or the
 * look-up's own words; of what was given back the record's status.
 */
export type ChargeState =
  | { kind: 'charging' }
  | { kind: 'confirming'; since: number; askedAt: number; answered?: number }
  | { kind: 'otp'; askedAt?: number }
  | { kind: 'otp_checking' }
  | Conclusion;

export type Conclusion = { kind: Verdict; concludedAt: number; askedAt?: number } & Because;

/** `reason` with a rejection: each has its own fix. `from`: the bank said nothing, and these are the record's own words. */
export type Because = { why?: string; reason?: Refusal['reason']; from?: 'record' };

/** Why the service refused a request before the bank saw it, and its own words if it had any. */
export type Refusal = {
  reason: Exclude<RejectionReason, 'reference_exists'> | NotMade['failure'];
  why?: string;
};

/** The open question of the bank. `triesLeft` counts a code that is being checked as used. */
export type SeenOtp = {
  until: number;
  triesLeft: number;
  /** What became of the last code that was entered; absent before the first, and while one is being checked. */
  lastCode?: 'refused' | 'unanswered' | 'time_over';
  /** The service takes no more codes, though fewer were entered than it allows. */
  isClosed?: true;
  /** A code was sent whose answer never came: the bank may have taken it. */
  answerLost?: boolean;
};

/** One hand-over of the OTP from one agent to another; Slack user ids. */
type HandOver = { at: number; from: string; to: string };

/** One wish for another code; the answer is absent while it is awaited. */
export type Resend = { at: number; by: string; answer?: 'resent' | 'refused' | NotMade['kind'] | 'unknown' };

/**
 * One charge as people may see it: no token key, no transaction id, no code. The customer's e-mail is whole
 * here; a channel gets it masked. Times are UTC ms, people are Slack user ids.
 */
export type ChargeSeen = {
  reference: OrderReference;
  terms: ShownTerms;
  /** The card's fingerprint: its id among the cards the bot remembers, if it does. */
  card: string;
  /** Who clicked *Charge*. */
  by: string;
  /** Who is told what becomes of it, and who may enter the code. */
  agent: string;
  submittedAt: number;
  /** Of the last step. */
  at: number;
  state: ChargeState;
  /** What the service has said of it: `paid` is no proof yet. */
  heard: readonly Heard[];
  /** When it is next looked at; absent when nothing is left to do. */
  dueAt?: number;
  /** Whether it was asked of the service more than once, under the same reference. */
  sends: number;
  otp?: SeenOtp;
  /** What the look-up that proved it found: its status, and how its amount was made where settings say so. */
  proof?: { status?: string; compared?: string };
  /** The last the bank said. */
  bankWords?: string;
  /** A conclusion the agent was told before and that no longer holds. */
  corrects?: Conclusion['kind'];
  handOvers: readonly HandOver[];
  /** The link by which the customer types the code, hashed, who made it when, and with how many tries left. Absent: its agent types the code. */
  customer?: { link: string; by: string; at: number; triesLeft?: number };
  /** Who may type the code besides its agent alone, by the settings. */
  codeEntry?: 'customer' | 'both';
  /** The customer pressed *I did not ask for this*; UTC ms. */
  notMineAt?: number;
  resends: readonly Resend[];
  /** What else ended the alert it was begun from, or paid for the same. */
  alertNews?: AlertNews;
  /** Whether this card may be charged now, once this charge was declined. */
  nextTry?: RetryVerdict;
};

/** The same card, amount and currency was charged, and that charge is settled. `by`: Slack user id; `at`: UTC ms. */
export type Twin = {
  reference: OrderReference;
  by: string;
  at: number;
  outcome: 'approved' | 'given_back' | 'declined' | 'three_d_secure' | 'cleared' | 'review';
};

// How much whom a role lets charge. Amounts are integer minor units throughout.

/** The words of `payops.yml`. */
export type LimitKind = 'per_charge' | 'per_agent_per_day' | 'per_card_per_day';

/** Why a card can't be charged now, whatever the amount. */
export type CardHold = Exclude<RetryVerdict, { kind: 'allowed' }> | { kind: 'limit'; limit: LimitKind };

/** Of one currency, in minor units; a kind that is not there is not limited. */
export type CurrencyLimits = Partial<Record<LimitKind, number>>;

/** By currency; one that is not there may not be charged. */
export type RoleLimits = Readonly<Record<string, CurrencyLimits>>;

/** Every role that may charge, by name; without `limits` nothing limits it. */
export type ChargingRoles = Readonly<Record<string, { limits?: RoleLimits }>>;

/** What a day is, and whom it limits. */
export type LimitRules = { timeZone: string; roles: ChargingRoles };
