import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { metricsOf } from '../support/bot.ts';
import { charges, openDesk, type Desk, type DeskOptions } from '../support/desk.ts';
import { findProgram } from '../support/programs.ts';
import { judge, recordScrapes, rulesPath } from '../support/recorded-scrapes.ts';
import { redisOf } from '../support/redis-server.ts';

const promtool = findProgram('promtool');
if (promtool === undefined) console.warn('SKIPPED: firing the rules, because promtool is not installed.');

/** How long the bot may take for what is due, real time, before the next half minute passes. */
const patienceMs = 5_000;
/** The same while it waits for something that hangs: connections are no faster than the clock is moved. */
const stuckMs = 500;

/** The bot's time, half a minute after the other, and its scrapes. */
function openWatch({ house, bot }: Desk) {
  const scrapes = recordScrapes(() => metricsOf(bot));
  let isStuck = false;

  async function hasDoneAll(): Promise<boolean> {
    const isOver = async (): Promise<boolean> => (await house.workLeft(house.now())) === 0;
    return await house.until('what is due is done', isOver, isStuck ? stuckMs : patienceMs).then(
      () => true,
      () => false,
    );
  }
  async function minute(): Promise<void> {
    for (let half = 0; half < 2; half += 1) {
      house.later(30_000);
      bot.wake();
      isStuck = !(await hasDoneAll());
      await scrapes.take();
    }
  }

  return { ...scrapes, minute };
}

type Trouble = {
  desk?: DeskOptions;
  /** Breaks something, with people's actions; `minute` lets one pass. */
  breaks: (desk: Desk, minute: () => Promise<void>) => Promise<unknown>;
  /** Repeated each minute. */
  meanwhile?: (desk: Desk) => Promise<unknown>;
  fires: readonly string[];
};

const chargePath = 'POST /v1/checkout/tokenized-card-payment';
const lookUpPath = 'GET /v1/transactions/accounts/single';
/** No program listens there. */
const nobodysUrl = 'http://127.0.0.1:9/hooks';
const forged = { 'x-payments-signature': 'ab'.repeat(64) };

/** These may fire for the test process itself, which runs the bots. */
const ofThisProcess = ['PayopsSlowAcknowledgement', 'PayopsEventLoopBlocked', 'PayopsMemoryHigh'];

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
        (await metricsOf(desk.bot)).includes('tokenized-card-payment",result="network"'),
      );
      house.later(1_900_000);
    },
    // Its other calls succeed.
    meanwhile: (desk) => desk.types('agent', '/pay terminals'),
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
    async breaks({ house, asks, types }, minute) {
      house.payments.setFaults({ kind: 'down', operation: 'POST /v1/auth/token/issue' });
      for (let passed = 0; passed < 3; passed += 1) {
        await types('agent', '/pay ORDER-1001');
        await minute();
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
        (await metricsOf(bot)).includes('payops_forwards_left{account="main"} 1'),
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

describe.skipIf(promtool === undefined).concurrent('the alarm that fires when', () => {
  it.for(Object.entries(troubles))('%s', async ([, { desk: options, breaks, meanwhile, fires }], test) => {
    // Connections are not faster: work that waits for one seems to take minutes.
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
    const { take, minute, wrongs } = openWatch(desk);
    await take();
    await take();
    await breaks(desk, minute);
    for (let passed = 0; passed < 20; passed += 1) {
      await meanwhile?.(desk);
      await minute();
    }
    expect(await wrongs(fires, ofThisProcess)).toBe('');
  });

  it.skipIf(findProgram('redis-server') === undefined)('the store is away', async (test) => {
    const redis = await redisOf(test);
    const { bot, settled } = await openDesk(test, { redisUrl: redis.url });
    await settled('soon');
    const { take, wrongs } = recordScrapes(() => metricsOf(bot));
    await take();
    await redis.kill9();
    for (let scrape = 0; scrape < 10; scrape += 1) {
      await rest(500);
      await take();
    }
    expect(await wrongs(['PayopsStoreAway'], ofThisProcess)).toBe('');
    await redis.restart();
  });

  it('one of two is dead', async (test) => {
    const { bot } = await openDesk(test);
    let isDead = false;
    const { take, wrongs } = recordScrapes(
      () => metricsOf(bot),
      () => (isDead ? Promise.reject(new Error('It is dead.')) : metricsOf(bot)),
    );
    for (let scrape = 0; scrape < 20; scrape += 1) await take();
    expect(await wrongs([], ofThisProcess)).toBe('');
    isDead = true;
    for (let scrape = 0; scrape < 20; scrape += 1) await take();
    expect(await wrongs(['PayopsReplicaDown'], ofThisProcess)).toBe('');
  });

  it('links to its section', async () => {
    const labels = { severity: 'page' };
    const summary = 'No bot answers Prometheus; nothing is told, and webhooks are refused';
    const runbook = 'https://example.com/payops/docs/on-call.md#payopsnotrunning';
    const alarm = { exp_labels: labels, exp_annotations: { summary, runbook_url: runbook } };
    const at = { alertname: 'PayopsNotRunning', eval_time: '5m', exp_alerts: [alarm] };
    const external = { payops_docs: 'https://example.com/payops' };
    const test = { interval: '30s', external_labels: external, alert_rule_test: [at] };
    expect(await judge({ rule_files: [rulesPath], evaluation_interval: '15s', tests: [test] })).toBe('');
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

  it.for(Object.entries(bySeries))('%s, by its series', async ([, { tells, fires }]) => {
    let scrape = 0;
    const { take, wrongs } = recordScrapes(() => {
      scrape += 1;
      return `payops_build_info{version="1"} 1\n${tells(scrape)}`;
    });
    for (let count = 0; count < 60; count += 1) await take();
    expect(await wrongs(fires)).toBe('');
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
