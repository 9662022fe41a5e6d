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
    'Saved card': isNamed ? cardWords(face) : 'its type and digits are not told',
    Kept: saved.kind === 'kept' ? 'sealed; /pay charge offers it' : notKept,
  });
}

const notKept =
  'no, because CARD_LEDGER is off: the bot drops every token, and to charge the card its token is pasted in /pay charge.';

/** Spec: Events, rule 3; create a checkout order (tokenizeCard, allowedPaymentMethods). */
function liveNoToken(canListCards: boolean): Run[][] {
  const list = canListCards
    ? [code('/pay cards <e-mail>'), words(' lists the customer’s saved cards.')]
    : [words('list the customer’s saved cards with the payments service.')];
  return [
    [
      words(
        'By the event this is a first, card-saving payment, and it carries no card token that can be used.',
      ),
    ],
    [
      bold('Next: '),
      ...list,
      words(
        ' A card is saved only when the order had tokenizeCard beside order, not inside it, and was paid by card: a transfer yields no token.',
      ),
    ],
    [
      bold('If the event does carry it: '),
      words(
        'name its place as savedCard in WEBHOOK_EVENT_POINTERS. Where a signature covers some fields alone, it must cover the card too.',
      ),
    ],
  ];
}

/** Spec: sandbox behaviour 1. */
const sandboxNoToken: Run[][] = [
  [
    words(
      'The sandbox saves no real cards, and its events carry no token: any text can be used as one there.',
    ),
  ],
  [bold('Next: '), words('nothing. In the live environment the event of a first payment carries the token.')],
];
