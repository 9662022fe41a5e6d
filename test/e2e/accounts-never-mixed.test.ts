import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import type { Bot } from '../support/bot.ts';
import { reviews, sitAt, type Desk } from '../support/desk.ts';
import type { House } from '../support/house.ts';
import {
  mixedCalls,
  openSeveralAccounts,
  secretsOf,
  type SeveralAccount,
} from '../support/several-accounts.ts';

/** `SEED=7 npx vitest run test/e2e/accounts-never-mixed.test.ts` does the same again. */
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));
const names = ['main', 'lagos', 'abuja'];
const people = ['agent', 'lead', 'onCall'] as const;
const actionsEach = 9;
const freshForMs = 2_000;
const refreshAheadSeconds = 1;
/** The same people are customers of every account, under the same references, so that only the account tells them apart. */
const customers = ['ada@example.com', 'olu@example.com', 'ife@example.com', 'ngozi@example.com'];
/** By its last two digits the simulated bank takes, asks for a code, declines, or loses the answer. */
const endings = ['00', '00', '01', '01', '02', '06', '07'];

type Person = (typeof people)[number];
type Scene = { house: House; accounts: readonly SeveralAccount[]; desk: Desk; bot: Bot };

describe(`three accounts in one bot (seed ${seed})`, { timeout: 240_000 }, () => {
  it('never carry each other’s token or id, and no record of one answers for another', async (test) => {
    const scene = await openScene(test);
    const { accounts, bot } = scene;
    const random = createRandom(seed);
    const walks = people.map((person, index) =>
      walk({ ...scene, person, random: random.fork(`${person}${index}`), account: index }),
    );
    const disturbing = disturb(scene, random.fork('disturb'));
    await Promise.all([...walks, disturbing]);
    // However quick the walk was: after this no token is fresh any more, and each account is asked with a newer one.
    await rest(freshForMs);
    for (const account of names.keys()) {
      // oxlint-disable-next-line no-await-in-loop -- one person asks
      await lookUp({ ...scene, person: 'agent', random, account });
    }
    // A channel takes one post a second, so what the last account has to say may be waiting still.
    const isSaidOf = (): boolean => new Set(placesSaid(scene).map(({ name }) => name)).size === names.length;
    await scene.house.until('something was said of every account', isSaidOf);
    expect(mixedCalls(accounts)).toEqual([]);
    expect(misplaced(accounts)).toEqual([]);
    const said = placesSaid(scene);
    expect(said.filter(({ name, wanted }) => name !== wanted)).toEqual([]);
    // It was no idle walk: every account was charged, refused and asked again with a newer token.
    for (const { calls } of accounts) {
      const paths = new Set(calls.map(({ path }) => path));
      expect(paths).toContain('/v1/checkout/tokenized-card-payment');
      expect(calls.filter(({ status }) => status === 401).length).toBeGreaterThan(0);
      expect(calls.filter(({ path }) => /token\/(issue|refresh)$/.test(path)).length).toBeGreaterThan(1);
    }
    expect(bot.lines.join('\n')).not.toContain('was taken for another account');
  });

  it('would be caught, if they did', async (test) => {
    const { accounts, house } = await openScene(test);
    const [main, lagos] = accounts;
    if (!main || !lagos) throw new Error('two accounts are needed');
    await asks(house, 'agent', '/pay NOTHING-1', 'Not found');
    await asks(house, 'agent', '/pay NOTHING-1 --account lagos', 'Not found');
    expect(mixedCalls(accounts)).toEqual([]);
    const token = main.calls.find(({ authorization }) => authorization !== undefined)?.authorization ?? '';
    const headers = { authorization: token, accountId: main.service.credentials.accountId };
    await fetch(`${lagos.url}/v1/transactions/accounts/single?orderReference=X`, { headers });
    expect(mixedCalls(accounts).join('\n')).toMatch(/carries what is main’s[\s\S]*names another account/);
  });
});

async function openScene(test: TestContext): Promise<Scene> {
  const several = await openSeveralAccounts(test, names, {
    payments: { tokenLifetimeMs: freshForMs + refreshAheadSeconds * 1_000 },
    env: {
      LOG_LEVEL: 'debug',
      PAYMENTS_TIMEOUT_SECONDS: '2',
      // An edit of a modal that is not answered in time is not repeated, and the walk waits for its words.
      SLACK_TIMEOUT_SECONDS: '3',
      WORK_LEASE_SECONDS: '10',
      PAYMENTS_TOKEN_REFRESH_BODY: '{"refreshToken":"{{REFRESH_TOKEN}}"}',
      PAYMENTS_TOKEN_REFRESH_AHEAD_SECONDS: String(refreshAheadSeconds),
    },
    everybodyMay: true,
  });
  const { house, accounts } = several;
  const bot = house.bot({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
  await house.start(bot);
  for (const [index, { service }] of accounts.entries()) {
    for (const [number, customerEmail] of customers.entries()) {
      const orderReference = `FIRST-${number}`;
      // oxlint-disable-next-line no-await-in-loop -- the order must be there to be paid
      await service.act({
        kind: 'create_order',
        amount: firstAmount(index, number),
        customerEmail,
        orderReference,
      });
      // oxlint-disable-next-line no-await-in-loop
      await service.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
    }
  }
  await house.until('every card is known', () =>
    accounts.every(
      ({ service }) =>
        service.state().deliveries.filter(({ state }) => state === 'delivered').length >= customers.length,
    ),
  );
  return { house, accounts, desk: sitAt(house, bot), bot };
}

/** Of the first account, "110.00"; of the second, "210.00": every amount here begins with its account’s number. */
function firstAmount(account: number, customer: number): string {
  return `${account + 1}${customer + 1}0.00`;
}

/** Each begins with a charge at an account of their own, so that chance leaves none of them out. */
async function walk(first: Turn): Promise<void> {
  const { random } = first;
  await charge(first);
  for (let turn = 1; turn < actionsEach; turn += 1) {
    const account = random.below(names.length);
    const act = random.pick([lookUp, lookUp, charge, charge, charge, list, changeEmail]);
    // oxlint-disable-next-line no-await-in-loop -- a person does one thing after the other
    await act({ ...first, account });
  }
}

type Turn = Scene & { person: Person; random: Random; account: number };

async function lookUp({ house, person, random, account }: Turn): Promise<void> {
  const customer = random.below(customers.length);
  await asks(house, person, `/pay FIRST-${customer}${at(account)}`, `NGN ${firstAmount(account, customer)}`);
}

async function charge(turn: Turn): Promise<void> {
  const { house, desk, person, random, account } = turn;
  const amount = `${(account + 1) * 10_000 + random.below(9_000)}.${random.pick(endings)}`;
  const form = { card: random.pick(customers), amount };
  const read = await reviews(desk, person, form, `/pay charge${at(account)}`);
  expect(read.shown.text).toContain(names[account]);
  if (!read.submit?.startsWith('Charge')) {
    // After a decline the review asks for approval instead, and an open charge of the card is waited for.
    expect(read.shown.text).toMatch(/on hold|Wait for its result/);
    return await desk.closes(person);
  }
  await desk.submits(person);
  const ended =
    /Paid \(confirmed\)|Needs OTP|code|Declined|Not sent|rests|was begun|In doubt|Approved, confirming|may not be charged|cannot be charged/;
  await house.until(`a charge of ${amount} goes on`, () => ended.test(textOf(desk, person)));
  const asksForCode = (): boolean => desk.modal(person)?.submit?.includes('code') === true;
  if (asksForCode() && random.chance(0.7)) {
    await desk.submits(person, { 'Code from the bank': rightOtp });
    await house.until('the code is judged', () => textOf(desk, person).includes('Paid (confirmed)'));
  }
  await desk.closes(person);
}

async function list({ house, desk, person, account }: Turn): Promise<void> {
  if (!(await asks(house, person, `/pay terminals${at(account)}`, 'Terminals 1–50'))) return;
  const before = JSON.stringify(house.seenBy(person));
  await desk.presses(person, 'Next');
  await house.until('the press is answered', () => JSON.stringify(house.seenBy(person)) !== before);
}

async function changeEmail({ house, accounts, desk, person, random, account }: Turn): Promise<void> {
  await desk.opens(person, `/pay card-email${at(account)}`);
  const { tokenKey } = random.pick(accounts[account]?.service.state().cards ?? []);
  const wrong = 'nobody@example.com';
  await desk.submits(person, {
    'Or the card’s token key': tokenKey,
    'Current e-mail': wrong,
    'New e-mail': `new.${random.below(1_000)}@example.org`,
  });
  await desk.submits(person);
  const answered = /is not the card’s|access token/;
  await house.until('the service has answered', () => answered.test(textOf(desk, person)));
  await desk.closes(person);
}

/** Tokens die, events come again and the bank's own charges fail, while people work. */
async function disturb({ accounts, house }: Scene, random: Random): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) {
    // Chance leaves no account out.
    const index = turn < accounts.length ? turn : random.below(accounts.length);
    const { service, refuse } = accounts[index] ?? random.pick(accounts);
    const amount = `${(index + 1) * 100_000 + turn}.00`;
    refuse(1);
    // oxlint-disable-next-line no-await-in-loop -- spread over the walk
    await service.act(
      random.chance(0.5)
        ? {
            kind: 'decline_saved_card_charge',
            amount,
            customerEmail: random.pick(customers),
            reason: 'No funds',
          }
        : { kind: 'approve_saved_card_charge', amount, customerEmail: random.pick(customers) },
    );
    const calls = callCount(accounts);
    // oxlint-disable-next-line no-await-in-loop
    await house.until('the bot works', () => callCount(accounts) > calls + 3, 3_000).catch(() => undefined);
  }
}

function callCount(accounts: readonly SeveralAccount[]): number {
  return accounts.reduce((sum, { calls }) => sum + calls.length, 0);
}

/** Orders at a service whose amount is another account’s. */
function misplaced(accounts: readonly SeveralAccount[]): string[] {
  return accounts.flatMap(({ name, service }, index) =>
    service
      .state()
      .orders.filter(({ amount }) => !amount.startsWith(String(index + 1)))
      .map(({ orderReference, amount }) => `${orderReference} of ${amount} is at ${name}`),
  );
}

/** The account that each post names beside an amount, and the one whose amount it is. */
function placesSaid({
  house,
}: Scene): { name: string | undefined; wanted: string | undefined; text: string }[] {
  const posts = [...house.posts('payAlerts'), ...house.posts('general'), ...house.posts('payDesk')];
  return posts.flatMap((post) => {
    const all = JSON.stringify(post);
    const [, digit] = /NGN (\d)/.exec(all) ?? [];
    const wanted = digit === undefined ? undefined : names[Number(digit) - 1];
    const said = all.matchAll(new RegExp(`"text":"(${names.join('|')})"`, 'g'));
    return [...said].map(([, name]) => ({ name, wanted, text: post.text }));
  });
}

function at(account: number): string {
  return account === 0 ? '' : ` --account ${names[account]}`;
}

function textOf(desk: Desk, person: Person): string {
  return desk.modal(person)?.shown.text ?? '';
}

/** False when the service refused both tokens. */
async function asks(house: House, person: Person, command: string, words: string): Promise<boolean> {
  const before = house.seenBy(person).length;
  await house.type(person, command);
  const news = (): string =>
    JSON.stringify(
      house
        .seenBy(person)
        .slice(before)
        .map(({ text }) => text),
    );
  // Of two tokens that died at once one call in a hundred hears of both; that is an answer, and never another’s.
  const isAnswered = (): boolean => news().includes(words) || news().includes('access token');
  await house.until(`${command}: ${words}`, isAnswered).catch((error: unknown) => {
    throw new Error(`${person} typed ${command} and read ${news()}`, { cause: error });
  });
  return news().includes(words);
}
