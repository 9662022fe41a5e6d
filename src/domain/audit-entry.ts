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

/** What is to stand in the audit: under an id of its own when none is given, and as of now when no time is. */
export type AuditNote = Omit<AuditEntry, 'id' | 'atMs'> & Partial<Pick<AuditEntry, 'id' | 'atMs'>>;

/** Has it written down in the background. Never throws, and nobody waits for it. */
export type NoteAudit = (note: AuditNote) => void;
