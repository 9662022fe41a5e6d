import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { median } from '../figures.ts';
import type { Row } from '../report.ts';
import { programPath } from '../stage/contestant.ts';
import { openService } from '../stage/house.ts';
import type { LookUpRound } from './look-ups.ts';

const run = promisify(execFile);

/**
 * A look-up with all that follows, compared with the bare call through undici's pool; the service runs in this process.
 */
export async function measureLookUps(size: { rounds: number; each: number }): Promise<Row[]> {
  const { payments, accessToken } = await openService();
  try {
    const env = {
      SERVICE_URL: payments.url,
      ACCOUNT_ID: payments.credentials.accountId,
      ACCESS_TOKEN: accessToken,
      ROUNDS: String(size.rounds),
      EACH: String(size.each),
    };
    const { stdout } = await run(process.execPath, [programPath('lookup/look-ups.ts')], { env });
    const rounds = JSON.parse(stdout) as LookUpRound[];
    const ratio = median(rounds.map(({ floorMs, oursMs }) => floorMs / oursMs));
    const part = 'look-up';
    return [
      {
        part,
        name: 'undici’s pool, bare (floor)',
        value: median(rounds.map(({ floorMs }) => floorMs)),
        unit: 'ms',
      },
      {
        part,
        name: 'Payops: call, judge, message',
        value: median(rounds.map(({ oursMs }) => oursMs)),
        unit: 'ms',
        p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
        ratio,
        to: 'the floor’s pace',
        line: { atLeast: '0.28 ×', holds: ratio >= 0.28 },
      },
    ];
  } finally {
    await payments.close();
  }
}
