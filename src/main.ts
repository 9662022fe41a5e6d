import { enableCompileCache } from 'node:module';

enableCompileCache();

// Loaded after the cache is on, so that it covers everything else.
const [{ createApp }, { webhookProblems }, { readConfig, secretsOf }, { createLog }] = await Promise.all([
  import('./app.ts'),
  import('./app/webhook-settings.ts'),
  import('./config/read-config.ts'),
  import('./log.ts'),
]);

const result = readConfig(process.env, [webhookProblems]);
if (result.kind === 'refused') {
  const problems = result.problems.map((problem) => `  - ${problem}`).join('\n');
  process.stderr.write(
    `Payops cannot start. Its settings have problems:\n${problems}\ndocs/settings.md explains each setting.\n`,
  );
  process.exit(1);
}

const { config } = result;
const log = createLog({
  level: config.logLevel,
  secrets: secretsOf(config),
  write: (line) => process.stdout.write(line),
  now: () => new Date(),
});
for (const warning of result.warnings) log('warn', warning);

process.on('uncaughtException', (error) => {
  log('error', 'A bug ended the process; what was accepted is safe in the store', {}, error);
  process.exit(1);
});

const app = createApp({ config, log, now: () => Date.now() });
try {
  await app.start();
} catch (error) {
  process.stderr.write(`Payops cannot start. ${error instanceof Error ? error.message : 'Unknown error'}\n`);
  process.exit(1);
}

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  log('info', 'Payops stops');
  await app.stop();
  process.exit(0);
}
process.on('SIGTERM', () => void stop());
process.on('SIGINT', () => void stop());
