// What an alert says of a card that was saved, or was to be.

import type { Alert } from '../../domain/alert.ts';
import type { CardSaved } from '../../domain/card-saved.ts';
import { bold, code, fields, richText, words, type Run } from '../kit/blocks.ts';
import { cardWords } from './card-words.ts';
import type { MessageBlock } from '../kit/message.ts';

/** Before the state of the payment, which is proven or not by itself. */
export function cardSavedState(saved: CardSaved | undefined, charge: string): string {
  if (!saved) return charge;
  return `💳 ${saved.kind === 'no_token' ? 'No card token' : 'Card saved'} · ${charge}`;
}

/** Which card, and whether the bot can charge it; or why there is none, and what a person does then. */
export function cardSavedLines(
  saved: CardSaved | undefined,
  { environment, canListCards }: Pick<Alert, 'environment' | 'canListCards'>,
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
    [bold('Next: '), ...list, words(' docs/on-call.md has the causes.')],
  ];
}

/** Spec: sandbox behaviour 1. */
const sandboxNoToken: Run[][] = [[words('The sandbox saves no real cards.')]];
