import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { findProgram } from './programs.ts';
import type { TestContext } from 'vitest';

export type RedisServer = {
  readonly url: string;
  readonly port: number;
  /** Ends it and removes its folder. Idempotent, in any state. */
  stop(): Promise<void>;
  /** A crash: nothing is closed or written. Its files stay for restart(). */
  kill9(): Promise<void>;
  /** Suspends it: connections stay open, and nothing answers. */
  pause(): void;
  resume(): void;
  /** Starts it again on the same port and files, after ending it if it runs. */
  restart(): Promise<void>;
};

/**
 * A Redis of the test's own on a free loopback port with its own folder, configured as the store requires: appendonly,
 * appendfsync always, noeviction. `args` come last and so override.
 */
export async function startRedis({ args = [] }: { args?: readonly string[] } = {}): Promise<RedisServer> {
  const program = findProgram('redis-server');
  if (program === undefined) throw new Error('redis-server is not installed.');
  const folder = mkdtempSync(join(tmpdir(), 'payops-redis-'));
  const port = await freePort();
  const settings = `--bind 127.0.0.1 --port ${port} --appendonly yes --appendfsync always --maxmemory-policy noeviction --daemonize no`;
  const all = [...settings.split(' '), '--save', '', '--dir', folder, ...args];
  let child = await launchOnPort(program, all);

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
    kill9: () => end(child),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async restart() {
      await end(child);
      child = await launchOnPort(program, all);
    },
  };
}

/** A Redis with these arguments that ends with the test. */
export async function redisOf(
  test: Pick<TestContext, 'onTestFinished'>,
  ...args: readonly string[]
): Promise<RedisServer> {
  const server = await startRedis({ args });
  test.onTestFinished(() => server.stop());
  return server;
}

/** Retries if the port is taken: since it was found free, an outgoing connection may have got it, which ends soon. */
export async function launchOnPort(
  program: string,
  args: readonly string[],
  ready = 'Ready to accept connections',
): Promise<ChildProcess> {
  const endsAt = performance.now() + 30_000;
  for (;;) {
    try {
      return await launch(program, args, ready);
    } catch (error) {
      if (!String(error).includes('Address already in use') || performance.now() > endsAt) throw error;
      await rest(100);
    }
  }
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Resolves when its output contains these words. */
async function launch(program: string, args: readonly string[], ready: string): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes(ready)) {
      child.stdout.resume();
      return child;
    }
  }
  throw new Error(`redis-server did not start:\n${output}`);
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** A port stays free for a moment after it is found: two tests at once must not get the same one. */
const given = new Set<number>();

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  if (given.has(address.port)) return await freePort();
  given.add(address.port);
  return address.port;
}
