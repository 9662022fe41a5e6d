import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import type { PaymentsWeather } from '../../src/simulators/protocol.ts';
import type { Bot } from '../support/bot.ts';
import { findCanaries, type Canaries, type Places } from '../support/canaries.ts';
import { openHouse, type House, type HouseOptions, type Person } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { signSlack } from '../support/slack-requests.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: secrets in Redis, because redis-server is not installed.');

const cardNumber = '5555555555554444';
const customer = 'canary.customer@example.com';
const odd = 'odd-event-canary-90125';

describe.concurrent('with everything logged and everything going wrong, no secret gets out', () => {
  /** A process, whose own output is searched: all that it writes to stdout and stderr. */
  it('on SQLite in Socket Mode', async (test) => {
    const driven = await driveAll(test, { SLACK_MODE: 'socket' }, { processes: true });
    const { house, canaries } = driven;
    expect(findCanaries(canaries, await placesOf(driven))).toEqual([]);

    const db = new DatabaseSync(join(house.dataDir, 'payops.sqlite'));
    db.prepare('update entries set value = value || ?').run(canaries['access token 1'] ?? '');
    db.close();
    expect(findCanaries(canaries, await placesOf(driven))).toContain('access token 1 in the store');
  });

  describe.skipIf(missing)('on Redis', () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis?.stop());

    it('in HTTP mode', async (test) => {
      const driven = await driveAll(test, {}, { redisUrl: redis.url });
      const { house, canaries } = driven;
      expect(findCanaries(canaries, await placesOf(driven))).toEqual([]);

      await postAsTheBot(house, canaries['card token'] ?? '');
      expect(findCanaries(canaries, await placesOf(driven))).toEqual([
        'card token in Slack payloads',
        'card token in what people see',
      ]);
    });
  });
});

describe('findCanaries', () => {
  it('finds a planted secret, plain or disguised, wherever it stands', () => {
    const secret = 'planted "canary"/+?~';
    const disguised = {
      plain: `a ${secret} b`,
      json: JSON.stringify({ text: secret }),
      form: new URLSearchParams({ text: secret }).toString().replaceAll('+', '%20').replaceAll('%7E', '~'),
      hex: Buffer.from(secret).toString('hex'),
      base64: Buffer.from(`ab${secret}c`).toString('base64'),
      base64url: Buffer.from(`a${secret}`).toString('base64url'),
    };
    expect(findCanaries({ secret }, { ...disguised, elsewhere: 'nothing here' })).toEqual(
      Object.keys(disguised).map((place) => `secret in ${place}`),
    );
  });
});

type Driven = { house: House; bot: Bot; canaries: Canaries; earlierDump: string };

async function driveAll(
  test: TestContext,
  more: Record<string, string>,
  options: HouseOptions,
): Promise<Driven> {
  const house = await openHouse(test, {
    ...options,
    payments: { retryDelaysMs: [50, 50, 50], tokenLifetimeMs: 3_000 },
    env: { LOG_LEVEL: 'debug' },
  });
  const { appToken } = house.workspace.credentials;
  const bot = house.bot({ ...more, SLACK_APP_TOKEN: appToken });
  await house.start(bot);
  if (more['SLACK_MODE'] === 'socket') {
    house.workspace.connect(undefined);
    await house.until('the socket is open', () => house.workspace.openSockets() === 1);
  }
  await type(house, 'ORDER-1001', 'ORDER-1002', 'ORDER-1003 15,000.00', 'NO-SUCH-1', 'lokup x', 'help');
  await type(house, cardNumber, `lookup ${cardNumber.replace(/(\d{4})/g, '$1 ')}`, `help ${cardNumber}`);
  // Held before Slack has them, so that the store is also seen with its work undone.
  const posts = ['successes', 'alerts', 'ops'].map(() => house.slackGate.hold('/chat.postMessage', 'before'));
  await driveEvents(house, bot);
  await posts[0];
  expect(await house.workLeft()).toBeGreaterThan(1);
  const earlierDump = await house.storeDump();
  for (const post of posts) void post.then(({ release }) => release());
  await driveWeather(house);
  await forge(house, bot);
  // What tells everything that is known of one order, and what is offered to whoever may reveal.
  await typeAs(house, 'lead', [
    'ORDER-1001',
    'CANARY-ORDER-1',
    'story CANARY-ORDER-1',
    'approvals',
    'undelivered',
  ]);
  await house.until('all work is done', async () => (await house.workLeft()) === 0);
  await bot.stop();
  return { house, bot, canaries: canariesOf(house), earlierDump };
}

function type(house: House, ...commands: string[]): Promise<void> {
  return typeAs(house, 'agent', commands);
}

async function typeAs(house: House, person: Person, commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const told = house.seenBy(person).length;
    // oxlint-disable-next-line no-await-in-loop -- one after the other, so that each is seen answered
    await house.type(person, `/pay ${command}`);
    // oxlint-disable-next-line no-await-in-loop
    await house.until(`an answer to ${command}`, () => house.seenBy(person).length > told);
  }
}

/** A payment that saves a card, with its token in the event; a decline; repeats of both, and one that differs. */
async function driveEvents(house: House, bot: Bot): Promise<void> {
  const { payments } = house;
  const orderReference = 'CANARY-ORDER-1';
  await payments.act({ kind: 'create_order', amount: '100.00', customerEmail: customer, orderReference });
  await payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
  const reason = `Do not honour ${cardNumber}`;
  const terms = { amount: '200.00', customerEmail: customer, reason };
  // The second one waits untouched while the first one is held.
  await payments.act({ kind: 'decline_saved_card_charge', ...terms });
  await payments.act({ kind: 'decline_saved_card_charge', ...terms });
  await payments.settled();
  for (const deliveryId of [1, 2]) {
    for (const how of ['again', 'new_id', 'late', 'bad_signature'] as const) {
      // oxlint-disable-next-line no-await-in-loop
      await payments.act({ kind: 'redeliver', deliveryId, how });
    }
  }
  await payments.settled();
  const order = { orderReference, amount: '999.00', currency: 'NGN', customerEmail: customer };
  await deliver(house, bot, JSON.stringify({ event: 'payment_success', data: { order } }));
  await deliver(house, bot, JSON.stringify({ event: 'card_expired', data: { order, note: odd } }));
  await deliver(house, bot, `{"event": "payment_success", "${odd}`);
}

async function driveWeather(house: House): Promise<void> {
  for (const weather of [
    'error_500',
    'unauthorized',
    'rate_limited',
    'hang',
    'normal',
  ] as PaymentsWeather[]) {
    // oxlint-disable-next-line no-await-in-loop
    await house.payments.act({ kind: 'set_weather', weather });
    // oxlint-disable-next-line no-await-in-loop
    await type(house, 'ORDER-1001');
  }
  for (const weather of ['error_500', 'rate_limited', 'down'] as const) {
    house.workspace.setFaults({ kind: weather });
    const calls = house.slackGate.passed.length;
    // oxlint-disable-next-line no-await-in-loop
    await house.decline();
    // oxlint-disable-next-line no-await-in-loop
    await house.until('Slack was tried', () => weather === 'down' || house.slackGate.passed.length > calls);
  }
  house.workspace.setFaults();
}

/** What is not Slack's and not the service's, with secrets in it. */
async function forge(house: House, bot: Bot): Promise<void> {
  const forged = signSlack(`text=${odd}&token=${house.payments.credentials.webhookSecret}`, { secret: odd });
  await (await fetch(`${bot.url()}/slack/events`, { method: 'POST', ...forged })).text();
  await deliver(house, bot, JSON.stringify({ event: odd }), odd);
  await (await fetch(`${bot.url()}/readyz`)).text();
}

async function deliver({ payments }: House, bot: Bot, body: string, secret?: string): Promise<void> {
  const signature = signWebhook(body, secret ?? payments.credentials.webhookSecret);
  const headers = { 'content-type': 'application/json', [signatureHeader]: signature };
  const response = await fetch(`${bot.url()}/webhooks/payments`, { method: 'POST', body, headers });
  await response.text();
}

/** The secrets the bot was given, and those that really passed through it. */
function canariesOf(house: House): Canaries {
  const { clientSecret, webhookSecret } = house.payments.credentials;
  const { botToken, appToken, signingSecret } = house.workspace.credentials;
  const { SEALING_KEYS = 'no:sealing-key-here' } = house.settings();
  const issued = house.paymentsGate.passed.filter(({ path }) => path.endsWith('/token/issue'));
  const tokens = issued.flatMap(({ answer }) => valuesOf(answer, 'accessToken'));
  const refreshTokens = issued.flatMap(({ answer }) => valuesOf(answer, 'refreshToken'));
  const events = house.webhookGate.passed.map(({ request }) => request);
  const transactionIds = new Set(events.flatMap((event) => valuesOf(event, 'transactionId')));
  const cardTokens = new Set(events.flatMap((event) => valuesOf(event, 'tokenKey')));
  expect(Math.min(tokens.length, refreshTokens.length, transactionIds.size, cardTokens.size)).toBeGreaterThan(
    0,
  );
  return {
    'client secret': clientSecret,
    'webhook secret': webhookSecret,
    'bot token': botToken,
    'app token': appToken,
    'signing secret': signingSecret,
    'sealing key': SEALING_KEYS.split(':')[1] ?? '',
    'card number': cardNumber,
    'customer e-mail': customer,
    'customer e-mail of a look-up': 'ada.obi@example.com',
    'unread part of an event': odd,
    ...numbered('access token', tokens),
    ...numbered('refresh token', refreshTokens),
    ...numbered('transaction id', [...transactionIds]),
    'card token': [...cardTokens][0] ?? '',
  };
}

function numbered(name: string, values: readonly string[]): Canaries {
  return Object.fromEntries(values.map((value, index) => [`${name} ${index + 1}`, value]));
}

function valuesOf(json: string, name: string): string[] {
  return [...json.matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g'))].flatMap(([, value]) => value ?? []);
}

async function placesOf({ house, bot, earlierDump }: Driven): Promise<Places> {
  const people = Object.values(house.workspace.ids.users).map((id) => house.workspace.state(id).messages);
  const channels = Object.values(house.workspace.ids.channels).map((id) => house.workspace.posts(id));
  const places = {
    'the log': bot.lines.join('\n'),
    'the store with work undone': earlierDump,
    'the store': await house.storeDump(),
    'Slack payloads': house.slackGate.passed.map(({ request }) => decodeURIComponent(request)).join('\n'),
    'what people see': JSON.stringify([people, channels]),
  };
  // Each is really what its name says.
  expect(places['the log']).toContain('A card number was typed and refused');
  expect(places['the log']).toContain('"failure":"unauthorized"');
  expect(places['the store with work undone']).toContain(
    'message:alert:payment_success/order/CANARY-ORDER-1',
  );
  expect(places['the store']).toContain('message:alert:payment_success/order/CANARY-ORDER-1');
  expect(places['Slack payloads']).toContain('Declined by the bank');
  expect(places['what people see']).toContain('Paid (confirmed)');
  return places;
}

async function postAsTheBot(house: House, text: string): Promise<void> {
  const response = await fetch(`${house.slackGate.url}/api/chat.postMessage`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${house.workspace.credentials.botToken}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ channel: house.workspace.ids.channels.payDesk, text }).toString(),
  });
  expect(await response.json()).toMatchObject({ ok: true });
}
