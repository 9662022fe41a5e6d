/** A wrong answer: the only failure of a run. */
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
      await work(index);
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, run));
}
