import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { check } from '../charges/figures.ts';
import { rowOf, type Row } from '../report.ts';
import { openAnswers } from '../stage/answers.ts';
import { programPath, startContestant, type Program } from '../stage/contestant.ts';
import type { House } from '../stage/house.ts';
import { playRound, takeTurns } from '../stage/round.ts';

export type AckSize = { rounds: number; commands: number; connections: number };

/**
 * From a slash command to its acknowledgement. Ours has all its verbs and answers each command through its
 * response_url afterwards, which competes for the same processor; Bolt's one listener is measured with and without that.
 */
export async function measureAcks(house: House, size: AckSize): Promise<Row[]> {
  const answers = await openAnswers();
  const peer = (file: string, env: Record<string, string> = {}): Program => ({
    path: programPath(`slash/${file}.ts`),
    env,
    logPath: join(house.folder, `slash-${file}.log`),
  });
  const field = [
    { name: 'bare node:http (floor)', program: peer('floor'), answersEach: 0 },
    { name: 'Bolt, one listener, acknowledges alone', program: peer('bolt'), answersEach: 0 },
    { name: 'Bolt, one listener, answers too', program: peer('bolt', { RESPOND: '1' }), answersEach: 1 },
    { name: 'Payops, /pay help, all verbs', program: house.bot('acks'), answersEach: 1 },
  ];
  const running = await Promise.all(
    field.map(async (variant) => ({ ...variant, contestant: await startContestant(variant.program) })),
  );
  try {
    const played = await takeTurns(
      running,
      size.rounds,
      async ({ contestant, answersEach, name: who }, name) => {
        const before = answers.count();
        const { commands: count, connections } = size;
        const what = { kind: 'command', words: 'help', responseUrl: answers.url } as const;
        const round = await playRound(contestant, { count, connections, name, what });
        const wanted = count * answersEach;
        const waitsUntil = performance.now() + 20_000;
        // oxlint-disable-next-line no-await-in-loop -- answers come after their acknowledgements
        while (answers.count() - before < wanted && performance.now() < waitsUntil) await rest(10);
        const got = answers.count() - before;
        check(got === wanted, `${who}: ${got} answers to ${count} commands`);
        return round;
      },
    );
    const [floor = [], alone = [], answering = [], ours = []] = played;
    const rows = running.map(({ name }, at) => rowOf({ part: 'slash → ack', name }, played[at] ?? [], floor));
    const part = 'slash → ack';
    const toAlone = rowOf({ part, name: 'Payops ÷ Bolt’s one listener, alone' }, ours, alone).ratio ?? 0;
    const toAnswering = rowOf({ part, name: 'Payops ÷ Bolt' }, ours, answering).ratio ?? 0;
    const [last] = rows.slice(-1);
    if (last) last.line = { atLeast: '', aim: '0.70 of the floor', holds: (last.ratio ?? 0) >= 0.7 };
    return [
      ...rows,
      ratioRow('Payops to Bolt that acknowledges alone', toAlone),
      ratioRow('Payops to Bolt that answers too', toAnswering),
    ];
  } finally {
    await Promise.all(running.map(({ contestant }) => contestant.stop()));
    answers.close();
  }
}

function ratioRow(name: string, value: number): Row {
  const line = { atLeast: '0.95', aim: '', holds: value >= 0.95 };
  return { part: 'slash → ack', name, value, unit: '×', line };
}

/** How soon commands are acknowledged while each needs a service that never answers. */
export async function measureAcksWhileHanging(house: House, size: AckSize): Promise<Row> {
  const answers = await openAnswers();
  const { payments } = house;
  payments.setFaults({ kind: 'hang' });
  const contestant = await startContestant(house.bot('hanging'));
  try {
    const what = { kind: 'command', words: 'lookup ord-{id}', responseUrl: answers.url } as const;
    const { commands: count, connections } = size;
    const [rounds = []] = await takeTurns([contestant], size.rounds, (one, name) =>
      playRound(one, { count, connections, name, what }),
    );
    check((payments.stats().faults['hang'] ?? 0) > 0, 'the payments service was never asked');
    const row = rowOf(
      { part: 'slash → ack', name: 'Payops, /pay lookup while the service hangs' },
      rounds,
      rounds,
    );
    const p99Ms = row.p99Ms ?? Infinity;
    const { ratio: _ratio, to: _to, ...rest } = row;
    return { ...rest, line: { atLeast: 'p99 100 ms', aim: 'p99 20 ms', holds: p99Ms <= 100 } };
  } finally {
    await contestant.stop();
    payments.setFaults();
    answers.close();
  }
}
