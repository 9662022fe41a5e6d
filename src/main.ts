import { enableCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from './app.ts';

enableCompileCache();

// Import the rest only now that the compile cache is on, so that it covers them; and only what the command, or the bot,
// needs.
const words = process.argv.slice(2);
if (words.length > 0) await runCommand();

/** Runs a command and ends the process. Every failure has an exit code that no script can take for an answer. */
async function runCommand(): Promise<never> {
  const [{ runCommandLine }, { exitCodes }] = await Promise.all([
    import('./cli/command-line.ts'),
    import('./cli/exit-codes.ts'),
  ]);
  process.on('SIGINT', () => {
    // Begin a new line: the progress line stays on the screen.
    if (process.stderr.isTTY) process.stderr.write('\n');
    process.exit(exitCodes.interrupted);
  });
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.readerGone);
    process.stderr.write(`The output cannot be written: ${error.code ?? 'unknown error'}\n`);
    process.exit(exitCodes.failed);
  });
  // If standard error is closed, continue: standard output may still be read.
  process.stderr.on('error', () => undefined);
  const { env: variables, stdout, stderr } = process;
  process.exit(await runCommandLine({ words, variables, stdout, stderr, now: () => Date.now() }));
}

const [
  { createApp },
  { drainSecondsOf },
  { onceATurn },
  { openStorage },
  { reasonOf },
  { openLog, readSettings },
] = await Promise.all([
  import('./app.ts'),
  import('./config/config.ts'),
  import('./log.ts'),
  import('./store/storage.ts'),
  import('./store/explain-error.ts'),
  import('./cli/read-settings.ts'),
]);

const settings = readSettings(process.env);
if (settings.kind === 'refused') {
  process.stderr.write(`${settings.words}\n`);
  process.exit(1);
}

const { config, warnings } = settings;
const lines = onceATurn((text) => process.stdout.write(text));
process.on('exit', lines.flush);
const log = openLog(config, config.logLevel, lines.write);

process.on('uncaughtException', (error) => {
  log('error', 'A bug ended the process; what was accepted is safe in the store', {}, error);
  process.exit(1);
});

/**
 * Starts the bot. A failure ends the process with a sentence for people; the stack is logged only with LOG_LEVEL=debug.
 */
async function start(): Promise<App> {
  for (const warning of warnings) log('warn', warning);
  try {
    const runtime = { config, log, now: () => Date.now() };
    const created = createApp(runtime, await openStorage(runtime));
    await created.start();
    return created;
  } catch (error) {
    log('debug', 'The start failed', {}, error);
    process.stderr.write(`Payops cannot start. ${reasonOf(error)}\n`);
    process.exit(1);
  }
}

let stopping = false;
async function stop(drainMs: number): Promise<void> {
  // A second signal ends the process at once; the next start finishes the work.
  if (stopping) process.exit(1);
  stopping = true;
  log('info', 'Payops stops');
  const stopped = starting.then((app) => app.stop(drainMs));
  if ((await Promise.race([stopped, sleep(config.stopSeconds * 1_000, 'late' as const)])) === 'late') {
    log('warn', 'Not all was finished by STOP_SECONDS; it is taken up again at the next start');
  }
  process.exit(0);
}
process.on('SIGTERM', () => void stop(drainSecondsOf(config) * 1_000));
// Ctrl-C at a terminal: no load balancer is involved, so don't drain.
process.on('SIGINT', () => void stop(0));

// Only after the signal handlers are set: a signal during the start then waits until the start has ended.
const starting = start();
