import { outsideText } from './outside-text.ts';

/**
 * One thing that somebody or something did, as the audit keeps it. It holds no secret and no full e-mail address;
 * `before`, `after` and `reason` are short words for people, cleaned of both.
 *
 * Spec: not shown; this is the bot's own account of what it did.
 */
export type AuditEntry = {
  /** The same when the same thing is written again after a crash: read twice it counts once. */
  id: string;
  atMs: number;
  /** A Slack user id; `payops` for what the bot did by itself, `payments` for what the service or its events said. */
  who: string;
  /** A channel's id, or `home`, `modal`, `shortcut`, `cli`; absent where there is none. */
  where?: string;
  what: AuditedKind;
  verb?: string;
  /** The merchant account's name; absent in a bot that knows one alone. */
  account?: string;
  /** The order reference, or the id of what is not a payment. */
  reference?: string;
  before?: string;
  after?: string;
  /** What became of it: `answered`, `refused`, `approved` … */
  result?: string;
  reason?: string;
};

/**
 * `command`, `press`, `form`: asked in Slack or at the command line. `decision`: of a second person. `step`: a charge,
 * link, approval or saved card went from one state to another. `answer`: the payments service said something.
 * `reveal`: an address was shown in full. `retention`: old entries were removed.
 */
export const auditedKinds = [
  'command',
  'press',
  'form',
  'decision',
  'step',
  'answer',
  'reveal',
  'retention',
] as const;
type AuditedKind = (typeof auditedKinds)[number];

/** On the chain when it resolves; throws StoreUnavailable, and then it may be called again with the same id. */
export type Audit = (entry: AuditEntry) => Promise<void>;

/** What is to stand in the audit: under an id of its own when none is given, and as of now when no time is. */
export type AuditNote = Omit<AuditEntry, 'id' | 'atMs'> & Partial<Pick<AuditEntry, 'id' | 'atMs'>>;

/** Has it written down in the background. Never throws, and nobody waits for it. */
export type NoteAudit = (note: AuditNote) => void;

/** In UTF-16 units: what whoever reads the audit can still take in, and a bound on what one entry costs. */
const longest = {
  where: 80,
  verb: 80,
  account: 200,
  reference: 200,
  before: 500,
  after: 500,
  result: 500,
  reason: 500,
} as const;
const longestWho = 80;

/**
 * The entry as it may be kept for years and handed to an auditor: each text one visible line, no e-mail address in
 * full, nothing that looks like a card number, none of it long. Cleaned twice it is the same.
 *
 * Codes, token keys and transaction ids look like any other word: those who write entries put none into them.
 */
export function cleanAuditEntry(entry: AuditEntry): AuditEntry {
  const { id, atMs, what } = entry;
  const cleaned: Partial<AuditEntry> = {};
  for (const name of Object.keys(longest) as (keyof typeof longest)[]) {
    // An empty text says nothing, and is left out as an absent one is.
    const text = outsideText(entry[name] ?? '', longest[name]);
    if (text !== '') cleaned[name] = text;
  }
  return { ...cleaned, id, atMs, who: outsideText(entry.who, longestWho), what };
}

/** As `cleanAuditEntry` writes it, so that what is asked for is what was kept. */
export function cleanAuditReference(reference: string): string {
  return outsideText(reference, longest.reference);
}
