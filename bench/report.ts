import { median } from './figures.ts';

/** One line of the table; absent values were not measured. */
export type Row = {
  part: string;
  name: string;
  value: number;
  unit: string;
  p99Ms?: number;
  /** Per request, of the measured process only. */
  cpuMicros?: number;
  residentMb?: number;
  /** The median of each round's ratio to the floor, or to `to`. */
  ratio?: number;
  to?: string;
  /** A requirement, and whether the row meets it. */
  line?: { atLeast: string; holds: boolean };
};

export type Round = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMicros: number;
  residentBytes: number;
};

/** A row from several rounds: medians of the figures, and the median of each round's ratio to the floor. */
export function rowOf(
  named: Pick<Row, 'part' | 'name'>,
  rounds: readonly Round[],
  floor: readonly Round[],
): Row {
  return {
    ...named,
    value: median(rounds.map(({ perSecond }) => perSecond)),
    unit: '/s',
    p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
    cpuMicros: median(rounds.map(({ cpuMicros }) => cpuMicros)),
    residentMb: (rounds.at(-1)?.residentBytes ?? 0) / 1e6,
    ratio: median(rounds.map(({ perSecond }, at) => perSecond / (floor[at]?.perSecond ?? Number.NaN))),
  };
}

const head = ['Part', 'What', 'Median', 'p99 (ms)', 'CPU (µs)', 'Memory (MB)', 'Ratio', 'At least', 'Holds'];

/** Markdown, which is also readable in a terminal. */
export function markdownTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.part,
    row.name,
    `${short(row.value)} ${row.unit}`,
    row.p99Ms === undefined ? '' : short(row.p99Ms),
    row.cpuMicros === undefined ? '' : short(row.cpuMicros),
    row.residentMb === undefined ? '' : row.residentMb.toFixed(0),
    row.ratio === undefined ? '' : `${row.ratio.toFixed(2)} × ${row.to ?? ''}`.trim(),
    row.line?.atLeast ?? '',
    row.line === undefined ? '' : row.line.holds ? 'yes' : '**no**',
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...cells].map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...cells.map(line)].join(
    '\n',
  );
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(2);
}
