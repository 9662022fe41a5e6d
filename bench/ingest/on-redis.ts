import { check, median, type Size } from '../charges/figures.ts';
import { connectRedis } from '../../src/store/redis-client.ts';
import { startRedis } from '../../test/support/redis-server.ts';
import { startContestant, type Contestant } from '../stage/contestant.ts';
import type { House } from '../stage/house.ts';
import { sendLoad } from '../stage/send-load.ts';
import { redisField, type Variant } from './field.ts';

export const connections = 32;

type Running = Variant & { contestant: Contestant; kept: number; rounds: Round[] };
type Round = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMicros: number;
  calls: number;
  residentBytes: number;
};

export type IngestRow = {
  name: string;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the variant's own process, for each event. */
  cpuMicros: number;
  /** Commands sent to Redis for each event, the worker's among them. */
  calls: number;
  residentMb: number;
  /** Median over the rounds of this one's rate ÷ the floor's of the same round. */
  ratio: number;
};

/** All variants on one Redis, taking turns; each keeps its process, so that all are warm. */
export async function measureIngestOnRedis(
  house: House,
  size: Size & { events: number; rounds: number; fsync: string; only?: string | undefined },
): Promise<IngestRow[]> {
  const redis = await startRedis({ args: ['--appendfsync', size.fsync] });
  const connection = connectRedis({ url: redis.url, log: () => undefined });
  await connection.tried;
  const running: Running[] = [];

  async function countKept({ keysBegin }: Variant): Promise<number> {
    let count = 0;
    for await (const keys of connection.client.scanIterator({ MATCH: `${keysBegin}*`, COUNT: 10_000 })) {
      count += keys.length;
    }
    return count;
  }

  /** What a variant sends for an event: its scripts; zero for the peers, who send SET and GET. */
  async function countCalls(): Promise<number> {
    const stats = await connection.client.info('commandstats');
    const scripts = /^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0;
    return Number(scripts);
  }

  async function play(one: Running, name: string, events: number): Promise<Round> {
    const { kind, signing, contestant } = one;
    const before = await contestant.usage();
    const callsBefore = await countCalls();
    const sent = await sendLoad({ url: contestant.url, events, connections, name, kind, signing });
    const after = await contestant.usage();
    const calls = ((await countCalls()) - callsBefore) / events;
    check(sent.wrong === 0 && sent.right === events, `${one.name}: ${sent.wrong} wrong answers`);
    one.kept += events;
    const found = await countKept(one);
    check(found === one.kept, `${one.name}: ${found} records of ${one.kept} events`);
    return {
      ...sent,
      calls,
      cpuMicros: (after.cpuMicros - before.cpuMicros) / events,
      residentBytes: after.residentBytes,
    };
  }

  try {
    for (const variant of redisField(house, redis.port)) {
      if (size.only !== undefined && !new RegExp(size.only).test(variant.name)) continue;
      // oxlint-disable-next-line no-await-in-loop -- one start does not slow another
      const contestant = await startContestant(variant.program);
      running.push({ ...variant, contestant, kept: 0, rounds: [] });
    }
    for (let round = -1; round < size.rounds; round += 1) {
      for (const one of running) {
        // oxlint-disable-next-line no-await-in-loop -- they take turns
        const played = await play(one, `r${round + 1}`, size.events);
        if (round >= 0) one.rounds.push(played);
      }
    }
    return running.map((one) => rowOf(one, running[0] ?? one));
  } finally {
    connection.close();
    await Promise.all(running.map(({ contestant }) => contestant.stop()));
    await redis.stop();
  }
}

function rowOf({ name, rounds }: Running, floor: Running): IngestRow {
  return {
    name,
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
    cpuMicros: median(rounds.map(({ cpuMicros }) => cpuMicros)),
    calls: median(rounds.map(({ calls }) => calls)),
    residentMb: (rounds.at(-1)?.residentBytes ?? 0) / 1e6,
    ratio: median(rounds.map(({ perSecond }, at) => perSecond / (floor.rounds[at]?.perSecond ?? Number.NaN))),
  };
}
