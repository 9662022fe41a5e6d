import { fastClock } from './fast-clock.ts';

/** For processes that stand for the bot: makes `Date.now` run faster from now on, while the store's clock stays real. */
export function hastenClock(told: string | undefined): { factor: number; realNow: () => number } {
  const clock = JSON.parse(told ?? '{"fromMs":0,"factor":1}') as { fromMs: number; factor: number };
  const realNow = Date.now.bind(Date);
  // For the whole process, since Bolt checks signatures with it; only the store's file keeps the real clock.
  Date.now = fastClock(clock, realNow);
  return { factor: clock.factor, realNow };
}

/**
 * The bot as src/main.ts would make it from the environment. Imported only now, so that everything the process replaces
 * is replaced before.
 */
export async function openBot(environment: NodeJS.ProcessEnv, realNow: () => number) {
  const [{ createApp }, { openStorage }, { readSettings }, { secretsOf }, { createLog }] = await Promise.all([
    import('../../src/app.ts'),
    import('../../src/store/storage.ts'),
    import('../../src/cli/read-settings.ts'),
    import('../../src/config/read-config.ts'),
    import('../../src/log.ts'),
  ]);
  const settings = readSettings(environment);
  if (settings.kind === 'refused') throw new Error(settings.words);
  const { config } = settings;
  const log = createLog({
    level: config.logLevel,
    secrets: secretsOf(config),
    write: (line) => process.stdout.write(line),
    now: () => new Date(Date.now()),
  });
  const kept = await openStorage({ config, log, now: realNow });
  return {
    config,
    kept,
    start: (store: typeof kept.store) =>
      createApp({ config, log, now: () => Date.now() }, { ...kept, store }).start(),
  };
}
