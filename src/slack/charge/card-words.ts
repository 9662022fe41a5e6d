import type { CardFace } from '../../domain/charge-terms.ts';
import { customerWord } from '../evidence.ts';
import { limits } from '../limits.ts';
import { cut, oneLine, outsideText } from '../text.ts';

const longestType = 24;
const longestDigits = 8;

/**
 * A saved card as a person tells it from others: "Visa ·· 4242 · a***@example.com". Short enough for a menu;
 * the e-mail is always masked here.
 */
export function cardWords(face: CardFace, customerEmail?: string): string {
  const parts = [faceWords(face), customerWord(customerEmail)].filter((part) => part !== '');
  return cut(parts.join(' · '), limits.optionText);
}

function faceWords({ cardType, lastFour }: CardFace): string {
  const type = outsideText(cardType ?? '', longestType);
  const digits = cut(oneLine(lastFour ?? ''), longestDigits);
  if (digits !== '') return `${type || 'Card'} ·· ${digits}`;
  return type || 'the pasted card';
}
