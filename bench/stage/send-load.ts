import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { LoadOrder, LoadResult } from '../ingest/load.ts';
import { programPath } from './contestant.ts';

const run = promisify(execFile);

/** Rejects when the load itself fails; wrong answers are in the result. */
export async function sendLoad(order: LoadOrder): Promise<LoadResult> {
  const { stdout } = await run(process.execPath, [programPath('ingest/load.ts')], {
    env: { LOAD: JSON.stringify(order) },
    maxBuffer: 1e8,
  });
  return JSON.parse(stdout) as LoadResult;
}
