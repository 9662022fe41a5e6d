/** "1 charge", "2 charges". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** "a", "a and b", "a, b and c": for the words of a problem. */
export function listed(names: readonly string[], last: 'and' | 'or'): string {
  const [end = '', ...before] = names.toReversed();
  return before.length === 0 ? end : `${before.toReversed().join(', ')} ${last} ${end}`;
}
