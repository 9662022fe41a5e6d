import { appendFileSync } from 'node:fs';
import { describe, expect, it, type TestContext } from 'vitest';
import { otps } from '../../src/simulators/payments/bank.ts';
import { chargeFields } from '../../src/slack/charge/charge-modal.ts';
import type { Bot } from '../support/bot.ts';
import { openChargeDialogue, type ChargeDialogue } from '../support/charge-dialogue.ts';
import type { House, HouseOptions } from '../support/house.ts';
import {
  mixedCalls,
  openSeveralAccounts,
  saveCard,
  secretsOf,
  type SeveralAccount,
  type SeveralAccounts,
} from '../support/several-accounts.ts';

const names = ['main', 'lagos', 'abuja'];
const patient = { PAYMENTS_TIMEOUT_SECONDS: '4', SLACK_TIMEOUT_SECONDS: '3', WORK_LEASE_SECONDS: '12' };

type Desk = SeveralAccounts & { bot: Bot; dialogue: ChargeDialogue };

describe.concurrent('several merchant accounts in one bot', () => {
  it('looks a reference up at the account that is named, else at the first', async (test) => {
    const desk = await openDesk(test);
    const { house, accounts } = desk;
    const [main, lagos] = accounts as [SeveralAccount, SeveralAccount, SeveralAccount];
    await saveCard(lagos, 'SHARED-1', 'ada@example.com', '700.00');
    await saveCard(main, 'SHARED-1', 'olu@example.com', '90.00');
    await asks(house, '/pay SHARED-1', 'NGN 90.00');
    await asks(house, '/pay SHARED-1 --account lagos', 'NGN 700.00');
    expect(lastBlocks(house)).toContain('LIVE · lagos');
    await asks(house, '/pay --account abuja lookup SHARED-1', 'Not found');
    await asks(house, '/pay SHARED-1 --account lagoss', 'There is no account “lagoss”');
    expect(lastBlocks(house)).toContain('Did you mean --account lagos?');
    expect(mixedCalls(accounts)).toEqual([]);
  });

  it('charges a card of the account that is named, with its code, across a kill', async (test) => {
    const desk = await openDesk(test, { processes: true });
    const { house, accounts, dialogue, bot } = desk;
    const [main, lagos] = accounts as [SeveralAccount, SeveralAccount, SeveralAccount];
    await saveCard(lagos, 'CARD-L', 'ada@example.com', '50.00');
    await saveCard(main, 'CARD-M', 'olu@example.com', '50.00');
    await house.until('both cards are known', () => told(accounts, 2));
    await dialogue.opens('agent', '/pay charge 1,234.00 --account lagos');
    const form = await dialogue.modalSays('agent', 'Account: lagos');
    expect(JSON.stringify(form.view)).toContain('1,234.00');
    await lagos.service.act({ kind: 'order_next_charge', next: 'otp' });
    const tokenKey = lagos.service.state().cards[0]?.tokenKey ?? '';
    await dialogue.submit('agent', {
      [chargeFields.token]: tokenKey,
      [chargeFields.email]: 'ada@example.com',
      [chargeFields.amount]: '1,234.00',
    });
    const terms = await dialogue.modalSays('agent', 'Nothing sent yet.');
    expect(terms.text).toContain('lagos');
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'OTP');
    const [reference = ''] = chargesAt(lagos);
    expect(reference).toMatch(/^pay-/);
    await bot.kill9();
    await house.start(bot);
    await dialogue.close('agent');
    await asks(house, '/pay otp', 'No charge waits for a code from you');
    expect(lastBlocks(house)).toContain('Only LIVE · main was asked. Another: --account with lagos, abuja.');
    await dialogue.opens('agent', '/pay otp --account lagos');
    await dialogue.enterCode('agent', otps.right);
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await asks(house, `/pay ${reference} --account lagos`, 'Paid (confirmed)');
    expect(lastBlocks(house)).toContain('LIVE · lagos');
    await asks(house, `/pay ${reference}`, 'Not found');
    expect(lastBlocks(house)).toContain('Only LIVE · main was asked.');
    expect(chargesAt(main)).toEqual([]);
    const audit = bot.lines.filter(
      (line) => line.includes('"verb":"otp"') && line.includes('Asked and answered'),
    );
    expect(audit.at(-1)).toContain('"account":"lagos"');
    expect(mixedCalls(accounts)).toEqual([]);
  });

  it('cannot take live money for a test: the read-back of a live charge says so first, a sandbox one goes there', async (test) => {
    const several = await openSeveralAccounts(test, names, { sandbox: 'abuja', env: patient });
    const { house, accounts } = several;
    const [main, , abuja] = accounts as [SeveralAccount, SeveralAccount, SeveralAccount];
    await house.start(house.bot({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' }));
    const dialogue = openChargeDialogue(house);
    const form = { token: 'any-token-key', email: 'ada@example.com', amount: '10.00' };
    const live = await dialogue.readBack('agent', form);
    expect(live.text.split('\n')[0]).toContain('🔴 LIVE · main: real money');
    await dialogue.close('agent');
    const sandbox = await dialogue.readBack('agent', form, '/pay charge --account abuja');
    expect(sandbox.title).toContain('SANDBOX');
    expect(sandbox.text).not.toContain('LIVE');
    await dialogue.submit('agent');
    const paths = () => abuja.calls.map(({ path }) => path);
    await house.until('it is charged', () => paths().includes('/sandbox/checkout/tokenized-card-payment'));
    expect(paths().filter((path) => path.startsWith('/v1/checkout/'))).toEqual([]);
    expect(main.calls).toEqual([]);
  });

  it('takes each account’s events at its own address alone, and routes them by its name', async (test) => {
    const several = await openSeveralAccounts(test, names, { env: { LOG_LEVEL: 'debug', ...patient } });
    const { house, accounts } = several;
    const [main, lagos] = accounts as [SeveralAccount, SeveralAccount, SeveralAccount];
    const { payOps } = house.workspace.ids.channels;
    appendFileSync(
      house.policyFile,
      `routes: [{ name: l, when: { account: lagos, event: any }, to: ${payOps} }]\n`,
    );
    const bot = house.bot({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
    await house.start(bot);
    await saveCard(lagos, 'SAME-1', 'ada@example.com', '700.00');
    await saveCard(main, 'SAME-1', 'olu@example.com', '90.00');
    const said = (channel: 'payOps' | 'general'): string => JSON.stringify(house.posts(channel));
    await house.until('lagos’s payment is told by its rule', () => said('payOps').includes('NGN 700.00'));
    await house.until('main’s is told where successes are', () => said('general').includes('NGN 90.00'));
    expect(said('payOps')).toContain('LIVE · lagos');
    expect(said('payOps')).not.toContain('NGN 90.00');
    expect(said('general')).not.toContain('NGN 700.00');

    main.service.sendWebhooksTo(`${house.webhookGate.url}/webhooks/payments/lagos`);
    await saveCard(main, 'ASTRAY-1', 'olu@example.com', '91.00');
    await house.until('what main signed is refused at lagos’s address', () =>
      bot.lines.some((line) => line.includes('"account":"lagos"') && line.includes('"httpStatus":401')),
    );
    expect(await house.storeKeys('@lagos:outbox:alert:payment_success/order/ASTRAY-1')).toEqual([]);
    expect(mixedCalls(accounts)).toEqual([]);
  });

  it('takes no post of one account for the lost one of another, under the same reference in the same channel', async (test) => {
    const several = await openSeveralAccounts(test, names, {
      processes: true,
      env: { LOG_LEVEL: 'debug', ...patient },
      workspace: { grantedOptionalScopes: 'all' },
    });
    const { house, accounts } = several;
    const [main, lagos] = accounts as [SeveralAccount, SeveralAccount, SeveralAccount];
    const bot = house.bot({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
    await house.start(bot);
    const told = (amount: string): number =>
      [...house.posts('payAlerts'), ...house.posts('general')].filter(({ text }) => text.includes(amount))
        .length;
    await saveCard(main, 'SAME-1', 'olu@example.com', '90.00');
    await house.until('main’s payment is told in both channels', () => told('NGN 90.00') === 2);
    const leaving = ['payAlerts', 'general'].map(() => house.slackGate.hold('chat.postMessage', 'before'));
    await saveCard(lagos, 'SAME-1', 'ada@example.com', '700.00');
    await Promise.all(leaving);
    await bot.kill9();
    expect(told('NGN 700.00')).toBe(0);
    await house.start(bot);
    await house.until('lagos’s is told after all', () => told('NGN 700.00') === 2);
    expect(told('NGN 90.00')).toBe(2);
  });

  it('goes on with what a bot of one account had begun, when that account stands first', async (test) => {
    const several = await openSeveralAccounts(test, names, {
      later: true,
      env: { LOG_LEVEL: 'debug', ...patient },
    });
    const { house, accounts, addAccounts } = several;
    const [main] = accounts as [SeveralAccount, SeveralAccount, SeveralAccount];
    const one = house.bot({ PAYMENTS_BASE_URL: main.url });
    await house.start(one);
    const dialogue = openChargeDialogue(house);
    await saveCard(main, 'CARD-M', 'olu@example.com', '50.00');
    await house.until('the card is known', () => told(accounts, 1));
    await main.service.act({ kind: 'order_next_charge', next: 'otp' });
    await dialogue.charge('agent', { card: 'olu@example.com', amount: '321.00' });
    await dialogue.modalSays('agent', 'OTP');
    const before = await dialogue.modalSays('agent', 'OTP');
    await one.stop();
    addAccounts();
    const bot = house.bot({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
    await house.start(bot);
    // The very form that the old bot opened, which names no account.
    expect(JSON.stringify(before.view)).not.toContain('@main');
    await dialogue.enterCode('agent', otps.right);
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await asks(house, `/pay ${chargesAt(main)[0]}`, 'Paid (confirmed)');
    expect(mixedCalls(accounts)).toEqual([]);
  });
});

async function openDesk(test: TestContext, options: HouseOptions = {}): Promise<Desk> {
  const several = await openSeveralAccounts(test, names, {
    ...options,
    env: { LOG_LEVEL: 'debug', ...patient },
  });
  const { house } = several;
  const bot = house.bot({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
  await house.start(bot);
  return { ...several, bot, dialogue: openChargeDialogue(house) };
}

function told(accounts: readonly SeveralAccount[], count: number): boolean {
  const deliveries = accounts.flatMap(({ service }) => service.state().deliveries);
  return deliveries.filter(({ state }) => state === 'delivered').length >= count;
}

function chargesAt({ service }: SeveralAccount): string[] {
  return service
    .state()
    .orders.map(({ orderReference }) => orderReference)
    .filter((reference) => reference.startsWith('pay-'));
}

async function asks(house: House, command: string, words: string): Promise<void> {
  const before = house.seenBy('agent').length;
  await house.type('agent', command);
  await house.until(`${command}: ${words}`, () =>
    house
      .seenBy('agent')
      .slice(before)
      .some(({ text }) => text.includes(words)),
  );
}

function lastBlocks(house: House): string {
  return JSON.stringify(house.seenBy('agent').at(-1)?.blocks);
}
