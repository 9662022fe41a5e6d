import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { startPaymentsService, type PaymentsService } from '../../src/simulators/payments/service.ts';
import { channelIds } from '../../src/simulators/slack/directory.ts';
import { reviews, sitAt, type Desk, type Message } from '../support/desk.ts';
import { openBackend } from '../support/backend.ts';
import { openGate, type Gate } from '../support/gate.ts';
import { openHouse, type House, type HouseOptions, type Person } from '../support/house.ts';

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

  it('look a reference up at the named account, else at the first, and say which was asked', async () => {
    const { desk, main, lagos } = at;
    await saveCard(lagos, 'SHARED-1', ada, '700.00');
    await saveCard(main, 'SHARED-1', olu, '90.00');
    await desk.asks('agent', '/pay SHARED-1', 'NGN 90.00');
    const named = await desk.asks('agent', '/pay SHARED-1 --account lagos', 'NGN 700.00');
    expect(named.shown.text).toContain('lagos');
    const none = await desk.asks('agent', '/pay NOPE-1', 'Not found');
    expect(none.shown.text).toContain(
      'Only main was asked. For another account, add --account lagos or test.',
    );
    const wrong = await desk.asks('agent', '/pay SHARED-1 --account lagoss', 'There is no account “lagoss”');
    expect(wrong.shown.text).toContain('Did you mean --account lagos?');

    // A reference in a message is looked up at the first account, because the channel belongs to no account.
    await desk.types('onCall', 'Is SHARED-1 paid?');
    const { messages } = desk.house.workspace.state(desk.id('onCall'));
    const written = messages[channelIds.payDesk]?.findLast(({ authorIsBot }) => !authorIsBot);
    await desk.seesBy('agent', 'NGN 90.00', () => desk.shortcut('agent', 'Look up reference here', written));

    await desk.presses('agent', 'Share to channel', named);
    const shared = await desk.reads('onCall', ['NGN 700.00', 'Shared by'], 'payDesk');
    const [atMain, atLagos] = [main.calls.length, lagos.calls.length];
    await desk.presses('onCall', 'Look up', shared);
    await desk.house.until('it is read again', () => lagos.calls.length > atLagos);
    expect(main.calls.length).toBe(atMain);
  });

  it('find a customer’s records only at the named account', async () => {
    const { desk, main, lagos } = at;
    const email = 'fin@example.com';
    await saveCard(lagos, 'FIND-1', email, '703.00');
    await saveCard(main, 'FIND-2', email, '93.00');
    await desk.settled('soon');
    const first = await desk.asks('agent', `/pay ${email}`, 'FIND-2');
    expect(first.shown.text).not.toContain('FIND-1');
    const named = await desk.asks('agent', `/pay find ${email} --account lagos`, 'FIND-1');
    expect(named.shown.text).not.toContain('FIND-2');
    const none = await desk.asks('agent', `/pay ${email} --account test`, 'No record since');
    expect(none.shown.text).toContain('For another account, add --account main or lagos.');
    // Each account's lists have keys of their own.
    const lists = (await desk.house.storeDump()).match(/found-by:[\da-f]{32}/g) ?? [];
    expect(new Set(lists).size).toBeGreaterThan(1);
    const older = await desk.seesBy('agent', 'No failed record', () =>
      desk.presses('agent', 'Failed', named),
    );
    expect(older.shown.text).toContain('lagos');
  });

  it('accept each account’s events only at its own address, and route them by its name', async () => {
    const { desk, main, lagos } = at;
    await saveCard(lagos, 'SAME-1', ada, '701.00');
    await saveCard(main, 'SAME-1', olu, '91.00');
    const routed = await desk.reads('lead', ['NGN 701.00', 'lagos'], 'payOps');
    await desk.reads('lead', 'NGN 91.00', 'general');
    expect(routed.text).toMatch(/^lagos: /);
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
    main.service.sendWebhooksTo(`${desk.house.webhookGate.url}/webhooks/payments/main`);
    await saveCard(main, 'NAMED-1', olu, '93.00');
    await desk.reads('lead', 'NGN 93.00', 'general');
    main.service.sendWebhooksTo(`${desk.house.webhookGate.url}/webhooks/payments/`);
    await saveCard(main, 'SLASH-1', olu, '94.00');
    await desk.reads('lead', 'NGN 94.00', 'general');
    main.service.sendWebhooksTo(`${desk.house.webhookGate.url}/webhooks/payments`);
  });

  it('charge a card of the named account, with its code, and show it in the one Home', async () => {
    const { desk, main, lagos } = at;
    const tokenKey = await savedToken(lagos, 'CARD-L');
    const form = await desk.opens('agent', '/pay charge 1,234.00 --account lagos');
    expect(form.shown.text).toContain('lagos');
    await lagos.service.act({ kind: 'set_next_charge', next: 'otp' });
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
    await desk.presses('agent', 'Let the customer type it');
    const { shown } = await desk.modalSays('agent', 'to lagos Store');
    const [link = ''] = /\/c\/[\w-]{22}/.exec(shown.text) ?? [];
    const page = await (await fetch(`${desk.bot.url()}${link}`)).text();
    expect(page).toContain('lagos Store');
    const [, id = ''] = /name="id" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ id, try: '3', do: 'send', code: rightOtp });
    await (await fetch(`${desk.bot.url()}${link}`, { method: 'POST', body })).text();
    await desk.closes('agent');
    const paid = await desk.reads('lead', ['Paid (confirmed)', 'NGN 1,234.00'], 'payDesk');
    await desk.closes('agent');
    const [reference = ''] = /pay-\w+/.exec(paid.shown.text) ?? [];
    await desk.asks('agent', `/pay ${reference} --account lagos`, 'Paid (confirmed)');
    await desk.asks('agent', `/pay ${reference}`, 'Not found');
    expect(chargesAt(main)).toEqual([]);
    const home = await desk.home('agent', 'Your last charges');
    expect(home.text).toMatch(/lagos[^]*Your last charges[^]*NGN 1,234\.00/);
    const { stdout } = await desk.runs(['audit', 'export'], secretsAndAll(at));
    expect(stdout).toMatch(/"account":"lagos".*"reference":"pay-/);
    const ofLagos = await desk.runs(['audit', 'export', '--account', 'LAGOS'], secretsAndAll(at));
    expect(ofLagos.stdout).toContain(reference);
    const typo = await desk.runs(['audit', 'export', '--account', 'lagoss'], secretsAndAll(at));
    expect(typo).toMatchObject({ code: 2, stdout: '' });
    expect(typo.stderr).toContain('There is no account of that name. The accounts are main, lagos');
  });

  it('prevent live charges meant as tests: a live review says so first, and a sandbox charge goes to the sandbox', async () => {
    const { desk, test } = at;
    const typed = { 'Or the card’s token key': 'any-token-key', 'Customer’s e-mail': ada };
    await desk.opens('agent', '/pay charge 10.00');
    const live = await desk.submits('agent', typed);
    expect(live?.shown.text).toContain('🔴 Real money: main');
    await desk.closes('agent');
    await desk.opens('agent', '/pay charge 10.00 --account test');
    const sandbox = await desk.submits('agent', typed);
    expect(sandbox?.shown.text).toContain('SANDBOX');
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
    await desk.seesBy('agent', 'LINK-L-1', () => desk.presses('agent', 'Look up', card));
    await lagos.service.act({ kind: 'pay_order', orderReference: 'LINK-L-1', outcome: 'approved' });
    const paid = await desk.reads('lead', ['Paid (confirmed), card saved · NGN 150.00', 'lagos'], 'payDesk');
    expect(paid.shown.text).toContain('LINK-L-1');
    expect(main.service.state().orders.map(({ orderReference }) => orderReference)).not.toContain('LINK-L-1');

    await savedToken(lagos, 'CARD-LIST');
    await desk.asks('agent', `/pay cards ${ada}`, 'No saved cards');
    const listed = await desk.asks('agent', `/pay cards ${ada} --account lagos`, 'saved card');
    await desk.presses('agent', 'Charge', listed);
    await desk.modalSays('agent', 'lagos');
    await desk.submits('agent', { Amount: '1,000.00' });
    await desk.submits('agent');
    await desk.modalSays('agent', 'Paid (confirmed)');
    await desk.closes('agent');
    const terminals = await desk.asks('agent', '/pay terminals --account lagos', 'Terminals 1–10');
    const before = main.calls.length;
    await desk.seesBy('agent', 'Terminals 11–20', () => desk.presses('agent', 'Next', terminals));
    expect(main.calls.length).toBe(before);
  });

  it('are chosen by name on the command line, and only that one is asked', async () => {
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
    expect((await ask('doctor', '--account', 'lagoss')).stderr).toContain(
      'The accounts are main, lagos, test.',
    );
    expect((await ask('doctor', '--account', 'LAGOS')).code).not.toBe(2);
    expect(await ask('doubt')).toMatchObject({ code: 2, stdout: '' });
    expect(await ask('doubt', '--account', 'test')).toMatchObject({ code: 0 });
    expect(await ask('revoke-token')).toMatchObject({ code: 2, stdout: '' });
    expect((await ask('forget-cards', 'nobody@example.com')).stdout).toMatch(
      /^main: [^]*\nlagos: [^]*\ntest: /,
    );
  });

  it('serve three people at once, and get new tokens if theirs are refused, each at the named account', async () => {
    const { desk, main, lagos } = at;
    async function charge(person: Person, { name, service }: SeveralAccount, amount: string): Promise<void> {
      const token = service.state().cards.at(-1)?.tokenKey ?? '';
      await reviews(desk, person, { token, email: ada, amount }, `/pay charge --account ${name}`);
      await desk.submits(person);
      await desk.modalSays(person, 'Paid (confirmed)');
      await desk.closes(person);
    }
    await savedToken(main, 'ONCE-M');
    await savedToken(lagos, 'ONCE-L');
    for (let round = 1; round <= 4; round += 1) {
      await Promise.all([
        charge('agent', main, `51${round}.00`),
        charge('lead', lagos, `61${round}.00`),
        desk.asks('onCall', '/pay SHARED-1 --account lagos', 'NGN 700.00'),
      ]);
    }
    for (const { service } of [main, lagos]) service.setFaults({ kind: 'unauthorized', times: 1 });
    await Promise.all([
      desk.asks('onCall', '/pay SHARED-1', 'NGN 90.00'),
      desk.asks('lead', '/pay SHARED-1 --account lagos', 'NGN 700.00'),
    ]);
    expect(amountsAt(main).filter((amount) => /^[56]1\d\./.test(amount))).toHaveLength(4);
    expect(amountsAt(lagos).filter((amount) => amount.startsWith('51'))).toEqual([]);
  });

  it('have never mixed tokens, ids or cards; a mixed call would be detected', async () => {
    const { accounts, main, lagos } = at;
    expect(accounts.map(({ calls }) => calls.length > 0)).toEqual([true, true, true]);
    expect(mixedCalls(accounts)).toEqual([]);
    const token = main.calls.find(({ headers }) => headers?.authorization)?.headers?.authorization ?? '';
    const headers = { authorization: token, accountId: main.service.credentials.accountId };
    await fetch(`${lagos.url}/v1/transactions/accounts/single?orderReference=X`, { headers });
    expect(mixedCalls(accounts).join()).toMatch(/carries what is main’s.*names another account/s);
  });
});

describe('further accounts', () => {
  it('can be added to a bot with one, which continues what it had begun for the first', async (test) => {
    const several = await openSeveralAccounts(test, ['main', 'lagos'], { later: true, env: patient });
    const { house, addAccounts } = several;
    const [main] = several.accounts as [SeveralAccount];
    const bot = house.bot({ PAYMENTS_BASE_URL: main.url });
    await house.start(bot);
    const desk = sitAt(house, bot);
    const tokenKey = await savedToken(main, 'CARD-M');
    await main.service.act({ kind: 'set_next_charge', next: 'otp' });
    await desk.opens('agent', '/pay charge 321.00');
    await desk.submits('agent', { 'Or the card’s token key': tokenKey, 'Customer’s e-mail': ada });
    await desk.submits('agent');
    await desk.modalSays('agent', 'tries left');
    addAccounts();
    await desk.restarts({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
    // The form that the old bot opened, which names no account.
    await desk.submits('agent', { [desk.modal('agent')?.fields[0] ?? '']: rightOtp });
    await desk.modalSays('agent', 'Paid (confirmed)');
    const help = await desk.asks('agent', '/pay help', '--account');
    expect(help.shown.text).toContain('main');
    const [reference = ''] = /pay-\w+/.exec(desk.modal('agent')?.shown.text ?? '') ?? [];
    // Its first entries in the audit, from before, name no account.
    await desk.asks('lead', `/pay story ${reference}`, 'started the charge');
    await desk.asks(
      'lead',
      `/pay story ${reference} --account lagos`,
      'The bot has nothing on this reference',
    );
    expect(mixedCalls(several.accounts)).toEqual([]);
  });

  it('have alerts of their own: one’s post is not taken for the lost one of another', async (test) => {
    const { desk, main, lagos } = await openAccounts(test, {
      // Without Slack's limit of one history read a minute, with which the second channel would wait for the first.
      workspace: { grantedOptionalScopes: 'all', quirks: { isHistorySlow: false } },
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
    // Neither arrived, but the bot can't know: it reads the channels before it posts again.
    desk.house.slackGate.cut();
    await desk.house.until('lagos’s is told after all', () => told('NGN 700.00').length === 2);
    expect(told('NGN 90.00')).toHaveLength(2);
  });

  it('forward each account’s events to its own backend, and those of an account without one nowhere', async (test) => {
    const secrets: string[] = [];
    const open = (index: number) => openBackend(() => secrets[index]);
    const [ofMain, ofLagos] = await Promise.all([open(0), open(1)]);
    for (const backend of [ofMain, ofLagos]) test.onTestFinished(() => backend.close());
    const env = { WEBHOOK_FORWARD_URL: ofMain.url, WEBHOOK_FORWARD_URL__LAGOS: ofLagos.url };
    const { accounts, desk } = await openAccounts(test, { clock: true, env });
    secrets.push(...accounts.map(({ service }) => service.credentials.webhookSecret));
    for (const account of accounts) await saveCard(account, 'SAME-1', ada, '700.00');
    await desk.house.until('both have theirs', () => ofMain.asked.length > 0 && ofLagos.asked.length > 0);
    await desk.settled('soon');
    for (const { asked } of [ofMain, ofLagos]) expect(asked).toMatchObject([{ isSigned: true }]);
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
    env: { ...patient, PUBLIC_URL: 'https://pay.example.com', ...options.env },
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

function amountsAt({ service }: SeveralAccount): string[] {
  return service.state().orders.map(({ amount }) => amount);
}

function chargesAt({ service }: SeveralAccount): string[] {
  return service
    .state()
    .orders.map(({ orderReference }) => orderReference)
    .filter((reference) => reference.startsWith('pay-'));
}

type SeveralAccount = {
  name: string;
  service: PaymentsService;
  /** The address for the bot. */
  url: string;
  /** Each call of the bot, whole and unmasked, as this account's service got it. */
  calls: Gate['passed'];
};

type SeveralAccounts = {
  house: House;
  accounts: readonly SeveralAccount[];
  /** Writes the accounts into the policy file; before, the bot has only the first one’s settings. */
  addAccounts: () => void;
};

/**
 * A house whose bot works for several live accounts, each with its own payments service, secrets and saved cards. The
 * first uses the house's own service.
 */
async function openSeveralAccounts(
  test: Parameters<typeof openHouse>[0],
  names: readonly string[],
  options: HouseOptions & { later?: true; sandbox?: string } = {},
): Promise<SeveralAccounts> {
  const payments = { seed: false, ...options.payments };
  const house = await openHouse(test, { ...options, payments });
  const accounts = await Promise.all(
    names.map(async (name, index): Promise<SeveralAccount> => {
      const service = index === 0 ? house.payments : await startPaymentsService(payments);
      const { url, passed: calls, close } = await openGate(() => [service.url]);
      test.onTestFinished(async () => {
        await close();
        if (index > 0) await service.close();
      });
      const path = index === 0 ? '/webhooks/payments' : `/webhooks/payments/${name}`;
      service.sendWebhooksTo(`${house.webhookGate.url}${path}`);
      return { name, service, url, calls };
    }),
  );
  const policy = readFileSync(house.policyFile, 'utf8');
  function addAccounts(): void {
    writeFileSync(
      house.policyFile,
      `${policy}accounts:\n${accounts.map((account) => accountLines(account, options.sandbox)).join('')}`,
    );
  }
  if (!options.later) addAccounts();
  return { house, accounts, addAccounts };
}

/** The accounts' secrets, as the bot's environment names them. */
function secretsOf({ accounts }: Pick<SeveralAccounts, 'accounts'>): Record<string, string> {
  return Object.fromEntries(
    accounts.flatMap(({ name, service: { credentials } }) => {
      const suffix = name.toUpperCase();
      return [
        [`PAYMENTS_CLIENT_ID__${suffix}`, credentials.clientId],
        [`PAYMENTS_CLIENT_SECRET__${suffix}`, credentials.clientSecret],
        [`WEBHOOK_SECRETS__${suffix}`, credentials.webhookSecret],
        [`MERCHANT_NAME__${suffix}`, `${name} Store`],
      ];
    }),
  );
}

function accountLines({ name, url, service }: SeveralAccount, sandbox: string | undefined): string {
  return `  - name: ${name}
    account_id: ${service.credentials.accountId}
    environment: ${name === sandbox ? 'sandbox' : 'live'}
    base_url: ${url}
`;
}

/** Everything that belongs only to this account: its id, secret, tokens, token keys and transaction ids. */
function ownWords({ service, calls }: SeveralAccount): string[] {
  const { accountId, clientSecret, webhookSecret } = service.credentials;
  const told = calls.flatMap(({ answer }) =>
    Array.from(
      answer.matchAll(/"(?:accessToken|refreshToken|transactionId|cursor)":"([^"]+)"/g),
      ([, word = '']) => word,
    ),
  );
  const cards = service.state().cards.map(({ tokenKey }) => tokenKey);
  return [...new Set([accountId, clientSecret, webhookSecret, ...told, ...cards])].filter(
    (word) => word.length > 8,
  );
}

/** Calls with another account's data, or with no or another account's credentials; empty if nothing was mixed. */
function mixedCalls(accounts: readonly SeveralAccount[]): string[] {
  return accounts.flatMap((account) => {
    const { name, calls, service } = account;
    const own = new Set(ownWords(account));
    const foreign = accounts
      .filter((other) => other !== account)
      .flatMap((other) => ownWords(other).map((word) => ({ of: other.name, word })))
      .filter(({ word }) => !own.has(word));
    return calls.flatMap(({ path, request, headers = {} }) => {
      const whole = `${request}${JSON.stringify(headers)}`;
      const carried = foreign.filter(({ word }) => whole.includes(word));
      const token = headers.authorization?.replace(/^Bearer /, '');
      const { accountid: accountId } = headers;
      return [
        ...carried.map(({ of }) => `${path} of ${name} carries what is ${of}’s`),
        ...(token === undefined || own.has(token)
          ? []
          : [`${path} of ${name} carries a token it was not given`]),
        ...(accountId === undefined || accountId === service.credentials.accountId
          ? []
          : [`${path} of ${name} names another account`]),
      ];
    });
  });
}

/** The customer pays an order of the account, which saves their card. */
async function saveCard(
  { service }: SeveralAccount,
  orderReference: string,
  customerEmail: string,
  amount: string,
): Promise<void> {
  await service.act({ kind: 'create_order', amount, customerEmail, orderReference });
  await service.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
}
