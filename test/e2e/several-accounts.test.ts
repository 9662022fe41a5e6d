import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { channelIds } from '../../src/simulators/slack/cast.ts';
import { asksForMore, sitAt, type Desk, type Message } from '../support/desk.ts';
import type { HouseOptions } from '../support/house.ts';
import {
  mixedCalls,
  openSeveralAccounts,
  saveCard,
  secretsOf,
  type SeveralAccount,
  type SeveralAccounts,
} from '../support/several-accounts.ts';

const ada = 'ada@example.com';
const olu = 'olu@example.com';
const patient = { LOG_LEVEL: 'debug', PAYMENTS_TIMEOUT_SECONDS: '8', WORK_LEASE_SECONDS: '120' };

type Accounts = SeveralAccounts & {
  desk: Desk;
  main: SeveralAccount;
  lagos: SeveralAccount;
  test: SeveralAccount;
};
type Ends = Parameters<typeof openSeveralAccounts>[0];

describe('several merchant accounts in one bot', () => {
  let at: Accounts;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    const file = { onTestFinished: (end: () => unknown) => ends.push(end), onTestFailed: () => undefined };
    at = await openAccounts(file as never, { clock: true }, (policyFile) =>
      appendFileSync(
        policyFile,
        `routes: [{ name: l, when: { account: lagos, event: any }, to: ${channelIds.payOps} }]\n`,
      ),
    );
  });
  afterAll(async () => {
    await Promise.all(ends.map((end) => end()));
  });

  it('look a reference up at the account that is named, else at the first, and say which was asked', async () => {
    const { desk, main, lagos } = at;
    await saveCard(lagos, 'SHARED-1', ada, '700.00');
    await saveCard(main, 'SHARED-1', olu, '90.00');
    await desk.asks('agent', '/pay SHARED-1', 'NGN 90.00');
    const named = await desk.asks('agent', '/pay SHARED-1 --account lagos', 'NGN 700.00');
    expect(named.shown.text).toContain('lagos');
    const none = await desk.asks('agent', '/pay NOPE-1', 'Not found');
    expect(none.shown.text).toContain('Only main was asked. Another: --account with lagos, test.');
    const wrong = await desk.asks('agent', '/pay SHARED-1 --account lagoss', 'There is no account “lagoss”');
    expect(wrong.shown.text).toContain('Did you mean --account lagos?');

    // A message's own words are looked up at the first, as a channel without an account of its own has it.
    await desk.types('onCall', 'Is SHARED-1 paid?');
    const { messages } = desk.house.workspace.state(desk.id('onCall'));
    const written = messages[channelIds.payDesk]?.findLast(({ authorIsBot }) => !authorIsBot);
    await desk.seesBy('agent', 'NGN 90.00', () => desk.shortcut('agent', 'Look up reference here', written));

    await desk.presses('agent', 'Share to channel', named);
    const shared = await desk.reads('onCall', ['NGN 700.00', 'Shared by'], 'payDesk');
    const [atMain, atLagos] = [main.calls.length, lagos.calls.length];
    await desk.presses('onCall', 'Refresh', shared);
    await desk.house.until('it is read anew', () => lagos.calls.length > atLagos);
    expect(main.calls.length).toBe(atMain);
  });

  it('tell each account’s events at its own address alone, and route them by its name', async () => {
    const { desk, main, lagos } = at;
    await saveCard(lagos, 'SAME-1', ada, '701.00');
    await saveCard(main, 'SAME-1', olu, '91.00');
    const routed = await desk.reads('lead', ['NGN 701.00', 'lagos'], 'payOps');
    await desk.reads('lead', 'NGN 91.00', 'general');
    expect(routed.shown.text).not.toContain('main');
    const said = (where: 'payOps' | 'general') =>
      desk
        .posts('lead', where)
        .map(({ text }) => text)
        .join();
    expect(said('payOps')).not.toContain('NGN 91.00');
    expect(said('general')).not.toContain('NGN 701.00');

    main.service.sendWebhooksTo(`${desk.house.webhookGate.url}/webhooks/payments/lagos`);
    await saveCard(main, 'ASTRAY-1', olu, '92.00');
    await desk.house.until('what main signed is refused at lagos’s address', () =>
      desk.bot.lines.some((line) => line.includes('"account":"lagos"') && line.includes('"httpStatus":401')),
    );
    expect(await desk.house.storeKeys('@lagos:message:alert:payment_success/order/ASTRAY-1')).toEqual([]);
    main.service.sendWebhooksTo(`${desk.house.webhookGate.url}/webhooks/payments`);
  });

  it('charge a card of the account that is named, with its code, and show it in the one Home', async () => {
    const { desk, main, lagos } = at;
    const tokenKey = await savedToken(lagos, 'CARD-L');
    const form = await desk.opens('agent', '/pay charge 1,234.00 --account lagos');
    expect(form.shown.text).toContain('lagos');
    await lagos.service.act({ kind: 'order_next_charge', next: 'otp' });
    await asksForMore(desk, 'agent');
    await desk.submits('agent', { 'Or the card’s token key': tokenKey, 'Customer’s e-mail': ada });
    expect((await desk.modalSays('agent', 'Nothing sent yet.')).shown.text).toContain('lagos');
    await desk.submits('agent');
    await desk.modalSays('agent', 'tries left');
    await desk.closes('agent');

    const menu = await desk.asks('agent', '/pay', '1 thing waits for you');
    expect(menu.shown.text).toContain('/pay otp --account lagos');
    const waiting = await desk.home('agent', 'Waiting for a code');
    expect(waiting.text.indexOf('lagos')).toBeLessThan(waiting.text.indexOf('Waiting for a code'));
    await desk.asks('agent', '/pay otp', 'No charge waits for a code from you');
    await desk.opens('agent', '/pay otp --account lagos');
    await desk.submits('agent', { [desk.modal('agent')?.fields[0] ?? '']: rightOtp });
    const paid = await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.closes('agent');
    const [reference = ''] = /pay-\w+/.exec(paid.shown.text) ?? [];
    await desk.asks('agent', `/pay ${reference} --account lagos`, 'Paid (confirmed)');
    await desk.asks('agent', `/pay ${reference}`, 'Not found');
    expect(chargesAt(main)).toEqual([]);
    const home = await desk.home('agent', 'Your last charges');
    expect(home.text).toMatch(/lagos[^]*Your last charges[^]*NGN 1,234\.00/);
    const { stdout } = await desk.runs(['audit', 'export'], secretsAndAll(at));
    expect(stdout).toMatch(/"account":"lagos".*"reference":"pay-/);
  });

  it('cannot take live money for a test: a live review says so first, and a sandbox one goes there', async () => {
    const { desk, test } = at;
    const typed = { 'Or the card’s token key': 'any-token-key', 'Customer’s e-mail': ada };
    await desk.opens('agent', '/pay charge 10.00');
    await asksForMore(desk, 'agent');
    const live = await desk.submits('agent', typed);
    expect(live?.shown.text).toContain('🔴 Real money: main');
    await desk.closes('agent');
    await desk.opens('agent', '/pay charge 10.00 --account test');
    await asksForMore(desk, 'agent');
    const sandbox = await desk.submits('agent', typed);
    expect(sandbox?.title).toContain('SANDBOX');
    expect(sandbox?.shown.text).not.toContain('LIVE');
    await desk.submits('agent');
    const paths = () => test.calls.map(({ path }) => path);
    await desk.house.until('it is charged', () =>
      paths().includes('/sandbox/checkout/tokenized-card-payment'),
    );
    expect(paths().filter((path) => path.startsWith('/v1/checkout/'))).toEqual([]);
  });

  it('each have their own payment links, cards, terminals and e-mails', async () => {
    const { desk, main, lagos } = at;
    const form = await desk.opens('agent', '/pay link 150.00 --account lagos');
    expect(form.shown.text).toContain('lagos');
    await desk.submits('agent', { 'Customer’s e-mail': ada, 'Our reference': 'LINK-L-1' });
    await desk.modalSays('agent', 'The service’s order id');
    await desk.closes('agent');
    const card = await desk.reads('lead', ['Payment link, not paid yet', 'LINK-L-1'], 'payDesk');
    await desk.seesBy('agent', 'LINK-L-1', () => desk.presses('agent', 'Check now', card));
    await lagos.service.act({ kind: 'pay_order', orderReference: 'LINK-L-1', outcome: 'approved' });
    const paid = await desk.reads('lead', ['Paid (confirmed) · NGN 150.00', 'lagos'], 'payDesk');
    expect(paid.shown.text).toContain('LINK-L-1');
    expect(main.service.state().orders.map(({ orderReference }) => orderReference)).not.toContain('LINK-L-1');

    await savedToken(lagos, 'CARD-LIST');
    await desk.asks('agent', `/pay cards ${ada}`, 'No saved cards');
    const listed = await desk.asks('agent', `/pay cards ${ada} --account lagos`, 'saved card');
    await desk.presses('agent', 'Charge this card', listed);
    await desk.modalSays('agent', 'lagos');
    await desk.submits('agent', { Amount: '1,000.00' });
    await desk.submits('agent');
    await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.closes('agent');
    const terminals = await desk.asks('agent', '/pay terminals --account lagos', 'Terminals 1–50');
    const before = main.calls.length;
    await desk.seesBy('agent', 'Terminals 51–100', () => desk.presses('agent', 'Next', terminals));
    expect(main.calls.length).toBe(before);
  });

  it('are named on the command line, and none is asked for another', async () => {
    const { desk, main, lagos } = at;
    await saveCard(lagos, 'LINE-1', ada, '700.00');
    const ask = (...words: string[]) => desk.runs(words, secretsAndAll(at));
    const before = main.calls.length;
    const found = await ask('lookup', 'LINE-1', '--account', 'lagos', '--json');
    expect(found.code).toBe(0);
    expect(JSON.parse(found.stdout)).toMatchObject({
      merchant: { account: 'lagos' },
      amount: { minor: 70_000 },
    });
    expect(main.calls.length).toBe(before);
    expect(await ask('lookup', 'LINE-1')).toMatchObject({ code: 4 });
    expect((await ask('lookup', 'LINE-1', '--account', 'lagoss')).stderr).toContain(
      'The accounts are main, lagos, test.',
    );
    expect(await ask('doubt')).toMatchObject({ code: 2, stdout: '' });
    expect(await ask('doubt', '--account', 'test')).toMatchObject({ code: 0 });
    expect(await ask('revoke-token')).toMatchObject({ code: 2, stdout: '' });
    expect((await ask('forget-cards', 'nobody@example.com')).stdout).toMatch(/main: .*\nlagos: .*\ntest: /);
  });

  it('have carried nothing of each other by then: no token, no id, no card', () => {
    expect(at.accounts.map(({ calls }) => calls.length > 0)).toEqual([true, true, true]);
    expect(mixedCalls(at.accounts)).toEqual([]);
  });
});

describe('further accounts', () => {
  it('are added to a bot of one, which goes on with what it had begun for the first', async (test) => {
    const several = await openSeveralAccounts(test, ['main', 'lagos'], { later: true, env: patient });
    const { house, addAccounts } = several;
    const [main] = several.accounts as [SeveralAccount];
    const bot = house.bot({ PAYMENTS_BASE_URL: main.url });
    await house.start(bot);
    const desk = sitAt(house, bot);
    const tokenKey = await savedToken(main, 'CARD-M');
    await main.service.act({ kind: 'order_next_charge', next: 'otp' });
    await desk.opens('agent', '/pay charge 321.00');
    await asksForMore(desk, 'agent');
    await desk.submits('agent', { 'Or the card’s token key': tokenKey, 'Customer’s e-mail': ada });
    await desk.submits('agent');
    await desk.modalSays('agent', 'tries left');
    addAccounts();
    await desk.restarts({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
    // The very form that the old bot opened, which names no account.
    await desk.submits('agent', { [desk.modal('agent')?.fields[0] ?? '']: rightOtp });
    await desk.modalSays('agent', 'Paid (confirmed)');
    const help = await desk.asks('agent', '/pay help', '--account');
    expect(help.shown.text).toContain('main');
    expect(mixedCalls(several.accounts)).toEqual([]);
  });

  it('have alerts of their own: one’s post is not taken for the lost one of another', async (test) => {
    const { desk, main, lagos } = await openAccounts(test, {
      workspace: { grantedOptionalScopes: 'all' },
      env: { PAYMENTS_TIMEOUT_SECONDS: '1', SLACK_TIMEOUT_SECONDS: '1', WORK_LEASE_SECONDS: '5' },
    });
    const told = (amount: string): Message[] =>
      (['payAlerts', 'general'] as const)
        .flatMap((where) => desk.posts('lead', where))
        .filter(({ text }) => text.includes(amount));
    await saveCard(main, 'SAME-1', olu, '90.00');
    await desk.house.until('main’s payment is told in both channels', () => told('NGN 90.00').length === 2);
    const leaving = [0, 1].map(() => desk.house.slackGate.hold('chat.postMessage', 'before'));
    await saveCard(lagos, 'SAME-1', ada, '700.00');
    await Promise.all(leaving);
    // Neither arrived, and the bot cannot know: it reads the channels before it posts them again.
    desk.house.slackGate.cut();
    await desk.house.until('lagos’s is told after all', () => told('NGN 700.00').length === 2);
    expect(told('NGN 90.00')).toHaveLength(2);
  });
});

/** Two live accounts, and one in the sandbox. */
async function openAccounts(
  ends: Ends,
  options: HouseOptions = {},
  before: (policyFile: string) => void = () => undefined,
): Promise<Accounts> {
  const several = await openSeveralAccounts(ends, ['main', 'lagos', 'test'], {
    ...options,
    sandbox: 'test',
    env: { ...patient, ...options.env },
  });
  before(several.house.policyFile);
  const bot = several.house.bot({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
  await several.house.start(bot);
  const [main, lagos, test] = several.accounts as [SeveralAccount, SeveralAccount, SeveralAccount];
  return { ...several, desk: sitAt(several.house, bot), main, lagos, test };
}

function secretsAndAll(accounts: Accounts): Record<string, string> {
  return { ...secretsOf(accounts), PAYMENTS_ACCOUNT_ID: '' };
}

async function savedToken(account: SeveralAccount, reference: string): Promise<string> {
  await saveCard(account, reference, ada, '50.00');
  return account.service.state().cards.at(-1)?.tokenKey ?? '';
}

function chargesAt({ service }: SeveralAccount): string[] {
  return service
    .state()
    .orders.map(({ orderReference }) => orderReference)
    .filter((reference) => reference.startsWith('pay-'));
}
