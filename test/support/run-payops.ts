import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export type PayopsEnd = { code: number | null; stdout: string; stderr: string };

export type RunningPayops = {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** What stands on standard output so far. */
  stdout: () => string;
  ended: Promise<PayopsEnd>;
  /** The most memory it has had so far, in bytes, as the kernel counts it. */
  peakBytes: () => number;
};

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** `npm run payops -- …` without npm: the real process, its two streams apart. */
export function startPayops(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): RunningPayops {
  const child = spawn(process.execPath, [...nodeOptions, program, 'payops', ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 100_000,
    killSignal: 'SIGKILL',
  });
  const written = { stdout: '', stderr: '' };
  let peakBytes = 0;
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      peakBytes = Math.max(peakBytes, readPeak(child.pid));
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...written }));
  return { child, stdout: () => written.stdout, ended, peakBytes: () => peakBytes };
}

export function runPayops(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<PayopsEnd> {
  return startPayops(words, env).ended;
}

function readPeak(pid: number | undefined): number {
  try {
    const [, kib = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1_024;
  } catch {
    return 0;
  }
}
