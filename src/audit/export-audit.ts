import { csvHead, csvRows, type CsvColumn } from '../csv.ts';
import type { AuditEntry } from '../records/shapes.ts';
import {
  allBlocks,
  auditReference,
  readAuditLine,
  readMarks,
  type Chain,
  type ChainedEntry,
} from './audit-chain.ts';

/**
 * Which entries to export: from a time (UTC ms, inclusive) until another (exclusive), about one reference, of one
 * account.
 */
export type AuditChoice = { fromMs?: number; untilMs?: number; reference?: string; account?: string };

export type ExportedAudit = {
  count: number;
  /** The number of unreadable lines. JSON Lines contain them unchanged. */
  unreadable: number;
};

/**
 * Writes the chosen entries, oldest first, block by block, so that an audit of any length fits into memory. JSON Lines
 * are exactly the stored lines. Throws StoreUnavailable.
 */
export async function exportAudit(
  chain: Chain,
  { choice, format }: { choice: AuditChoice; format: 'jsonl' | 'csv' },
  out: (text: string) => Promise<void>,
): Promise<ExportedAudit> {
  const isChosen = matches(choice);
  let count = 0;
  let unreadable = 0;
  // The header, also if no entry follows.
  await out(format === 'csv' ? csvHead(auditColumns) : '');
  for await (const { lines } of allBlocks(chain, await readMarks(chain))) {
    const chosen = lines
      .map((line) => ({ line, read: readAuditLine(line) }))
      .filter(({ read }) => read === undefined || isChosen(read.entry));
    const read = chosen.flatMap((one) => one.read ?? []);
    count += read.length;
    unreadable += chosen.length - read.length;
    const text =
      format === 'csv' ? csvRows(auditColumns, read) : chosen.map(({ line }) => `${line}\n`).join('');
    if (text !== '') await out(text);
  }
  return { count, unreadable };
}

function matches(choice: AuditChoice): (entry: AuditEntry) => boolean {
  const { fromMs = -Infinity, untilMs = Infinity, account } = choice;
  const reference = choice.reference === undefined ? undefined : auditReference(choice.reference);
  return (entry) =>
    entry.atMs >= fromMs &&
    entry.atMs < untilMs &&
    (reference === undefined || entry.reference === reference) &&
    (account === undefined || entry.account === account);
}

/** The columns of an entry; an export also has its number and hashes. */
const entryColumns: readonly CsvColumn<AuditEntry>[] = [
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

const auditColumns: readonly CsvColumn<ChainedEntry>[] = [
  { head: 'seq', cell: ({ seq }) => String(seq) },
  ...entryColumns.map(({ head, cell }) => ({ head, cell: ({ entry }: ChainedEntry) => cell(entry) })),
  { head: 'prev', cell: ({ prev }) => prev },
  { head: 'hash', cell: ({ hash }) => hash },
];

/** The entries as a CSV file, with an export's columns except number and hashes. */
export function entriesCsv(entries: readonly AuditEntry[]): string {
  return csvHead(entryColumns) + csvRows(entryColumns, entries);
}
