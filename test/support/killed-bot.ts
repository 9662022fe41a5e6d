/**
 * The bot as `src/main.ts` starts it, with a faster clock, and able to kill itself at one exact point. Controlled by
 *   KILL_CLOCK  {"fromMs": …, "factor": …}: see `fastClock`
 *   KILL_AT     the point at which it sends itself SIGKILL, by name or by number from 1; absent: never
 *   KILL_FROM   the first point; absent: storing the form’s terms, which is a charge's first write. SIGUSR2 begins too.
 *   KILL_LIST   a file to which it writes each passed point; absent: none
 *
 * Why faster: a dead process's charge is resumed after 30 s, and a code is awaited for 15 minutes. The code's limits
 * stay; instead the process's clock (and the simulators', which have the same one) runs `factor` times as fast, and
 * every duration for the store is divided by it. HTTP deadlines stay real. So a request that must leave within 25 s
 * has about a second, plenty on loopback; a lease must be longer than the real deadlines of the work under it.
 */
import { appendFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { hastenClock, openBot } from './hastened-bot.ts';
import { createKillPoints, hastenedStore, pointedFetch, pointedStore } from './kill-points.ts';

const { KILL_CLOCK, KILL_AT, KILL_FROM, KILL_LIST, ...environment } = process.env;
const { factor, realNow } = hastenClock(KILL_CLOCK);

let number = 0;
const points = createKillPoints(KILL_FROM ?? 'before read draft', (point) => {
  number += 1;
  if (KILL_LIST !== undefined) appendFileSync(KILL_LIST, `${point}\n`);
  if (point === KILL_AT || String(number) === KILL_AT) process.kill(process.pid, 'SIGKILL');
});
process.on('SIGUSR2', () => points.begin());
// Before any import: Slack's client reads `fetch` at its start.
globalThis.fetch = pointedFetch(globalThis.fetch, points);

const { kept, start } = await openBot(environment, realNow);
await start(hastenedStore(pointedStore(kept.store, points), factor));
// A killed process can't write its compile cache, so write it now for the next one.
if (KILL_LIST !== undefined) flushCompileCache();
