/**
 * The bot as `src/main.ts` starts it, from the same environment, in a world that runs faster: see killed-bot.ts,
 * which says what that means. It says little, because what it writes is read by a process that is busy, and it is
 * told by
 *   CHAOS_CLOCK  {"fromMs": …, "factor": …}: see `fastClock`
 *   CHAOS_BREAK  how its store is broken, for the test of the checker; absent: it is not
 */
import { enableCompileCache, flushCompileCache } from 'node:module';
import { fastClock } from '../support/fast-clock.ts';
import { hastenedStore } from '../support/kill-points.ts';
import { breakStore, type Break } from './broken-store.ts';

enableCompileCache();

const { CHAOS_CLOCK, CHAOS_BREAK, NODE_COMPILE_CACHE: _cache, ...environment } = process.env;
const realNow = Date.now.bind(Date);
const clock = JSON.parse(CHAOS_CLOCK ?? '{"fromMs":0,"factor":1}') as { fromMs: number; factor: number };
Date.now = fastClock(clock, realNow);

const [
  { createApp },
  { openKept },
  { webhookChecks },
  { permissions },
  { permissionCheck },
  { readConfig, secretsOf },
  { createLog },
] = await Promise.all([
  import('../../src/app.ts'),
  import('../../src/app/kept.ts'),
  import('../../src/app/webhook-settings.ts'),
  import('../../src/commands/registry.ts'),
  import('../../src/config/permission-check.ts'),
  import('../../src/config/read-config.ts'),
  import('../../src/log.ts'),
]);

const result = readConfig(environment, [...webhookChecks, permissionCheck(permissions)]);
if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
const { config } = result;
const log = createLog({
  level: config.logLevel,
  secrets: secretsOf(config),
  write: (line) => process.stdout.write(line),
  now: () => new Date(Date.now()),
});
const kept = openKept({ config, log, now: realNow });
const hastened = hastenedStore(kept.store, clock.factor);
const store = CHAOS_BREAK === undefined ? hastened : breakStore(hastened, CHAOS_BREAK as Break);
const port = await createApp({ config, log, now: () => Date.now() }, { ...kept, store }).start();
// Below its own level, and yet whoever started it waits for this line.
if (config.logLevel !== 'info') process.stdout.write(`{"message":"Payops listens","port":${port}}\n`);
// The next ones start faster with it.
flushCompileCache();
