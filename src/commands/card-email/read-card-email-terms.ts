import type { CardEmailTerms } from '../../domain/card-email.ts';
import type { CardFace } from '../../domain/charge-terms.ts';
import { cardEmailFields, sameProblem, type CardEmailForm } from '../../slack/card-email/form-modal.ts';
import type { KnownCards } from '../charge/known-cards.ts';

export type ReadCardEmailTerms =
  | { kind: 'terms'; terms: CardEmailTerms }
  /** By block id; never what was typed. */
  | { kind: 'errors'; errors: Record<string, string> };

/** What the filled form would change, whole: the card behind the choice, and the e-mail it is saved with. */
export async function readCardEmailTerms(
  form: CardEmailForm,
  ledger: KnownCards | undefined,
): Promise<ReadCardEmailTerms> {
  const card = await readCard(form, ledger);
  if (!card) {
    const gone = 'The bot does not know this card any more. Choose another, or paste its token key.';
    return errorAt(cardEmailFields.card, gone);
  }
  const { tokenKey, face, linked } = card;
  const { newEmail } = form;
  const currentEmail = currentOf(form.currentEmail, linked);
  if (currentEmail === undefined) {
    const missing = 'The bot does not know this card’s e-mail. Type the one it is linked with now.';
    return errorAt(cardEmailFields.current, missing);
  }
  const same = sameProblem(currentEmail, newEmail);
  if (same !== undefined) return errorAt(cardEmailFields.next, same);
  return { kind: 'terms', terms: { tokenKey, card: face, currentEmail, newEmail } };
}

type Card = { tokenKey: string; face: CardFace; linked?: string | undefined };

/** A pasted token may be one of a card the bot knows: then people see which, and its typed e-mail stands. */
async function readCard({ card }: CardEmailForm, ledger: KnownCards | undefined): Promise<Card | undefined> {
  if (card.kind === 'pasted') {
    const known = await ledger?.find(await ledger.idOf(card.tokenKey));
    return { tokenKey: card.tokenKey, face: known?.face ?? {} };
  }
  const known = await ledger?.find(card.id);
  return known && { tokenKey: known.tokenKey, face: known.face, linked: known.customerEmail?.trim() };
}

/**
 * What is typed stands, for a person may know of a change the bot has not heard of; but not for the sake of
 * capitals, which the service may take for another address.
 */
function currentOf(typed: string | undefined, linked: string | undefined): string | undefined {
  if (typed === undefined) return linked || undefined;
  return typed.toLowerCase() === linked?.toLowerCase() ? linked : typed;
}

function errorAt(field: string, words: string): ReadCardEmailTerms {
  return { kind: 'errors', errors: { [field]: words } };
}
