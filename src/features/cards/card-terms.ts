import type { CardFace } from '../../domain/charge-terms.ts';

/** By what a card is found. */
export type Findable = { face: CardFace; customerEmail?: string };

/** Typed words are found by their first characters up to here; an e-mail address also as a whole. */
const longestPrefix = 8;
const shortestPrefix = 2;
/** More words than these narrow the result without being looked up themselves. */
const mostWordsLookedUp = 5;

/** The term under which every card stands: nobody can type it. */
const everyCard = '';

/**
 * Every term a card is listed under. A word of at least two characters fits a card (`fits`) exactly when the
 * card is listed under the word's own term (`termsOfWord`), so that no word leads past a card it fits.
 */
export function termsOfCard(card: Findable): string[] {
  const terms = new Set([everyCard]);
  for (const token of tokensOf(card)) {
    for (let length = shortestPrefix; length <= Math.min(longestPrefix, token.length); length += 1) {
      terms.add(token.slice(0, length));
    }
  }
  if (card.customerEmail !== undefined) terms.add(termOfEmail(card.customerEmail));
  return [...terms];
}

/** The term of a whole address, upper and lower case alike: begins with a blank, so that no word's term is the same. */
export function termOfEmail(email: string): string {
  return ` ${normalised(email)}`;
}

/** The words of a search, in the form in which they are compared. */
export function wordsIn(typed: string): string[] {
  return normalised(typed.slice(0, 300))
    .split(/[\s,;·]+/u)
    .map((word) => word.replace(/^[*•#]+/u, ''))
    .filter((word) => word !== '');
}

/**
 * Each inner list is one word's terms, the narrowest first: together they list every card that the word fits.
 * Without a word that can be looked up it is the term of every card.
 */
export function termsOfWords(words: readonly string[]): string[][] {
  const usable = words
    .filter((word) => word.length >= shortestPrefix)
    .toSorted((one, other) => other.length - one.length)
    .slice(0, mostWordsLookedUp);
  return usable.length === 0 ? [[everyCard]] : usable.map(termsOfWord);
}

function termsOfWord(word: string): string[] {
  const prefix = word.slice(0, longestPrefix);
  // A whole address may also be the beginning of a longer one.
  return word.length > longestPrefix && word.includes('@') ? [termOfEmail(word), prefix] : [prefix];
}

/** Whether the card has every word, in any order, at the beginning of its address, its type's words or its last four digits. */
export function fits(card: Findable, words: readonly string[]): boolean {
  const tokens = tokensOf(card);
  return words.every((word) => tokens.some((token) => token.startsWith(word)));
}

function tokensOf({ face, customerEmail }: Findable): string[] {
  const { cardType, lastFour } = face;
  const texts = [customerEmail, lastFour].filter((text) => text !== undefined).map(normalised);
  return [...texts, ...(cardType === undefined ? [] : wordsIn(cardType))].filter((token) => token !== '');
}

function normalised(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}
