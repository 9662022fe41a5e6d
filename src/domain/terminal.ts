/** One terminal as the list told it; times are the service's own text. Spec: Terminal record. */
export type Terminal = {
  terminalId?: string;
  serialNumber?: string;
  accountId?: string;
  parentAccountId?: string;
  merchantName?: string;
  terminalLabel?: string;
  createdAt?: string;
  updatedAt?: string;
};

/** Whether each of the words, lower-case, stands in one of its fields. */
export function terminalMatches(terminal: Terminal, words: readonly string[]): boolean {
  const { createdAt: _created, updatedAt: _updated, ...named } = terminal;
  const text = Object.values(named).join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
