/**
 * The bot as `src/main.ts` starts it, with a faster clock: see killed-bot.ts. It logs little, because a busy process reads
 * its output. Controlled by
 *   CHAOS_CLOCK  {"fromMs": …, "factor": …}: see `fastClock`
 *   CHAOS_BREAK  breaks its store, to test the checker
 */
import { flushCompileCache } from 'node:module';
import { hastenClock, openBot } from '../support/hastened-bot.ts';
import { hastenedStore } from '../support/kill-points.ts';
import type { Store } from '../../src/store/store.ts';

const { CHAOS_CLOCK, CHAOS_BREAK, ...environment } = process.env;
const { factor, realNow } = hastenClock(CHAOS_CLOCK);
const { config, kept, start } = await openBot(environment, realNow);
const hastened = hastenedStore(kept.store, factor);
const port = await start(CHAOS_BREAK === undefined ? hastened : breakStore(hastened));
// Below its own log level, but the parent process waits for this line.
if (config.logLevel !== 'info') process.stdout.write(`{"message":"Payops listens","port":${port}}\n`);
// Makes later starts faster.
flushCompileCache();

/**
 * A store with a bug for some alerts, the same in every process: those that end in 7 are never stored, and those that end
 * in 3 lose what was written during their first work, so that their post is forgotten.
 */
function breakStore(store: Store): Store {
  return {
    ...store,
    create: (key, value, options) =>
      isChosen(key, '7') ? Promise.resolve(true) : store.create(key, value, options),
    write: (entry, value, options) =>
      isChosen(entry.key, '3') && entry.attempts === 1
        ? Promise.resolve({ ...entry, value, version: entry.version + 1 })
        : store.write(entry, value, options),
  };
}

function isChosen(key: string, last: string): boolean {
  return key.startsWith('message:alert:') && key.endsWith(last);
}
