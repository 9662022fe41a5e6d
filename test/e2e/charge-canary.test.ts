import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, type TestContext } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { foreignTokenKey, seedCards } from '../../src/simulators/payments/seed.ts';
import type { Bot } from '../support/bot.ts';
import { findCanaries, type Canaries, type Places } from '../support/canaries.ts';
import { openSlackLine } from '../support/charge-line.ts';
import { sitAt } from '../support/desk.ts';
import { walkCharges, type Walk } from '../support/charge-walk.ts';
import type { Passed } from '../../src/simulators/holds.ts';
import { openHouse, type House } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { runPayops } from '../support/run-payops.ts';
import { askRedis } from '../support/redis-store.ts';
import { startRedis } from '../support/redis-server.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: a charge’s secrets in Redis, because redis-server is not installed.');

const otpPath = '/v1/checkout/checkout-card-otp';
const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

it.skipIf(missing)('with everything logged and every charge walked, no secret gets out', async (test) => {
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

type Walked = {
  house: House;
  bot: Bot;
  walk: Walk;
  canaries: Canaries;
  earlierDump: string;
  /** What the bot answered Slack's payloads with. */
  answers: readonly Passed[];
  forgotten: string;
};

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
  const line = await openSlackLine(house, test, () => [bot]);
  const made = await walkCharges(sitAt(house, bot));
  const earlierDump = await house.storeDump();
  const forgotten = await forgetCards(house);
  const verdicts = () => house.posts('payDesk').filter(({ threadTs }) => threadTs !== undefined);
  await house.until('the desk’s threads have notes', () => verdicts().length >= 3);
  await bot.stop();
  const canaries = canariesOf(house, made);
  return { house, bot, walk: made, canaries, earlierDump, answers: line.gate.passed, forgotten };
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
  const { customerEmail } = seedCards.approves;
  const command = [program, 'forget-cards', customerEmail];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { env: house.settings() });
  expect(stdout).toContain('One saved card of this address is forgotten');
  return `${stdout}\n${stderr}`;
}

/** The secrets that were typed, and those that really passed. */
/** All that the trail holds, in the clear: at rest it is sealed, and would show nothing. */
async function exportAudit(house: House): Promise<string> {
  const { stdout, stderr } = await runPayops(['audit', 'export'], house.settings());
  return `${stdout}\n${stderr}`;
}

function canariesOf(house: House, { typed, cards }: Walk): Canaries {
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
  ];
  const values = (name: string): string[] => [
    ...new Set(
      told.flatMap((text) =>
        [...text.matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g'))].flatMap(([, value]) => value ?? []),
      ),
    ),
  ];
  return {
    tokensIssued: [...values('accessToken'), ...values('refreshToken')],
    transactions: values('transactionId'),
  };
}

function numbered(name: string, values: readonly string[]): Canaries {
  return Object.fromEntries(values.map((value, index) => [`${name} ${index + 1}`, value]));
}

async function placesOf({ house, bot, earlierDump, answers, forgotten }: Walked): Promise<Places> {
  const { users, channels } = house.workspace.ids;
  const people = Object.values(users).map((id) => house.workspace.state(id));
  const posts = Object.values(channels).map((id) => house.workspace.posts(id));
  const places = {
    'the log': bot.lines.join('\n'),
    'what a command printed': forgotten,
    'what the export of the audit printed': await exportAudit(house),
    'the store before the cards were forgotten': earlierDump,
    'the store': await house.storeDump(),
    'Slack payloads': house.slackGate.passed.map(({ request }) => plain(request)).join('\n'),
    'answers to Slack': [
      ...answers.map(({ answer }) => answer),
      // In Socket Mode nothing passes the gate.
      ...house
        .exchanges()
        .filter(({ from }) => from === 'slack')
        .map(({ response = '' }) => response),
      ...house
        .exchanges()
        .filter(({ path }) => path.startsWith('/commands/') || path.startsWith('/actions/'))
        .map(({ request = '' }) => request),
    ].join('\n'),
    'what people see': JSON.stringify([
      people.map(({ messages, views, home }) => [messages, views, home]),
      posts,
    ]),
  };
  // Each is really what its name says.
  expect(places['the log']).toContain('"level":"debug"');
  expect(places['the log']).toContain('A card number was typed and refused');
  expect(places['the log']).toContain('code answered');
  expect(places['the store']).toContain('charge:pay-');
  expect(places['what the export of the audit printed']).toContain('code_wrong');
  expect(places['what the export of the audit printed']).toContain('otp_resend');
  expect(places['Slack payloads']).toContain('Declined by the bank');
  expect(places['Slack payloads']).toContain('Wrong code');
  expect(places['Slack payloads']).toContain('Waiting for a code');
  expect(places['answers to Slack']).toContain('asked for in a form');
  expect(places['answers to Slack']).toMatch(/Charging …|Approved, confirming|Paid \(confirmed\)/);
  expect(places['answers to Slack']).toContain('A token key has no blanks in it');
  expect(places['Slack payloads']).toContain('Not sent (fix the request)');
  expect(places['what people see']).toContain('Paid (confirmed)');
  return places;
}

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

async function postAsTheBot({ slackGate, workspace }: House, text: string): Promise<void> {
  const response = await fetch(`${slackGate.url}/api/chat.postMessage`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${workspace.credentials.botToken}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ channel: workspace.ids.channels.payDesk, text }).toString(),
  });
  expect(await response.json()).toMatchObject({ ok: true });
}
