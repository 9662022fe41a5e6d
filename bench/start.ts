import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { median } from './figures.ts';
import type { Row } from './report.ts';
import { programPath, startContestant } from './stage/contestant.ts';
import type { House } from './stage/house.ts';

/** Time from launch to the first accepted connection, with the embedded store open; and an idle bot's memory. */
export async function measureStart(house: House, rounds: number): Promise<Row[]> {
  const bare = {
    path: programPath('slash/peers.ts'),
    env: { PEER: 'floor' },
    logPath: join(house.folder, 'bare.log'),
  };
  const bareMs: number[] = [];
  const oursMs: number[] = [];
  let residentBytes = 0;
  for (let round = 0; round <= rounds; round += 1) {
    const floor = await startContestant(bare);
    await floor.stop();
    const ours = await startContestant(house.bot('start'));
    await rest(1_000);
    ({ residentBytes } = ours.usage());
    await ours.stop();
    // The first start fills the compile cache, so don't count it.
    if (round > 0) {
      bareMs.push(floor.readyMs);
      oursMs.push(ours.readyMs);
    }
  }
  const readyMs = median(oursMs);
  const ratio = median(oursMs.map((ms, at) => ms / (bareMs[at] ?? Number.NaN)));
  const residentMb = residentBytes / 1e6;
  return [
    {
      part: 'start',
      name: 'start to ready, embedded store open',
      value: readyMs,
      unit: 'ms',
      ratio,
      to: 'a bare server',
      line: { atLeast: '1000 ms at most', holds: readyMs <= 1_000 },
    },
    {
      part: 'memory',
      name: 'resident, idle',
      value: residentMb,
      unit: 'MB',
      line: { atLeast: '130 MB at most', holds: residentMb <= 130 },
    },
  ];
}
