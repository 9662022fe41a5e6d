/** "1 charge", "2 charges". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** "a", "a and b", "a, b and c": for the words of a problem. */
export function listed(names: readonly string[], last: 'and' | 'or'): string {
  const [end = '', ...before] = names.toReversed();
  return before.length === 0 ? end : `${before.toReversed().join(', ')} ${last} ${end}`;
}

/** More slips than this is another word, not a misspelt one. */
const mostSlips = 2;

/**
 * The word the person most likely meant, or undefined when none is near: at most two slips away (a letter
 * missing, added, wrong, or two neighbours swapped), and fewer slips than half the typed letters, so that
 * "ab" is never taken for "otp". Case is ignored; of equally near words the first wins.
 */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase();
  let best: { word: string; slips: number } | undefined;
  for (const word of words) {
    if (Math.abs(word.length - wanted.length) > mostSlips) continue;
    const slips = countSlips(wanted, word.toLowerCase());
    if (slips <= mostSlips && slips * 2 < wanted.length && slips < (best?.slips ?? Infinity)) {
      best = { word, slips };
    }
  }
  return best?.word;
}

/** Damerau-Levenshtein distance in its optimal string alignment form. */
function countSlips(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row[j] = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, j - 2) + 1 : Infinity,
      );
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
