import { holdsCardNumber } from '../../domain/card.ts';
import type { NextCharge } from '../protocol.ts';

/**
 * The simulated bank. The caller chooses its behaviour, so that tests and newcomers can get every outcome: by saved card,
 * by the kobo of a saved-card charge, by the card number at checkout, by the OTP. All of that is the playground's own; the
 * spec shows none of it.
 */
export type CardBehaviour =
  | { kind: 'approve' }
  | { kind: 'otp' }
  | { kind: 'decline'; reason: string }
  /** Until `pay_order` decides: look-ups say PENDING, and no event is sent. */
  | { kind: 'undecided' };

/** A fault between service and caller. `before`: nothing was charged, and a retry of the reference works. */
export type Accident = {
  when: 'before' | 'after';
  how: 'silence' | 'cut' | 'unreadable' | 'error_500';
};

export type ChargeScript = {
  behaviour?: CardBehaviour;
  accident?: Accident;
  /** The bank takes this much less. */
  shortMinor?: number;
  /** Look-ups that still say PENDING after the approval. */
  pendingLookups?: number;
  /** Refused before the bank: with these words in the envelope, or with an HTTP status. */
  rejected?: { words: string } | { status: 400 | 403 };
};

export const cardsNotEnabledWords =
  'Card payment is not supported for this order. Please use a different payment method.';

/** A bank that wants 3-D Secure declines a saved card, and says why. */
export const threeDSecure: CardBehaviour = {
  kind: 'decline',
  reason: '3-D Secure authentication is required and cannot be completed on a saved card',
};

/** By the last two digits of a saved-card charge's amount: 5000.06 is charged and never answered. Overrides the card. */
const magicKobo: Readonly<Record<number, ChargeScript>> = {
  1: { behaviour: { kind: 'otp' } },
  2: { behaviour: { kind: 'decline', reason: 'Insufficient funds' } },
  3: { behaviour: { kind: 'decline', reason: 'Do not honour' } },
  4: { behaviour: threeDSecure },
  5: { accident: { when: 'before', how: 'silence' } },
  6: { accident: { when: 'after', how: 'silence' } },
  7: { accident: { when: 'after', how: 'error_500' } },
  8: { accident: { when: 'before', how: 'cut' } },
  9: { accident: { when: 'after', how: 'cut' } },
  10: { accident: { when: 'before', how: 'error_500' } },
  11: { accident: { when: 'after', how: 'unreadable' } },
  12: { shortMinor: 100 },
  13: { pendingLookups: 2 },
  14: { rejected: { words: cardsNotEnabledWords } },
  15: { rejected: { words: 'The merchant is under review' } },
  16: { rejected: { status: 403 } },
  17: { rejected: { words: 'Customer email is invalid' } },
  18: { rejected: { status: 400 } },
  19: { behaviour: { kind: 'undecided' }, accident: { when: 'after', how: 'cut' } },
};

export function chargeScript(amountMinor: number): ChargeScript {
  return magicKobo[amountMinor % 100] ?? {};
}

/** The panel's choices for the next charge. Overrides amount and card. */
export const nextChargeScripts: Readonly<Record<Exclude<NextCharge, 'as_usual'>, ChargeScript>> = {
  approve: { behaviour: { kind: 'approve' } },
  otp: { behaviour: { kind: 'otp' } },
  decline: { behaviour: { kind: 'decline', reason: 'Insufficient funds' } },
  three_d_secure: { behaviour: threeDSecure },
  lost_answer: { behaviour: { kind: 'approve' }, accident: { when: 'after', how: 'silence' } },
  lost_request: { accident: { when: 'before', how: 'silence' } },
};

/** Any other code is wrong. */
export const rightOtp = '123456';

/** Public test numbers of no real card. Any other number with a valid check digit needs an OTP too. */
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

/** Why the bank declines a card number typed at checkout; undefined: it asks for an OTP. */
export function declineOfCard(cardNumber: string): string | undefined {
  const digits = cardNumber.replace(/[ -]/g, '');
  if (digits === testCardNumbers.declined) return 'Insufficient funds';
  return /^\d+$/.test(digits) && holdsCardNumber(digits) ? undefined : 'Card number is invalid';
}
