import type { CardFace, KnownCard, KnownCards, CardSaved } from '../../domain/card.ts';
import type { CardHold } from '../../domain/charge.ts';
import { customerWord } from './payment-words.ts';
import type { Environment } from '../../domain/alert.ts';
import type { MessageBlock } from '../kit/message.ts';
import { bold, code, fields, richText, words, type Choice, type Run } from '../kit/blocks.ts';
import type { CardChoice } from '../kit/form.ts';
import { limits } from '../kit/limits.ts';
import { cut, oneLine, outsideText, utcTime } from '../kit/text.ts';

const longestType = 24;
const longestDigits = 8;

/**
 * A saved card for people: "Visa ·· 4242 · a***@example.com". Fits in a menu; the e-mail is masked. `note` is never cut.
 */
export function cardWords(face: CardFace, customerEmail?: string, note?: string): string {
  const parts = [faceWords(face), customerWord(customerEmail)].filter((part) => part !== '');
  const end = note === undefined ? '' : ` · ${note}`;
  return cut(parts.join(' · '), limits.optionText - end.length) + end;
}

/** Why a card can't be charged now, for a menu, which can't show local times. */
function holdNote(hold: CardHold): string {
  switch (hold.kind) {
    case 'on_hold':
    case 'stopped':
      return `on hold until ${utcTime(hold.nextTryFrom)}`;
    case 'save_again':
      return 'needs a payment link (3-D Secure)';
    case 'under_way':
      return 'another charge is open';
    case 'limit':
      return hold.limit === 'per_card_per_day' ? 'card’s daily limit reached' : 'your daily limit reached';
  }
}

function faceWords({ cardType, lastFour }: CardFace): string {
  const type = outsideText(cardType ?? '', longestType);
  const digits = cut(oneLine(lastFour ?? ''), longestDigits);
  if (digits !== '') return `${type || 'Card'} ·· ${digits}`;
  return type || 'the pasted card';
}

/** For a form that can't be prefilled completely. */
export const pasteAgainWords = 'Paste the token key again: the form keeps no secrets.';

/** A saved card as a choice in a form. */
export function offeredCard({ id, face, customerEmail }: KnownCard): { id: string; text: string } {
  return { id, text: cardWords(face, customerEmail) };
}

export const unknownCardWords =
  'The bot does not know this card any more. Choose another, or paste its token key.';

/** The chosen or pasted card; undefined: the bot no longer knows it. `saved`: the chosen card's e-mail. */
export async function chosenCard(
  choice: CardChoice,
  ledger: KnownCards | undefined,
): Promise<{ tokenKey: string; face: CardFace; saved?: string | undefined } | undefined> {
  if (choice.kind === 'pasted') {
    const { tokenKey } = choice;
    return { tokenKey, face: (await ledger?.find(await ledger.idOf(tokenKey)))?.face ?? {} };
  }
  const known = await ledger?.find(choice.id);
  return known && { tokenKey: known.tokenKey, face: known.face, saved: known.customerEmail?.trim() };
}

/** Choices of the saved-card typeahead; none without a ledger. `holdOf` says why a card can't be charged now. */
export async function suggestCards(
  ledger: KnownCards | undefined,
  typed: string,
  holdOf?: (id: string) => Promise<CardHold | undefined>,
): Promise<Choice[]> {
  const found = (await ledger?.search(typed, limits.options)) ?? [];
  return await Promise.all(
    found.map(async ({ id, face, customerEmail }) => {
      const hold = await holdOf?.(id);
      return { text: cardWords(face, customerEmail, hold && holdNote(hold)), value: id };
    }),
  );
}

// A payment that saved a card, or should have.

/** The payment's state, then the card's. */
export function cardSavedState(saved: CardSaved | undefined, charge: string): string {
  if (!saved) return charge;
  return `${charge}, ${saved.kind === 'no_token' ? 'no card token' : 'card saved'}`;
}

/** The card, and whether the bot can charge it; or why there is none, and what to do. */
export function cardSavedLines(
  saved: CardSaved | undefined,
  { environment, canListCards }: { environment: Environment; canListCards?: boolean },
): MessageBlock[] {
  if (!saved) return [];
  if (saved.kind === 'no_token') {
    return [richText(...(environment === 'live' ? liveNoToken(canListCards === true) : sandboxNoToken))];
  }
  const { face } = saved;
  const isNamed = face.cardType !== undefined || face.lastFour !== undefined;
  return fields({
    'Saved card': `${isNamed ? cardWords(face) : 'unknown type'}; ${saved.kind === 'kept' ? '/pay charge offers it' : notKept}`,
  });
}

const notKept = 'CARD_LEDGER is off, so paste its token key to charge it';

/** Spec: Events, rule 3; create a checkout order (tokenizeCard, allowedPaymentMethods). */
function liveNoToken(canListCards: boolean): Run[][] {
  const list = canListCards
    ? [code('/pay cards <e-mail>'), words(' lists the saved cards.')]
    : [words('ask the payments service whether the card was saved.')];
  return [
    [words('A first payment that should save a card came without its token.')],
    [bold('Next: '), ...list, words(' docs/troubleshooting.md has the causes.')],
  ];
}

/** Spec: sandbox behaviour 1. */
const sandboxNoToken: Run[][] = [[words('The sandbox saves no real cards.')]];
