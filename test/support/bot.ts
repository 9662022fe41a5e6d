import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { type App, createApp } from '../../src/app.ts';
import { openKept } from '../../src/store/kept.ts';
import { openLog, readSettings } from '../../src/cli/read-settings.ts';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  scripts: { start: string };
};

/** Node's options as `npm start` has them; the environment comes from whoever starts the bot. */
export const startOptions: readonly string[] = scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--') && !word.startsWith('--env-file'));

export type BotEnd = { code: number | null; signal: NodeJS.Signals | null };

export type BotRun = BotEnd & { stdout: string; stderr: string };

/** A bot of its own process, or in the test's: `openHouse` says which. */
export type Bot = {
  /** Where it listened last, no slash at the end; throws before it ever did. */
  url(): string;
  isRunning(): boolean;
  /** The process, for tests that measure it from outside; throws when there is none. */
  pid(): number;
  /** What it wrote since the first start, stdout and stderr as they came. */
  readonly lines: readonly string[];
  /** Resolves when it listens; rejects, with what it wrote, when it ends instead. `more` is kept for later starts. */
  start(more?: Record<string, string>): Promise<void>;
  /** The crash: no goodbye, no last write. */
  kill9(): Promise<void>;
  /** Hangs it: its connections stay open and nothing answers. */
  pause(): void;
  resume(): void;
  /** Asks it to end in good order, and tells how it did; already ended: how it had. */
  stop(): Promise<BotEnd>;
  /** However it ends quickest: nobody looks at it any more. */
  end(): Promise<unknown>;
  /** Has it look for due work now, after the clock was moved. */
  wake(): void;
};

/** What `npm start` and the image run. */
export const deployedBot = fileURLToPath(new URL('../../src/start.js', import.meta.url));
/** Where `warm-bot.ts` has put the same in one file, which starts in half the processor time. */
export const bundleVariable = 'PAYOPS_BUNDLED_BOT';
const usualBot = process.env[bundleVariable] ?? deployedBot;
/** Well past the ten seconds it gives its own requests; then it is ended by force, which is a failed stop. */
const stopDeadlineMs = 30_000;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * The bot with this environment and nothing of ours. It listens where PORT says, 0 included. `program` is started
 * instead of it, and must say in the same words that it listens.
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
      // A paused process hears nothing.
      ending?.kill('SIGCONT');
      const force = setTimeout(() => ending?.kill('SIGKILL'), stopDeadlineMs);
      await end('SIGTERM');
      clearTimeout(force);
      return ended;
    },
  };
}

/**
 * The same bot in the test's own process, which costs a tenth of the time: for every test in which no process dies, is
 * held, or is measured. What only a process can do throws.
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
      const outside = { config, log, now };
      const begun = createApp(outside, await openKept(outside));
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

/** Runs the bot as it is deployed, `node src/start.js`, until it ends by itself, which is what it does with settings it cannot work with. */
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

/** From the one line that says so. */
function portIn(line: string): number | undefined {
  if (!line.includes('"Payops listens"')) return undefined;
  const { port } = JSON.parse(line) as { port?: unknown };
  return typeof port === 'number' ? port : undefined;
}
