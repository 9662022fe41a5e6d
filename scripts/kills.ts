/**
 * `npm run kills -- --store redis|sqlite --story approved|otp|declined|rejected|lost|four-eyes|alert|link|card-email`:
 * starts the whole bot against the simulated payments service and the local Slack workspace, and kills it with SIGKILL at
 * every await of a charge, one after the other. `four-eyes`: from a second person's click to the end of the charge;
 * `alert`: from a failure's event to the payment that resolves it; `link`: until it is paid; `card-email`: from the press
 * to the result. Without options: all stories on both stores. `--every N` takes every Nth moment, starting at a random
 * one unless `--from` gives it. The last line has the count and the verdict, which is also the exit code.
 */
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { killEverywhere, type Kills, type KillsResult } from '../test/support/kill-everywhere.ts';
import { casePlays, runCase } from '../test/support/killed-case.ts';
import { stories, type Place, type Story } from '../test/support/killed-charge.ts';
import { bundleOf } from '../test/support/bot-bundle.ts';
import { createLimit } from '../test/support/limit.ts';
import { startRedis } from '../test/support/redis-server.ts';
import { wholeNumber } from './whole-number.ts';

const plays = [...stories, ...casePlays] as const;
type Play = (typeof plays)[number];
const stores = ['sqlite', 'redis'] as const;
type StoreName = (typeof stores)[number];

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    story: { type: 'string' },
    every: { type: 'string' },
    from: { type: 'string' },
  },
});
const chosenStores = oneOrAll('store', stores, values.store);
// The story with the longest waits first.
const chosenStories = oneOrAll('story', plays, values.story).toSorted((one) => (one === 'otp' ? -1 : 0));
const every = wholeNumber('every', values.every ?? '1', { least: 1 });
const from = wholeNumber('from', values.from ?? String(randomInt(every)));
if (every > 1) console.log(`--every ${every} --from ${from}`);

const startedAt = performance.now();
const bundle = await bundleOf('killed');
const server = chosenStores.includes('redis') ? await startRedis() : undefined;
// Leave no process behind after Ctrl-C.
process.on('SIGINT', () => void close().then(() => process.exit(130)));

const busy = createLimit(availableParallelism() + 1);
const limit = createLimit(16 * availableParallelism());
const everything = chosenStories.flatMap((story) => chosenStores.map((store) => ({ story, store })));
const results = await Promise.all(everything.map(({ story, store }) => tell(story, store)));

const kills = sum(results.map((result) => result.kills));
const wrong = sum(results.map((result) => result.wrong.length + tooManyMissed(result)));
console.log(`${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
console.log(`${kills} kills, ${wrong} wrong`);
await close();
process.exit(wrong > 0 ? 1 : 0);

async function close(): Promise<void> {
  await server?.stop();
  bundle.remove();
}

async function tell(story: Play, store: StoreName): Promise<KillsResult> {
  const place: Place = {
    bundle,
    busy,
    ...(store === 'redis' && server ? { redis: { url: server.url } } : {}),
  };
  const ways = { place, limit, every, from, pressAgain: true, awaitExpiry: true };
  const result = await killEverywhere({ ...ways, ...playOf(story) });
  const ends = [...result.ends].map(([end, times]) => `${end} ${times}`).join(', ');
  const fine = result.wrong.length + tooManyMissed(result) === 0;
  console.log(
    `${fine ? '✓' : '✗'} ${story} on ${store}: ${result.points} points, ${result.moments} moments, ${result.kills} kills: ${ends}`,
  );
  for (const { at, problems } of result.wrong) console.log(`    killed ${at}: ${problems.join('; ')}`);
  for (const point of result.missed) console.log(`    the charge was over before: ${point}`);
  return result;
}

function playOf(story: Play): Pick<Kills, 'story' | 'play'> {
  const own = casePlays.find((one) => one === story);
  return own ? { story: 'approved', play: (run) => runCase(own, run) } : { story: story as Story };
}

/**
 * A few moments (near the end, or in repeated reads) depend on timing and may not be reached. More missed ones would mean
 * that the kills did not happen.
 */
function tooManyMissed({ missed, kills }: KillsResult): number {
  return missed.length > Math.max(3, kills / 20) ? missed.length : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function oneOrAll<T extends string>(
  name: string,
  known: readonly T[],
  given: string | undefined,
): readonly T[] {
  if (given === undefined) return known;
  const chosen = known.filter((one) => one === given);
  if (chosen.length > 0) return chosen;
  console.error(`--${name} is one of ${known.join(', ')}.`);
  process.exit(2);
}
