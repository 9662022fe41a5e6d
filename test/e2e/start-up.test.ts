import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import { deployedBot, runToEnd, type BotRun } from '../support/bot.ts';
import { openHouse, type House } from '../support/house.ts';

/** A port that is in use: a bot that opened it would say so. */
async function takePort(test: TestContext): Promise<number> {
  const server: Server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A refusal in words for a person: status 1, lines on stderr, no stack trace. */
function expectWords({ code, stdout, stderr }: BotRun): void {
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Payops cannot start\./);
  expect(stderr).not.toMatch(/\n\s+at |node:internal|Error:/);
  expect(stdout).not.toContain('"stack"');
  expect(stdout).not.toContain('Payops listens');
}

function without(settings: Record<string, string>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));
}

/** Processes where exit code, output or signals are tested. */
describe.concurrent('a bot that cannot start', () => {
  it('says which Node it needs if an older Node, without TypeScript, runs it', async () => {
    const older = spawn(process.execPath, ['--no-strip-types', deployedBot], { env: {} });
    const stderr = await text(older.stderr);
    expect(stderr).toMatch(
      /^Payops cannot start\. Node [\d.]+ is too old to run Payops\. .*npm start.*Node 24.*\n$/,
    );
    expect(older.exitCode ?? (await once(older, 'exit'))[0]).toBe(1);
  });

  it('names every problem of its settings at once, without secrets, and opens no port', async (test) => {
    const house = await openHouse(test);
    const port = await takePort(test);
    const policy = `channels:\n  alertz: ${house.workspace.ids.channels.payAlerts}\nrolls: {}\n`;
    writeFileSync(house.policyFile, policy);
    const misspelt = 'signing-secret-canary-81642';
    const settings = house.settings({
      PORT: String(port),
      SLACK_SIGNIN_SECRET: misspelt,
      SLACK_BOT_TOKEN: 'not-a-token-canary-5150',
      PAYMENTS_TIMEOUT_SECONDS: 'soon',
      PAYMENTS_ACCOUNT_ID: 'shop',
      WEBHOOK_SIGNATURE_PRESET: 'hmac',
    });
    const run = await runToEnd(without(settings, 'SLACK_SIGNING_SECRET'));
    expectWords(run);
    for (const words of [
      'SLACK_SIGNIN_SECRET is not a setting. Did you mean SLACK_SIGNING_SECRET?',
      'SLACK_BOT_TOKEN must be a Slack bot token',
      'PAYMENTS_TIMEOUT_SECONDS must be a whole number from 1 to 25',
      'PAYMENTS_ACCOUNT_ID must be a UUID',
      'WEBHOOK_SIGNATURE_PRESET must be raw-body or',
      'channels.alerts is missing',
      'channels.alertz is not a setting. Did you mean alerts?',
      'rolls is not a setting. Did you mean roles?',
    ]) {
      expect(run.stderr).toContain(words);
    }
    const secrets = [misspelt, 'canary', house.payments.credentials.clientSecret];
    for (const secret of secrets) expect(run.stderr + run.stdout).not.toContain(secret);
    expect(run.stderr).not.toContain('is taken');
  });

  it('on a taken port names PORT', async (test) => {
    const house = await openHouse(test);
    const port = await takePort(test);
    const words = await refusalOf(house, { PORT: String(port) });
    expect(words).toContain(`Port ${port}`);
    expect(words).toContain('set PORT to a free port');
  });

  it('with several accounts while Redis is away says why, and what to do', async (test) => {
    const house = await openHouse(test);
    const { PAYMENTS_ACCOUNT_ID: id = '', ...settings } = house.settings({
      REDIS_URL: 'redis://127.0.0.1:1',
      SEALING_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    });
    const environment = 'environment: live';
    appendFileSync(
      house.policyFile,
      `accounts: [{ name: a, account_id: ${id}, ${environment}, colour: blue }, { name: b, account_id: ${randomUUID()}, parent_id: ${id}, ${environment}, colour: brown }]\n`,
    );
    const own = ['PAYMENTS_CLIENT_ID', 'PAYMENTS_CLIENT_SECRET', 'WEBHOOK_SECRETS'];
    const ofB = Object.fromEntries(own.map((name) => [`${name}__B`, settings[name] ?? '']));
    const run = await runToEnd({ ...without(settings, 'PAYMENTS_ACCOUNT_NAME'), ...ofB });
    expectWords(run);
    expect(run.stderr).toMatch(/^Payops cannot start\..*nothing listens there\. Start Redis/);
  });

  it('with an invalid store file names the file', async (test) => {
    const house = await openHouse(test);
    const storeFile = join(house.dataDir, 'payops.sqlite');
    writeFileSync(join(house.dataDir, 'sealing.key'), Buffer.alloc(32), { mode: 0o600 });
    writeFileSync(storeFile, 'no database at all, '.repeat(500));
    const run = await runToEnd(house.settings());
    expectWords(run);
    expect(run.stderr).toContain(storeFile);
  });
});

/** The words of a failed start; other tests cover how a process reports them. */
async function refusalOf(house: House, more: Record<string, string> = {}): Promise<string> {
  return await house.start(house.bot(more)).then(
    () => 'It started.',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe.concurrent('SIGTERM', () => {
  it('lets the bot finish its work, and ends it with status 0', async (test) => {
    const house = await openHouse(test, { program: deployedBot });
    const bot = house.bot({ PAYMENTS_TIMEOUT_SECONDS: '5', WORK_LEASE_SECONDS: '15' });
    await house.start(bot);
    const postHeld = house.slackGate.hold('/chat.postMessage', 'before');
    const reference = await house.decline();
    const post = await postHeld;
    const lookUpHeld = house.paymentsGate.hold('/v1/transactions/accounts/single', 'before');
    await house.type('agent', '/pay ORDER-1001');
    const lookUp = await lookUpHeld;
    const stopped = bot.stop();
    await house.until('it has heard', () => bot.lines.some((line) => line.includes('Payops stops')));
    post.release();
    await house.until('its alert is told', () => house.posts('payAlerts').length > 0);
    // Only the look-up is under way by now.
    await sleep(500);
    expect(bot.isRunning()).toBe(true);
    lookUp.release();
    expect(await stopped).toEqual({ code: 0, signal: null });
    expect(house.seenBy('agent').at(-1)?.text).toContain('Paid (confirmed)');
    expect(house.posts('payAlerts').map(({ text }) => text)).toEqual([expect.stringContaining(reference)]);
    expect(await house.workLeft()).toBe(0);
  });
});

describe.concurrent('a bot that is stopped', () => {
  it('while it starts ends with status 0, too', async (test) => {
    const house = await openHouse(test, { processes: true });
    // Its first line comes before it has opened its store and port.
    const bot = house.bot({ PAYMENTS_NOT_A_SETTING: 'warned of' });
    const started = bot.start();
    await house.until('it says something', () => bot.lines.length > 0);
    const stopped = bot.stop();
    await started;
    expect(await stopped).toEqual({ code: 0, signal: null });
  });

  it('answers /readyz with 503 and continues to serve for DRAIN_SECONDS', async (test) => {
    const house = await openHouse(test, { processes: true });
    const bot = house.bot({ DRAIN_SECONDS: '2' });
    await house.start(bot);
    const stopped = bot.stop();
    await house.until('it has heard', () => bot.lines.some((line) => line.includes('Payops stops')));
    const ready = await fetch(`${bot.url()}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({
      state: 'down',
      parts: expect.arrayContaining([{ name: 'process', state: 'down', detail: 'it was told to stop' }]),
    });
    expect(await deliver(house, bot.url())).toBe(200);
    await house.type('agent', '/pay help');
    await house.until('help has come', () => house.seenBy('agent').length > 0);
    expect(await stopped).toEqual({ code: 0, signal: null });
  });

  it('ends by STOP_SECONDS even if a call hangs', async (test) => {
    const house = await openHouse(test);
    const bot = house.bot({ STOP_SECONDS: '1', PAYMENTS_TIMEOUT_SECONDS: '20', WORK_LEASE_SECONDS: '60' });
    await house.start(bot);
    const held = house.paymentsGate.hold('/v1/transactions/accounts/single', 'before');
    await house.type('agent', '/pay ORDER-1001');
    const lookUp = await held;
    const askedAt = performance.now();
    await bot.stop();
    expect(performance.now() - askedAt).toBeLessThan(10_000);
    expect(house.seenBy('agent').some(({ text }) => text.includes('Paid'))).toBe(false);
    lookUp.release();
  });
});

describe.concurrent('a bot without a signature recipe', () => {
  it('starts in production too, says that it refuses every delivery, and does', async (test) => {
    const house = await openHouse(test);
    const bot = house.bot({
      NODE_ENV: 'production',
      WEBHOOK_SIGNATURE_PRESET: '',
      WEBHOOK_SECRETS: '',
      WEBHOOK_SIGNATURE_HEADER: '',
      WEBHOOK_SIGNATURE_ALGORITHM: '',
    });
    await house.start(bot);
    expect(bot.lines.find((line) => line.includes('Every delivery is refused'))).toContain(
      'Set WEBHOOK_SIGNATURE_PRESET and WEBHOOK_SECRETS',
    );
    expect(await readiness(bot.url())).toMatchObject({
      state: 'degraded',
      parts: expect.arrayContaining([
        expect.objectContaining({
          name: 'webhooks',
          detail: expect.stringContaining('Every delivery is refused'),
        }),
      ]),
    });
    expect(await deliver(house, bot.url())).toBe(401);
    expect(await house.workLeft()).toBe(0);
  });
});

async function readiness(url: string): Promise<unknown> {
  const response = await fetch(`${url}/readyz`);
  return await response.json();
}

/** A delivery signed like the service's. The signature is useless without a configured scheme. */
async function deliver({ payments }: House, url: string): Promise<number> {
  const body = JSON.stringify({ event: 'payment_failed', data: { order: { orderReference: 'SUB-1' } } });
  const signature = signWebhook(body, payments.credentials.webhookSecret);
  const headers = { 'content-type': 'application/json', [signatureHeader]: signature };
  const response = await fetch(`${url}/webhooks/payments`, { method: 'POST', body, headers });
  await response.text();
  return response.status;
}
