/**
 * The bot as `src/main.ts` starts it, from the same environment, in a world that runs faster: see killed-bot.ts,
 * which says what that means. It says little, because what it writes is read by a process that is busy, and it is
 * told by
 *   CHAOS_CLOCK  {"fromMs": …, "factor": …}: see `fastClock`
 *   CHAOS_BREAK  how its store is broken, for the test of the checker; absent: it is not
 */
import { flushCompileCache } from 'node:module';
import { hastenClock, openBot } from '../support/hastened-bot.ts';
import { hastenedStore } from '../support/kill-points.ts';
import { breakStore, type Break } from './broken-store.ts';

const { CHAOS_CLOCK, CHAOS_BREAK, ...environment } = process.env;
const { factor, realNow } = hastenClock(CHAOS_CLOCK);
const { config, kept, start } = await openBot(environment, realNow);
const hastened = hastenedStore(kept.store, factor);
const port = await start(CHAOS_BREAK === undefined ? hastened : breakStore(hastened, CHAOS_BREAK as Break));
// Below its own level, and yet whoever started it waits for this line.
if (config.logLevel !== 'info') process.stdout.write(`{"message":"Payops listens","port":${port}}\n`);
// The next ones start faster with it.
flushCompileCache();
