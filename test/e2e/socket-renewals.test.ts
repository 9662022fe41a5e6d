import { setTimeout as rest } from 'node:timers/promises';
import { expect, it, type TestContext } from 'vitest';
import { openDesk, type Desk, type Message } from '../support/desk.ts';

/** One after the other, some while a line is away. */
const pressEveryMs = 20;
/** What the way to Slack and back takes when a line is renewed. */
const openingMs = 100;

async function opens(test: TestContext, renewedLinesGetMore: boolean): Promise<[Desk, Message]> {
  const desk = await openDesk(test, {
    env: { SLACK_MODE: 'socket', SLACK_APP_TOKEN: 'xapp-playground-app-token', SLACK_SIGNING_SECRET: '' },
    workspace: { ackTimeoutMs: 1_000, quirks: { renewedLinesGetMore } },
  });
  const { workspace, slackGate, until } = desk.house;
  workspace.connect(undefined);
  await until('both lines are connected', () => workspace.openSockets() === 2);
  const answer = await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
  // What was typed is on record a moment later than its answer.
  await until('it is on record', () => answered(desk).length === 1);
  async function delayNext(): Promise<void> {
    const held = await slackGate.hold('/api/apps.connections.open', 'before');
    setTimeout(() => held.release(), openingMs);
    await delayNext();
  }
  void delayNext();
  return [desk, answer];
}

function answered(desk: Desk): unknown[] {
  return desk.bot.lines
    .filter((line) => line.includes('"Asked and answered"'))
    .map((line) => (JSON.parse(line) as { result: unknown }).result);
}

async function presses(
  test: TestContext,
  which: 'oldest' | 'all',
  renewedLinesGetMore: boolean,
): Promise<void> {
  const [desk, answer] = await opens(test, renewedLinesGetMore);
  let lost = 0;
  const pressing = [];
  for (let press = 0; press < 100; press += 1) {
    if (press % 20 === 10) desk.house.workspace.sockets.disconnect('refresh_requested', which);
    pressing.push(desk.presses('agent', 'Look up', answer).catch(() => (lost += 1)));
    await rest(pressEveryMs);
  }
  await Promise.all(pressing);
  expect(lost).toBe(0);
  await desk.settled();
  expect(answered(desk)).toEqual(Array.from({ length: 101 }, () => 'answered'));
}

it('loses no press and does none twice while Slack renews a line', async (test) => {
  await presses(test, 'oldest', false);
  expect.assertions(2);
});

it('loses none either where Slack asks for both at once and uses them until they are closed', async (test) => {
  await presses(test, 'all', true);
  expect.assertions(2);
});
