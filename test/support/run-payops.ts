import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { bundleVariable } from './bot.ts';

export type PayopsEnd = { code: number | null; stdout: string; stderr: string };

export type RunningPayops = {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** Standard output so far. */
  stdout: () => string;
  ended: Promise<PayopsEnd>;
};

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const usualProgram = process.env[bundleVariable] ?? program;

/** `npm run payops -- …` without npm: the real process, with separate streams. */
export function startPayops(words: readonly string[], env: Readonly<Record<string, string>>): RunningPayops {
  return start([program, 'payops', ...words], env);
}

/** The same from the bundle of `npm test`, if there is one: see `bundleVariable`. */
export function runPayops(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<PayopsEnd> {
  return start([usualProgram, 'payops', ...words], env).ended;
}

function start(nodeWords: readonly string[], env: Readonly<Record<string, string>>): RunningPayops {
  const child = spawn(process.execPath, nodeWords, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 100_000,
    killSignal: 'SIGKILL',
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...written }));
  return { child, stdout: () => written.stdout, ended };
}
