import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { check } from '../figures.ts';
import { rowOf, type Round, type Row } from '../report.ts';
import { programPath, startContestant, type Program } from '../stage/contestant.ts';
import type { House } from '../stage/house.ts';
import { playRound, takeTurns } from '../stage/round.ts';
import { commandRequest } from './command.ts';

export type AckSize = { rounds: number; commands: number; connections: number };

/**
 * Time from a slash command to its acknowledgement. The bot has all its commands, roles, log and audit and answers `/pay
 * help` in the acknowledgement; Bolt's single listener says the same, in the acknowledgement or through the response_url.
 */
export async function measureAcks(house: House, size: AckSize): Promise<Row[]> {
  const answers = await openAnswers();
  const ours = await startContestant(house.bot('acks'));
  const ANSWER = await helpOf(ours.url, answers.url);
  const peer = (which: string, env: Record<string, string> = {}): Program => ({
    path: programPath('slash/peers.ts'),
    env: { PEER: which, ANSWER, ...env },
    logPath: join(house.folder, `slash-${which}.log`),
  });
  const said = (JSON.parse(ANSWER) as { text: string }).text;
  const field = [
    { name: 'bare node:http (floor)', of: peer('floor'), answer: '', answersEach: 0 },
    { name: 'Bolt, one listener, same answer', of: peer('bolt'), answer: said, answersEach: 0 },
    {
      name: 'Bolt, one listener, same answer by response_url',
      of: peer('bolt', { RESPOND: '1' }),
      answer: '',
      answersEach: 1,
    },
  ];
  const peers = await Promise.all(
    field.map(async ({ of, ...about }) => ({ ...about, contestant: await startContestant(of) })),
  );
  const running = [
    ...peers,
    { name: 'Payops, /pay help, all verbs', answer: said, answersEach: 0, contestant: ours },
  ];
  try {
    const played = await takeTurns(running, size.rounds, async (variant, name) => {
      const { contestant, answersEach, answer, name: who } = variant;
      const before = answers.count();
      const { commands: count, connections } = size;
      const what = { kind: 'command', words: 'help', responseUrl: answers.url, answer } as const;
      const round = await playRound(contestant, { count, connections, name, what });
      const wanted = count * answersEach;
      const waitsUntil = performance.now() + 20_000;
      while (answers.count() - before < wanted && performance.now() < waitsUntil) await rest(10);
      const got = answers.count() - before;
      check(got === wanted, `${who}: ${got} answers to ${count} commands`);
      return round;
    });
    const [floor = [], alone = [], answering = [], own = []] = played;
    const rows = running.map(({ name }, at) => rowOf({ part, name }, played[at] ?? [], floor));
    const ratio = (to: readonly Round[]): number => rowOf({ part, name: '' }, own, to).ratio ?? 0;
    const cpu = (rounds: readonly Round[]): number => rowOf({ part, name: '' }, rounds, floor).cpuMicros ?? 0;
    const [last] = rows.slice(-1);
    const p99Ms = last?.p99Ms ?? Infinity;
    if (last) last.line = { atLeast: 'p99 20 ms', holds: p99Ms <= 20 };
    return [
      ...rows,
      ratioRow('Payops to Bolt with the same answer', ratio(alone), 1),
      ratioRow('Payops to Bolt that answers by response_url', ratio(answering), 2),
      ratioRow('The same by CPU: Bolt with the same answer ÷ Payops', cpu(alone) / cpu(own), 1),
      ratioRow('The same by CPU: Bolt by response_url ÷ Payops', cpu(answering) / cpu(own), 2),
    ];
  } finally {
    await Promise.all(running.map(({ contestant }) => contestant.stop()));
    answers.close();
  }
}

const part = 'slash → ack';

/** The bot's answer to `/pay help`, as Slack gets it. */
async function helpOf(url: string, responseUrl: string): Promise<string> {
  const { path, ...request } = commandRequest({ words: 'help', responseUrl }, 'first');
  const answer = await fetch(`${url}${path}`, request);
  const said = await answer.text();
  check(said.includes('/pay lookup'), `the bot answers /pay help with ${said.slice(0, 200)}`);
  return said;
}

function ratioRow(name: string, value: number, atLeast: number): Row {
  const line = { atLeast: atLeast.toFixed(1), holds: value >= atLeast };
  return { part, name, value, unit: '×', line };
}

/** How fast commands are acknowledged while each waits for a service that never answers. */
export async function measureAcksWhileHanging(house: House, size: AckSize): Promise<Row> {
  const answers = await openAnswers();
  const { payments } = house;
  payments.setFaults({ kind: 'hang' });
  const contestant = await startContestant(house.bot('hanging'));
  try {
    const words = { words: 'lookup ord-{id}', responseUrl: answers.url, answer: '' };
    const what = { kind: 'command', ...words } as const;
    const { commands: count, connections } = size;
    const [rounds = []] = await takeTurns([contestant], size.rounds, (one, name) =>
      playRound(one, { count, connections, name, what, perSecond: 500 }),
    );
    check((payments.stats().faults['hang'] ?? 0) > 0, 'the payments service was never asked');
    const row = rowOf({ part, name: 'Payops, /pay lookup while the service hangs' }, rounds, rounds);
    const p99Ms = row.p99Ms ?? Infinity;
    const { ratio: _ratio, to: _to, ...rest } = row;
    return { ...rest, line: { atLeast: 'p99 20 ms', holds: p99Ms <= 20 } };
  } finally {
    await contestant.stop();
    payments.setFaults();
    answers.close();
  }
}

/** The target of all answers to commands; only counts them. */
async function openAnswers() {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume();
    response.end('ok');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
