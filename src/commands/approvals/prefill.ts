// A form filled in once more from what a request shows: it holds no token key, so a card that the bot does not remember
// has to be pasted again.

import type { ApprovalShown } from '../../domain/approval.ts';
import type { CardEmailModalOptions } from '../../slack/card-email/form-modal.ts';
import { cardChoice, pasteAgainWords, type KnownCards } from '../charge/known-cards.ts';

export async function cardEmailAgain(
  { cardFingerprint, currentEmail, newEmail }: Extract<ApprovalShown, { kind: 'card_email' }>,
  ledger: KnownCards | undefined,
): Promise<Pick<CardEmailModalOptions, 'prefill' | 'problem'>> {
  const card = await ledger?.find(cardFingerprint);
  if (!card) return { prefill: { currentEmail, newEmail }, problem: pasteAgainWords };
  return { prefill: { card: cardChoice(card), currentEmail, newEmail } };
}
