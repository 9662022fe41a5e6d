import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ActResult, BotState } from '../simulators/protocol.ts';

const keptLines = 1000;
const shownLines = 12;
const stopDeadlineMs = 5_000;
/** How often /readyz is asked: more often while people wait for the start. */
const askEveryMs = { starting: 60, ready: 1_000, down: 1_000 };

/** Runs the unchanged bot as a child process with the environment `env`, and watches its /readyz. */
export function createBotProcess(
  [program, ...args]: readonly [string, ...string[]],
  { env, url, changed }: { env: Record<string, string>; url: string; changed: () => void },
) {
  const lines: string[] = [];
  let child: ChildProcess | undefined;
  let status: BotState['status'] = 'down';
  let starts = 0;

  function become(next: BotState['status']): void {
    if (status === next) return;
    status = next;
    changed();
  }
  function write(line: string): void {
    lines.push(line);
    lines.splice(0, lines.length - keptLines);
  }
  async function watch(watched: ChildProcess): Promise<void> {
    const ready = await answersReady(url);
    if (child !== watched) return;
    become(ready ? 'ready' : 'starting');
    setTimeout(() => void watch(watched), askEveryMs[status]).unref();
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    const gone = child && once(child, 'close');
    child?.kill(signal);
    await gone;
  }

  return {
    state(): BotState {
      return { status, url, starts, lastLines: status === 'down' ? lines.slice(-shownLines) : [] };
    },
    /** The process's output, newest last. */
    log: () => lines.join('\n'),
    /** Starts the bot unless it runs; returns before it is ready. */
    start(): ActResult {
      if (child) return { ok: false, problem: 'The bot is running already.' };
      const begun = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      child = begun;
      starts += 1;
      become('starting');
      for (const stream of [begun.stdout, begun.stderr]) createInterface({ input: stream }).on('line', write);
      begun.once('error', (error) => write(`The bot could not be started: ${error.message}`));
      // 'close' comes after the last line was read, so the log is complete.
      begun.once('close', (code, signal) => {
        write(`--- ended ${signal === null ? `with code ${code ?? 'unknown'}` : `by ${signal}`} ---`);
        child = undefined;
        become('down');
      });
      void watch(begun);
      return { ok: true };
    },
    /** Kills the bot with SIGKILL, like a power cut. Resolves when the process is gone. */
    async kill(): Promise<ActResult> {
      if (!child) return { ok: false, problem: 'The bot is down already.' };
      await end('SIGKILL');
      return { ok: true };
    },
    /** Stops the bot with SIGTERM; kills it if it still runs after five seconds. */
    async stop() {
      const force = setTimeout(() => void end('SIGKILL'), stopDeadlineMs);
      await end('SIGTERM');
      clearTimeout(force);
    },
  };
}

async function answersReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
