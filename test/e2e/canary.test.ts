import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, type TestContext } from 'vitest';
import { randomBytes, randomInt } from 'node:crypto';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { foreignTokenKey, seedCards } from '../../src/simulators/payments/seed.ts';
import { signatureHeader, signWebhook } from '../../src/simulators/payments/webhooks-out.ts';
import type { PaymentsMode } from '../../src/simulators/protocol.ts';
import type { Passed } from '../../src/simulators/holds.ts';
import { type Bot, metricsOf } from '../support/bot.ts';
import { type Canaries, findCanaries, type Places } from '../support/canaries.ts';
import { chargeReferences, type NewCard, openSlackLine, saveCards } from '../support/charge-line.ts';
import {
  type Desk,
  inOneWindow,
  reviews,
  runHere,
  sitAt,
  type Typed as TypedCharge,
} from '../support/desk.ts';
import { bySocket, type House, openHouse, type Person } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { askRedis } from '../support/redis-store.ts';
import { redisOf } from '../support/redis-server.ts';
import { signSlack } from '../support/slack-requests.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: secrets in Redis, because redis-server is not installed.');

const cardNumber = '5555555555554444';
const customer = 'canary.customer@example.com';
const otpPath = '/v1/checkout/checkout-card-otp';
const odd = 'odd-event-canary-90125';

type Driven = { house: House; bot: Bot; canaries: Canaries; earlierDump: string };

describe.concurrent('with everything logged, no secret gets out', () => {
  /** A process, so that its whole stdout and stderr can be searched. */
  it('when everything goes wrong, on SQLite in Socket Mode', async (test) => {
    const driven = await driveAll(test);
    const { house, canaries } = driven;
    expect(findCanaries(canaries, await placesOf(driven))).toEqual([]);

    const db = new DatabaseSync(join(house.dataDir, 'payops.sqlite'));
    db.prepare('update entries set value = value || ?').run(canaries['access token 1'] ?? '');
    db.close();
    expect(findCanaries(canaries, await placesOf(driven))).toContain('access token 1 in the store');
  });

  it.skipIf(missing || bySocket)('when every kind of charge runs, on Redis in HTTP mode', async (test) => {
    const redis = await redisOf(test);
    const walked = await walk(test, redis.url);
    const { house, canaries } = walked;
    await expectNothingOut(walked);

    // Planted secrets are found.
    await postAsTheBot(house, Object.values(canaries).join(' '));
    await askRedis(redis.port, 'SET', 'planted', `${seedCards.approves.tokenKey} ${rightOtp}`);
    const planted = await placesOf(walked);
    const found = findCanaries(canaries, planted);
    for (const place of ['Slack payloads', 'what people see']) {
      expect(found.filter((one) => one.endsWith(` in ${place}`))).toHaveLength(Object.keys(canaries).length);
    }
    expect(found).toContain('token key of Ada Obi: approves in the store');
    expect(rightCodeIn(planted)).toEqual(['the store']);
    const [[code, times] = ['', 0]] = Object.entries(walked.walk.typed.codes);
    await fetch(`${house.paymentsGate.url}/v1/accounts?note=${code}`).then((answer) => answer.text());
    expect(pathsWith(walked, code)).toEqual([
      ...Array.from({ length: times }, () => otpPath),
      '/v1/accounts',
    ]);
  });
});

describe('findCanaries', () => {
  it('finds a planted secret, plain or encoded, in any place', () => {
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
  await house.until('the socket is open', () => house.workspace.openSockets() === 2);
  await type(house, 'ORDER-1001', 'ORDER-1002', 'ORDER-1003 15,000.00', 'NO-SUCH-1', 'lokup x', 'help');
  await type(house, cardNumber, `lookup ${cardNumber.replace(/(\d{4})/g, '$1 ')}`, `help ${cardNumber}`);
  // Holds the posts before Slack, so that the store is searched with unfinished work too.
  const posts = ['successes', 'alerts', 'ops'].map(() => house.slackGate.hold('/chat.postMessage', 'before'));
  await driveEvents(house, bot);
  await posts[0];
  expect(await house.workLeft()).toBeGreaterThan(1);
  const earlierDump = await house.storeDump();
  for (const post of posts) void post.then(({ release }) => release());
  await driveWeather(house);
  await forge(house, bot);
  // Screens with everything known of one order, and the button to reveal an e-mail.
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
    await house.type(person, `/pay ${command}`);
    await house.until(`an answer to ${command}`, () => house.seenBy(person).length > told);
  }
}

/** A payment that saves a card, with its token in the event; a decline; repeats of both, and a repeat that differs. */
async function driveEvents(house: House, bot: Bot): Promise<void> {
  const { payments } = house;
  const orderReference = 'CANARY-ORDER-1';
  await payments.act({ kind: 'create_order', amount: '100.00', customerEmail: customer, orderReference });
  await payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
  const reason = `Do not honour ${cardNumber}`;
  const terms = { amount: '200.00', customerEmail: customer, reason };
  // The second waits untouched while the first is held.
  await payments.act({ kind: 'decline_saved_card_charge', ...terms });
  await payments.act({ kind: 'decline_saved_card_charge', ...terms });
  await payments.settled();
  for (const deliveryId of [1, 2]) {
    for (const how of ['again', 'new_id', 'late', 'bad_signature'] as const) {
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
  for (const weather of ['error_500', 'unauthorized', 'rate_limited', 'hang', 'normal'] as PaymentsMode[]) {
    await house.payments.act({ kind: 'set_mode', mode: weather });
    await type(house, 'ORDER-1001');
  }
  for (const weather of ['error_500', 'rate_limited', 'down'] as const) {
    house.workspace.setFaults({ kind: weather });
    const calls = house.slackGate.passed.length;
    await house.decline();
    await house.until('Slack was tried', () => weather === 'down' || house.slackGate.passed.length > calls);
  }
  house.workspace.setFaults();
}

/** Forged requests with secrets in them. */
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

/** `answers`: the bot's answers to Slack's payloads, unmasked. */
type Walked = Driven & { walk: Walk; answers: readonly Passed[]; forgotten: string; metrics: string };

async function walk(test: TestContext, redisUrl: string): Promise<Walked> {
  const house = await openHouse(test, {
    redisUrl,
    payments: { knownCards: true, tokenLifetimeMs: 3_000 },
    env: {
      LOG_LEVEL: 'debug',
      PAYMENTS_TIMEOUT_SECONDS: '3',
      SLACK_TIMEOUT_SECONDS: '3',
      WORK_LEASE_SECONDS: '11',
      PUBLIC_URL: 'https://pay.example.com',
      MERCHANT_NAME: 'Lagos Store',
    },
  });
  const everybody = 'may: [lookup, charge, otp, link, doubt, approve, story]';
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
  const metrics = await metricsOf(bot);
  await bot.stop();
  return {
    house,
    bot,
    metrics,
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
  // The link appears only in the window that shows it once; the address of the page appears nowhere.
  const { 'Slack payloads': _once, ...elsewhere } = places;
  // The page contains the address that its form leads to.
  const { 'the customer’s page': _own, ...beside } = places;
  const { links, seats } = walked.walk.typed;
  expect(findCanaries(numbered('link', links), elsewhere)).toEqual([]);
  expect(findCanaries(numbered('customer’s result', seats), beside)).toEqual([]);
  for (const link of links) {
    const shown = walked.house.slackGate.passed.filter(({ request }) => plain(request).includes(link));
    expect(shown.map(({ path }) => path)).toEqual(inOneWindow);
  }
  // People with the permission see a customer’s e-mail in the modal; it is stored sealed, and never logged.
  const atRest = Object.entries(places).filter(([place]) => /log|store|printed/.test(place));
  const { customerEmail } = seedCards.requiresOtp;
  expect(findCanaries({ 'customer e-mail': customerEmail }, Object.fromEntries(atRest))).toEqual([]);
}

/** Runs a command like an operator, while the bot runs; returns its output and log. */
async function forgetCards(house: House): Promise<string> {
  const { stdout, stderr } = await runHere(
    ['forget-cards', seedCards.approves.customerEmail],
    house.settings(),
  );
  expect(stdout).toContain('One saved card of this address is forgotten');
  return `${stdout}\n${stderr}`;
}

/** The secrets that the bot was given, and those that passed through it. */
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
    // Sealed at rest, which would hide a leak.
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
    places['the metrics'] = driven.metrics;
    places['the customer’s page'] = driven.walk.typed.pages.join('\n');
  }
  // Make sure that each place has the content that its name says.
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
  'Slack payloads': ['Declined by the bank', 'Wrong code', 'Waiting for a code', 'Not charged: '],
  'answers to Slack': ['goes into a form', 'A token key has no blanks in it'],
  'what people see': ['Paid (confirmed)', 'made a link for the customer', '"text":"The customer"'],
  'the metrics': ['payops_'],
  'the customer’s page': ['NGN 2,600.00', 'That code was wrong', 'The payment is confirmed'],
};

function plain(form: string): string {
  return decodeURIComponent(form.replaceAll('+', ' '));
}

/**
 * The bank's right code has six digits, which a longer number may contain by chance, so search for it as a whole word.
 */
function rightCodeIn(places: Places): string[] {
  const whole = new RegExp(`\\b${rightOtp}\\b`);
  return Object.keys(places).filter((place) => whole.test(places[place] ?? ''));
}

/** Each code is in as many requests to the payments service as it was submitted, and only in those of its path. */
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

/** The paths of requests to the payments service, and of answers, that contain it. */
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

/** Values typed on the way, which must not leak; unique. */
type Typed = {
  /** Each submitted OTP, with how often. They have ten digits, the bank's right one six. */
  codes: Record<string, number>;
  /** OTPs typed where none was asked for: they must not leave at all. */
  strayCodes: string[];
  cardNumbers: string[];
  /** Unknown token keys, and texts that are no token keys. */
  tokens: string[];
  /** Ids after `/c/` in a customer's addresses: the link's, and those that each submit led to. */
  links: string[];
  seats: string[];
  /** Every page that the customer saw. */
  pages: string[];
};

type Walk = { typed: Typed; cards: readonly NewCard[] };

const codeField = 'Code from the bank';
const resend = 'otp_resend';

/** A house whose bots handle every secret: each kind of charge once, to its end. */
async function walkCharges(desk: Desk): Promise<Walk> {
  const { house } = desk;
  const empty = { strayCodes: [], cardNumbers: [], tokens: [], links: [], seats: [], pages: [] };
  const typed: Typed = { codes: {}, ...empty };
  const cards = await saveCards(house, 5);
  await typeCardNumbers(desk, typed);
  await Promise.all([walkOtp(desk, typed), walkOutcomes(desk, 'onCall', cards)]);
  await walkRejections(desk, typed, cards);
  await walkWeather(desk, cards);
  return { typed, cards };
}

const pan = '5555555555554444';
/** As people type them. */
const panForms = [pan, '5555 5555 5555 4444', '5555-5555-5555-4444', '4000.0025.0000.3155'];

/** In a command, in every field of the form, in the list of cards: refused without repeating it. */
async function typeCardNumbers(desk: Desk, typed: Typed): Promise<void> {
  typed.cardNumbers.push(...panForms);
  const { house } = desk;
  for (const [index, words] of panForms
    .flatMap((form) => [`charge ${form}`, `otp ${form}`, form])
    .entries()) {
    await house.type('agent', `/pay ${words}`);
    await house.until('it is refused', () => house.seenBy('agent').length > index);
  }
  await desk.opens('agent', '/pay charge 12,500.00');
  await seeks(desk, pan);
  const token = 'Or the card’s token key';
  const good = {
    [token]: seedCards.approves.tokenKey,
    Amount: '10.00',
    'Customer’s e-mail': 'ada.obi@example.com',
    'Customer id': '',
    Reason: '',
  };
  for (const field of Object.keys(good)) {
    for (const number of panForms) {
      const modal = await desk.submits('agent', { ...good, [field]: number });
      if (Object.keys(modal?.problems ?? {}).join() !== field)
        throw new Error(`${field} took a card number.`);
    }
  }
  await desk.closes('agent');
}

/** Types into the list of saved cards of the open form; it may find nothing. */
async function seeks(desk: Desk, text: string): Promise<void> {
  const top = desk.modal('agent');
  const list = top?.blocks.find(
    (block) => (block['element'] as { type?: string })?.type === 'external_select',
  );
  const { action_id: actionId = '' } = (list?.['element'] ?? {}) as { action_id?: string };
  const place = { blockId: list?.block_id ?? '', actionId, viewId: top?.id ?? '' };
  await desk.does('agent', { kind: 'suggest', text, ...place });
}

/** Up to the press that charges, if the review has one. */
async function charge(desk: Desk, person: Person, typed: TypedCharge): Promise<void> {
  const { submit } = await reviews(desk, person, typed);
  if (submit !== undefined) await desk.submits(person);
}

/** Wrong, resent, handed over, wrong, right; reopening the modal in between. */
async function walkOtp(desk: Desk, typed: Typed): Promise<void> {
  const { house } = desk;
  const { tokenKey: token, customerEmail: email } = seedCards.requiresOtp;
  await charge(desk, 'agent', { token, email, amount: '2,500.00', reason: 'Second instalment' });
  await desk.modalSays('agent', codeField);
  for (const number of [pan, '5555 5555 5555 4444']) {
    const modal = await desk.submits('agent', { [codeField]: number });
    if (Object.keys(modal?.problems ?? {}).length !== 1) throw new Error('A card number passed for a code.');
  }
  const first = newCode();
  typed.codes[first] = 1;
  await desk.submits('agent', { [codeField]: ` ${first.slice(0, 5)}-${first.slice(5)} ` });
  await desk.modalSays('agent', '2 of 3 tries left');
  // Every press carries the field's text.
  const standing = newCode();
  typed.strayCodes.push(standing);
  await resendsWith(desk, standing);
  await desk.modalSays('agent', 'on its way');
  await desk.closes('agent');
  const [reference = ''] = chargeReferences(house).filter((one) => isWaiting(house, one));
  for (const before of [`${reference} `, '']) {
    const code = newCode();
    typed.strayCodes.push(code);
    const seen = house.seenBy('agent').length;
    await house.type('agent', `/pay otp ${before}${code}`);
    await house.until('it is refused', () => house.seenBy('agent').length > seen);
  }
  await desk.does('agent', { kind: 'open_home' });
  await desk.opens('lead', `/pay otp ${reference}`);
  await desk.presses('lead', 'Take over');
  await desk.modalSays('lead', codeField);
  const second = newCode();
  typed.codes[second] = 1;
  await desk.submits('lead', { [codeField]: second });
  await desk.modalSays('lead', '1 of 3 tries left');
  typed.codes[rightOtp] = 1;
  await desk.submits('lead', { [codeField]: rightOtp });
  await desk.modalSays('lead', 'Paid (confirmed)');
  await house.type('lead', '/pay doubt');
  await walkCustomer(desk, typed);
}

/** By the customer on their page: wrong, another try, right. */
async function walkCustomer(desk: Desk, typed: Typed): Promise<void> {
  const { house, bot } = desk;
  const { tokenKey: token, customerEmail: email } = seedCards.requiresOtp;
  await desk.closes('agent');
  await charge(desk, 'agent', { token, email, amount: '2,600.00' });
  await desk.modalSays('agent', codeField);
  const [reference = ''] = chargeReferences(house).filter((one) => isWaiting(house, one));
  await desk.presses('agent', 'Let the customer type it');
  const { shown } = await desk.modalSays('agent', 'Send this to the customer');
  const [, link = ''] = /\/c\/([\w-]{22}) /.exec(shown.text) ?? [];
  typed.links.push(link);
  await desk.closes('agent');
  let at = link;
  async function sees(): Promise<string> {
    const page = await (await fetch(`${bot.url()}/c/${at}`)).text();
    typed.pages.push(page);
    return page;
  }
  async function enters(code: string): Promise<void> {
    const page = await sees();
    const value = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';
    const body = new URLSearchParams({ id: value('id'), try: value('try'), do: 'send', code });
    const init = { method: 'POST', body, redirect: 'manual' } as const;
    at = (await fetch(`${bot.url()}/c/${at}`, init)).headers.get('location') ?? '';
    typed.seats.push(at);
  }
  const wrong = newCode();
  typed.codes[wrong] = 1;
  await enters(`${wrong.slice(0, 5)} ${wrong.slice(5)}`);
  await house.until('the page says so', async () => (await sees()).includes('That code was wrong'));
  typed.codes[rightOtp] = 2;
  await enters(rightOtp);
  await house.until('the page says Paid', async () => (await sees()).includes('The payment is confirmed'));
  await desk.asks('lead', `/pay story ${reference}`, 'The customer entered a code');
}

/** The press carries the field's text. */
async function resendsWith(desk: Desk, code: string): Promise<void> {
  const top = desk.modal('agent');
  const input = top?.blocks.find(({ type }) => type === 'input');
  const { action_id: field = '' } = (input?.['element'] ?? {}) as { action_id?: string };
  const values = { [input?.block_id ?? '']: { [field]: { type: 'plain_text_input', value: code } } };
  const blockId = top?.blocks.find((block) => JSON.stringify(block).includes(resend))?.block_id ?? '';
  const container = { type: 'view', viewId: top?.id ?? '' } as const;
  const pressed = { blockId, actionId: resend, element: { type: 'button' }, container, values } as const;
  await desk.does('agent', { kind: 'block_action', ...pressed });
}

function isWaiting({ payments }: House, reference: string): boolean {
  return payments
    .state()
    .orders.some((one) => one.orderReference === reference && one.state === 'awaiting_otp');
}

/** Approved, with a card of the list; declined; 3-D Secure with its link; and the two kinds of lost answers. */
async function walkOutcomes(desk: Desk, person: Person, [lost, broken]: readonly NewCard[]): Promise<void> {
  await charge(desk, person, { card: '4081', amount: '12,500.00', customerId: 'CUST-17' });
  await desk.modalSays(person, 'Paid (confirmed)');
  await charge(desk, person, { card: '6640', amount: '900.00' });
  await desk.modalSays(person, 'Declined by the bank');
  // Refused by the rule before anything is sent.
  await charge(desk, person, { ...formOf(seedCards.declines), amount: '901.00' });
  await desk.modalSays(person, 'Card on hold until');
  await charge(desk, person, { card: '9018', amount: '900.00' });
  await desk.modalSays(person, 'Declined by the bank');
  await desk.presses(person, 'Payment link');
  await desk.modalSays(person, 'It charges nobody by itself');
  await charge(desk, person, { ...formOf(lost), amount: '5,000.06' });
  await desk.modalSays(person, 'Paid (confirmed)');
  await charge(desk, person, { ...formOf(broken), amount: '5,000.11' });
  await desk.modalSays(person, 'Paid (confirmed)');
}

/** Every rejection of the specification's table that an agent can cause, and those of the form itself. */
async function walkRejections(desk: Desk, typed: Typed, [, , card]: readonly NewCard[]): Promise<void> {
  const made = `tok-canary-${randomBytes(8).toString('hex')}`;
  const other = `tok-canary-${randomBytes(8).toString('hex')}`;
  typed.tokens.push(made, other);
  const email = 'ada.obi@example.com';
  const notSent: TypedCharge[] = [
    { token: made, email, amount: '10.00' },
    { token: foreignTokenKey, email, amount: '10.00' },
    { ...formOf(card), email: 'somebody.else@example.com', amount: '10.00' },
    { ...formOf(card), email: 'not..quite@example.com', amount: '11.00' },
    { ...formOf(card), amount: '10.14' },
  ];
  for (const form of notSent) {
    await charge(desk, 'agent', form);
    await desk.modalSays('agent', 'Not charged: ');
  }
  await desk.opens('agent', '/pay charge');
  await seeks(desk, other);
  await reviews(desk, 'agent', { token: `${other} pasted twice ${other}`, email, amount: '10.00' });
  await reviews(desk, 'agent', { token: other, amount: 'ten' });
  await reviews(desk, 'agent', { token: other, email, amount: '10.00' });
  await desk.presses('agent', 'Change');
  await desk.modalSays('agent', 'Paste the token key again');
  await desk.closes('agent');
}

/** The service in the states that cause most log lines. */
async function walkWeather(desk: Desk, [, , , one, two]: readonly NewCard[]): Promise<void> {
  const { payments } = desk.house;
  await payments.act({ kind: 'set_mode', mode: 'unauthorized' });
  await charge(desk, 'agent', { ...formOf(one), amount: '20.00' });
  await desk.modalSays('agent', 'Not charged: ');
  await payments.act({ kind: 'set_mode', mode: 'error_500' });
  await charge(desk, 'agent', { ...formOf(two), amount: '20.00' });
  await desk.modalSays('agent', 'In doubt, checking');
  await payments.act({ kind: 'set_mode', mode: 'normal' });
  await desk.presses('agent', 'Look up');
  await desk.modalSays('agent', 'Paid (confirmed)');
}

function formOf(card: NewCard | undefined): { token: string; email: string } {
  if (!card) throw new Error('There are too few cards.');
  return { token: card.tokenKey, email: card.customerEmail };
}

/** Ten digits: no other value has them by chance. */
function newCode(): string {
  return String(randomInt(1_000_000_000, 9_999_999_999));
}
