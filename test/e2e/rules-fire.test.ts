import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, type TestContext } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { charges, openDesk, type Desk, type DeskOptions } from '../support/desk.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis } from '../support/redis-server.ts';

const prometheus = findProgram('prometheus');
if (prometheus === undefined) console.warn('SKIPPED: firing the rules, because prometheus is not installed.');

/** The factor by which the bot's clock, the rules and the scrapes run faster: a minute is a second. */
const hastened = 60;
const unitsMs = { m: 60_000, h: 3_600_000 };
const rulesPath = fileURLToPath(new URL('../../deploy/prometheus-rules.yml', import.meta.url));
const rules = readFileSync(rulesPath, 'utf8').replaceAll(
  /(?<=\[|for: |\[\d+[mh]:)(\d+)([mh])\b/g,
  (_, count: string, unit: 'm' | 'h') => `${(Number(count) * unitsMs[unit]) / hastened}ms`,
);
/** Scrapes every half a minute. */
const settings = (targets: readonly string[]): string => `
global:
  scrape_interval: 500ms
  scrape_timeout: 500ms
  evaluation_interval: 250ms
  external_labels: { payops_docs: 'https://example.com/payops' }
rule_files: [rules.yml]
scrape_configs: [{ job_name: payops, static_configs: [{ targets: ${JSON.stringify(targets)} }] }]
`;

/** The address at which a Prometheus listens, by its log. */
async function addressSaid(log: Readable): Promise<string> {
  const lines: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface({ input: log })
    .on('line', (line) => {
      lines.push(line);
      const [, address] = /msg="Listening on" address=(\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    })
    .once('close', () => reject(new Error(`Prometheus ended before it listened:\n${lines.join('\n')}`)));
  return await promise;
}

type Firing = { minutes?: number; passes?: (ms: number) => void; meanwhile?: () => unknown };

/**
 * A Prometheus that scrapes the bot, with the real rules at faster times. The returned function watches for so many
 * minutes and returns the alarms that fired.
 */
async function watch(test: TestContext, ...urls: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'payops-prometheus-'));
  writeFileSync(join(folder, 'rules.yml'), rules);
  writeFileSync(join(folder, 'prometheus.yml'), settings(urls.map((url) => new URL(url).host)));
  const args = [
    '--web.listen-address=127.0.0.1:0',
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=data',
  ];
  const child = spawn(prometheus ?? '', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  test.onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });
  const address = await addressSaid(child.stderr);
  const ask = async (path: string): Promise<unknown> => (await fetch(`http://${address}/${path}`)).json();
  await expect
    .poll(() => ask('api/v1/query?query=count_over_time(up[1m])>3').catch(() => ''))
    .toMatchObject({ data: { result: urls.map(() => ({})) } });
  return async function firing({ minutes = 20, passes, meanwhile }: Firing): Promise<string[]> {
    const names = new Set<string>();
    for (let minute = 0; minute < minutes; minute += 1) {
      await meanwhile?.();
      for (let part = 0; part < 4; part += 1) {
        await rest(250);
        passes?.(250 * (hastened - 1));
      }
      const { data } = (await ask('api/v1/alerts')) as {
        data: {
          alerts: {
            state: string;
            labels: { alertname: string };
            annotations: { runbook_url: string };
          }[];
        };
      };
      for (const { state, labels, annotations } of data.alerts) {
        if (state === 'firing') names.add(labels.alertname);
        const { alertname } = labels;
        expect(annotations.runbook_url).toBe(
          `https://example.com/payops/docs/on-call.md#${alertname.toLowerCase()}`,
        );
      }
    }
    return [...names].toSorted();
  };
}

type Trouble = {
  desk?: DeskOptions;
  /** Breaks something, with people's actions. */
  breaks: (desk: Desk) => Promise<unknown>;
  /** Repeated each minute. */
  meanwhile?: (desk: Desk) => Promise<unknown>;
  fires: readonly string[];
};

const chargePath = 'POST /v1/checkout/tokenized-card-payment';
const lookUpPath = 'GET /v1/transactions/accounts/single';
/** No program listens there. */
const nobodysUrl = 'http://127.0.0.1:9/hooks';
const forged = { 'x-payments-signature': 'ab'.repeat(64) };

/**
 * These alarms fire for the test process itself, which runs the bots and is slow under load: two seconds without a scrape are
 * two minutes here. A test that expects one sees it.
 */
const ofThisProcess = new Set([
  'PayopsSlowAcknowledgement',
  'PayopsEventLoopBlocked',
  'PayopsMemoryHigh',
  'PayopsNotRunning',
]);

function ofTheBot(fired: readonly string[], expected: readonly string[]): string[] {
  return fired.filter((alert) => expected.includes(alert) || !ofThisProcess.has(alert));
}

function everyMinutes(
  minutes: number,
  does: NonNullable<Trouble['meanwhile']>,
): NonNullable<Trouble['meanwhile']> {
  let minute = 0;
  return async (desk) => {
    minute += 1;
    if (minute % minutes === 0) await does(desk);
  };
}

async function many(count: number, does: () => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: count }, does));
}

const troubles: Record<string, Trouble> = {
  'nothing is wrong': {
    async breaks(desk) {
      await desk.house.decline();
      await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
      await desk.settled('soon');
    },
    meanwhile: ({ house }) => house.decline(),
    fires: [],
  },
  'Slack hangs': {
    async breaks({ house }) {
      house.workspace.setFaults({ kind: 'hang', method: 'chat.postMessage' });
    },
    meanwhile: ({ house }) => house.decline(),
    fires: ['PayopsNotDelivering', 'PayopsOftenLate', 'PayopsSlackTakesNothing'],
  },
  'Slack refuses the bot': {
    async breaks({ house }) {
      house.workspace.setFaults({ kind: 'refused', error: 'account_inactive', method: 'chat.postMessage' });
      await house.decline();
    },
    fires: ['PayopsNotDelivering', 'PayopsOftenLate', 'PayopsSlackTakesNothing'],
  },
  'Slack refuses a channel for a day': {
    async breaks({ house, bot, asks }) {
      const channel = house.workspace.ids.channels.payAlerts;
      house.workspace.setFaults({
        kind: 'refused',
        error: 'is_archived',
        channel,
        method: 'chat.postMessage',
      });
      await house.decline();
      await house.until('it is refused', () => bot.lines.some((line) => line.includes('is_archived')));
      // Once it is stored; otherwise the day would pass before the refusal.
      await house.until('it is on record', async () =>
        (await asks('lead', '/pay undelivered', '')).shown.text.includes('is_archived'),
      );
      house.later(86_400_000);
    },
    fires: ['PayopsUndelivered'],
  },
  'a critical alert is not acknowledged': {
    desk: {
      policy: (policy) =>
        `${policy}routes:\n  - { name: urgent, when: { reason: urgent }, to: C0OPS00001, severity: critical }\n`,
    },
    async breaks({ house, settled }) {
      // An older alert without a rule.
      await house.decline();
      await settled('soon');
      house.later(60 * 60_000);
      await house.decline({ reason: 'Urgent' });
      await settled('soon');
      house.later(15 * 60_000);
    },
    fires: ['PayopsAlertsUnacknowledged'],
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
    },
    // No other call to the service; a charge in doubt is looked up every five minutes.
    fires: ['PayopsChargesInDoubt'],
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
    breaks: async () => undefined,
    meanwhile: ({ house }) => house.sendEvent({ event: 'payment_failed' }, forged),
    fires: ['PayopsDeliveriesRefused'],
  },
  'a small shop’s few webhooks are signed with another secret': {
    breaks: ({ house }) => house.sendEvent({ event: 'payment_failed' }, forged),
    meanwhile: everyMinutes(8, ({ house }) => house.sendEvent({ event: 'payment_failed' }, forged)),
    fires: ['PayopsDeliveriesRefused'],
  },
  'one of two senders signs with another secret': {
    breaks: async () => undefined,
    async meanwhile({ house }) {
      await house.decline();
      await house.sendEvent({ event: 'payment_failed' }, forged);
    },
    fires: ['PayopsDeliveriesRefused'],
  },
  'a stranger floods the door with forgeries while webhooks come': {
    breaks: ({ house }) => house.decline(),
    async meanwhile({ house }) {
      await house.decline();
      await many(40, () => house.sendEvent({ event: 'payment_failed' }, forged));
    },
    fires: [],
  },
  'a stranger floods a door to which no webhook comes': {
    breaks: async () => undefined,
    meanwhile: ({ house }) => many(90, () => house.sendEvent({ event: 'payment_failed' }, {})),
    fires: [],
  },
  'nothing runs': {
    breaks: ({ bot }) => bot.stop(),
    fires: ['PayopsNotRunning'],
  },
  'the client secret is wrong': {
    desk: { payments: {}, env: { PAYMENTS_CLIENT_SECRET: 'wrong-client-secret' } },
    breaks: async () => undefined,
    meanwhile: (desk) => desk.types('agent', '/pay ORDER-1001'),
    fires: ['PayopsServiceFailing', 'PayopsTokenFailing'],
  },
  'the first access tokens failed, and one was given since': {
    desk: { payments: {} },
    async breaks({ house, asks, types }) {
      house.payments.setFaults({ kind: 'down', operation: 'POST /v1/auth/token/issue' });
      for (let minute = 0; minute < 3; minute += 1) {
        await types('agent', '/pay ORDER-1001');
        await rest(1_000);
        house.later(59_000);
      }
      house.payments.setFaults();
      await asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    },
    meanwhile: (desk) => desk.types('agent', '/pay ORDER-1001'),
    fires: [],
  },
  'the payments service is away': {
    async breaks(desk) {
      await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
      desk.house.payments.setFaults({ kind: 'down' });
    },
    meanwhile: (desk) => desk.types('agent', '/pay ORDER-1001'),
    fires: ['PayopsServiceFailing'],
  },
  'the merchant’s backend takes nothing': {
    desk: { payments: {}, env: { WEBHOOK_FORWARD_URL: nobodysUrl } },
    breaks: ({ house }) => house.decline(),
    // Work that waits for the backend is late work too, as docs/on-call.md says.
    fires: ['PayopsBackendAway', 'PayopsNotDelivering', 'PayopsOftenLate'],
  },
  'the merchant’s backend has not taken an event for days': {
    desk: { payments: {}, env: { WEBHOOK_FORWARD_URL: nobodysUrl } },
    async breaks({ house, bot, reads }) {
      await house.decline();
      await reads('lead', 'Acknowledge', 'payAlerts');
      house.later(4 * 86_400_000);
      bot.wake();
      await house.until('it is left', async () =>
        (await (await fetch(`${bot.url()}/metrics`)).text()).includes(
          'payops_forwards_left{account="main"} 1',
        ),
      );
    },
    fires: ['PayopsForwardsLeft'],
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

describe.skipIf(prometheus === undefined).concurrent('the alarm that fires when', () => {
  it.for(Object.entries(troubles))('%s', async ([, { desk: options, breaks, meanwhile, fires }], test) => {
    // Connections are not faster: work that waits for one seems to take a minute. Beside other work a good answer takes more
    // than a second.
    const env = {
      WORK_LEASE_SECONDS: '600',
      SLACK_TIMEOUT_SECONDS: '2',
      PAYMENTS_TIMEOUT_SECONDS: '3',
      ...options?.env,
    };
    const desk = await openDesk(test, { payments: { knownCards: true }, ...options, env });
    mkdirSync(desk.house.dataDir, { recursive: true });
    await desk.house.cardsKnown();
    await desk.settled();
    const firing = await watch(test, desk.bot.url());
    await breaks(desk);
    const fired = await firing({ passes: desk.house.later, meanwhile: () => meanwhile?.(desk) });
    expect(ofTheBot(fired, fires)).toEqual(fires);
  });

  it.skipIf(findProgram('redis-server') === undefined)('the store is away', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const desk = await openDesk(test, { redisUrl: redis.url });
    await desk.settled('soon');
    const firing = await watch(test, desk.bot.url());
    await redis.kill9();
    expect(await firing({ minutes: 5 })).toEqual(['PayopsStoreAway']);
    await redis.restart();
  });

  it('one of two is dead', async (test) => {
    const desk = await openDesk(test);
    const second = await serveOnLoopback(
      (_, response) =>
        void fetch(`${desk.bot.url()}/metrics`)
          .then((answer) => answer.text())
          .then((text) => response.end(text)),
    );
    const firing = await watch(test, desk.bot.url(), second.url);
    expect(ofTheBot(await firing({ minutes: 8 }), [])).toEqual([]);
    await second.close();
    expect(ofTheBot(await firing({ minutes: 10 }), [])).toEqual(['PayopsReplicaDown']);
  });

  /** States that a process would have to be forced into; `scrape` counts from 1, two a minute. */
  const bySeries: Record<string, { tells: (scrape: number) => string; fires: readonly string[] }> = {
    'acknowledgements are slow': {
      tells: (scrape) =>
        ['2.5', '5', '+Inf']
          .map((le) => `payops_slack_ack_duration_seconds_bucket{le="${le}"} ${le === '2.5' ? 1 : scrape}\n`)
          .join(''),
      fires: ['PayopsSlowAcknowledgement'],
    },
    'one webhook in thirty is answered 503': {
      tells: (scrape) => deliveries({ taken: 58 * scrape, unavailable: 2 * scrape }),
      fires: ['PayopsEventsNotKept', 'PayopsEventsNotKeptNowAndThen'],
    },
    'one webhook in a hundred is answered 503': {
      tells: (scrape) => deliveries({ taken: 99 * scrape, unavailable: scrape }),
      fires: ['PayopsEventsNotKeptNowAndThen'],
    },
    'one webhook in two thousand is answered 503': {
      tells: (scrape) => deliveries({ taken: 100 * scrape, unavailable: Math.floor(scrape / 20) }),
      fires: [],
    },
    'work is late for a fifth of the time': {
      tells: (scrape) => `payops_work_oldest_due_seconds ${scrape % 10 < 2 ? 200 : 0}\n`,
      fires: ['PayopsOftenLate'],
    },
    'work is late for a moment': {
      tells: (scrape) => `payops_work_oldest_due_seconds ${scrape % 60 < 2 ? 200 : 0}\n`,
      fires: [],
    },
    'the event loop is blocked': {
      tells: () => 'nodejs_eventloop_lag_p99_seconds 0.8\n',
      fires: ['PayopsEventLoopBlocked'],
    },
    'the memory grows': {
      tells: (scrape) => `process_resident_memory_bytes ${150e6 + scrape * 30e6}\n`,
      fires: ['PayopsMemoryHigh'],
    },
  };

  it.for(Object.entries(bySeries))('%s, by its series', async ([, { tells, fires }], test) => {
    let scrape = 0;
    const bot = await serveOnLoopback((_, response) => {
      scrape += 1;
      response.end(`payops_build_info{version="1"} 1\n${tells(scrape)}`);
    });
    test.onTestFinished(bot.close);
    expect(await (await watch(test, bot.url))({ minutes: 30 })).toEqual(fires);
  });
});

function deliveries(counts: Record<string, number>): string {
  const result: Record<string, string> = { taken: 'new' };
  return Object.entries(counts)
    .map(
      ([name, count]) =>
        `payops_webhook_deliveries_total{account="main",result="${result[name] ?? name}"} ${count}\n`,
    )
    .join('');
}
