/** One line of the table. Times are ms unless `unit` says otherwise; `ratio` is to what `to` names, of the same run. */
export type Figure = {
  part: string;
  store?: string;
  name: string;
  unit: string;
  median: number;
  p99?: number;
  samples: number;
  ratio?: number;
  to?: string;
};

/**
 * How much is done. `quick` checks the answers, and what it prints says nothing about speed. `endsAt`, by
 * performance.now(): from then on every part makes do with its fewest rounds.
 */
export type Size = { quick: boolean; endsAt: number };

/** When a part that has so long has to end its rounds. */
export function roundsEndAt({ endsAt }: Size, withinMs: number): number {
  return Math.min(endsAt, performance.now() + withinMs);
}

/** An answer was not what it must be: the only thing that fails this run. */
export class WrongAnswer extends Error {
  override name = 'WrongAnswer';
}

export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new WrongAnswer(what);
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export type Named = Pick<Figure, 'part' | 'store' | 'name'>;

/** A figure of many timed samples. */
export function timed(named: Named, samples: readonly number[], floor?: { ms: number; to: string }): Figure {
  const middle = median(samples);
  const ratio = floor === undefined ? {} : { ratio: middle / floor.ms, to: floor.to };
  return {
    ...named,
    unit: 'ms',
    median: middle,
    p99: quantile(samples, 0.99),
    samples: samples.length,
    ...ratio,
  };
}

/** A figure that was counted or taken once. */
export function counted(named: Named, unit: string, value: number, ratio?: [number, string]): Figure {
  const figure = { ...named, unit, median: value, samples: 1 };
  return ratio === undefined ? figure : { ...figure, ratio: ratio[0], to: ratio[1] };
}

export async function clocked<T>(work: () => Promise<T>): Promise<[result: T, ms: number]> {
  const startedAt = performance.now();
  const result = await work();
  return [result, performance.now() - startedAt];
}

/** `work` for each index, at most `atOnce` at a time. */
export async function inParallel(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  async function run(): Promise<void> {
    while (next < count) {
      const index = next;
      next += 1;
      // oxlint-disable-next-line no-await-in-loop -- each runner does one after the other
      await work(index);
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, run));
}

export function table(figures: readonly Figure[]): string {
  const head = ['part', 'store', 'what', 'median', 'p99', 'unit', 'n', 'ratio'];
  const rows = figures.map((figure) => [
    figure.part,
    figure.store ?? '',
    figure.name,
    short(figure.median),
    figure.p99 === undefined ? '' : short(figure.p99),
    figure.unit,
    String(figure.samples),
    figure.ratio === undefined ? '' : `${figure.ratio.toFixed(2)} × ${figure.to ?? ''}`,
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n');
}

function short(value: number): string {
  if (Math.abs(value) >= 100) return String(Math.round(value));
  return value.toPrecision(3);
}
