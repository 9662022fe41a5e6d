import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readOutboxRecord, writeOutboxRecord } from '../../src/operations/outbox/outbox.ts';
import { deliverAgainId } from '../../src/slack/undelivered-message.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { openChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type House } from '../support/house.ts';

const wrong = 'C0NOWHERE1';
const hourMs = 3_600_000;

type Part = { name: string; state: string; detail?: string; fix?: string };

async function part(url: string, name: string): Promise<Part | undefined> {
  const { parts } = (await (await fetch(`${url}/readyz`)).json()) as { parts: Part[] };
  return parts.find((one) => one.name === name);
}

/** As if the bot had been refused for so long already. */
async function age(house: House, ms: number): Promise<void> {
  const store = openSqliteStore({ path: join(house.dataDir, 'payops.sqlite'), now: () => Date.now() });
  for (const key of await house.storeKeys('outbox:alert:')) {
    const entry = await store.read(key);
    if (!entry) continue;
    const record = readOutboxRecord(entry.value);
    const { refused, receivedAtMs } = record;
    if (!refused) continue;
    const aged = {
      ...record,
      receivedAtMs: receivedAtMs - ms,
      refused: { ...refused, sinceMs: refused.sinceMs - ms },
    };
    await store.write(entry, writeOutboxRecord(aged), { delayMs: 0 });
  }
  await store.close();
}

function point(house: House, from: string, to: string): void {
  writeFileSync(house.policyFile, readFileSync(house.policyFile, 'utf8').replaceAll(from, to));
}

/** A running bot, and one alert that it has given up, for a channel that does not exist. */
async function giveUpOne(test: Parameters<typeof openHouse>[0]) {
  const house = await openHouse(test, { workspace: { grantedOptionalScopes: 'all' } });
  point(house, house.workspace.ids.channels.payAlerts, wrong);
  const bot = house.bot();
  await house.start(bot);
  expect(await part(bot.url(), 'undelivered')).toEqual({ name: 'undelivered', state: 'ok' });
  const reference = await house.decline();
  await house.until('it was refused', async () => (await part(bot.url(), 'alerts'))?.state === 'degraded');
  await bot.stop();
  await age(house, 25 * hourMs);
  await house.start(bot);
  await house.until(
    'it is given up',
    async () => (await part(bot.url(), 'undelivered'))?.state === 'degraded',
  );
  return { house, bot, reference };
}

/** The channel exists now, by the settings that the bot reads when it starts. */
async function mend(house: House, bot: Awaited<ReturnType<typeof giveUpOne>>['bot']): Promise<void> {
  await bot.stop();
  point(house, wrong, house.workspace.ids.channels.payAlerts);
  await house.start(bot);
}

/** The program that `npm run redrive` starts, with the very settings of the bot. */
async function redrive(house: House, ...words: string[]): Promise<string> {
  const command = ['src/main.ts', 'redrive', ...words];
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: house.settings() });
  return stdout;
}

describe.concurrent('alerts for a channel that Slack refuses for a day', () => {
  it('are told by health and to the operators, listed in Slack, and delivered once by the button', async (test) => {
    const { house, bot, reference } = await giveUpOne(test);
    expect(await part(bot.url(), 'repeats')).toMatchObject({ state: 'ok', detail: 'found by history' });
    expect(await part(bot.url(), 'undelivered')).toMatchObject({
      detail: `1 undelivered for ${wrong}: channel_not_found`,
      fix: expect.stringContaining(`Check the channel id ${wrong} in payops.yml`),
    });
    expect(await (await fetch(`${bot.url()}/metrics`)).text()).toContain('payops_undelivered_messages 1');
    await house.until('the operators are told', () => house.posts('payOps').length === 1);
    expect(JSON.stringify(house.posts('payOps'))).toContain('/pay undelivered');

    await mend(house, bot);
    const dialogue = openChargeDialogue(house);
    await house.type('onCall', '/pay undelivered');
    await house.until('it is listed', () => house.seenBy('onCall').length > 0);
    expect(house.seenBy('onCall')[0]?.text).toContain('One message could not be delivered');
    await dialogue.pressInMessage('onCall', deliverAgainId);
    await house.until('it is delivered', () => house.posts('payAlerts').length === 1);

    expect(await redrive(house, '--channel', wrong)).toContain('Nothing is undelivered');
    expect(house.posts('payAlerts').map(({ text }) => text)).toEqual([expect.stringContaining(reference)]);
    expect(await part(bot.url(), 'undelivered')).toEqual({ name: 'undelivered', state: 'ok' });
    expect(house.posts('payOps')).toHaveLength(1);
  });

  it('are delivered by the running bot, once, when the command line has them delivered again', async (test) => {
    const { house, bot, reference } = await giveUpOne(test);
    await mend(house, bot);
    expect(house.posts('payAlerts')).toEqual([]);
    expect(await redrive(house)).toMatch(
      new RegExp(`^One message is on the way again.*\n  ${wrong}: 1$`, 'm'),
    );
    await house.until('it is delivered', () => house.posts('payAlerts').length === 1);
    expect(await redrive(house)).toContain('Nothing is undelivered');
    await house.until('health says so', async () => (await part(bot.url(), 'undelivered'))?.state === 'ok');
    expect(house.posts('payAlerts').map(({ text }) => text)).toEqual([expect.stringContaining(reference)]);
  });
});
