import { csvHead, csvRows, type CsvColumn } from '../../csv.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';

/** What an entry says, in the audit's own words; the hashes around it are an export's. */
export const entryColumns: readonly CsvColumn<AuditEntry>[] = [
  { head: 'at', cell: ({ atMs }) => new Date(atMs).toISOString() },
  ...(
    [
      'who',
      'where',
      'what',
      'verb',
      'account',
      'reference',
      'before',
      'after',
      'result',
      'reason',
      'id',
    ] as const
  ).map((head) => ({ head, cell: (entry: AuditEntry) => entry[head] })),
];

/** The whole story as a CSV file's text, in the audit's own words. */
export function storyCsv(entries: readonly AuditEntry[]): string {
  return csvHead(entryColumns) + csvRows(entryColumns, entries);
}
