import { setTimeout as rest } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { Bot } from '../support/bot.ts';
import { bySocket, openHouse, type House, type HouseOptions } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import type { Sent } from '../support/slash.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: replicas on one Redis, because redis-server is not installed.');

/** Pairs of a failure and a success; each channel takes one a second. */
const pairs = 4;

// Signed requests choose the replica, which needs HTTP mode.
describe.skipIf(missing || bySocket)('replicas on one Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  async function openReplicas(
    test: TestContext,
    options: HouseOptions,
  ): Promise<{ house: House; two: [Bot, Bot] }> {
    const house = await openHouse(test, {
      redisUrl: redis.url,
      workspace: { grantedOptionalScopes: 'all' },
      env: { PAYMENTS_TIMEOUT_SECONDS: '5', WORK_LEASE_SECONDS: '45' },
      ...options,
    });
    const two: [Bot, Bot] = [house.bot(), house.bot()];
    await Promise.all(two.map((bot) => house.start(bot)));
    return { house, two };
  }

  it.concurrent(`post each of ${2 * pairs} events once and in order, however often and to whichever replica it comes; a third replica changes nothing`, async (test) => {
    const { house, two } = await openReplicas(test, {});
    const [one, other] = two;
    house.sendEventsTo([one, other, one, other]);
    const failed: string[] = [];
    const succeeded: string[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      failed.push(await house.decline());
      succeeded.push(await house.approve({ customerEmail: 'ada.obi@example.com' }));
      await house.payments.settled();
    }
    await house.until('work is under way', () => house.posts('payAlerts').length > 0);
    const third = house.bot();
    await third.start();
    await house.until('all work is done', async () => (await house.workLeft()) === 0);

    expect(referencesIn(house, 'payAlerts')).toEqual(failed);
    expect(referencesIn(house, 'general')).toEqual(succeeded);
    const attempts = house.exchanges().filter(({ path }) => path.endsWith('/chat.postMessage'));
    expect(attempts.map(({ status }) => status)).toEqual(Array.from({ length: 2 * pairs }, () => 200));
    expect(kept([one, other], 'new')).toBe(2 * pairs);
    expect(kept([one, other], 'duplicate')).toBe(6 * pairs);

    const answers = await Promise.all([one, other, third].map((bot) => house.command(bot, 'ORDER-1001')));
    await house.until('all are answered', () => answers.every((sent) => sent.answers.length > 0));
    expect(answers.every(isPaid)).toBe(true);
    expect(house.payments.stats().tokensIssued).toBe(1);
    expect(house.exchanges().filter(({ status }) => status === 401)).toEqual([]);
  });

  it.concurrent('outlive their shared token without a failed look-up, and request few new ones', async (test) => {
    const { house, two } = await openReplicas(test, { payments: { tokenLifetimeMs: 3_000 } });
    const startedAt = performance.now();
    const sent: Sent[] = [];
    while (house.payments.stats().tokensIssued < 3) {
      const wave = await Promise.all([...two, ...two, ...two].map((bot) => house.command(bot, 'ORDER-1001')));
      await house.until('the wave is answered', () => wave.every(({ answers }) => answers.length > 0));
      sent.push(...wave);
      await rest(50);
    }
    const elapsedMs = performance.now() - startedAt;
    expect(sent.filter((one) => !isPaid(one)).map(({ answers }) => answers)).toEqual([]);
    // A token is valid for at least a second, and one more may be requested if the first was still missing.
    expect(house.payments.stats().tokensIssued).toBeLessThanOrEqual(Math.ceil(elapsedMs / 1_000) + 1);
    console.log(`${sent.length} look-ups over ${house.payments.stats().tokensIssued} tokens, none failed`);
  });
});

function referencesIn(house: House, channel: 'payAlerts' | 'general'): string[] {
  const alerts = house.posts(channel).filter(({ threadTs }) => threadTs === undefined);
  return alerts.map(({ text }) => /SUB-\d+/.exec(text)?.[0] ?? text);
}

function kept(bots: readonly Bot[], result: string): number {
  return bots.flatMap(({ lines }) => lines).filter((line) => line.includes(`"result":"${result}"`)).length;
}

function isPaid({ answers }: Sent): boolean {
  return answers.at(-1)?.includes('Paid (confirmed)') === true;
}
