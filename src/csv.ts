import { stringify } from 'csv-stringify/sync';

export type CsvColumn<Row> = { head: string; cell: (row: Row) => string | undefined };

/**
 * Rows as CSV text (RFC 4180, CRLF) without the header row, so that a long list can be written page by page. No spreadsheet
 * runs a cell as a formula.
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
    { record_delimiter: 'windows' },
  );
}

/** What a spreadsheet starts a formula with, its full-width twins included, behind whatever it skips unseen. */
const formula = /^[\s\p{Cf}]*[=+\-@＝＋－＠]/u;

/**
 * Where the decimal is a comma, spreadsheets divide a CSV at semicolons, whatever its quotes: what would then begin
 * a cell is a formula just as well.
 */
const innerFormula = /([;|]["'\s\p{Cf}]*)(?=[=+\-@＝＋－＠])/gu;

/** Spreadsheets take what follows an apostrophe as text. What breaks a line becomes a space, as programs that read line by line need it. */
function safeCell(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return (formula.test(line) ? `'${line}` : line).replace(innerFormula, "$1'");
}
