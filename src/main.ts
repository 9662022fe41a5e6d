import { enableCompileCache } from 'node:module';
import type { App } from './app.ts';

enableCompileCache();

// Loaded after the cache is on, so that it covers everything else.
const [
  { createApp },
  { webhookChecks },
  { permissions },
  { permissionCheck },
  { readConfig, secretsOf },
  { createLog, inOneWrite },
] = await Promise.all([
  import('./app.ts'),
  import('./app/webhook-settings.ts'),
  import('./commands/registry.ts'),
  import('./config/permission-check.ts'),
  import('./config/read-config.ts'),
  import('./log.ts'),
]);

const result = readConfig(process.env, [...webhookChecks, permissionCheck(permissions)]);
if (result.kind === 'refused') {
  const problems = [...result.problems, ...result.warnings].map((problem) => `  - ${problem}`).join('\n');
  process.stderr.write(
    `Payops cannot start. Its settings have problems:\n${problems}\ndocs/settings.md explains each setting.\n`,
  );
  process.exit(1);
}

const { config } = result;
const output = inOneWrite((lines) => process.stdout.write(lines));
process.on('exit', output.flush);
const log = createLog({
  level: config.logLevel,
  secrets: secretsOf(config),
  write: output.write,
  now: () => new Date(),
});
for (const warning of result.warnings) log('warn', warning);

process.on('uncaughtException', (error) => {
  log('error', 'A bug ended the process; what was accepted is safe in the store', {}, error);
  process.exit(1);
});

const [command, ...words] = process.argv.slice(2);
if (command !== undefined) {
  const { runCommand } = await import('./app/run-command.ts');
  const end = await runCommand(command, words, { config, log, now: () => Date.now() });
  output.flush();
  (end.exitCode === 0 ? process.stdout : process.stderr).write(`${end.words}\n`);
  process.exit(end.exitCode);
}

/** What stands in the way of a start is words for a person; where in the program it stood, only LOG_LEVEL=debug tells. */
async function start(): Promise<App> {
  try {
    const created = createApp({ config, log, now: () => Date.now() });
    await created.start();
    return created;
  } catch (error) {
    log('debug', 'The start failed', {}, error);
    process.stderr.write(
      `Payops cannot start. ${error instanceof Error ? error.message : 'Unknown error'}\n`,
    );
    process.exit(1);
  }
}
const app = await start();

let stopping = false;
async function stop(): Promise<void> {
  // Whoever asks twice does not want to wait; what is under way is taken up again at the next start.
  if (stopping) process.exit(1);
  stopping = true;
  log('info', 'Payops stops');
  await app.stop();
  process.exit(0);
}
process.on('SIGTERM', () => void stop());
process.on('SIGINT', () => void stop());
