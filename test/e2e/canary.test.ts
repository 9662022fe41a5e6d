import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, type TestContext } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { foreignTokenKey, seedCards } from '../../src/simulators/payments/seed.ts';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import type { PaymentsWeather } from '../../src/simulators/protocol.ts';
import type { Passed } from '../../src/simulators/holds.ts';
import type { Bot } from '../support/bot.ts';
import { findCanaries, type Canaries, type Places } from '../support/canaries.ts';
import { openSlackLine } from '../support/charge-line.ts';
import { walkCharges, type Walk } from '../support/charge-walk.ts';
import { runHere, sitAt } from '../support/desk.ts';
import { openHouse, type House, type Person } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { askRedis } from '../support/redis-store.ts';
import { startRedis } from '../support/redis-server.ts';
import { signSlack } from '../support/slack-requests.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: secrets in Redis, because redis-server is not installed.');

const cardNumber = '5555555555554444';
const customer = 'canary.customer@example.com';
const otpPath = '/v1/checkout/checkout-card-otp';
const odd = 'odd-event-canary-90125';

type Driven = { house: House; bot: Bot; canaries: Canaries; earlierDump: string };

describe.concurrent('with everything logged, no secret gets out', () => {
  /** A process, whose own output is searched: all that it writes to stdout and stderr. */
  it('when everything goes wrong, on SQLite in Socket Mode', async (test) => {
    const driven = await driveAll(test);
    const { house, canaries } = driven;
    expect(findCanaries(canaries, await placesOf(driven))).toEqual([]);

    const db = new DatabaseSync(join(house.dataDir, 'payops.sqlite'));
    db.prepare('update entries set value = value || ?').run(canaries['access token 1'] ?? '');
    db.close();
    expect(findCanaries(canaries, await placesOf(driven))).toContain('access token 1 in the store');
  });

  it.skipIf(missing)('when every charge is walked, on Redis in HTTP mode', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const walked = await walk(test, redis.url);
    const { house, canaries } = walked;
    await expectNothingOut(walked);

    // What is planted is found.
    await postAsTheBot(house, Object.values(canaries).join(' '));
    await askRedis(redis.port, 'SET', 'planted', `${seedCards.approves.tokenKey} ${rightOtp}`);
    const planted = await placesOf(walked);
    const found = findCanaries(canaries, planted);
    for (const place of ['Slack payloads', 'what people see']) {
      expect(found.filter((one) => one.endsWith(` in ${place}`))).toHaveLength(Object.keys(canaries).length);
    }
    expect(found).toContain('token key of Ada Obi: approves in the store');
    expect(rightCodeIn(planted)).toEqual(['the store']);
    const [code = ''] = Object.keys(walked.walk.typed.codes);
    await fetch(`${house.paymentsGate.url}/v1/accounts?note=${code}`).then((answer) => answer.text());
    expect(pathsWith(walked, code)).toEqual([otpPath, '/v1/accounts']);
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

async function driveAll(test: TestContext): Promise<Driven> {
  const house = await openHouse(test, {
    processes: true,
    payments: { retryDelaysMs: [50, 50, 50], tokenLifetimeMs: 3_000 },
    env: { LOG_LEVEL: 'debug' },
  });
  const { appToken } = house.workspace.credentials;
  const bot = house.bot({ SLACK_MODE: 'socket', SLACK_APP_TOKEN: appToken });
  await house.start(bot);
  house.workspace.connect(undefined);
  await house.until('the socket is open', () => house.workspace.openSockets() === 1);
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

/** `answers`: what the bot answered Slack's payloads with, unmasked. */
type Walked = Driven & { walk: Walk; answers: readonly Passed[]; forgotten: string };

async function walk(test: TestContext, redisUrl: string): Promise<Walked> {
  const house = await openHouse(test, {
    redisUrl,
    payments: { knownCards: true, tokenLifetimeMs: 3_000 },
    env: {
      LOG_LEVEL: 'debug',
      PAYMENTS_TIMEOUT_SECONDS: '3',
      SLACK_TIMEOUT_SECONDS: '3',
      WORK_LEASE_SECONDS: '11',
    },
  });
  const everybody = 'may: [lookup, charge, otp, link, doubt, approve]';
  const policy = readFileSync(house.policyFile, 'utf8').replaceAll(/may: \[.*\]/g, everybody);
  writeFileSync(house.policyFile, policy);
  const bot = house.bot();
  await house.start(bot);
  await house.cardsKnown();
  await driveEvents(house, bot);
  const line = await openSlackLine(house, test, () => [bot]);
  const made = await walkCharges(sitAt(house, bot));
  const earlierDump = await house.storeDump();
  const forgotten = await forgetCards(house);
  const verdicts = () => house.posts('payDesk').filter(({ threadTs }) => threadTs !== undefined);
  await house.until('the desk’s threads have notes', () => verdicts().length >= 3);
  await bot.stop();
  return {
    house,
    bot,
    walk: made,
    canaries: canariesOfWalk(house, made),
    earlierDump,
    answers: line.gate.passed,
    forgotten,
  };
}

async function expectNothingOut(walked: Walked): Promise<void> {
  const places = await placesOf(walked);
  expect(findCanaries(walked.canaries, places)).toEqual([]);
  expect(rightCodeIn(places)).toEqual([]);
  expectCodesOnlyAtTheDoor(walked);
  // Whoever may charge sees a customer’s e-mail in the modal; at rest it is sealed, and it is never logged.
  const atRest = Object.entries(places).filter(([place]) => /log|store|printed/.test(place));
  const { customerEmail } = seedCards.requiresOtp;
  expect(findCanaries({ 'customer e-mail': customerEmail }, Object.fromEntries(atRest))).toEqual([]);
}

/** As an operator would, beside the running bot; what it printed and logged. */
async function forgetCards(house: House): Promise<string> {
  const { stdout, stderr } = await runHere(
    ['forget-cards', seedCards.approves.customerEmail],
    house.settings(),
  );
  expect(stdout).toContain('One saved card of this address is forgotten');
  return `${stdout}\n${stderr}`;
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

function canariesOfWalk(house: House, { typed, cards }: Walk): Canaries {
  const { tokensIssued, transactions } = passedSecrets(house);
  const { state } = house.payments;
  const canaries = {
    ...numbered('access token', tokensIssued),
    ...numbered('transaction id', transactions),
    ...numbered('card number', typed.cardNumbers),
    ...numbered('typed token key', typed.tokens),
    ...numbered(
      'token key of a pasted card',
      cards.map(({ tokenKey }) => tokenKey),
    ),
    ...numbered(
      'code',
      [...Object.keys(typed.codes), ...typed.strayCodes].filter((code) => code !== rightOtp),
    ),
    'token key of another account': foreignTokenKey,
    ...Object.fromEntries(state().cards.map(({ label, tokenKey }) => [`token key of ${label}`, tokenKey])),
  };
  expect(transactions.some((id) => id.startsWith('otp-'))).toBe(true);
  expect(tokensIssued.length).toBeGreaterThan(1);
  return canaries;
}

function passedSecrets({ paymentsGate, webhookGate }: House): {
  tokensIssued: string[];
  transactions: string[];
} {
  const told = [
    ...paymentsGate.passed.map(({ answer }) => answer),
    ...webhookGate.passed.map(({ request }) => request),
  ].join('\n');
  const values = (name: string): string[] => [...new Set(valuesOf(told, name))];
  return {
    tokensIssued: [...values('accessToken'), ...values('refreshToken')],
    transactions: values('transactionId'),
  };
}

function numbered(name: string, values: readonly string[]): Canaries {
  return Object.fromEntries(values.map((value, index) => [`${name} ${index + 1}`, value]));
}

function valuesOf(json: string, name: string): string[] {
  return [...json.matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g'))].flatMap(([, value]) => value ?? []);
}

async function placesOf(driven: Driven | Walked): Promise<Places> {
  const { house, bot, earlierDump } = driven;
  const { users, channels } = house.workspace.ids;
  const people = Object.values(users).map((id) => house.workspace.state(id));
  const { stdout, stderr } = await runHere(['audit', 'export'], house.settings());
  const places: Record<string, string> = {
    'the log': bot.lines.join('\n'),
    // At rest it is sealed, and would show nothing.
    'what the export of the audit printed': `${stdout}\n${stderr}`,
    'the store as it was': earlierDump,
    'the store': await house.storeDump(),
    'Slack payloads': house.slackGate.passed.map(({ request }) => plain(request)).join('\n'),
    'what people see': JSON.stringify([
      people.map(({ messages, views, home }) => [messages, views, home]),
      Object.values(channels).map((id) => house.workspace.posts(id)),
    ]),
  };
  if ('walk' in driven) {
    places['what a command printed'] = driven.forgotten;
    places['answers to Slack'] = driven.answers.map(({ answer }) => answer).join('\n');
  }
  // Each is really what its name says.
  for (const [place, words] of Object.entries('walk' in driven ? saidByCharges : saidByAll))
    for (const one of words) expect(places[place]).toContain(one);
  return places;
}

const storedEvent = 'message:alert:payment_success/order/CANARY-ORDER-1';
const saidByAll: Record<string, readonly string[]> = {
  'the log': ['A card number was typed and refused', '"failure":"unauthorized"'],
  'the store as it was': [storedEvent],
  'the store': [storedEvent],
  'Slack payloads': ['Declined by the bank'],
  'what people see': ['Paid (confirmed)'],
};
const saidByCharges: Record<string, readonly string[]> = {
  'the log': ['"level":"debug"', 'A card number was typed and refused', 'code answered'],
  'the store': ['charge:pay-', storedEvent],
  'what the export of the audit printed': ['code_wrong', 'otp_resend'],
  'Slack payloads': [
    'Declined by the bank',
    'Wrong code',
    'Waiting for a code',
    'Not sent (fix the request)',
  ],
  'answers to Slack': ['asked for in a form', 'A token key has no blanks in it'],
  'what people see': ['Paid (confirmed)'],
};

function plain(form: string): string {
  return decodeURIComponent(form.replaceAll('+', ' '));
}

/** The bank's right code is six digits that could stand in a longer number by chance: whole, it must stand nowhere. */
function rightCodeIn(places: Places): string[] {
  const whole = new RegExp(`\\b${rightOtp}\\b`);
  return Object.keys(places).filter((place) => whole.test(places[place] ?? ''));
}

/** Each code is in as many requests to the payments service as it was submitted, and in those of no other path. */
function expectCodesOnlyAtTheDoor(walked: Walked): void {
  const { typed } = walked.walk;
  for (const [code, times] of Object.entries(typed.codes)) {
    expect(pathsWith(walked, code)).toEqual(Array.from({ length: times }, () => otpPath));
  }
  for (const code of typed.strayCodes) expect(pathsWith(walked, code)).toEqual([]);
  const requests = walked.house.paymentsGate.passed;
  const submitted = Object.values(typed.codes).reduce((sum, times) => sum + times, 0);
  expect(requests.filter(({ path }) => path === otpPath)).toHaveLength(submitted);
  const everything = requests.map(({ request }) => plain(request)).join('\n');
  expect(findCanaries(numbered('card number', typed.cardNumbers), { requests: everything })).toEqual([]);
}

/** Of the requests to the payments service, and of the answers, that carry it. */
function pathsWith({ house }: Walked, code: string): string[] {
  const whole = new RegExp(`\\b${code}\\b`);
  const carriers = house.paymentsGate.passed.filter(
    ({ request, answer }) => whole.test(request) || whole.test(answer),
  );
  return carriers.map(({ path }) => path);
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
