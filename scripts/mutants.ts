/**
 * `npm run mutants`: makes one mistake at a time in a copy of the charge machine (or of the model of its
 * caller) and plays tapes until an invariant breaks. A mistake that no tape finds is a hole in the tapes,
 * and makes the exit code 1. `--only WORD` runs those whose name holds it; `--seed N` fixes the tapes.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, mutants } from '../test/tapes/mutants.ts';
import type { TapesResult } from '../test/tapes/play.ts';

type RunTapes = (options: { count: number; seed: number; shrink: boolean }) => TapesResult;

const mostTapes = 50_000;
const { values } = parseArgs({ options: { seed: { type: 'string' }, only: { type: 'string' } } });
const seed = Number(values.seed ?? 1);
const chosen = mutants.filter(({ name }) => name.includes(values.only ?? ''));

const folder = mkdtempSync(join(tmpdir(), 'payops-mutants-'));
try {
  const unchanged = await playCopy({ name: 'unchanged', edits: [] }, 0, 1_000);
  if (unchanged.failure) throw new Error(`The unchanged copy breaks: ${unchanged.failure.message}`);
  let survivors = 0;
  for (const [index, mutant] of chosen.entries()) {
    const { tapes, failure } = await playCopy(mutant, index + 1, mostTapes);
    if (failure)
      console.log(`✓ killed by tape ${String(tapes).padStart(5)}: ${mutant.name} (${failure.message})`);
    else console.log(`✗ survived ${tapes} tapes: ${mutant.name}`);
    if (!failure) survivors += 1;
  }
  console.log(`${chosen.length} mutants, ${chosen.length - survivors} killed, ${survivors} survived`);
  process.exitCode = survivors > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A copy in a folder of its own, because a module is loaded once for each path. */
async function playCopy(mutant: Mutant, index: number, count: number): Promise<TapesResult> {
  const copy = join(folder, String(index));
  for (const part of ['src/domain', 'src/features/charge', 'test/tapes'])
    cpSync(part, join(copy, part), { recursive: true });
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  for (const [file, from, to] of mutant.edits) {
    const parts = readFileSync(join(copy, file), 'utf8').split(from);
    if (parts.length !== 2)
      throw new Error(`${mutant.name}: ${file} holds this ${parts.length - 1} times: ${from}`);
    writeFileSync(join(copy, file), parts.join(to));
  }
  const url = pathToFileURL(join(copy, 'test/tapes/play.ts')).href;
  const { runTapes } = (await import(url)) as { runTapes: RunTapes };
  return runTapes({ count, seed, shrink: false });
}
