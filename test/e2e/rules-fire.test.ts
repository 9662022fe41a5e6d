import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, type TestContext } from 'vitest';
import { parse, stringify } from 'yaml';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { charges, openDesk, type Desk, type DeskOptions } from '../support/desk.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis } from '../support/redis-server.ts';

/** Of Prometheus itself. It is in no CI image of ours, so this is skipped, aloud, where nobody has installed it. */
const promtool = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'promtool'))
  .find((path) => existsSync(path));
if (promtool === undefined) console.warn('SKIPPED: firing the rules, because promtool is not installed.');

const rulesPath = fileURLToPath(new URL('../../deploy/prometheus-rules.yml', import.meta.url));
const { groups } = parse(readFileSync(rulesPath, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

type Samples = ReadonlyMap<string, number>;

async function scrape({ bot }: Desk): Promise<Samples> {
  const text = await (await fetch(`${bot.url()}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('payops_'));
  return new Map(lines.map((line) => [line.replace(/ [^ ]*$/, ''), Number(line.split(' ').at(-1))]));
}

const isCounter = (series: string): boolean => /_(total|count|sum|bucket)(\{|$)/.test(series);

/**
 * Which alarms fire, by promtool, twenty minutes into a trouble: half an hour as scraped before it, and then each minute
 * as much more as came between that scrape and the one in the trouble.
 */
async function firing(before: Samples, after: Samples): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-rules-'));
  const series = [...new Set([...before.keys(), ...after.keys()])].map((name) => {
    const [was, is] = [before.get(name) ?? 0, after.get(name)];
    const calm = before.has(name) ? `${was}x30` : isCounter(name) ? '0x30' : '_x31';
    if (is === undefined) return { series: name, values: calm };
    return { series: name, values: `${calm} ${isCounter(name) ? `${is}+${is - was}x60` : `${is}x60`}` };
  });
  const test = {
    interval: '1m',
    input_series: series,
    // None is expected, so that promtool names each that fires.
    alert_rule_test: alerts.map((alertname) => ({ eval_time: '51m', alertname })),
  };
  const path = join(folder, 'rules.test.yml');
  writeFileSync(path, stringify({ rule_files: [rulesPath], evaluation_interval: '1m', tests: [test] }));
  const told = await promisify(execFile)(promtool ?? '', ['test', 'rules', path]).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}`,
  );
  rmSync(folder, { recursive: true });
  if (!/SUCCESS|got:/.test(told)) throw new Error(told);
  const found = Array.from(told.matchAll(/Labels:\{[^}]*alertname="(\w+)"/g), ([, name = '']) => name);
  return [...new Set(found)].toSorted();
}

type Trouble = {
  desk?: DeskOptions;
  /** What is broken, and what people do meanwhile. */
  breaks: (desk: Desk, test: TestContext) => Promise<unknown>;
  fires: readonly string[];
};

const chargePath = 'POST /v1/checkout/tokenized-card-payment';
const lookUpPath = 'GET /v1/transactions/accounts/single';
const forged = { 'x-payments-signature': 'ab'.repeat(64) };

async function asksInVain({ types, house, bot }: Desk, counted: RegExp): Promise<void> {
  await types('agent', '/pay ORDER-1001');
  await house.until('it is counted', async () =>
    counted.test(await (await fetch(`${bot.url()}/metrics`)).text()),
  );
}

const troubles: Record<string, Trouble> = {
  'nothing is wrong': {
    async breaks(desk) {
      await desk.house.decline();
      await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
      await desk.settled('soon');
    },
    fires: [],
  },
  'Slack hangs': {
    async breaks({ house }) {
      const held = house.slackGate.hold('/chat.postMessage', 'before');
      await house.decline();
      await held;
      house.later(400_000);
    },
    fires: ['PayopsNotDelivering'],
  },
  'Slack refuses the bot': {
    async breaks({ house, bot }) {
      house.workspace.setFaults({ kind: 'refused', error: 'account_inactive', method: 'chat.postMessage' });
      await house.decline();
      await house.until('it is refused', () => bot.lines.some((line) => line.includes('account_inactive')));
    },
    fires: ['PayopsSlackTakesNothing'],
  },
  'a charge is in doubt': {
    async breaks(desk) {
      const { house } = desk;
      house.payments.setFaults(
        { kind: 'answer_lost', operation: chargePath },
        { kind: 'down', operation: lookUpPath },
      );
      await charges(desk, 'agent', { amount: '5000.00', card: '4081' });
      await house.until('its answer is lost', async () =>
        (await (await fetch(`${desk.bot.url()}/metrics`)).text()).includes(
          'tokenized-card-payment",result="network"',
        ),
      );
      house.later(1_900_000);
      // What was due in the time that was jumped over is done first.
      await house.until('the bot has caught up', async () =>
        [...(await scrape(desk))].every(
          ([name, value]) => name !== 'payops_work_oldest_due_seconds' || value < 60,
        ),
      );
    },
    fires: ['PayopsChargesInDoubt', 'PayopsServiceFailing'],
  },
  'no webhook comes though charges run': {
    async breaks(desk) {
      desk.house.payments.sendWebhooksTo(undefined);
      const reference = await charges(desk, 'agent', { amount: '5000.00', card: '4081' });
      await desk.modalSays('agent', ['Paid (confirmed)', reference]);
      await desk.settled('soon');
    },
    fires: ['PayopsNoWebhooks'],
  },
  'webhooks are signed with another secret': {
    async breaks({ house }) {
      await Promise.all([1, 2, 3].map(() => house.sendEvent({ event: 'payment_failed' }, forged)));
    },
    fires: ['PayopsDeliveriesRefused'],
  },
  'the client secret is wrong': {
    desk: { payments: {}, env: { PAYMENTS_CLIENT_SECRET: 'wrong-client-secret' } },
    breaks: (desk) => asksInVain(desk, /auth\/token\/issue",result="unauthorized"/),
    fires: ['PayopsServiceFailing', 'PayopsTokenFailing'],
  },
  'the payments service is away': {
    async breaks(desk) {
      await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
      desk.house.payments.setFaults({ kind: 'down' });
      await asksInVain(desk, /accounts\/single",result="network"/);
      await asksInVain(desk, /accounts\/single",result="network"\} [2-9]/);
    },
    fires: ['PayopsServiceFailing'],
  },
  'a record cannot be read': {
    async breaks({ house, bot }) {
      const store = openSqliteStore({ path: join(house.dataDir, 'payops.sqlite'), now: house.now });
      await store.create('charge:pay-x', 'k1.unreadable', { delayMs: 0 });
      await store.close();
      await house.until('it is put aside', () => bot.lines.some((line) => line.includes('put aside')));
    },
    fires: ['PayopsRecordPutAside'],
  },
};

describe.skipIf(promtool === undefined)('the alarm that fires when', () => {
  it.for(Object.entries(troubles))('%s', async ([, { desk: options, breaks, fires }], test) => {
    const desk = await openDesk(test, { payments: { knownCards: true }, ...options });
    mkdirSync(desk.house.dataDir, { recursive: true });
    await desk.house.cardsKnown();
    await desk.settled();
    const before = await scrape(desk);
    await breaks(desk, test);
    const fired = await firing(before, await scrape(desk));
    // A machine that is busy with other tests may acknowledge late.
    expect(fired.filter((alert) => alert !== 'PayopsSlowAcknowledgement')).toEqual(fires);
  });

  it.skipIf(findProgram('redis-server') === undefined)('the store is away', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const desk = await openDesk(test, { redisUrl: redis.url });
    await desk.settled('soon');
    const before = await scrape(desk);
    await redis.kill9();
    const away = await scrape(desk);
    await redis.restart();
    expect(await firing(before, away)).toEqual(['PayopsStoreAway']);
  });

  it('messages are given up, or acknowledgements are slow: by their series', async () => {
    const undelivered = 'payops_undelivered_messages{account="main"}';
    expect(await firing(new Map([[undelivered, 0]]), new Map([[undelivered, 2]]))).toEqual([
      'PayopsUndelivered',
    ]);
    const bounds = ['1', '2.5', '5', '+Inf'];
    const none = new Map(bounds.map((le) => [`payops_slack_ack_duration_seconds_bucket{le="${le}"}`, 0]));
    const slow = new Map([...none.keys()].map((name, index) => [name, index < 2 ? 1 : 9]));
    expect(await firing(none, slow)).toEqual(['PayopsSlowAcknowledgement']);
  });
});
