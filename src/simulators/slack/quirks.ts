/**
 * Behaviour of Slack that only some users report and no page of Slack's documents. Each is off unless a test turns it on;
 * the bot must be right either way. `README.md` here lists the sources.
 */
export const quirkWords = {
  untouchedInitialsAreNull:
    'what stood in a field beforehand and nobody touched is sent as empty, in a modal that took the place of another',
  firstSubmissionIsOld: 'the first submission of a modal that took the place of another has that one’s state',
  editsNeedMembership:
    'the bot may edit only where it is a member: Slack names posting alone for chat:write.public',
  isHistorySlow:
    'one call of the histories a minute, and 15 messages each: Slack’s limit for distributed apps',
  renewedLinesGetMore:
    'a connection of Socket Mode that is to be renewed is given payloads until Slack closes it',
  deliversTwice: 'every command, press and form is delivered twice at once; the first acknowledgement counts',
} as const;

type Quirk = keyof typeof quirkWords;

export type Quirks = Partial<Record<Quirk, boolean>>;

/** Reads comma-separated names, or `all`. Throws words for an unknown one. */
export function readQuirks(text: string): Quirks {
  const known = Object.keys(quirkWords);
  const names = text === 'all' ? known : text.split(',').filter((name) => name !== '');
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const list = Object.entries(quirkWords).map(([name, words]) => `  ${name}: ${words}`);
    throw new Error(`No quirk is called ${unknown.join(', ')}. There are:\n${list.join('\n')}`);
  }
  return Object.fromEntries(names.map((name) => [name, true]));
}
