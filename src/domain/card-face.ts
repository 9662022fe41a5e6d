import { holdsCardNumber } from './card-number.ts';
import type { CardFace } from './charge.ts';
import type { SavedCard } from './saved-card.ts';
import { withoutUndefined } from './without-undefined.ts';

/**
 * What may be shown of a saved card. Of the number never more than its last four digits, whether it came
 * masked, cut short or whole against the spec's promise; none when it does not end in four digits, because
 * wrong ones would make a person charge another card.
 *
 * Spec: Saved card; the format of cardPan and the values of cardType: not shown.
 */
export function faceOf(card: SavedCard): CardFace {
  const cardType = card.cardType?.trim();
  return withoutUndefined({
    cardType: cardType && !holdsCardNumber(cardType) ? cardType : undefined,
    lastFour: card.cardPan === undefined ? undefined : lastFourOf(card.cardPan),
  });
}

function lastFourOf(cardPan: string): string | undefined {
  const plain = cardPan.normalize('NFKC').replace(/[\s\p{Pd}\p{Cf}._/]+/gu, '');
  return /\d{4}$/.exec(plain)?.[0];
}
