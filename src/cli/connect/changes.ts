/** Settings by their variables' names, as they are written; empty: taken out. */
export type Changes = Readonly<Record<string, string>>;

export function changeLines(changes: Changes): string[] {
  return Object.entries(changes).map(([name, value]) => `${name}=${value}`);
}
