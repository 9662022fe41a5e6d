/**
 * `npm run bench`: compares the bot's cost with the least that could do the same and with other ways to build it, each in
 * a process of its own, taking turns, with the load from another process. Checks every answer and counts the records;
 * asserts nothing about speed: it fails only on a wrong answer. Writes bench/results.json and the table in
 * docs/performance.md. `--quick` is for CI: seconds, answers only, nothing written. `--full`: 1e6 remembered events and
 * ten minutes of steady load, slow. `--rounds 9` on a busy machine. `--only 'redis|sqlite|…'` and `--variants
 * 'floor|Payops'` measure less. Only ratios are comparable between machines.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { WrongAnswer } from './figures.ts';
import { measureGrowth, measureIngestOnRedis } from './ingest/on-redis.ts';
import { measureIngestOnSqlite } from './ingest/on-sqlite.ts';
import { measureSteadyLoad } from './ingest/steady.ts';
import { measureLookUps } from './lookup/measure.ts';
import { markdownTable, type Row } from './report.ts';
import { measureAcks, measureAcksWhileHanging } from './slash/acks.ts';
import { openHouse, type House } from './stage/house.ts';
import { measureStart } from './start.ts';
import { findProgram } from '../test/support/programs.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: '.' },
    variants: { type: 'string', default: '.' },
  },
});
const { quick, full } = values;
const rounds = Number(values.rounds ?? (quick ? 1 : 5));
const isWhole = !quick && values.only === '.' && values.variants === '.';
const startedAt = performance.now();
const hasRedis = findProgram('redis-server') !== undefined;
if (!hasRedis) console.warn('SKIPPED: everything on Redis, because redis-server is not installed.');

const parts: Record<string, (house: House) => Promise<Row[]>> = {
  start: (house) => measureStart(house, rounds),
  lookup: () => measureLookUps({ rounds, each: quick ? 20 : 500 }),
  slash: async (house) => [
    ...(await measureAcks(house, { rounds, commands: quick ? 50 : 6_000, connections: 16 })),
    await measureAcksWhileHanging(house, { rounds, commands: quick ? 20 : 500, connections: 32 }),
  ],
  sqlite: (house) => measureIngestOnSqlite(house, { rounds, events: quick ? 100 : 4_000, connections: 32 }),
  steady: (house) => measureSteadyLoad(house, { seconds: quick ? 2 : full ? 600 : 60 }),
  ...(hasRedis
    ? {
        redis: (house) =>
          measureIngestOnRedis(house, {
            rounds,
            events: quick ? 100 : 5_000,
            connections: 32,
            only: new RegExp(values.variants),
          }),
        growth: async (house) => [
          await measureGrowth(house, {
            rounds,
            events: quick ? 50 : 1_500,
            fewer: 1_000,
            more: quick ? 2_000 : full ? 1_000_000 : 100_000,
          }),
        ],
      }
    : {}),
};

const house = await openHouse();
try {
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(parts)) {
    if (!new RegExp(values.only).test(name)) continue;
    rows.push(...(await measure(house)));
    console.error(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${name}`);
  }
  report(rows);
} catch (error) {
  if (!(error instanceof WrongAnswer)) throw error;
  console.error(`Wrong answer: ${error.message}.`);
  process.exitCode = 1;
} finally {
  await house.close();
}

function report(rows: Row[]): void {
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const [load = 0] = loadavg();
  const machine = { node: process.version, cores: availableParallelism(), load };
  const table = markdownTable(rows);
  const words = `Node ${process.version}, ${machine.cores} cores, load ${load.toFixed(1)} at the end, ${rounds} rounds, ${seconds} s.`;
  console.log(`${table}\n\n${words}`);
  if (quick) console.log('Quick: too short to say anything about speed.');
  console.log('Every answer was right.');
  if (!isWhole) return;
  writeFileSync(
    new URL('results.json', import.meta.url),
    `${JSON.stringify({ machine, rounds, seconds, rows }, undefined, 2)}\n`,
  );
  const page = new URL('../docs/performance.md', import.meta.url);
  const [before = '', rest = ''] = readFileSync(page, 'utf8').split('<!-- bench begins -->');
  const [, after = ''] = rest.split('<!-- bench ends -->');
  writeFileSync(page, `${before}<!-- bench begins -->\n${table}\n\n${words}\n<!-- bench ends -->${after}`);
}
