import { setTimeout as rest } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { shareDesk, type Message } from '../support/desk.ts';

const at = shareDesk({
  env: { SLACK_MODE: 'socket', SLACK_APP_TOKEN: 'xapp-playground-app-token', SLACK_SIGNING_SECRET: '' },
  workspace: { ackTimeoutMs: 1_000 },
});
/** One after the other, some while a line is away. */
const pressEveryMs = 20;
/** What the way to Slack and back takes when a line is renewed. */
const openingMs = 100;

let answer: Message;

const answered = (): unknown[] =>
  at()
    .bot.lines.filter((line) => line.includes('"Asked and answered"'))
    .map((line) => (JSON.parse(line) as { result: unknown }).result);

beforeAll(async () => {
  const { workspace, slackGate, until } = at().house;
  workspace.connect(undefined);
  await until('both lines are connected', () => workspace.openSockets() === 2);
  answer = await at().asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
  // What was typed is on record a moment later than its answer.
  await until('it is on record', () => answered().length === 1);
  async function delayNext(): Promise<void> {
    const held = await slackGate.hold('/api/apps.connections.open', 'before');
    setTimeout(() => held.release(), openingMs);
    await delayNext();
  }
  void delayNext();
});

/** Presses the button so often, while `during` does something to the lines, and says how many of them Slack brought nobody. */
async function lostOf(presses: number, during: (press: number) => void): Promise<number> {
  let lost = 0;
  const pressing = [];
  for (let press = 0; press < presses; press += 1) {
    during(press);
    pressing.push(
      at()
        .presses('agent', 'Refresh', answer)
        .catch(() => (lost += 1)),
    );
    await rest(pressEveryMs);
  }
  await Promise.all(pressing);
  return lost;
}

it('loses no press while Slack renews the lines, and does none of them twice', async () => {
  const { sockets } = at().house.workspace;
  const lost = await lostOf(200, (press) => {
    if (press % 20 === 10) sockets.disconnect('refresh_requested', 'oldest');
  });
  expect(lost).toBe(0);
  await at().settled();
  expect(answered()).toEqual(Array.from({ length: 201 }, () => 'answered'));
});
