import { holdsCardNumber } from '../../domain/card-number.ts';
import type { NextCharge } from '../protocol.ts';

/**
 * The simulated bank. What it does is chosen by the caller, so that a test or a newcomer can ask for every
 * outcome: by the saved card, by the kobo of a saved-card charge's amount, by the card number typed at
 * checkout, by the OTP. Everything chosen here is the playground's own; the spec shows none of it.
 */
export type CardBehaviour =
  | { kind: 'approve' }
  | { kind: 'otp' }
  | { kind: 'decline'; reason: string }
  | { kind: 'three_d_secure' }
  /** Until `pay_order` says so: look-ups say PENDING, and no event comes. */
  | { kind: 'undecided' };

/** What goes wrong between service and caller. `before`: nothing was charged, and the same reference works the next time. */
export type Accident = {
  when: 'before' | 'after';
  how: 'silence' | 'reset' | 'unreadable' | 'error_500';
};

export type ChargeScript = {
  behaviour?: CardBehaviour;
  accident?: Accident;
  /** The bank takes this much less than was asked. */
  shortMinor?: number;
  /** Look-ups that still say PENDING after the approval. */
  pendingLookups?: number;
  /** Not sent to the bank: with these words in the envelope, or with a status of HTTP. */
  rejected?: { words: string } | { status: 400 | 403 };
};

export const cardsNotEnabledWords =
  'Card payment is not supported for this order. Please use a different payment method.';

const threeDSecure: CardBehaviour = { kind: 'three_d_secure' };

type MagicKobo = { script: ChargeScript; does: string };

/** By the last two digits of a saved-card charge's amount: 5000.06 is charged and never answered. Stands above the card. */
export const magicKobo: Readonly<Record<number, MagicKobo>> = {
  1: { script: { behaviour: { kind: 'otp' } }, does: 'The bank asks for a code.' },
  2: {
    script: { behaviour: { kind: 'decline', reason: 'Insufficient funds' } },
    does: 'Declined: Insufficient funds.',
  },
  3: {
    script: { behaviour: { kind: 'decline', reason: 'Do not honour' } },
    does: 'Declined: Do not honour.',
  },
  4: { script: { behaviour: threeDSecure }, does: '3-D Secure, which fails on a saved card.' },
  5: {
    script: { accident: { when: 'before', how: 'silence' } },
    does: 'No answer, and nothing was charged; the same reference sent again goes through.',
  },
  6: {
    script: { accident: { when: 'after', how: 'silence' } },
    does: 'Reaches the bank, but the answer never comes.',
  },
  7: {
    script: { accident: { when: 'after', how: 'error_500' } },
    does: 'Reaches the bank, but is answered 500.',
  },
  8: {
    script: { accident: { when: 'before', how: 'reset' } },
    does: 'The connection breaks, and nothing was charged; sent again it goes through.',
  },
  9: {
    script: { accident: { when: 'after', how: 'reset' } },
    does: 'Reaches the bank, then the connection breaks.',
  },
  10: {
    script: { accident: { when: 'before', how: 'error_500' } },
    does: 'Answered 500, and nothing was charged; sent again it goes through.',
  },
  11: {
    script: { accident: { when: 'after', how: 'unreadable' } },
    does: 'Reaches the bank, but the answer cannot be read.',
  },
  12: { script: { shortMinor: 100 }, does: 'The bank takes 1.00 less than was asked.' },
  13: { script: { pendingLookups: 2 }, does: 'Approved, but the first two look-ups still say PENDING.' },
  14: {
    script: { rejected: { words: cardsNotEnabledWords } },
    does: 'Rejected: the account has no card payments.',
  },
  15: {
    script: { rejected: { words: 'The merchant is under review' } },
    does: 'Rejected, for a reason the specification does not name.',
  },
  16: { script: { rejected: { status: 403 } }, does: 'Answered 403: the account may not charge.' },
  17: {
    script: { rejected: { words: 'Customer email is invalid' } },
    does: 'Rejected: the e-mail is not a valid one.',
  },
  18: { script: { rejected: { status: 400 } }, does: 'Answered 400: the request is invalid.' },
  19: {
    script: { behaviour: { kind: 'undecided' }, accident: { when: 'after', how: 'reset' } },
    does: 'Reaches the bank, which does not decide; the connection breaks.',
  },
};

export function chargeScript(amountMinor: number): ChargeScript {
  return magicKobo[amountMinor % 100]?.script ?? {};
}

/** What the panel can order for the one next charge. Stands above the amount and the card. */
export const nextChargeScripts: Readonly<Record<Exclude<NextCharge, 'as_usual'>, ChargeScript>> = {
  approve: { behaviour: { kind: 'approve' } },
  otp: { behaviour: { kind: 'otp' } },
  decline: { behaviour: { kind: 'decline', reason: 'Insufficient funds' } },
  three_d_secure: { behaviour: threeDSecure },
  lost_answer: { behaviour: { kind: 'approve' }, accident: { when: 'after', how: 'silence' } },
  lost_request: { accident: { when: 'before', how: 'silence' } },
};

/** `acceptedSilently` is accepted, and the answer never comes. Any other OTP is wrong. */
export const otps = { right: '123456', acceptedSilently: '111111' } as const;

/** Public test numbers; they belong to no card. Any other number that passes the check digit is asked for an OTP too. */
export const testCardNumbers = { otp: '5555555555554444', declined: '4000000000000002' } as const;

export const declineReasons = [
  'Insufficient funds',
  'Do not honour',
  'Expired card',
  'Transaction not permitted to cardholder',
  'Suspected fraud',
  'Issuer or switch inoperative',
] as const;

export const approvedWords = 'Approved by Financial Institution';

export const threeDSecureWords =
  '3-D Secure authentication is required and cannot be completed on a saved card';

/** Why the bank declines a card number typed at checkout; undefined: it asks for an OTP. */
export function declineOfCard(cardNumber: string): string | undefined {
  const digits = cardNumber.replace(/[ -]/g, '');
  if (digits === testCardNumbers.declined) return 'Insufficient funds';
  return /^\d+$/.test(digits) && holdsCardNumber(digits) ? undefined : 'Card number is invalid';
}
