import type { AlertNews, AlertTaken } from './alert.ts';
import type { CardFace } from './card.ts';
import type { Money } from './money.ts';
import type { NotMade, RejectionReason } from './failure.ts';
import type { OrderReference } from './order-reference.ts';
import type { RetryVerdict } from './decline-reason.ts';
import { dayMs, hourMs } from './span.ts';

/** The terms that an agent reviewed, unmasked. `tokenKey` is a secret: the terms are stored sealed. */
export type ChargeTerms = {
  tokenKey: string;
  card: CardFace;
  money: Money;
  /** The card's e-mail; the service refuses any other. */
  customerEmail: string;
  customerId?: string;
  /** The agent's reason, for colleagues; never sent to the service. */
  reason?: string;
  /** The id of the alert that this charge should resolve. Once that alert has ended, the terms can't be charged. */
  alert?: string;
};

/** The terms without the token key, for people who may charge. */
export type ShownTerms = Omit<ChargeTerms, 'tokenKey'>;

/** Durations in ms, and counts. */
export const chargeLimits = {
  /** A charge or OTP is sent at most this long after its state was stored. */
  leaveMs: 25_000,
  /** The bot waits this long for an answer; then any replica may continue the charge. */
  answerMs: 30_000,
  /** A charge is sent at most this often, always under the same reference. */
  sends: 3,
  /** No resends later than this: people don't expect a charge minutes after their click. */
  resendMs: 120_000,
  /** Until this long after the last send, "not found" may mean that the request is still on its way. */
  quietMs: 60_000,
  /** The service may still ask the bank this long after the code's time is over. */
  otpGraceMs: 60_000,
  /** In doubt, the next look-up comes after as long as the doubt has lasted, within these two limits. */
  shortestBackOffMs: 1_000,
  longestBackOffMs: 300_000,
  /**
   * A charge goes to review after `doubtMs` without proof and `doubtAnswers` answered look-ups. (During an outage
   * look-ups are not answered, so they don't count.)
   */
  doubtMs: dayMs,
  doubtAnswers: 144,
  /** If look-ups still fail this long after the doubt began, the charge goes to review as well. */
  unansweredMs: 7 * dayMs,
  /**
   * Under review a charge is looked up after this, then each time its time under review has doubled, at least weekly.
   */
  firstReviewMs: hourMs,
  longestReviewMs: 7 * dayMs,
  /** A concluded charge is looked up once more after this: money may still have moved. */
  lateLookUpMs: dayMs,
} as const;

/**
 * The times of a charge's claim on its card, alert and limits. `lostMs`: a claim this old without a stored charge is
 * cleared; longer than any charge takes to be sent. `renewMs`: a repeated submit later than this claims again, well
 * before another process clears the claim.
 */
export const claimTimes = { renewMs: 60_000, lostMs: 300_000 } as const;

/**
 * How a charge ends. `abandoned`: the service has no record of it. `wrong_codes`: every code was refused.
 * `expired`: it was not paid in time. `given_back`: paid, then returned to the customer. `review`: a person must look.
 */
export const verdicts = [
  'approved',
  'declined',
  'rejected',
  'abandoned',
  'wrong_codes',
  'expired',
  'given_back',
  'review',
] as const;
export type Verdict = (typeof verdicts)[number];

/** Each is one message to the agent about a charge: how it ended, or that the bank asks for a code. */
export type AgentNews = Verdict | 'otp';

/**
 * What the service has ever said about the reference. `exists`: it is known. `paid`: an answer or a signed event says
 * so, which is no proof. `declined`: the answer to the charge request, which came after look-ups had begun.
 */
export type Heard = 'exists' | 'paid' | 'declined';

/**
 * `askedAt` identifies the look-up under way: an earlier look-up's answer may be older than the last send.
 * `answered`: how many look-ups after `since` were answered without proof. `why`: the words of bank, service or
 * look-up; for `given_back` the record's status.
 */
export type ChargeState =
  | { kind: 'charging' }
  | { kind: 'confirming'; since: number; askedAt: number; answered?: number }
  | { kind: 'otp'; askedAt?: number }
  | { kind: 'otp_checking' }
  | Conclusion;

export type Conclusion = { kind: Verdict; concludedAt: number; askedAt?: number } & ConclusionDetails;

export function isConcluded(state: ChargeState): state is Conclusion {
  return 'concludedAt' in state;
}

/** Whether the charge is done: it needs no person, and at most one late look-up. */
export function isClosed({ state }: { state: ChargeState }): boolean {
  return isConcluded(state) && state.kind !== 'review';
}

/**
 * Why a charge was concluded. `reason`: why the service refused the request; each reason has its own fix. `from:
 * 'record'`: the words come from the transaction record, because the bank gave none.
 */
export type ConclusionDetails = { why?: string; reason?: Refusal['reason']; from?: 'record' };

/**
 * Why the service refused a request before it asked the bank. `alert_ended`: the bot didn't send it, because the alert
 * that it should resolve had ended. `why`: the service's own words.
 */
export type Refusal = {
  reason: Exclude<RejectionReason, 'reference_exists'> | NotMade['failure'] | 'alert_ended';
  why?: string;
};

/** The bank's open request for an OTP. `triesLeft` counts a code under check as used. */
export type SeenOtp = {
  until: number;
  triesLeft: number;
  /** The last code's result; absent before the first code, and during a check. */
  lastCode?: 'refused' | 'unanswered' | 'time_over';
  /** The service accepts no more codes, although tries were left. */
  isClosed?: true;
  /** The answer to a code was lost, so the bank may have accepted it. */
  answerLost?: boolean;
};

/** One hand-over of a charge to another agent. Slack user ids. */
type HandOver = { at: number; from: string; to: string };

/** One request to send another code. `answer` is absent until the service has answered. */
export type Resend = { at: number; by: string; answer?: 'resent' | 'refused' | NotMade['kind'] | 'unknown' };

/**
 * One charge for display, without token key, transaction id and code. The e-mail is whole here; channels get it masked.
 * Times are UTC ms, people Slack user ids.
 */
export type ChargeSeen = {
  reference: OrderReference;
  terms: ShownTerms;
  /** The card's fingerprint: its id in the card ledger. */
  card: string;
  /** Who pressed *Charge*. */
  by: string;
  /** The agent: gets the messages and may enter the code. */
  agent: string;
  submittedAt: number;
  /** Time of the last step. */
  at: number;
  state: ChargeState;
  /** What the service has said so far; `paid` is not proof. */
  heard: readonly Heard[];
  /** The next look-up; absent when the charge is done. */
  dueAt?: number;
  /** How often the charge was sent, always under the same reference. */
  sends: number;
  otp?: SeenOtp;
  /** The status of the proof and, if settings define the amount, how it was computed. */
  proof?: { status?: string; compared?: string };
  bankWords?: string;
  /** The earlier conclusion that the agent was told and that turned out to be wrong. */
  corrects?: Conclusion['kind'];
  handOvers: readonly HandOver[];
  /** The customer's code page: its link (hashed), maker, time and tries left. Absent: the agent types the code. */
  customer?: { link: string; by: string; at: number; triesLeft?: number };
  /** Who may type the code besides the agent, by the settings. */
  codeEntry?: 'customer' | 'both';
  /** When the customer pressed *I did not ask for this*, UTC ms. */
  notMineAt?: number;
  resends: readonly Resend[];
  /** Another payment or a person has ended the alert from which this charge was begun. */
  alertNews?: AlertNews;
  /** It took no money, and its alert has ended or is being charged: no other payment may begin. */
  taken?: AlertTaken;
  /** After a decline: whether this card may be charged now. */
  nextTry?: RetryVerdict;
};

/**
 * An earlier, concluded charge with the same card, amount and currency. `by`: Slack user id; `at`: UTC ms. `cleared`: it
 * ended without money, and neither bank nor card had refused.
 */
export type Twin = {
  reference: OrderReference;
  by: string;
  at: number;
  outcome: 'approved' | 'given_back' | 'declined' | 'three_d_secure' | 'cleared' | 'review';
};

/**
 * A twin or open payment as a person accepts it: with the outcome that they saw, so that another outcome is shown again.
 */
export function asAccepted({ reference, outcome }: { reference: string; outcome: string }): string {
  return `${reference} (${outcome})`;
}

/** Those that the person hasn't accepted. `despite`: what they accepted. */
export function notAccepted<Other extends Parameters<typeof asAccepted>[0]>(
  others: readonly Other[],
  despite: readonly string[] = [],
): Other[] {
  return others.filter((one) => !despite.includes(asAccepted(one)));
}

/** The limits' names in `payops.yml`. */
export type LimitKind = 'per_charge' | 'per_agent_per_day' | 'per_card_per_day';

/** Why a card can't be charged now, at any amount. */
export type CardHold = Exclude<RetryVerdict, { kind: 'allowed' }> | { kind: 'limit'; limit: LimitKind };

/** One currency's limits, in minor units; an absent kind is unlimited. */
export type CurrencyLimits = Partial<Record<LimitKind, number>>;

/** By currency; absent currencies may not be charged. */
export type RoleLimits = Readonly<Record<string, CurrencyLimits>>;

/** All roles that may charge, by name; without `limits` unlimited. */
export type ChargingRoles = Readonly<Record<string, { limits?: RoleLimits }>>;

/** The roles that may charge, with their limits, and the time zone in which a day of the limits begins. */
export type LimitRules = { timeZone: string; roles: ChargingRoles };
