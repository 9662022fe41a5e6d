import { fastClock } from './fast-clock.ts';

/** For processes that play the bot: their own clock, which `Date.now` gives from now on, runs faster than the store's. */
export function hastenClock(told: string | undefined): { factor: number; realNow: () => number } {
  const clock = JSON.parse(told ?? '{"fromMs":0,"factor":1}') as { fromMs: number; factor: number };
  const realNow = Date.now.bind(Date);
  // For all of the process: Bolt compares signatures with it, the store's file alone keeps the real one.
  Date.now = fastClock(clock, realNow);
  return { factor: clock.factor, realNow };
}

/** What `src/main.ts` makes of the environment, imported now: whatever the process replaces is replaced before. */
export async function openBot(environment: NodeJS.ProcessEnv, realNow: () => number) {
  const [{ createApp }, { openKept }, { readSettings }, { secretsOf }, { createLog }] = await Promise.all([
    import('../../src/app.ts'),
    import('../../src/store/kept.ts'),
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
  const kept = await openKept({ config, log, now: realNow });
  return {
    config,
    kept,
    start: (store: typeof kept.store) =>
      createApp({ config, log, now: () => Date.now() }, { ...kept, store }).start(),
  };
}
