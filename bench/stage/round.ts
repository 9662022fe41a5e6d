import type { Round } from '../report.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { check } from '../figures.ts';
import { programPath, type Contestant } from './contestant.ts';
import type { LoadOrder, LoadResult } from './load.ts';

const run = promisify(execFile);

/** Rejects if the load itself fails, and with WrongAnswer if any answer was wrong. */
async function sendLoad(order: LoadOrder): Promise<LoadResult> {
  const { stdout } = await run(process.execPath, [programPath('stage/load.ts')], {
    env: { LOAD: JSON.stringify(order) },
    maxBuffer: 1e8,
  });
  const result = JSON.parse(stdout) as LoadResult;
  const what = `${order.name}: ${result.wrong} of ${order.count} answers were wrong: ${result.example ?? ''}`;
  check(result.wrong === 0 && result.right === order.count, what);
  return result;
}

/** One variant's turn: the load, and its process's usage meanwhile. Throws WrongAnswer. */
export async function playRound(contestant: Contestant, order: Omit<LoadOrder, 'url'>): Promise<Round> {
  const before = contestant.usage();
  const sent = await sendLoad({ ...order, url: contestant.url });
  const after = contestant.usage();
  const cpuMicros = (after.cpuMicros - before.cpuMicros) / order.count;
  const { perSecond, p50Ms, p99Ms } = sent;
  return { perSecond, p50Ms, p99Ms, cpuMicros, residentBytes: after.residentBytes };
}

/** V8 is still optimising during the first turns: they cost twice a later one. */
const turnsToWarmUp = 3;

/**
 * Runs `play` for each variant in the order A B C C B A, after a few uncounted turns. The order alternates because a
 * program's leftover work (garbage, closing sockets) costs the next one.
 */
export async function takeTurns<Variant>(
  variants: readonly Variant[],
  rounds: number,
  play: (variant: Variant, name: string) => Promise<Round>,
): Promise<Round[][]> {
  const played: Round[][] = variants.map(() => []);
  for (let round = 1 - turnsToWarmUp; round <= rounds; round += 1) {
    const inOrder = [...variants.entries()];
    for (const [at, variant] of round % 2 === 0 ? inOrder.toReversed() : inOrder) {
      const result = await play(variant, `r${round}`);
      if (round > 0) played[at]?.push(result);
    }
  }
  return played;
}
