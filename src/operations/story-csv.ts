import { csvHead, csvRows, type CsvColumn } from '../csv.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';

const columns: readonly CsvColumn<AuditEntry>[] = [
  { head: 'atUtc', cell: ({ atMs }) => new Date(atMs).toISOString() },
  ...(
    [
      'who',
      'what',
      'verb',
      'where',
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
  return csvHead(columns) + csvRows(columns, entries);
}
