/** New values by variable, as written in the .env file; empty: the variable is removed. */
export type Changes = Readonly<Record<string, string>>;

export function changeLines(changes: Changes): string[] {
  return Object.entries(changes).map(([name, value]) => `${name}=${value}`);
}
