/**
 * The result of reading typed text: the value, or a problem that says what to do. Returned, not thrown, so that callers
 * can't forget the problem.
 */
export type Parsed<T> = { ok: true; value: T } | { ok: false; problem: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function problem(text: string): { ok: false; problem: string } {
  return { ok: false, problem: text };
}

/** "1 charge", "2 charges". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** "2 h 5 min". */
export function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const [days, hours, rest] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24, minutes % 60];
  const parts = [days > 0 && `${days} d`, hours > 0 && `${hours} h`, days === 0 && rest > 0 && `${rest} min`];
  return parts.filter((part) => part !== false).join(' ') || 'less than a minute';
}

/** Joins names for error messages: "a", "a and b", "a, b and c". */
export function listed(names: readonly string[], last: 'and' | 'or'): string {
  const type = last === 'and' ? 'conjunction' : 'disjunction';
  return new Intl.ListFormat('en-GB', { type }).format(names);
}

/**
 * The word that the person probably meant: at most `mostSlips` typing errors away (a letter missing, added, wrong, or
 * two swapped), and fewer errors than half the letters, so "ab" is never "otp". Undefined if none is that near. Ignores
 * case; on a tie the first word wins.
 */
export function nearestWord<Word extends string>(typed: string, words: readonly Word[]): Word | undefined {
  const wanted = typed.toLowerCase();
  for (let slips = 0; slips <= 2 && slips * 2 < wanted.length; slips += 1) {
    const near = words.find((word) => isWithin(slips, wanted, word.toLowerCase()));
    if (near !== undefined) return near;
  }
  return undefined;
}

function isWithin(slips: number, from: string, to: string): boolean {
  if (from === to) return true;
  if (slips === 0) return false;
  let same = 0;
  while (from[same] === to[same]) same += 1;
  const [a, b] = [from.slice(same), to.slice(same)];
  const isSwapped = a.length > 1 && a[0] === b[1] && a[1] === b[0];
  return (
    isWithin(slips - 1, a.slice(1), b.slice(1)) ||
    isWithin(slips - 1, a.slice(1), b) ||
    isWithin(slips - 1, a, b.slice(1)) ||
    (isSwapped && isWithin(slips - 1, a.slice(2), b.slice(2)))
  );
}
