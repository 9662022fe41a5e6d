import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { ChargeTerms, ShownTerms } from '../../domain/charge-terms.ts';
import { nextSteps, reasonAfter } from '../../domain/decline-reason.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { parseAmount } from '../../domain/money.ts';
import { chargeFields, type ChargeModalOptions } from './charge-modal.ts';
import type { ViewValues } from '../../slack/command.ts';
import { formParts, type ChargeScreens } from './charge-views.ts';
import type { KnownCards } from '../../domain/known-cards.ts';
import { cardChoice, pasteAgainWords } from '../../slack/words/card-words.ts';

type Filled = Pick<ChargeModalOptions, 'prefill' | 'problem' | 'alert'>;

/**
 * The form as it was before the review of these terms. A token key that the bot knows no card of is never put
 * back into a modal: it has to be pasted again.
 */
export async function changedTerms(terms: ChargeTerms, ledger: KnownCards | undefined): Promise<Filled> {
  return await termsAgain(terms, await ledger?.idOf(terms.tokenKey), ledger);
}

/**
 * The form on terms that are at hand without their token key, of the card of that id. What they make good stays
 * theirs: once that is paid, nothing is charged for it again.
 */
export async function termsAgain(
  { money, customerId, reason, customerEmail, alert }: ShownTerms,
  cardId: string | undefined,
  ledger: KnownCards | undefined,
): Promise<Filled> {
  const card = cardId === undefined ? undefined : await ledger?.find(cardId);
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

/**
 * A new form on the terms of an earlier charge. The card stays chosen, unless it is what was wrong; the
 * e-mail is left to the card.
 */
export async function anotherCharge(charge: ChargeSeen, ledger: KnownCards | undefined): Promise<Filled> {
  const { money, customerId, reason, alert } = charge.terms;
  const id = isCardWrong(charge) ? undefined : charge.card;
  const card = id === undefined ? undefined : await ledger?.find(id);
  return {
    ...withoutUndefined({ alert }),
    prefill: withoutUndefined({
      amountMinor: money.minor,
      currency: money.currency,
      customerId,
      reason,
      card: card && cardChoice(card),
    }),
  };
}

/** The form with all its fields, filled in as it is; its metadata is the alert that it is for. */
export async function wholeForm(
  deps: ChargeScreens,
  values: ViewValues,
  alert: string,
): Promise<ChargeModalOptions> {
  const amount = parseAmount(values[chargeFields.amount] ?? '');
  const chosen = values[chargeFields.card];
  const card = chosen === undefined ? undefined : await deps.ledger?.find(chosen);
  const prefill = withoutUndefined({
    amountMinor: amount.ok ? amount.value : undefined,
    currency: values[chargeFields.currency],
    customerId: values[chargeFields.customerId],
    reason: values[chargeFields.reason],
    card: card && cardChoice(card),
  });
  return { ...formParts(deps), isWhole: true, prefill, ...(alert === '' ? {} : { alert }) };
}

function isCardWrong({ state, bankWords, nextTry }: ChargeSeen): boolean {
  if (state.kind === 'rejected') return state.reason === 'invalid_token';
  if (state.kind !== 'declined') return false;
  return nextSteps[reasonAfter(state.why ?? bankWords, nextTry)].kind === 'another_card';
}
