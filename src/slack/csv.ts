import { stringify } from 'csv-stringify/sync';
import { oneLine } from './text.ts';

/**
 * A CSV that spreadsheets open as text: one line a row, no cell that a spreadsheet would run as a formula, however
 * it came here, and the mark at the front by which Excel reads UTF-8.
 */
export function csvText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => withoutInnerFormula(oneLine(cell))));
  return stringify(cells, { bom: true, escape_formulas: true, record_delimiter: 'windows' });
}

/**
 * Where the decimal is a comma, spreadsheets divide a CSV at semicolons, whatever its quotes: what would then begin
 * a cell gets the sign that makes it text.
 */
function withoutInnerFormula(cell: string): string {
  return cell.replace(/([;|]["'\s]*)(?=[=+\-@])/g, "$1'");
}
