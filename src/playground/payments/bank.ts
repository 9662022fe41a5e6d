import { holdsCardNumber } from '../../domain/card-number.ts';

/**
 * The simulated bank. What it does is chosen by the caller, so that a test or a newcomer can ask for every
 * outcome: by the saved card, by the kobo of a saved-card charge's amount, by the card number typed at
 * checkout, by the OTP. Everything chosen here is the playground's own; the spec shows none of it.
 */
export type CardBehaviour =
  | { kind: 'approve' }
  | { kind: 'otp' }
  | { kind: 'decline'; reason: string }
  | { kind: 'three_d_secure' };

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
  /** Rejected as if the account had no card payments. */
  cardsNotEnabled?: boolean;
};

const threeDSecure: CardBehaviour = { kind: 'three_d_secure' };

/** By the last two digits of a saved-card charge's amount: 5000.06 is charged and never answered. Stands above the card. */
export const magicKobo: Readonly<Record<number, ChargeScript>> = {
  1: { behaviour: { kind: 'otp' } },
  2: { behaviour: { kind: 'decline', reason: 'Insufficient funds' } },
  3: { behaviour: { kind: 'decline', reason: 'Do not honour' } },
  4: { behaviour: threeDSecure },
  5: { accident: { when: 'before', how: 'silence' } },
  6: { accident: { when: 'after', how: 'silence' } },
  7: { accident: { when: 'after', how: 'error_500' } },
  8: { accident: { when: 'before', how: 'reset' } },
  9: { accident: { when: 'after', how: 'reset' } },
  10: { accident: { when: 'before', how: 'error_500' } },
  11: { accident: { when: 'after', how: 'unreadable' } },
  12: { shortMinor: 100 },
  13: { pendingLookups: 2 },
  14: { cardsNotEnabled: true },
};

export function chargeScript(amountMinor: number): ChargeScript {
  return magicKobo[amountMinor % 100] ?? {};
}

/** `acceptedSilently` is accepted, and the answer never comes. Any other OTP is wrong. */
export const otps = { right: '123456', acceptedSilently: '111111' } as const;

/** Public test numbers; they belong to no card. Any other number that passes the check digit is asked for an OTP too. */
export const testCardNumbers = {
  otp: '5555555555554444',
  declined: '4000000000000002',
  threeDSecure: '4000002500003155',
} as const;

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

export type CardAnswer = { kind: 'otp' } | { kind: 'three_d_secure' } | { kind: 'declined'; reason: string };

/** What the bank says to a card number typed at checkout. */
export function answerToCard(cardNumber: string): CardAnswer {
  const digits = cardNumber.replace(/[ -]/g, '');
  if (digits === testCardNumbers.threeDSecure) return { kind: 'three_d_secure' };
  if (digits === testCardNumbers.declined) return { kind: 'declined', reason: 'Insufficient funds' };
  if (!/^\d+$/.test(digits) || !holdsCardNumber(digits)) {
    return { kind: 'declined', reason: 'Card number is invalid' };
  }
  return { kind: 'otp' };
}
