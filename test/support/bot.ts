import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { type App, createApp } from '../../src/app.ts';
import { openStorage } from '../../src/store/storage.ts';
import { openLog, readSettings } from '../../src/cli/read-settings.ts';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  scripts: { start: string };
};

/** Node's options as in `npm start`; the caller gives the environment. */
export const startOptions: readonly string[] = scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--') && !word.startsWith('--env-file'));

export type BotEnd = { code: number | null; signal: NodeJS.Signals | null };

export type BotRun = BotEnd & { stdout: string; stderr: string };

/** A bot as a process of its own, or in the test's process: `openHouse` decides. */
export type Bot = {
  /** Its last address, without a final slash; throws if it never listened. */
  url(): string;
  isRunning(): boolean;
  /** The process id, for measuring from outside; throws if there is none. */
  pid(): number;
  /** Its output since the first start, stdout and stderr. */
  readonly lines: readonly string[];
  /** Resolves when it listens; rejects with its output if it ends. Later starts keep `more`. */
  start(more?: Record<string, string>): Promise<void>;
  /** A crash: nothing is closed or written. */
  kill9(): Promise<void>;
  /** Suspends it: connections stay open, and nothing answers. */
  pause(): void;
  resume(): void;
  /** Asks it to stop, and returns how it ended, also if it had ended before. */
  stop(): Promise<BotEnd>;
  /** Ends it in the fastest way; the result doesn't matter any more. */
  end(): Promise<unknown>;
  /** Wakes its worker at once, after the clock was moved. */
  wake(): void;
};

/** The program of `npm start` and of the image. */
export const deployedBot = fileURLToPath(new URL('../../src/start.js', import.meta.url));
/** The path of the bundle from `warm-bot.ts`, which starts in half the processor time. */
export const bundleVariable = 'PAYOPS_BUNDLED_BOT';
const usualBot = process.env[bundleVariable] ?? deployedBot;
/** Well beyond the bot's own ten seconds; then it is killed, and the stop counts as failed. */
const stopDeadlineMs = 30_000;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * A bot with only this environment. It listens on PORT, which may be 0. `program` runs instead of the bot, and must
 * report in the same words that it listens.
 */
export function createBot(
  env: Readonly<Record<string, string>>,
  changed: () => void = () => undefined,
  program: string = usualBot,
): Bot {
  const lines: string[] = [];
  let settings = { ...env };
  let child: ChildProcess | undefined;
  let ended: BotEnd = { code: null, signal: null };
  let url: string | undefined;

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    if (!ending) return;
    const closed = once(ending, 'close');
    ending.kill(signal);
    await closed;
  }

  return {
    lines,
    isRunning: () => child !== undefined,
    pid() {
      if (child?.pid === undefined) throw new Error('The bot is not running.');
      return child.pid;
    },
    url() {
      if (url === undefined) throw new Error('The bot has never listened.');
      return url;
    },
    async start(more = {}) {
      if (child) throw new Error('The bot is running already.');
      settings = { ...settings, ...more };
      const begun = launch(settings, program);
      child = begun;
      const listening = Promise.withResolvers<void>();
      const from = lines.length;
      for (const stream of [begun.stdout, begun.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          lines.push(line);
          const port = portIn(line);
          if (port !== undefined) {
            url = `http://127.0.0.1:${port}`;
            listening.resolve();
          }
          changed();
        });
      }
      begun.once('close', (code, signal) => {
        child = undefined;
        ended = { code, signal };
        lines.push(`--- ended, code ${code}, signal ${signal} ---`);
        listening.reject(new Error(`The bot ended before it listened:\n${lines.slice(from).join('\n')}`));
        changed();
      });
      await listening.promise;
    },
    kill9: () => end('SIGKILL'),
    end: () => end('SIGKILL'),
    wake: needsThisProcess,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async stop() {
      const ending = child;
      // A suspended process receives no other signal.
      ending?.kill('SIGCONT');
      const force = setTimeout(() => ending?.kill('SIGKILL'), stopDeadlineMs);
      await end('SIGTERM');
      clearTimeout(force);
      return ended;
    },
  };
}

/**
 * The same bot in the test's process, in a tenth of the time: for every test in which no process dies, hangs or is
 * measured. Throws for what needs a process.
 */
export function createBotHere(
  env: Readonly<Record<string, string>>,
  changed: () => void = () => undefined,
  now: () => number = () => Date.now(),
): Bot {
  const lines: string[] = [];
  let settings = { ...env };
  let app: App | undefined;
  let port: number | undefined;
  let ended: BotEnd = { code: null, signal: null };

  async function stop(): Promise<BotEnd> {
    const ending = app;
    app = undefined;
    if (ending) ended = { code: (await ending.stop()) === 'finished' ? 0 : 1, signal: null };
    return ended;
  }

  return {
    lines,
    isRunning: () => app !== undefined,
    pid: needsProcess,
    url() {
      if (port === undefined) throw new Error('The bot has never listened.');
      return `http://127.0.0.1:${port}`;
    },
    async start(more = {}) {
      if (app) throw new Error('The bot is running already.');
      settings = { ...settings, ...more };
      const read = readSettings(settings);
      if (read.kind === 'refused') throw new Error(read.words);
      const { config, warnings } = read;
      const log = openLog(config, config.logLevel, (line) => {
        lines.push(line.trimEnd());
        changed();
      });
      for (const warning of warnings) log('warn', warning);
      const runtime = { config, log, now };
      const begun = createApp(runtime, await openStorage(runtime));
      port = await begun.start();
      app = begun;
    },
    kill9: needsProcess,
    pause: needsProcess,
    resume: needsProcess,
    stop,
    end: stop,
    wake: () => app?.wake(),
  };
}

function needsThisProcess(): never {
  throw new Error('The clock of a bot that is a process of its own cannot be moved.');
}

function needsProcess(): never {
  throw new Error('This bot has no process of its own: open its house with { processes: true }.');
}

/** What the bot tells Prometheus; rejects if it doesn't answer. */
export async function metricsOf(bot: Pick<Bot, 'url'>): Promise<string> {
  return await (await fetch(`${bot.url()}/metrics`)).text();
}

/** Runs the deployed bot, `node src/start.js`, until it ends: with unusable settings it does. */
export async function runToEnd(env: Readonly<Record<string, string>>): Promise<BotRun> {
  const child = launch(env, deployedBot);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const force = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(force);
  return { code, signal, ...written };
}

function launch(env: Readonly<Record<string, string>>, program: string) {
  const child = spawn(process.execPath, [...startOptions, program], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** The port in the log line that reports it. */
function portIn(line: string): number | undefined {
  if (!line.includes('"Payops listens"')) return undefined;
  const { port } = JSON.parse(line) as { port?: unknown };
  return typeof port === 'number' ? port : undefined;
}
