import type { AuditEntry } from './audit-entry.ts';
import { outsideText } from './outside-text.ts';
import { withoutUndefined } from './without-undefined.ts';

/** In UTF-16 units: what whoever reads the audit can still take in, and a bound on what one entry costs. */
const longest = { word: 80, name: 200, text: 500 } as const;

/**
 * The entry as it may be kept for years and handed to an auditor: each text one visible line, no e-mail address in
 * full, nothing that looks like a card number, none of it long. Cleaned twice it is the same.
 *
 * Codes, token keys and transaction ids look like any other word: those who write entries put none into them.
 */
export function cleanAuditEntry(entry: AuditEntry): AuditEntry {
  return {
    ...withoutUndefined({
      where: cleaned(entry.where, longest.word),
      verb: cleaned(entry.verb, longest.word),
      account: cleaned(entry.account, longest.name),
      reference: cleaned(entry.reference, longest.name),
      before: cleaned(entry.before, longest.text),
      after: cleaned(entry.after, longest.text),
      result: cleaned(entry.result, longest.text),
      reason: cleaned(entry.reason, longest.text),
    }),
    id: entry.id,
    atMs: entry.atMs,
    who: outsideText(entry.who, longest.word),
    what: entry.what,
  };
}

/** As `cleanAuditEntry` writes it, so that what is asked for is what was kept. */
export function cleanAuditReference(reference: string): string {
  return outsideText(reference, longest.name);
}

/** An empty text says nothing, and is left out as an absent one is. */
function cleaned(text: string | undefined, max: number): string | undefined {
  return text === undefined ? undefined : outsideText(text, max) || undefined;
}
