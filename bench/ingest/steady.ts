import { connectRedis } from '../../src/store/redis-client.ts';
import { findProgram } from '../../test/support/programs.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import { check } from '../figures.ts';
import { rowOf, type Row } from '../report.ts';
import { startContestant, type Program } from '../stage/contestant.ts';
import type { House } from '../stage/house.ts';
import { playRound } from '../stage/round.ts';
import { countKeys } from './on-redis.ts';
import { countRecords } from './on-sqlite.ts';

const part = 'steady load';
const perSecond = 200;
/** What its records' keys begin with: a failure's message, a success's event. */
const records = ['message:alert:', 'event:payment_success'] as const;
const line = { atLeast: 'p99 150 ms, 200 MB' };

/** The event rate of a busy merchant, evenly, one of ten a failure, on each store. All must be stored afterwards. */
export async function measureSteadyLoad(house: House, { seconds }: { seconds: number }): Promise<Row[]> {
  const count = perSecond * seconds;
  const sqlite = house.bot('steady');
  const rows = [await measure(sqlite, count, `SQLite, ${perSecond} events/s, ${seconds} s`)];
  const onFile = countRecords(sqlite, ...records);
  check(onFile === count, `SQLite: ${onFile} records of ${count} events`);
  if (findProgram('redis-server') === undefined) return rows;

  const redis = await startRedis();
  const connection = connectRedis({ url: redis.url, log: () => undefined });
  try {
    await connection.tried;
    const prefix = 'steady';
    const program = house.bot('steady-redis', { REDIS_URL: redis.url, REDIS_PREFIX: prefix });
    rows.push(await measure(program, count, `Redis, ${perSecond} events/s, ${seconds} s`));
    const counts = records.map((begin) => countKeys(connection, `{${prefix}}:record:${begin}`));
    const inRedis = (await Promise.all(counts)).reduce((sum, found) => sum + found);
    check(inRedis === count, `Redis: ${inRedis} records of ${count} events`);
    return rows;
  } finally {
    connection.close();
    await redis.stop();
  }
}

async function measure(program: Program, count: number, name: string): Promise<Row> {
  const contestant = await startContestant(program);
  try {
    const order = { count, connections: 32, name: 'steady', what: { kind: 'mixed' }, perSecond } as const;
    const row = rowOf({ part, name }, [await playRound(contestant, order)], []);
    const holds = (row.p99Ms ?? Infinity) <= 150 && (row.residentMb ?? Infinity) <= 200;
    const { ratio: _none, ...measured } = row;
    return { ...measured, line: { ...line, holds } };
  } finally {
    await contestant.stop();
  }
}
