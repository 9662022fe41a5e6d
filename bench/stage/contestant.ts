import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/redis-server.ts';

/** A program that listens on PORT in a process of its own. */
export type Program = {
  path: string;
  env: Readonly<Record<string, string>>;
  logPath: string;
  nodeOptions?: readonly string[];
};

export type Contestant = {
  url: string;
  /** From launch to the first accepted connection. */
  readyMs: number;
  /** What its process has used so far, by the kernel's count; Linux only. */
  usage: () => { cpuMicros: number; residentBytes: number };
  stop: () => Promise<void>;
};

/** The kernel counts processor time in hundredths of a second. */
const tickMicros = 10_000;
const startWithinMs = 20_000;
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Resolves when it accepts connections; if it ends or never does, rejects with the end of its log. */
export async function startContestant({
  path,
  env,
  logPath,
  nodeOptions = [],
}: Program): Promise<Contestant> {
  const port = await freePort();
  const log = openSync(logPath, 'w');
  const startedAt = performance.now();
  // For a profile, set PAYOPS_BENCH_NODE_OPTIONS to --cpu-prof.
  const options = [...nodeOptions, ...(process.env['PAYOPS_BENCH_NODE_OPTIONS']?.split(' ') ?? [])];
  const child = spawn(process.execPath, [...options, path], {
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  running.add(child);
  const ended = once(child, 'exit').then(() => running.delete(child));
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() - startedAt > startWithinMs) {
      throw new Error(`${path} did not start:\n${readFileSync(logPath, 'utf8').slice(-2_000)}`);
    }
    await rest(5);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    readyMs: performance.now() - startedAt,
    usage() {
      const folder = `/proc/${child.pid}`;
      // After the name, which may contain blanks: user and system time are the 12th and 13th field.
      const counts = readFileSync(`${folder}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? [];
      const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`${folder}/status`, 'utf8')) ?? [];
      const ticks = (counts[11] ?? 0) + (counts[12] ?? 0);
      return { cpuMicros: ticks * tickMicros, residentBytes: Number(kilobytes) * 1_024 };
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
