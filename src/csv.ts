import { stringify } from 'csv-stringify/sync';

/** "storm-2026-11-21-1002.csv": the name and a time (UTC). */
export function csvFileName(name: string, atMs: number): string {
  const time = new Date(atMs).toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return `${name}-${time}.csv`;
}

export type CsvColumn<Row> = { head: string; cell: (row: Row) => string | undefined };

/**
 * Rows as CSV text (RFC 4180, CRLF) without the header, so that a long list can be written page by page. No cell can
 * run as a formula in a spreadsheet.
 */
export function csvRows<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  return lines(rows.map((row) => columns.map(({ cell }) => cell(row) ?? '')));
}

/** The header line, after a byte order mark: without it Excel doesn't read UTF-8. */
export function csvHead<Row>(columns: readonly CsvColumn<Row>[]): string {
  return `\uFEFF${lines([columns.map(({ head }) => head)])}`;
}

function lines(cells: readonly (readonly string[])[]): string {
  return stringify(
    cells.map((row) => row.map(safeCell)),
    { record_delimiter: 'windows' },
  );
}

/**
 * A cell that spreadsheets read as a formula: it begins with one of these signs (or its full-width form), after
 * characters that spreadsheets skip.
 */
const formula = /^[\s\p{Cf}]*[=+\-@＝＋－＠]/u;

/**
 * In countries with a decimal comma, spreadsheets split a line at semicolons, even within quotes. So a formula sign
 * after a semicolon would begin a cell, too.
 */
const innerFormula = /([;|]["'\s\p{Cf}]*)(?=[=+\-@＝＋－＠])/gu;

/**
 * Spreadsheets take a cell that begins with an apostrophe as text. Line breaks become spaces, for programs that read
 * line by line.
 */
function safeCell(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return (formula.test(line) ? `'${line}` : line).replace(innerFormula, "$1'");
}
