import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, type TestContext } from 'vitest';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Bot } from '../support/bot.ts';
import { openHouse, type House } from '../support/house.ts';

const dayMs = 86_400_000;

/** A time in Lagos, an hour ahead of UTC all year, that does not come by itself while the test runs. */
function farFromNow(): string {
  return `${String((new Date().getUTCHours() + 1 + 12) % 24).padStart(2, '0')}:00`;
}

/** The whole bot in this process, so that its days pass when the test says so. */
function openApp(test: TestContext, house: House) {
  const result = readConfig(house.settings());
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  const { config } = result;
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  async function start() {
    const app = createApp({ config, log: () => undefined, now });
    const port = await app.start();
    let stopped: Promise<unknown> | undefined;
    const stop = () => (stopped ??= app.stop());
    test.onTestFinished(async () => void (await stop()));
    house.sendEventsTo([{ url: () => `http://127.0.0.1:${port}` } as Bot]);
    return { stop };
  }
  return {
    start,
    passDay() {
      aheadMs += dayMs;
    },
  };
}

describe('daily_summary of payops.yml', () => {
  it('tells its channel once a day what came, over a restart too', async (test) => {
    const house = await openHouse(test);
    const { channels } = house.workspace.ids;
    const summary = `daily_summary:\n  - { channel: ${channels.payOps}, at: "${farFromNow()}", tz: Africa/Lagos }\n`;
    writeFileSync(house.policyFile, `${readFileSync(house.policyFile, 'utf8')}${summary}`);
    const world = openApp(test, house);
    const first = await world.start();
    await house.decline();
    await house.decline();
    await house.approve();
    await house.until(
      'all three are told',
      () => house.posts('payAlerts').length === 2 && house.posts('general').length === 1,
    );
    expect(house.posts('payOps')).toEqual([]);

    world.passDay();
    await house.until('the day is told', () => house.posts('payOps').length === 1);
    const [told] = house.posts('payOps');
    expect(told?.text).toContain('2 failed charges');
    expect(told?.text).toContain('1 successful payment');
    const shown = JSON.stringify(told?.blocks);
    expect(shown).toContain('10,000.00');
    expect(shown).toContain('Insufficient funds');

    await first.stop();
    await world.start();
    world.passDay();
    await house.until('the next day is told', () => house.posts('payOps').length > 1);
    expect(house.posts('payOps').map(({ text }) => text)).toEqual([
      told?.text,
      expect.stringContaining('0 failed charges'),
    ]);
  });
});
