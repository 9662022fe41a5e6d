/**
 * `npm run mutants`: makes one mistake at a time in a copy of the charge machine (or in the model of its caller) and
 * plays tapes until an invariant breaks. A mistake that no tape finds is a gap in the tapes, and makes the exit code 1.
 * `--only WORD` runs those whose name contains it; `--seed N` fixes the tapes. `--code` instead makes mistakes in the
 * code entry and the customer's page, and runs their tests.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { codeMutants } from '../test/features/customer-code/mutants.ts';
import { type Mutant, mutants } from '../test/tapes/mutants.ts';
import type { TapesResult } from '../test/tapes/play.ts';

type RunTapes = (options: { count: number; seed: number; shrink: boolean }) => TapesResult;

const mostTapes = 50_000;
const { values } = parseArgs({
  options: { seed: { type: 'string' }, only: { type: 'string' }, code: { type: 'boolean' } },
});
const seed = Number(values.seed ?? 1);
const isCode = values.code === true;
const chosen = (isCode ? codeMutants : mutants).filter(({ name }) => name.includes(values.only ?? ''));

const folder = mkdtempSync(join(tmpdir(), 'payops-mutants-'));
try {
  const survivors = isCode ? testCopies() : await playCopies();
  console.log(`${chosen.length} mutants, ${chosen.length - survivors} killed, ${survivors} survived`);
  process.exitCode = survivors > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns how many mistakes survive. */
async function playCopies(): Promise<number> {
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
  return survivors;
}

/** Returns how many mistakes survive the tests of the customer's page. Uses one copy and restores its files. */
function testCopies(): number {
  const tests = ['holder', 'code-pages'].map((name) => `test/features/customer-code/${name}.test.ts`);
  const except = '^(?!.*(keyboard alone|1,000 robots))';
  copyParts(folder, ['src', 'test', 'manifest.yml', 'openapi']);
  for (const file of ['package.json', 'vitest.config.ts', 'tsconfig.json']) cpSync(file, join(folder, file));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const failed = (): string | undefined => {
    const words = ['node_modules/vitest/vitest.mjs', 'run', ...tests, '-t', except, '--bail', '1'];
    const run = spawnSync(process.execPath, [...words, '--reporter', 'tap-flat'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return run.status === 0
      ? undefined
      : // A test that never ran because of --bail is not ok either, but without a time.
        (/^not ok \d+ - (.*) # time=/m.exec(run.stdout)?.[1] ?? run.stderr);
  };
  const unchanged = failed();
  if (unchanged !== undefined) throw new Error(`The unchanged copy fails: ${unchanged}`);
  let survivors = 0;
  for (const mutant of chosen) {
    edit(folder, mutant);
    const by = failed();
    if (by === undefined) survivors += 1;
    console.log(by === undefined ? `✗ survived: ${mutant.name}` : `✓ killed: ${mutant.name} (${by})`);
    for (const [file] of mutant.edits) cpSync(file, join(folder, file));
  }
  return survivors;
}

/** Each in a folder of its own, because Node loads a module once per path. */
async function playCopy(mutant: Mutant, index: number, count: number): Promise<TapesResult> {
  const copy = join(folder, String(index));
  copyParts(copy, ['src/domain', 'src/features/charge', 'test/tapes']);
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  edit(copy, mutant);
  const url = pathToFileURL(join(copy, 'test/tapes/play.ts')).href;
  const { runTapes } = (await import(url)) as { runTapes: RunTapes };
  return runTapes({ count, seed, shrink: false });
}

function copyParts(to: string, parts: readonly string[]): void {
  for (const part of parts) cpSync(part, join(to, part), { recursive: true });
}

function edit(copy: string, mutant: Mutant): void {
  for (const [file, from, to] of mutant.edits) {
    const parts = readFileSync(join(copy, file), 'utf8').split(from);
    if (parts.length !== 2)
      throw new Error(`${mutant.name}: ${file} holds this ${parts.length - 1} times: ${from}`);
    writeFileSync(join(copy, file), parts.join(to));
  }
}
