/** Blanks, hyphens of every kind and soft hyphens: banks write 3D Secure, 3-D Secure and 3DSecure. */
const gap = '[\\s\\p{Pd}\\u00AD]';

/**
 * Whether a bank's refusal speaks of 3-D Secure, by the phrases of a setting. A phrase counts as a whole, never
 * inside a word; case, blanks and hyphens make no difference. No words or no phrases: false, an ordinary decline.
 *
 * Spec: 3D Secure on a saved-card charge; what the bank says then: not shown, so the phrases are a setting.
 */
export function isThreeDSecure(bankWords: string | undefined, phrases: readonly string[]): boolean {
  if (bankWords === undefined) return false;
  return phrases.some((phrase) => patternOf(phrase)?.test(bankWords.normalize('NFKC')) ?? false);
}

function patternOf(phrase: string): RegExp | undefined {
  const letters = [...phrase.normalize('NFKC').replace(new RegExp(gap, 'gu'), '')].map((letter) =>
    letter.replace(/[$()*+./?[\\\]^{|}]/, '\\$&'),
  );
  if (letters.length === 0) return undefined;
  return new RegExp(`(?<![\\p{L}\\p{N}])${letters.join(`${gap}*`)}(?![\\p{L}\\p{N}])`, 'iu');
}
