import { describe, expect, it, type TestContext } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { otps } from '../../src/simulators/payments/bank.ts';
import type { PageMessage } from '../../src/simulators/protocol.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { cardsActions } from '../../src/slack/cards/cards-actions.ts';
import { chargeFields } from '../../src/slack/charge/charge-modal.ts';
import { linkActions } from '../../src/slack/link/link-actions.ts';
import { linkFields } from '../../src/slack/link/link-form.ts';
import { lookupActions } from '../../src/slack/lookup/lookup-actions.ts';
import type { Bot } from '../support/bot.ts';
import { openChargeDialogue, visibleText, type ChargeDialogue } from '../support/charge-dialogue.ts';
import type { House } from '../support/house.ts';
import { runPayops } from '../support/run-payops.ts';
import {
  mixedCalls,
  openSeveralAccounts,
  saveCard,
  secretsOf,
  type SeveralAccount,
  type SeveralAccounts,
} from '../support/several-accounts.ts';

const patient = { PAYMENTS_TIMEOUT_SECONDS: '4', SLACK_TIMEOUT_SECONDS: '3', WORK_LEASE_SECONDS: '12' };
const email = 'ada@example.com';

type Desk = SeveralAccounts & {
  bot: Bot;
  dialogue: ChargeDialogue;
  main: SeveralAccount;
  lagos: SeveralAccount;
};

describe.concurrent('a further account', () => {
  it('has a payment link of its own: its form, its event, its card’s buttons, its message’s look-up', async (test) => {
    const { house, dialogue, main, lagos, accounts } = await openDesk(test);
    await dialogue.opens('agent', '/pay link 150.00 --account lagos');
    const form = await dialogue.modalSays('agent', 'Account: lagos');
    // The channel it was asked for in is still offered.
    expect(form.text).toContain('Where its card stands');
    await dialogue.submit('agent', {
      [linkFields.amount]: '150.00',
      [linkFields.email]: email,
      [linkFields.reference]: 'LINK-L-1',
    });
    await dialogue.modalSays('agent', 'The service’s order id');
    expect(ordersOf(lagos)).toEqual(['LINK-L-1']);
    const card = await deskSays(house, 'Payment link, not paid yet');
    await dialogue.close('agent');
    await dialogue.pressInMessage('agent', `${linkActions.check}@lagos`);
    await house.until('whether it is paid is said', () =>
      house.seenBy('agent').some(({ ephemeral, text }) => ephemeral && text.includes('LINK-L-1')),
    );
    await lagos.service.act({ kind: 'pay_order', orderReference: 'LINK-L-1', outcome: 'approved' });
    const paid = await deskSays(house, 'Paid (confirmed) · NGN 150.00');
    expect(paid.ts).toBe(card.ts);
    expect(JSON.stringify(paid.blocks)).toContain('lagos');

    await house.type('agent', '/pay LINK-L-1 --account lagos');
    await answered(house, 'Paid (confirmed)', 'LIVE · lagos');
    await shortcutOn(house, 'Is LINK-L-1 paid?');
    await answered(house, 'Not found', 'Only LIVE · main was asked. Another: --account with lagos.');
    expect(ordersOf(main)).toEqual([]);
    expect(mixedCalls(accounts)).toEqual([]);
  });

  it('lists its own saved cards, and charges from that list', async (test) => {
    const { house, dialogue, main, lagos, accounts } = await openDesk(test);
    await saveCard(lagos, 'CARD-L', email, '50.00');
    await house.type('agent', `/pay cards ${email}`);
    await answered(house, 'No saved cards', 'LIVE · main');
    await house.type('agent', `/pay cards ${email} --account lagos`);
    await answered(house, '1 saved card', 'LIVE · lagos');
    await dialogue.pressInMessage('agent', `${cardsActions.charge}@lagos`);
    await dialogue.modalSays('agent', 'Account: lagos');
    await dialogue.submit('agent', { [chargeFields.amount]: '1,000.00' });
    await dialogue.modalSays('agent', 'Nothing sent yet.');
    await dialogue.submit('agent');
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    expect(ordersOf(lagos).some((reference) => reference.startsWith('pay-'))).toBe(true);
    expect(ordersOf(main)).toEqual([]);
    expect(mixedCalls(accounts)).toEqual([]);
  });

  it('answers for what was shared of it, whoever refreshes it in whatever channel', async (test) => {
    const { house, dialogue, main, lagos, accounts } = await openDesk(test);
    await saveCard(lagos, 'SAME-1', email, '700.00');
    await saveCard(main, 'SAME-1', 'olu@example.com', '90.00');
    await house.type('agent', '/pay SAME-1 --account lagos');
    await answered(house, 'NGN 700.00', 'LIVE · lagos');
    await dialogue.pressInMessage('agent', `${lookupActions.share}@lagos`);
    const shared = await deskSays(house, 'NGN 700.00');
    const updates = () => house.slackGate.passed.filter(({ path }) => path === '/api/chat.update').length;
    await house.until('who shared it is named', () => updates() > 0);
    const before = updates();
    const [atMain, atLagos] = [lookUpsOf(main), lookUpsOf(lagos)];
    await dialogue.pressInMessage('onCall', `${lookupActions.refreshShared}@lagos`);
    await house.until('it is read anew', () => updates() > before);
    const anew = await deskSays(house, 'NGN 700.00');
    expect(anew.ts).toBe(shared.ts);
    expect(lookUpsOf(lagos)).toBeGreaterThan(atLagos);
    expect(lookUpsOf(main)).toBe(atMain);
    expect(mixedCalls(accounts)).toEqual([]);
  });

  it('stands in the one Home, and in what waits for the person', async (test) => {
    const { house, dialogue, main, lagos, accounts } = await openDesk(test);
    await saveCard(lagos, 'CARD-L', email, '50.00');
    const tokenKey = lagos.service.state().cards[0]?.tokenKey ?? '';
    const { agent } = house.workspace.ids.users;
    const home = () => visibleText(house.workspace.state(agent).home?.blocks ?? []);
    await house.workspace.act(agent, { kind: 'open_home' });
    await house.until('the Home is there', () => home().includes('Nothing waits for you.'));
    await lagos.service.act({ kind: 'order_next_charge', next: 'otp' });
    const form = { token: tokenKey, email, amount: '1,000.00' };
    await dialogue.charge('agent', form, '/pay charge --account lagos');
    await dialogue.modalSays('agent', 'OTP');
    await dialogue.close('agent');
    await house.workspace.act(agent, { kind: 'open_home' });
    await house.until('the Home says so', () => home().includes('Waiting for a code'));
    expect(home().indexOf('LIVE · lagos')).toBeLessThan(home().indexOf('Waiting for a code'));
    expect(home()).toContain('LIVE · lagos');
    assertBlocks('home', JSON.parse(JSON.stringify(house.workspace.state(agent).home?.blocks)));

    await house.type('agent', '/pay');
    await answered(house, '1 thing waits for you', '/pay otp --account lagos');
    await dialogue.opens('agent', '/pay otp --account lagos');
    await dialogue.modalSays('agent', 'of 3 tries left');
    await dialogue.enterCode('agent', otps.right);
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await house.workspace.act(agent, { kind: 'open_home' });
    await house.until('the Home shows it', () => home().includes('Your last charges'));
    expect(home()).not.toContain('Waiting for a code');

    await saveCard(main, 'CARD-M', 'olu@example.com', '50.00');
    await dialogue.close('agent');
    const ofMain = main.service.state().cards[0]?.tokenKey ?? '';
    await dialogue.charge('agent', { token: ofMain, email: 'olu@example.com', amount: '2,000.00' });
    await dialogue.modalSays('agent', 'Paid (confirmed)');
    await house.workspace.act(agent, { kind: 'open_home' });
    await house.until('the Home has both', () => home().includes('NGN 2,000.00'));
    const [, atMain = '', atLagos = ''] = home().split(/LIVE · (?:main|lagos)(?=\n.*Your last charges)/);
    expect(atMain).toContain('NGN 2,000.00');
    expect(atMain).not.toContain('NGN 1,000.00');
    expect(atLagos).toContain('NGN 1,000.00');
    expect(atLagos).not.toContain('NGN 2,000.00');
    expect(mixedCalls(accounts)).toEqual([]);
  });

  it('is named on the command line, and none is asked for another', async (test) => {
    const several = await openSeveralAccounts(test, ['main', 'lagos'], { env: patient });
    const { house, accounts } = several;
    const [main, lagos] = accounts as [SeveralAccount, SeveralAccount];
    const ask = (...words: string[]) =>
      runPayops(words, house.settings({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' }));
    await saveCard(lagos, 'SAME-1', email, '700.00');
    const found = await ask('lookup', 'SAME-1', '--account', 'lagos', '--json');
    expect(found.code).toBe(exitCodes.ok);
    expect(JSON.parse(found.stdout)).toMatchObject({
      merchant: { account: 'lagos' },
      amount: { minor: 70_000 },
    });
    expect(main.calls).toEqual([]);
    expect((await ask('lookup', 'SAME-1')).code).toBe(exitCodes.notFound);
    const asked = lagos.calls.length + main.calls.length;
    const unknown = await ask('lookup', 'SAME-1', '--account', 'lagoss');
    expect(unknown).toMatchObject({ code: exitCodes.usage, stdout: '' });
    expect(unknown.stderr).toContain('The accounts are main, lagos.');
    expect((await ask('doubt')).code).toBe(exitCodes.usage);
    expect((await ask('doubt', '--account', 'lagos')).code).toBe(exitCodes.ok);
    expect(lagos.calls.length + main.calls.length).toBe(asked);
    expect(mixedCalls(accounts)).toEqual([]);
  });
});

async function openDesk(test: TestContext): Promise<Desk> {
  const several = await openSeveralAccounts(test, ['main', 'lagos'], {
    env: { LOG_LEVEL: 'debug', ...patient },
  });
  const { house, accounts } = several;
  const [main, lagos] = accounts as [SeveralAccount, SeveralAccount];
  const bot = house.bot({ ...secretsOf(several), PAYMENTS_ACCOUNT_ID: '' });
  await house.start(bot);
  return { ...several, bot, main, lagos, dialogue: openChargeDialogue(house) };
}

function ordersOf({ service }: SeveralAccount): string[] {
  return service.state().orders.map(({ orderReference }) => orderReference);
}

function lookUpsOf({ calls }: SeveralAccount): number {
  return calls.filter(({ request }) => request.includes('SAME-1')).length;
}

/** The oldest message in the desk's channel, for everybody, with these words in its first line. */
async function deskSays(house: House, words: string): Promise<PageMessage> {
  const found = () => house.seenBy('lead').find(({ ephemeral, text }) => !ephemeral && text.includes(words));
  await house.until(`the channel reads: ${words}`, () => found() !== undefined);
  const message = found();
  if (!message) throw new Error('it was there a moment ago');
  assertBlocks('message', JSON.parse(JSON.stringify(message.blocks)));
  return message;
}

/** The agent alone reads these words in the first line of the newest answer, and those in it. */
async function answered(house: House, words: string, within: string): Promise<void> {
  const newest = () => house.seenBy('agent').findLast(({ ephemeral }) => ephemeral);
  await house.until(`the agent reads: ${words}`, () => newest()?.text.includes(words) === true);
  expect(visibleText(newest()?.blocks ?? [])).toContain(within);
}

/** Somebody writes it, and the agent looks up what it names. */
async function shortcutOn(house: House, text: string): Promise<void> {
  const { channels, users } = house.workspace.ids;
  const channel = channels.payDesk;
  await house.workspace.act(users.onCall, { kind: 'send_message', channel, text });
  const messages = house.workspace.state(users.onCall).messages[channel] ?? [];
  const ts = messages.findLast((message) => message.text.includes(text))?.ts ?? '';
  await house.workspace.act(users.agent, {
    kind: 'message_shortcut',
    callbackId: 'lookup_here',
    channel,
    ts,
  });
}
