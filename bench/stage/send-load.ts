import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { check } from '../figures.ts';
import { programPath } from './contestant.ts';
import type { LoadOrder, LoadResult } from './load.ts';

const run = promisify(execFile);

/** Rejects when the load itself fails, and with WrongAnswer when any answer was not what it must be. */
export async function sendLoad(order: LoadOrder): Promise<LoadResult> {
  const { stdout } = await run(process.execPath, [programPath('stage/load.ts')], {
    env: { LOAD: JSON.stringify(order) },
    maxBuffer: 1e8,
  });
  const result = JSON.parse(stdout) as LoadResult;
  const what = `${order.name}: ${result.wrong} of ${order.count} answers were wrong: ${result.example ?? ''}`;
  check(result.wrong === 0 && result.right === order.count, what);
  return result;
}
