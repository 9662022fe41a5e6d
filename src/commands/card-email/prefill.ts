import type { CardEmailTerms } from '../../domain/card-email.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { CardEmailModalOptions } from '../../slack/card-email/form-modal.ts';
import { cardChoice, pasteAgainWords, type KnownCards } from '../charge/known-cards.ts';

type Filled = Pick<CardEmailModalOptions, 'prefill' | 'problem'>;

/**
 * The form as it was before it was read back. A token key that the bot knows no card of is never put back into a
 * modal: it has to be pasted again.
 */
export async function correctedForm(terms: CardEmailTerms, ledger: KnownCards | undefined): Promise<Filled> {
  const { currentEmail, newEmail } = terms;
  const card = ledger && (await ledger.find(await ledger.idOf(terms.tokenKey)));
  if (!card) return { prefill: { currentEmail, newEmail }, problem: pasteAgainWords };
  return { prefill: { card: cardChoice(card), currentEmail, newEmail } };
}

/** Another card for the same customer, after the service did not know this one. */
export function otherCardForm({ currentEmail, newEmail }: CardEmailTerms): Filled {
  return { prefill: { currentEmail, newEmail } };
}

/**
 * For a charge that was rejected for its e-mail. The e-mail it was tried with is the new one, unless it is the
 * one the bot has for the card: then that knowledge is wrong, and the linked one must be typed.
 */
export async function formForCharge(charge: ChargeSeen, ledger: KnownCards | undefined): Promise<Filled> {
  const tried = charge.terms.customerEmail;
  const card = await ledger?.find(charge.card);
  if (!card) return { prefill: { newEmail: tried }, problem: pasteAgainWords };
  if (card.customerEmail?.toLowerCase() !== tried.toLowerCase()) {
    return { prefill: { card: cardChoice(card), newEmail: tried } };
  }
  return {
    prefill: withoutUndefined({ card: cardChoice(card) }),
    problem:
      'The service says that the card is not linked with the e-mail the bot knows. Type the one it is linked with as the current e-mail.',
  };
}
