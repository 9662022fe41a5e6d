/**
 * The bot as `src/main.ts` starts it, from the same environment, in a world that runs faster: see killed-bot.ts,
 * which says what that means. It says little, because what it writes is read by a process that is busy, and it is
 * told by
 *   CHAOS_CLOCK  {"fromMs": …, "factor": …}: see `fastClock`
 *   CHAOS_BREAK  its store is broken, for the test of the checker; absent: it is not
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
// Below its own level, and yet whoever started it waits for this line.
if (config.logLevel !== 'info') process.stdout.write(`{"message":"Payops listens","port":${port}}\n`);
// The next ones start faster with it.
flushCompileCache();

/**
 * A store that lies about some alerts, the same ones in every process: it keeps nothing of those that end in 7, and of
 * those that end in 3 not what was written while they were first worked on, so that nobody remembers the post.
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
