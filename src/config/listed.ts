/** "a", "a and b", "a, b and c": for the words of a problem. */
export function listed(names: readonly string[], last: 'and' | 'or'): string {
  const [end = '', ...before] = names.toReversed();
  return before.length === 0 ? end : `${before.toReversed().join(', ')} ${last} ${end}`;
}
