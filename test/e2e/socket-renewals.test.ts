import { setTimeout as rest } from 'node:timers/promises';
import { expect, it, type TestContext } from 'vitest';
import { countOf, itInFull } from '../support/counts.ts';
import { openDesk, type Desk, type Message } from '../support/desk.ts';

// With PAYOPS_FULL_COUNTS=1: a thousand presses over fifty renewals.

const presses = countOf({ full: 1_000, share: 100 });
/** Short enough that some presses come while a connection is being renewed. */
const pressEveryMs = 20;
/** Simulates the time that a new connection takes. */
const openingMs = 100;
const ghosts = 5;

async function opens(test: TestContext, renewedLinesGetMore = false): Promise<[Desk, Message]> {
  const desk = await openDesk(test, {
    env: { SLACK_MODE: 'socket', SLACK_APP_TOKEN: 'xapp-playground-app-token', SLACK_SIGNING_SECRET: '' },
    workspace: { quirks: { renewedLinesGetMore } },
  });
  const { workspace, slackGate, until } = desk.house;
  workspace.connect(undefined);
  await until('both lines are connected', () => workspace.openSockets() === 2);
  const answer = await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
  // The command's audit entry comes a moment after its answer.
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

/** How many presses failed for the person, while one or all connections are renewed every twenty presses. */
async function pressesThrough(desk: Desk, answer: Message, which: 'oldest' | 'all'): Promise<number> {
  const failed: string[] = [];
  const pressing = [];
  for (let press = 0; press < presses; press += 1) {
    if (press % 20 === 10) desk.house.workspace.sockets.disconnect('refresh_requested', which);
    const pressed = desk.presses('agent', 'Look up', answer);
    pressing.push(pressed.catch((error: unknown) => failed.push(String(error))));
    await rest(pressEveryMs);
  }
  await Promise.all(pressing);
  const { length: lost } = failed;
  await eachOnce(desk, presses - lost, presses);
  console.log(
    `${presses} presses over ${presses / 20} renewals (${which}): ${lost} lost`,
    ...new Set(failed),
  );
  return lost;
}

/**
 * The first entry is the command's; entries come a moment after answers. If Slack reports a press as failed, only its
 * acknowledgement may have been lost.
 */
async function eachOnce(desk: Desk, least: number, most: number): Promise<void> {
  await desk.house.until('all are on record', () => answered(desk).length >= least + 1);
  await desk.settled();
  expect(new Set(answered(desk))).toEqual(new Set(['answered']));
  expect(answered(desk).length).toBeLessThanOrEqual(most + 1);
}

it('loses no press and runs none twice while Slack renews a connection', async (test) => {
  const [desk, answer] = await opens(test);
  expect(await pressesThrough(desk, answer, 'oldest')).toBe(0);
});

it('loses no press while Slack renews all connections at once and uses the old ones until it closes them', async (test) => {
  const [desk, answer] = await opens(test, true);
  expect(await pressesThrough(desk, answer, 'all')).toBe(0);
});

it('loses only the presses that Slack gives to connections of dead processes, and reports these connections', async (test) => {
  const [desk, answer] = await opens(test);
  const { sockets } = desk.house.workspace;
  sockets.setGhosts(ghosts);
  const lost = await pressesThrough(desk, answer, 'oldest');
  console.log(`  ${ghosts} ghosts beside 2 lines; given to them: ${sockets.unread()}`);
  expect(lost).toBe(sockets.unread() + sockets.cutOff());
  expect(sockets.unread()).toBeGreaterThan(0);
  const ready = await (await fetch(`${desk.bot.url()}/readyz`)).text();
  expect(ready).toContain(`Slack counts ${ghosts + 2} Socket Mode connections, and the bot has 2`);
});

/** Slack's time to notice a dead network; the bot takes nine seconds. */
const foundOutMs = 12_000;

itInFull(
  'loses only the presses that Slack gives to a connection without network, until both sides notice',
  async (test) => {
    const [desk, answer] = await opens(test);
    const { workspace, until } = desk.house;
    let lost = 0;
    let pressed = 0;
    for (let time = 0; time < 5; time += 1) {
      await until('both lines are connected', () => workspace.openSockets() === 2);
      workspace.sockets.halfOpen(foundOutMs);
      const pressing = [];
      for (const untilMs = performance.now() + foundOutMs + 1_000; performance.now() < untilMs;) {
        pressing.push(desk.presses('agent', 'Look up', answer).catch(() => (lost += 1)));
        pressed += 1;
        await rest(10 * pressEveryMs);
      }
      await Promise.all(pressing);
    }
    await eachOnce(desk, pressed - lost, pressed);
    console.log(
      `${pressed} presses over 5 half-open lines: ${lost} lost, given to them ${workspace.sockets.unread()}`,
    );
    expect(lost).toBe(workspace.sockets.unread() + workspace.sockets.cutOff());
  },
);
