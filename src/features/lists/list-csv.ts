import { csvHead, csvRows, type CsvColumn } from '../../csv.ts';
import type { Account } from '../../domain/account.ts';
import type { Terminal } from '../../domain/terminal.ts';

export type ListColumns<Row> = readonly CsvColumn<Row>[];

/** Every field of the record, under the specification's own names. Spec: Terminal record. */
export const terminalColumns: ListColumns<Terminal> = (
  [
    'terminalId',
    'terminalLabel',
    'merchantName',
    'serialNumber',
    'accountId',
    'parentAccountId',
    'createdAt',
    'updatedAt',
  ] as const
).map((head) => ({ head, cell: (terminal) => terminal[head] }));

/** Neither the e-mail nor the telephone number: a file is passed on. Spec: Account. */
export const accountColumns: ListColumns<Account> = (
  [
    'accountId',
    'accountRef',
    'accountName',
    'status',
    'type',
    'currency',
    'description',
    'createdAt',
    'updatedAt',
  ] as const
).map((head) => ({ head, cell: (account) => account[head] }));

/** The CSV text of a list that comes page by page, in as many pieces; never more than one page in memory. */
export async function* listCsv<Row>(
  columns: ListColumns<Row>,
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  yield csvHead(columns);
  for await (const rows of pages) yield csvRows(columns, rows);
}
