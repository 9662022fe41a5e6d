/**
 * `npm run bench:store`: the cost of a page of 50 of a list, a page of `/pay find` and a `take`, with a thousand records
 * and with very many, on SQLite and on a Redis of its own. Prints the medians and their ratio, which must stay near 1.
 * `--quick` only checks the answers, in seconds; words, such as `Redis, page of`, select the measures whose names contain
 * them.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cardFinder } from '../src/features/cards/found-card.ts';
import { openFoundRecords } from '../src/features/find/find-records.ts';
import { searchList } from '../src/records/found-by.ts';
import { connectRedis } from '../src/store/redis-client.ts';
import { openRedisStore } from '../src/store/redis-store.ts';
import { createSealer } from '../src/store/sealed.ts';
import { openSqliteStore } from '../src/store/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { findProgram } from '../test/support/programs.ts';
import { startRedis } from '../test/support/redis-server.ts';
import { check, clocked, inParallel, median } from './figures.ts';

const quick = process.argv.includes('--quick');
const word = process.argv.slice(2).find((one) => !one.startsWith('--')) ?? '';
const rounds = quick ? 5 : 300;
const hourMs = 3_600_000;
/** Filling the store may be slow on a busy machine. */
const deadlineMs = 60_000;

/** `once` returns its duration in ms. */
type Measure = {
  name: string;
  more: number;
  fill: Fill;
  once: (store: Store, size: number) => Promise<number>;
};
type Fill = (store: Store, at: number) => Promise<boolean>;

const listed: Fill = (store, at) =>
  store.create(`record ${at}`, 'a value of some length', { index: { all: at } });

const sealer = createSealer([{ id: 'bench', key: Buffer.alloc(32, 7) }]);
const fingerprint = async (text: string): Promise<string> => hash('sha256', text).slice(0, 32);
const customerEmail = 'ada@example.com';
const customerList = await searchList(fingerprint, { customerEmail });
/** All of one customer: the longest possible list. */
const ofCustomer: Fill = (store, at) => {
  const key = `ledger:card:${at}`;
  const value = sealer.seal(key, JSON.stringify({ tokenKey: '', face: {}, customerEmail, savedAt: at }));
  return store.create(key, value, { index: { [customerList]: at } });
};

const measures: readonly Measure[] = [
  { name: 'first page of 50', more: 1_000_000, fill: listed, once: (store) => readPage(store) },
  {
    name: 'page of 50 from the middle',
    more: 1_000_000,
    fill: listed,
    once: (store, size) => readPage(store, `${size / 2}:record ${size / 2}`),
  },
  { name: 'page of /pay find, 20 of a customer', more: 1_000_000, fill: ofCustomer, once: findPage },
  {
    name: 'take, beside so many pending',
    more: 100_000,
    fill: (store, at) => store.create(`pending ${at}`, 'a value', { delayMs: hourMs * (1 + (at % 12)) }),
    once: takeOne,
  },
];

// One after the other, so that none slows another.
const folder = mkdtempSync(join(tmpdir(), 'payops-bench-'));
const server = findProgram('redis-server') === undefined ? undefined : await startRedis();
if (!server) console.warn('SKIPPED: Redis, because redis-server is not installed.');
const redis = server && connectRedis({ url: server.url, log: () => undefined });
await redis?.tried;
try {
  for (const [index, measure] of measures.entries()) {
    await compare('SQLite', measure, (size) =>
      openSqliteStore({ path: join(folder, `${index}-${size}.sqlite`), now: () => Date.now() }),
    );
    if (redis) {
      await compare('Redis', measure, (size) =>
        openRedisStore(redis.commands, { prefix: `bench-${index}-${size}`, deadlineMs }),
      );
    }
  }
  console.log('Every answer was right.');
} finally {
  redis?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Takes turns, so that other load on the machine affects both. */
async function compare(on: string, measure: Measure, open: (size: number) => Store): Promise<void> {
  const { name, more, fill, once } = measure;
  if (!`${on}, ${name}`.includes(word)) return;
  const many = quick ? 2_000 : more;
  const sides = [1_000, many].map((size) => ({ size, store: open(size), tookMs: new Array<number>() }));
  for (const { size, store } of sides) {
    await inParallel(size, 500, async (at) => check(await fill(store, at), `record ${at} was there already`));
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { size, store, tookMs } of sides) tookMs.push(await once(store, size));
  }
  for (const { store } of sides) await store.close();
  const [fewMs = Number.NaN, manyMs = Number.NaN] = sides.map(({ tookMs }) => median(tookMs));
  console.log(
    `${on}, ${name}: ${fewMs.toFixed(3)} ms of 1e3, ${manyMs.toFixed(3)} ms of ${many}, × ${(manyMs / fewMs).toFixed(2)}`,
  );
}

async function readPage(store: Store, after?: string): Promise<number> {
  const from = after === undefined ? {} : { after };
  const [{ entries }, ms] = await clocked(() => store.list('all', { max: 50, newestFirst: true, ...from }));
  check(entries.length === 50, `a page of 50 has ${entries.length}`);
  return ms;
}

/** Like the bot: opens every record, and checks whether its customer is forgotten. */
async function findPage(store: Store): Promise<number> {
  const found = openFoundRecords({ store, fingerprint, now: () => Date.now() }, [cardFinder({ sealer })]);
  const [{ records }, ms] = await clocked(() => found.page({ list: customerList }, 20));
  check(records.length === 20, `a page of 20 has ${records.length}`);
  return ms;
}

/** Takes the only due record. */
async function takeOne(store: Store): Promise<number> {
  await store.create('due', '', { delayMs: 0 });
  const [taken, ms] = await clocked(() => store.take(45_000));
  const [entry] = taken;
  check(entry?.key === 'due' && taken.length === 1, 'another record was taken than the one that is due');
  await store.write(entry, '', { ttlMs: 0 });
  return ms;
}
