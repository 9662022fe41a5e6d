import type { ChargeTerms } from '../../domain/charge-terms.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { chargeActions } from './charge-actions.ts';
import { chargeFields, type ChargeForm } from './charge-modal.ts';
import { customerWord } from '../../slack/words/evidence.ts';
import type { KnownCard, KnownCards } from '../../domain/known-cards.ts';

export type ReadTerms =
  | { kind: 'terms'; terms: ChargeTerms }
  /** By block id. Never what was typed, and a card's e-mail only masked. */
  | { kind: 'errors'; errors: Record<string, string> };

type Card = Pick<ChargeTerms, 'tokenKey' | 'card' | 'customerEmail'>;

/** What the filled form would charge, whole: the card behind the choice, and the e-mail it is saved with. */
export async function readTerms(form: ChargeForm, ledger: KnownCards | undefined): Promise<ReadTerms> {
  const card =
    form.card.kind === 'ledger'
      ? await chosenCard(form.card.id, form.customerEmail, ledger)
      : await pastedCard(form.card.tokenKey, form.customerEmail, ledger);
  if ('errors' in card) return { kind: 'errors', errors: card.errors };
  const { money, customerId, reason } = form;
  return { kind: 'terms', terms: { ...card, money, ...withoutUndefined({ customerId, reason }) } };
}

type Errors = { errors: Record<string, string> };

async function chosenCard(
  id: string,
  typedEmail: string | undefined,
  ledger: KnownCards | undefined,
): Promise<Card | Errors> {
  const found = await ledger?.find(id);
  if (!found) {
    const gone = 'The bot does not know this card any more. Choose another, or paste its token key.';
    return { errors: { [chargeActions.card]: gone } };
  }
  const email = emailFor(found, typedEmail);
  if ('errors' in email) return email;
  return { tokenKey: found.tokenKey, card: found.face, customerEmail: email.email };
}

/** Spec: charge a saved card (order.customerEmail must equal the e-mail the card was saved with). */
function emailFor(card: KnownCard, typed: string | undefined): { email: string } | Errors {
  const linked = card.customerEmail?.trim() ?? '';
  const wanted = typed?.trim() ?? '';
  if (linked === '' && wanted === '') {
    return {
      errors: {
        [chargeFields.email]: 'The bot does not know this card’s e-mail. Type the one it was saved with.',
      },
    };
  }
  if (linked === '') return { email: wanted };
  if (wanted === '' || wanted.toLowerCase() === linked.toLowerCase()) return { email: linked };
  const fix = 'the service refuses any other. Leave it empty to use that one.';
  return {
    errors: { [chargeFields.email]: `The card is saved with ${customerWord(linked)}; ${fix}` },
  };
}

/**
 * A pasted token may be one of a card the bot knows: then people see which. Its typed e-mail stands, for whoever
 * pastes a token may know of a change that the bot has not heard of.
 */
async function pastedCard(
  tokenKey: string,
  customerEmail: string | undefined,
  ledger: KnownCards | undefined,
): Promise<Card | Errors> {
  if (customerEmail === undefined) {
    return { errors: { [chargeFields.email]: 'Type the e-mail that this card was saved with.' } };
  }
  const known = ledger && (await ledger.find(await ledger.idOf(tokenKey)));
  return { tokenKey, card: known?.face ?? {}, customerEmail };
}
