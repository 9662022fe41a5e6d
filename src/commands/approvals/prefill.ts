// A form filled in once more from what a request shows: it holds no token key, so a card that the bot does not remember
// has to be pasted again.

import type { ApprovalShown } from '../../domain/approval.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { CardEmailModalOptions } from '../../slack/card-email/form-modal.ts';
import type { ChargeModalOptions } from '../../slack/charge/charge-modal.ts';
import { cardChoice, pasteAgainWords, type KnownCards } from '../charge/known-cards.ts';

type Shown<Kind extends ApprovalShown['kind']> = Extract<ApprovalShown, { kind: Kind }>;

/** What a charge makes good stays its own: once that is paid, nothing is charged for it again. */
export async function chargeAgain(
  { money, cardFingerprint, customerEmail, customerId, reason, alert }: Shown<'charge'>,
  ledger: KnownCards | undefined,
): Promise<Pick<ChargeModalOptions, 'prefill' | 'problem' | 'alert'>> {
  const card = await ledger?.find(cardFingerprint);
  const filled = { amountMinor: money.minor, currency: money.currency, customerId, reason };
  if (!card) {
    return {
      ...withoutUndefined({ alert }),
      prefill: withoutUndefined({ ...filled, customerEmail }),
      problem: pasteAgainWords,
    };
  }
  // Left empty where the card's own serves, so that another card can be chosen without touching it.
  const email = customerEmail === card.customerEmail ? undefined : customerEmail;
  return {
    ...withoutUndefined({ alert }),
    prefill: withoutUndefined({ ...filled, card: cardChoice(card), customerEmail: email }),
  };
}

export async function cardEmailAgain(
  { cardFingerprint, currentEmail, newEmail }: Shown<'card_email'>,
  ledger: KnownCards | undefined,
): Promise<Pick<CardEmailModalOptions, 'prefill' | 'problem'>> {
  const card = await ledger?.find(cardFingerprint);
  if (!card) return { prefill: { currentEmail, newEmail }, problem: pasteAgainWords };
  return { prefill: { card: cardChoice(card), currentEmail, newEmail } };
}
