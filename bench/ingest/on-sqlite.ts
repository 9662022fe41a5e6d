import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { check, median } from '../figures.ts';
import { rowOf, type Row } from '../report.ts';
import { startContestant, type Program } from '../stage/contestant.ts';
import type { House } from '../stage/house.ts';
import { playRound, takeTurns } from '../stage/round.ts';
import type { IngestSize } from './on-redis.ts';

/** The bot on its embedded store (WAL, every answer after a sync), each turn next to the disk's own speed at that time. */
export async function measureIngestOnSqlite(house: House, size: IngestSize): Promise<Row[]> {
  const part = 'ingest on SQLite';
  const program = house.bot('sqlite');
  const contestant = await startContestant(program);
  const syncs: number[] = [];
  let sent = 0;
  try {
    const [rounds = []] = await takeTurns([contestant], size.rounds, async (one, name) => {
      syncs.push(syncsPerSecond(join(house.folder, 'syncs')));
      const what = { kind: 'payment_failed' } as const;
      const { connections } = size;
      const round = await playRound(one, { count: size.events, connections, name, what });
      sent += size.events;
      const found = countRecords(program, 'message:alert:');
      check(found === sent, `SQLite: ${found} records of ${sent} events`);
      return round;
    });
    syncs.shift();
    const row = rowOf({ part, name: 'Payops, failures (told)' }, rounds, []);
    const ratio = median(rounds.map(({ perSecond }, at) => perSecond / (syncs[at] ?? Number.NaN)));
    const holds = row.value >= 500 && (row.p99Ms ?? Infinity) <= 300;
    return [
      { part, name: 'the disk’s own fsyncs', value: median(syncs), unit: '/s' },
      {
        ...row,
        ratio,
        to: 'the disk’s fsyncs',
        line: { atLeast: '500/s, p99 300 ms', holds },
      },
    ];
  } finally {
    await contestant.stop();
  }
}

/** Writes 4 KB at a time with a sync, for half a second. */
function syncsPerSecond(path: string): number {
  const file = openSync(path, 'w');
  const page = Buffer.alloc(4_096);
  const startedAt = performance.now();
  let count = 0;
  while (performance.now() - startedAt < 500) {
    writeSync(file, page);
    fdatasyncSync(file);
    count += 1;
  }
  closeSync(file);
  return count / ((performance.now() - startedAt) / 1_000);
}

/** How many of its keys begin with one of these. */
export function countRecords(program: Program, ...begins: readonly string[]): number {
  const path = join(program.env['DATA_DIR'] ?? '', 'payops.sqlite');
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    const where = begins.map(() => 'key glob ?').join(' or ');
    const counted = db.prepare(`select count(*) as n from entries where ${where}`);
    return Number(counted.get(...begins.map((begin) => `${begin}*`))?.['n']);
  } finally {
    db.close();
  }
}
