import type { ResendAnswer } from './charge-answer.ts';
import type { ChargeState, Conclusion, Heard } from './charge-state.ts';
import type { ShownTerms } from './charge-terms.ts';
import type { OrderReference } from './order-reference.ts';
import type { RetryVerdict } from './retry-rule.ts';

/** The open question of the bank. `triesLeft` counts a code that is being checked as used. */
export type SeenOtp = {
  until: number;
  triesLeft: number;
  /** What became of the last code that was entered; absent before the first, and while one is being checked. */
  lastCode?: 'refused' | 'unanswered';
  /** A code was sent whose answer never came: the bank may have taken it. */
  answerLost?: boolean;
};

/** One hand-over of the OTP from one agent to another; Slack user ids. */
export type HandOver = { at: number; from: string; to: string };

/** One wish for another code; the answer is absent while it is awaited. */
export type Resend = { at: number; by: string; answer?: ResendAnswer['kind'] };

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
  resends: readonly Resend[];
  /** Whether this card may be charged now, once this charge was declined. */
  nextTry?: RetryVerdict;
  /** A checkout page that saves the card anew, once somebody asked for it. */
  savingLink?: string;
};
