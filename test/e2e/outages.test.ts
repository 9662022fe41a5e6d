import { describe, expect, it, type TestContext } from 'vitest';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import type { Bot } from '../support/bot.ts';
import { calmMs } from '../support/calm-ms.ts';
import { openHouse, type House } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { redisOf, type RedisServer } from '../support/redis-server.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: outages of Redis, because redis-server is not installed.');

/** A sender must not wait longer for its 503. */
const refusedWithinMs = 2_500;
const oftenRetrying = { retryDelaysMs: Array.from({ length: 200 }, () => 200) };

describe('without Slack', () => {
  it('at start: starts, says so, accepts events, and posts them once Slack is back', async (test) => {
    const house = await openHouse(test, { clock: true });
    house.workspace.setFaults({ kind: 'down' });
    const bot = house.bot();
    await house.start(bot);
    await house.until('it has tried', () => bot.lines.some((line) => line.includes('Slack does not answer')));
    expect(await readiness(bot.url())).toMatchObject({
      status: 200,
      state: 'degraded',
      parts: expect.arrayContaining([
        expect.objectContaining({
          name: 'slack',
          state: 'degraded',
          detail: expect.stringContaining('Slack'),
        }),
      ]),
    });
    const reference = await house.decline();
    await house.payments.settled();
    expect(house.payments.state().deliveries.map(({ state }) => state)).toEqual(['delivered']);
    await house.until('the post has been tried', () => callsTo(house, '/chat.postMessage').length > 0);
    house.workspace.setFaults();
    await house.until('the alert is told', async () => (await house.workLeft()) === 0);
    expect(house.posts('payAlerts').map(({ text }) => text)).toEqual([expect.stringContaining(reference)]);
    await house.until('it is well again', async () => (await readiness(bot.url())).state === 'ok');
  });
});

describe('without the payments service', () => {
  it('posts an alert as unchecked after a while, and answers a look-up with words', async (test) => {
    const house = await openHouse(test, { clock: true });
    const bot = house.bot();
    await house.start(bot);
    await house.payments.act({ kind: 'set_mode', mode: 'error_500' });
    const reference = await house.decline();
    await house.type('agent', '/pay ORDER-1001');
    await house.until('the agent is answered', () => house.seenBy('agent').length === 1);
    expect(house.seenBy('agent')[0]?.text).toContain('The payments service reports a fault of its own');
    expect(await readiness(bot.url())).toMatchObject({
      state: 'degraded',
      parts: expect.arrayContaining([expect.objectContaining({ name: 'payments', state: 'degraded' })]),
    });
    await house.until('the alert is told', () => house.posts('payAlerts').length === 1);
    const alert = JSON.stringify(house.posts('payAlerts')[0]);
    for (const words of [reference, 'Event says failed, not checked', 'look it up before you act']) {
      expect(alert).toContain(words);
    }
  });

  it('when it is down: says that it cannot be reached', async (test) => {
    const house = await openHouse(test, { clock: true });
    const bot = house.bot();
    await house.start(bot);
    await house.paymentsGate.close();
    await house.type('agent', '/pay ORDER-1001');
    await house.until('the agent is answered', () => house.seenBy('agent').length === 1);
    expect(house.seenBy('agent')[0]?.text).toContain('The payments service can’t be reached');
  });
});

async function openRedisHouse(test: TestContext): Promise<{ house: House; redis: RedisServer }> {
  const redis = await redisOf(test);
  // Without the store a token is requested unshared, after the store's deadline.
  const env = { PAYMENTS_TIMEOUT_SECONDS: '3', SLACK_TIMEOUT_SECONDS: '1', WORK_LEASE_SECONDS: '7' };
  const house = await openHouse(test, { redisUrl: redis.url, payments: oftenRetrying, env });
  return { house, redis };
}

describe.skipIf(missing).concurrent('without Redis', () => {
  it('at start: serves people, refuses events in time, and is whole within 3 s of Redis’s start', async (test) => {
    const { house, redis } = await openRedisHouse(test);
    await redis.kill9();
    const bot = house.bot();
    await house.start(bot);
    expect((await fetch(`${bot.url()}/healthz`)).status).toBe(200);
    expect(await readiness(bot.url())).toMatchObject({
      status: 503,
      parts: expect.arrayContaining([expect.objectContaining({ name: 'store', state: 'down' })]),
    });
    const reference = await house.decline();
    await house.until('an event came', () => house.webhookGate.passed.length > 0);
    expectRefused(await deliver(house, bot.url()));

    await house.type('agent', '/pay help');
    await house.type('agent', '/pay ORDER-1001');
    const isHelped = () => house.seenBy('agent').some(({ text }) => text.includes('/pay'));
    await house.until('the agent has help and verdict', () => isHelped() && paid(house));

    await redis.restart();
    await isReadyInTime(house, bot, 'Redis’s start');
    await house.payments.settled();
    await house.until('all work is done', async () => (await house.workLeft()) === 0);
    expect(house.posts('payAlerts').map(({ text }) => text)).toEqual([expect.stringContaining(reference)]);
  });

  it('when it stops answering: refuses every event in time, loses none, and is ready within 3 s', async (test) => {
    const { house, redis } = await openRedisHouse(test);
    const bot = house.bot();
    await house.start(bot);
    await house.until('it is ready', async () => (await readiness(bot.url())).status === 200);
    redis.pause();
    const reference = await house.decline();
    await house.until('an event came', () => house.webhookGate.passed.length > 0);
    expectRefused(await deliver(house, bot.url()));
    // By now the silent connection is given up, and a new one is silent too.
    expectRefused(await deliver(house, bot.url()));
    await house.type('agent', '/pay ORDER-1001');
    await house.until('the agent has the verdict', () => paid(house));
    redis.resume();
    await isReadyInTime(house, bot, 'it goes on');
    await house.payments.settled();
    await house.until('all work is done', async () => (await house.workLeft()) === 0);
    expect(house.posts('payAlerts').map(({ text }) => text)).toEqual([expect.stringContaining(reference)]);
  });

  it('is refused at start if it may delete records, with the fix', async (test) => {
    const redis = await redisOf(test, '--maxmemory-policy', 'allkeys-lru');
    const house = await openHouse(test, { redisUrl: redis.url });
    const bot = house.bot();
    await expect(house.start(bot)).rejects.toThrow('Set maxmemory-policy to noeviction');
    expect(bot.lines.join()).not.toContain('Payops listens');
  });
});

type Readiness = { status: number; state: string; parts: unknown[] };

async function readiness(url: string): Promise<Readiness> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, ...((await response.json()) as Omit<Readiness, 'status'>) };
}

async function isReadyInTime(house: House, bot: Bot, after: string): Promise<void> {
  const isReady = async () => (await readiness(bot.url())).status === 200;
  const tookMs = await calmMs(() => house.until('it is ready', isReady));
  console.log(`ready ${Math.round(tookMs)} ms after ${after}`);
  expect(tookMs).toBeLessThan(3_000);
}

function callsTo(house: House, method: string): unknown[] {
  return house.exchanges().filter(({ path }) => path.endsWith(method));
}

function paid(house: House): boolean {
  return house.seenBy('agent').some(({ text }) => text.includes('Paid (confirmed)'));
}

type Delivered = Awaited<ReturnType<typeof deliver>>;

/** Sends the service's newest event again, and measures the answer. */
async function deliver(
  { payments, webhookGate }: House,
  url: string,
): Promise<{ status: number; retryAfter: string | null; tookMs: number }> {
  const { request = '' } = webhookGate.passed.at(-1) ?? {};
  const body = request.slice(request.indexOf('\n') + 1);
  const signature = signWebhook(body, payments.credentials.webhookSecret);
  const headers = { 'content-type': 'application/json', [signatureHeader]: signature };
  const answer: { status: number; retryAfter: string | null } = { status: 0, retryAfter: null };
  const tookMs = await calmMs(async () => {
    const response = await fetch(`${url}/webhooks/payments`, { method: 'POST', body, headers });
    await response.text();
    Object.assign(answer, { status: response.status, retryAfter: response.headers.get('retry-after') });
  });
  return { ...answer, tookMs };
}

function expectRefused({ tookMs, ...answer }: Delivered): void {
  expect(answer).toEqual({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) });
  expect(tookMs).toBeLessThan(refusedWithinMs);
}
