import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { Bot } from '../support/bot.ts';
import type { HoldPoint } from '../../src/simulators/holds.ts';
import { openHouse, type House } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { openTcpGate } from '../support/tcp-gate.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: the crash tests on Redis, because redis-server is not installed.');

/** A service that never gives up within a test. */
const patientSender = { retryDelaysMs: Array.from({ length: 200 }, () => 100), webhookTimeoutMs: 60_000 };
const repeatWords = 'May be a repeat';

let redis: RedisServer | undefined;
beforeAll(async () => {
  if (!missing) redis = await startRedis();
});
afterAll(() => redis?.stop());

type Killed = { house: House; bot: Bot; reference: string };
type KillPoint = { at: 'slack' | 'payments'; path: string; point: HoldPoint };

/** Kills the bot once it has answered the event with 2xx and its next request is at exactly that point. */
async function killAt(
  test: TestContext,
  options: Parameters<typeof openHouse>[1],
  kill: KillPoint,
): Promise<Killed> {
  const house = await openHouse(test, { ...options, processes: true });
  const bot = house.bot();
  await house.start(bot);
  const gate = kill.at === 'slack' ? house.slackGate : house.paymentsGate;
  const held = gate.hold(kill.path, kill.point);
  const reference = await house.decline();
  await held;
  await house.until('the event is answered 2xx', () => deliveryOf(house, reference)?.state === 'delivered');
  await bot.kill9();
  return { house, bot, reference };
}

function deliveryOf(house: House, reference: string) {
  return house.payments.state().deliveries.find((delivery) => delivery.orderReference === reference);
}

/** Another bot, which may run in this process, takes over the store; returned when all is done. */
async function settle({ house }: Pick<Killed, 'house'>): Promise<Bot> {
  const next = house.bot(undefined, 'here');
  await house.start(next);
  await house.until('all work is done', async () => (await house.workLeft()) === 0);
  return next;
}

function textsOf(house: House): string[] {
  return house.posts('payAlerts').map((post) => JSON.stringify(post));
}

/** The house's other options; `redisUrl` for a store there. */
function withScopes(scopes: 'all' | [], redisUrl?: string) {
  return {
    workspace: { grantedOptionalScopes: scopes },
    payments: patientSender,
    ...(redisUrl === undefined ? {} : { redisUrl }),
  };
}

/**
 * Processes, since they must die: SIGKILL leaves no time for a last write. Each moment is tested on one of the stores,
 * which share a contract.
 */
describe.concurrent('kill -9', () => {
  it('while a token is requested: the alert is posted once', async (test) => {
    const path = '/v1/auth/token/issue';
    const killed = await killAt(test, withScopes('all'), { at: 'payments', path, point: 'after' });
    await settle(killed);
    expect(textsOf(killed.house)).toEqual([expect.stringContaining(killed.reference)]);
  });

  it('during the look-up: the alert is posted once, with the earlier token', async (test) => {
    const path = '/v1/transactions/accounts/single';
    const killed = await killAt(test, withScopes('all'), { at: 'payments', path, point: 'before' });
    // Usually one; more if a loaded machine answered the first request too late.
    const { tokensIssued } = killed.house.payments.stats();
    expect(tokensIssued).toBeGreaterThan(0);
    await settle(killed);
    expect(textsOf(killed.house)).toEqual([expect.stringContaining(killed.reference)]);
    expect(textsOf(killed.house)[0]).not.toContain(repeatWords);
    expect(killed.house.payments.stats().tokensIssued).toBe(tokensIssued);
  });

  it('before Slack has the post: the alert is posted once, without a repeat mark', async (test) => {
    const path = '/chat.postMessage';
    const killed = await killAt(test, withScopes('all'), { at: 'slack', path, point: 'before' });
    expect(textsOf(killed.house)).toEqual([]);
    await settle(killed);
    expect(textsOf(killed.house)).toEqual([expect.stringContaining(killed.reference)]);
    expect(textsOf(killed.house)[0]).not.toContain(repeatWords);
  });

  it.skipIf(missing)(
    'on Redis, when Slack has the post but its answer is lost: the history shows it, and nothing is repeated',
    async (test) => {
      const path = '/chat.postMessage';
      const killed = await killAt(test, withScopes('all', redis?.url), { at: 'slack', path, point: 'after' });
      const before = textsOf(killed.house);
      expect(before).toEqual([expect.stringContaining(killed.reference)]);
      await settle(killed);
      expect(textsOf(killed.house)).toEqual(before);
    },
  );

  it.skipIf(missing)(
    'on Redis, when the answer is lost and the history is unreadable: the repeat is marked',
    async (test) => {
      const path = '/chat.postMessage';
      const killed = await killAt(test, withScopes([], redis?.url), { at: 'slack', path, point: 'after' });
      await settle(killed);
      const [first, second, ...more] = textsOf(killed.house);
      expect(first).not.toContain(repeatWords);
      expect(second).toContain(repeatWords);
      expect(second).toContain(killed.reference);
      expect(more).toEqual([]);
    },
  );

  it('when the event is stored but its answer is lost: the sender’s retry changes nothing', async (test) => {
    const house = await openHouse(test, { ...withScopes('all'), processes: true });
    const bot = house.bot();
    await house.start(bot);
    const answerHeld = house.webhookGate.hold('/webhooks/payments', 'after');
    const lookUpHeld = house.paymentsGate.hold('/v1/auth/token/issue', 'before');
    const reference = await house.decline();
    await Promise.all([answerHeld, lookUpHeld]);
    await bot.kill9();
    house.webhookGate.cut();
    const next = await settle({ house });
    await house.until('the sender is answered', () => deliveryOf(house, reference)?.state === 'delivered');
    expect(deliveryOf(house, reference)?.attempts).toBeGreaterThan(1);
    expect(next.lines.filter((line) => line.includes('"duplicate"')).length).toBeGreaterThan(0);
    expect(textsOf(house)).toEqual([expect.stringContaining(reference)]);
  });
});

describe.concurrent('kill -9 before the event could be stored', () => {
  it('on SQLite: the sender’s retry delivers it, once', async (test) => {
    const house = await openHouse(test, { processes: true, payments: patientSender });
    const bot = house.bot();
    await house.start(bot);
    // While another process locks the file, nothing can be stored, so nothing is answered 2xx.
    const other = new DatabaseSync(join(house.dataDir, 'payops.sqlite'), { timeout: 20_000 });
    other.exec('begin immediate');
    const reference = await house.decline();
    await house.until('it is under way', () => deliveryOf(house, reference)?.attempts === 1);
    await bot.kill9();
    other.exec('rollback');
    other.close();
    await house.until('the attempt has failed', () => deliveryOf(house, reference)?.lastStatus === 0);
    await settleRepeat(house, reference);
    expect(textsOf(house)).toEqual([expect.stringContaining(reference)]);
  });

  it.skipIf(missing)('on Redis: the sender’s retry delivers it, once', async (test) => {
    const redisGate = await openTcpGate(redis?.port ?? 0);
    test.onTestFinished(() => redisGate.close());
    const redisUrl = `redis://127.0.0.1:${redisGate.port}`;
    const house = await openHouse(test, { processes: true, payments: patientSender, redisUrl });
    const bot = house.bot();
    await house.start(bot);
    await house.until('the store is there', async () => (await fetch(`${bot.url()}/readyz`)).ok);
    const held = redisGate.hold('message:alert:');
    const reference = await house.decline();
    await held;
    // One round of its event loop: an answer given too early would have been sent by now.
    await fetch(`${bot.url()}/healthz`);
    await bot.kill9();
    await house.until('the attempt has failed', () => deliveryOf(house, reference)?.lastStatus === 0);
    await settleRepeat(house, reference);
    expect(textsOf(house)).toEqual([expect.stringContaining(reference)]);
  });
});

async function settleRepeat(house: House, reference: string): Promise<void> {
  await house.start(house.bot(undefined, 'here'));
  await house.until('the event is kept', () => deliveryOf(house, reference)?.state === 'delivered');
  await house.until('all work is done', async () => (await house.workLeft()) === 0);
}
