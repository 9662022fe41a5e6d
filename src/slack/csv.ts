import { stringify } from 'csv-stringify/sync';
import { oneLine } from './text.ts';

/**
 * A CSV that spreadsheets open as text: one line a row, no cell that a spreadsheet would run as a formula, however
 * it came here, and the mark at the front by which Excel reads UTF-8.
 */
export function csvText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(oneLine));
  return stringify(cells, { bom: true, escape_formulas: true, record_delimiter: 'windows' });
}
