/**
 * The bot as `src/main.ts` starts it, from the same environment, in a world that runs faster, and ready to kill
 * itself at one exact point. It is told by
 *   KILL_CLOCK  {"fromMs": …, "factor": …}: see `fastClock`
 *   KILL_AT     the point at which it sends itself SIGKILL, there and then, or its number, from 1; absent: never
 *   KILL_FROM   the point with which they begin; absent: the form’s terms being kept, which is the first thing that is
 *               written of a charge, or as soon as it is sent SIGUSR2
 *   KILL_LIST   a file to which it writes each point as it is passed; absent: none
 *
 * Why faster: a charge whose process died is taken up when its timer of 30 s goes off, and a code is awaited
 * for 15 minutes. The machine's limits stay what they are; instead the process's clock (and the simulators',
 * which are given the same one) runs `factor` times as fast, and every duration given to the store is that much
 * shorter. HTTP deadlines stay real. So what has 25 s to leave the process has a second or so, which is plenty
 * on loopback; a lease must be long enough to outlive the real deadlines of what is done under it.
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
// Before anything is imported: Slack's client takes it as it starts.
globalThis.fetch = pointedFetch(globalThis.fetch, points);

const { kept, start } = await openBot(environment, realNow);
await start(hastenedStore(pointedStore(kept.store, points), factor));
// Who dies by SIGKILL leaves nothing behind for the next one to start faster with.
if (KILL_LIST !== undefined) flushCompileCache();
