import { stringify } from 'csv-stringify/sync';

export type CsvColumn<Row> = { head: string; cell: (row: Row) => string | undefined };

/**
 * Rows as CSV text (RFC 4180, CRLF), without the line of heads: so that a long list can be written page by page.
 * No cell is taken for a formula by a spreadsheet, whoever wrote its text.
 */
export function csvRows<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  return lines(rows.map((row) => columns.map(({ cell }) => cell(row) ?? '')));
}

/** The line of heads, after a byte order mark: without it Excel reads UTF-8 as something else. */
export function csvHead<Row>(columns: readonly CsvColumn<Row>[]): string {
  return `\uFEFF${lines([columns.map(({ head }) => head)])}`;
}

function lines(cells: readonly (readonly string[])[]): string {
  return stringify(
    cells.map((row) => row.map(safeCell)),
    // A lone line feed is not the delimiter, so it would stand unquoted; spreadsheets end the line at it.
    { record_delimiter: '\r\n', quoted_match: /[\r\n]/ },
  );
}

/** What a spreadsheet starts a formula with, its full-width twins included, behind whatever it skips unseen. */
const formula = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/u;

/** Spreadsheets take what follows an apostrophe as text. */
function safeCell(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}
