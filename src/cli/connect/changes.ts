/** Settings by variable, as written; empty: removed. */
export type Changes = Readonly<Record<string, string>>;

export function changeLines(changes: Changes): string[] {
  return Object.entries(changes).map(([name, value]) => `${name}=${value}`);
}
