import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../test/support/redis-server.ts';

/** A program that listens on PORT, in a process of its own. */
export type Program = {
  path: string;
  env: Readonly<Record<string, string>>;
  logPath: string;
  nodeOptions?: readonly string[];
};

/** What its process has used by now. */
export type Usage = { cpuMicros: number; residentBytes: number };

/** Without a witness its process is as it would be elsewhere, which is some 20 MB smaller; `usage` then never answers. */
type Watched = { hasWitness: boolean };

export type Contestant = {
  url: string;
  /** From its launch until it accepted a connection. */
  readyMs: number;
  usage: () => Promise<Usage>;
  residentBytes: () => Promise<number>;
  stop: () => Promise<void>;
};

const run = promisify(execFile);
const witness = new URL('witness.mjs', import.meta.url).href;
const startWithinMs = 20_000;
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Resolves when it accepts connections; rejects with the end of its log when it ends or never does. */
export async function startContestant(
  { path, env, logPath, nodeOptions = [] }: Program,
  { hasWitness }: Watched = { hasWitness: true },
): Promise<Contestant> {
  const port = await freePort();
  const log = openSync(logPath, 'w');
  const startedAt = performance.now();
  // A profile of ours is had with NODE_OPTIONS, say --cpu-prof.
  const options = [...nodeOptions, ...(process.env['PAYOPS_BENCH_NODE_OPTIONS']?.split(' ') ?? [])];
  if (hasWitness) options.push('--import', witness);
  const child = spawn(process.execPath, [...options, path], {
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', log, log, ...(hasWitness ? (['ipc'] as const) : [])],
  });
  closeSync(log);
  running.add(child);
  const ended = once(child, 'exit').then(() => running.delete(child));
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() - startedAt > startWithinMs) {
      throw new Error(`${path} did not start:\n${readFileSync(logPath, 'utf8').slice(-2_000)}`);
    }
    // oxlint-disable-next-line no-await-in-loop -- until it listens
    await rest(5);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    readyMs: performance.now() - startedAt,
    async usage() {
      const told = once(child, 'message');
      child.send('usage');
      return ((await told) as [Usage])[0];
    },
    async residentBytes() {
      const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(child.pid)]);
      return Number(stdout) * 1_024;
    },
    async stop() {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), 3_000);
      await ended;
      clearTimeout(force);
    },
  };
}

export function programPath(relative: string): string {
  return fileURLToPath(new URL(`../${relative}`, import.meta.url));
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
