import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Playground } from '../../src/playground/playground.ts';
import type { PageMessage, PaymentsOrder } from '../../src/simulators/protocol.ts';
import type { ChargePage } from '../support/charge-page.ts';
import { openPlaygroundScene, type PlaygroundScene } from '../support/playground-scene.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: charging in a browser, because chromium is not installed.');

const cards = { approves: '4081', asksForCode: '1127', declines: '6640', threeDSecure: '9018' } as const;
const rightCode = '123456';
const cardNumber = '4111 1111 1111 1111';
const typedCardNumber = /4111\D?1111\D?1111/;

describe.skipIf(missing)('charging in a browser', () => {
  let playground: Playground;
  let scene: PlaygroundScene<'ada' | 'lindiwe'>;
  let ada: ChargePage;
  let lindiwe: ChargePage;

  beforeAll(async () => {
    const env = { PAYMENTS_TIMEOUT_SECONDS: '2', SLACK_TIMEOUT_SECONDS: '1', WORK_LEASE_SECONDS: '6' };
    scene = await openPlaygroundScene({
      as: ['ada', 'lindiwe'],
      channel: 'pay-desk',
      playground: { botEnv: env },
    });
    ({
      playground,
      people: { ada, lindiwe },
    } = scene);
    // The saved cards reach the bot as events, as they would anywhere.
    await vi.waitUntil(() => playground.payments.state().deliveries.length > 0, 60_000);
    await playground.payments.settled();
  });
  afterAll(async () => {
    await scene?.close();
  });
  beforeEach(async ({ task, onTestFailed }) => {
    await playground.payments.act({ kind: 'set_weather', weather: 'normal' });
    await playground.payments.act({ kind: 'order_next_charge', next: 'as_usual' });
    await ada.tidy();
    await lindiwe.tidy();
    onTestFailed(() => scene.shoot(task.name));
  });
  afterEach(() => scene.checkBrowser());

  function charges(amount: string): PaymentsOrder[] {
    return playground.payments
      .state()
      .orders.filter((order) => order.isSavedCardCharge && order.amount === amount);
  }

  /** What stands in the desk's channel or its threads and holds these words, oldest first. */
  function atDesk(words: string): PageMessage[] {
    const { workspace } = playground;
    const { ids } = workspace;
    const messages = workspace.state(ids.users.agent).messages[ids.channels.payDesk] ?? [];
    return messages.filter(({ text }) => text.includes(words));
  }

  function parentsAtDesk(words: string): number {
    return atDesk(words).filter(({ threadTs, ts }) => (threadTs ?? ts) === ts).length;
  }

  /** The desk's message has the last word, and its thread the one verdict. */
  async function expectTold(amount: string, verdict: string): Promise<void> {
    await expect.poll(() => atDesk(amount).filter(({ text }) => text.includes(verdict)).length).toBe(2);
    const [parent, ...thread] = atDesk(amount);
    expect(parent?.text).toContain(verdict);
    expect(thread.every(({ threadTs }) => threadTs === parent?.ts)).toBe(true);
  }

  it('reads the chosen card back word by word, charges it, and says Paid in the same modal with three proofs', async () => {
    const terms = await ada.readBack({
      card: cards.approves,
      amount: '12500',
      customerId: 'CUST-17',
      reason: 'Renewal',
    });
    expect(linesOf(terms)).toEqual([
      'Review · LIVE',
      'NGN 12,500.00',
      'Charge NGN 12,500.00 to Mastercard ·· 4081 of ada.obi@example.com.',
      '⚠',
      'LIVE: real money moves.',
      'Account Lagos store',
      'Customer id CUST-17',
      'Reason (not sent) Renewal',
      'Change',
      'Nothing sent yet. This review expires in 30 minutes.',
      'Cancel',
      'Charge NGN 12,500.00',
    ]);
    expect(charges('12500.00')).toEqual([]);
    const view = await ada.modal.getAttribute('data-view');
    await ada.press('Charge NGN 12,500.00');
    const paid = await ada.modalSays('Paid (confirmed)');
    expect(await ada.modal.getAttribute('data-view')).toBe(view);
    const [charge] = charges('12500.00');
    expect(oneLine(paid)).toContain(
      `✓ Status is SUCCESS ✓ Reference is this charge’s, ${charge?.orderReference} ✓ Amount is this charge’s, NGN 12,500.00`,
    );
    expect(paid).toContain('LIVE: real money moves. Account: Lagos store');
    await ada.close();

    await expectTold('NGN 12,500.00', 'Paid (confirmed)');
    const message = ada.message('NGN 12,500.00');
    await message.getByText('(edited)').waitFor();
    expect(await message.innerText()).toContain('a***@example.com');
    await ada.click(message.getByRole('button', { name: /^1 reply/ }));
    const thread = ada.page.getByRole('complementary', { name: 'Thread' });
    await thread.getByText('Status is SUCCESS').waitFor();
    await ada.click(thread.getByRole('button', { name: 'Close thread' }));
  });

  it('is charged by keyboard alone', async () => {
    const { page, modal } = ada;
    await page.bringToFront();
    await page.locator('#composer').focus();
    await page.keyboard.type('/pay charge 1,250.50');
    await page.keyboard.press('Enter');
    await modal.locator('input[role=combobox]:focus').waitFor();
    await page.keyboard.type(cards.approves);
    await modal.getByRole('option', { name: cards.approves }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await ada.modalSays('Nothing sent yet.');
    // The focus rests on the title: the same Enter pressed once more agrees to nothing.
    await page.keyboard.press('Enter');
    expect(charges('1250.50')).toEqual([]);
    for (let presses = 0; presses < 10 && !(await focusIsOn(/^Charge NGN 1,250\.50$/)); presses += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await ada.modalSays('Paid (confirmed)');
    await page.keyboard.press('Escape');
    await modal.waitFor({ state: 'hidden' });
  });

  async function focusIsOn(words: RegExp): Promise<boolean> {
    return words.test((await ada.page.locator(':focus').first().innerText()).trim());
  }

  it('counts the tries of a code down in the bank’s words, and takes the right one', async () => {
    await ada.charge({ card: cards.asksForCode, amount: '8400' });
    expect(await ada.modalSays('3 of 3 tries left')).toContain('Enter the OTP the bank sent to the customer');
    await ada.enterCode('000000');
    const first = await ada.modalSays('2 of 3 tries left');
    expect(first).toContain('Wrong code. The bank says: “Invalid OTP”. 2 tries left.');
    await ada.enterCode('000001');
    expect(await ada.modalSays('1 of 3 tries left')).toContain('“Invalid OTP”. 1 try left.');
    await ada.enterCode(rightCode);
    await ada.modalSays('Paid (confirmed)');
  });

  it('asks for another code once, which gives no more time, and is handed over before everybody’s eyes', async () => {
    await ada.charge({ card: cards.asksForCode, amount: '7100' });
    const before = await ada.modalSays('3 of 3 tries left');
    const resend = 'Resend code (no extra time)';
    await ada.press(resend);
    // Before that it says that there is no answer yet.
    const after = await ada.modalSays('on its way. No extra time or tries.');
    expect(after).toContain('Another code:');
    expect(untilIn(before)).toBeDefined();
    expect(untilIn(after)).toBe(untilIn(before));
    await ada.press(resend);
    expect(await ada.modalSays('Another code was asked for a moment ago')).toMatch(
      /ask again in \d+ seconds?/,
    );
    expect(charges('7100.00')[0]?.otp).toMatchObject({ resends: 1, triesLeft: 3 });

    await pressInChannel(lindiwe, 'NGN 7,100.00', 'Enter code');
    expect(await lindiwe.modalSays('Agent: @Ada')).not.toContain('Code from the bank');
    await lindiwe.press('Take over');
    const sure = lindiwe.page.getByRole('alertdialog');
    await lindiwe.click(sure.getByRole('button', { name: 'Take over' }));
    await lindiwe.modalSays('Code from the bank');
    expect(await ada.modalSays('Agent: @Lindiwe')).not.toContain('Code from the bank');
    await lindiwe.enterCode(rightCode);
    await Promise.all([lindiwe, ada].map((person) => person.modalSays('Paid (confirmed)')));
  });

  it('is found again after its modal was closed, and after kill -9, from everywhere', async () => {
    const { page } = ada;
    // The first sending hangs, so that the modal is closed before the bank asks; the second is as usual.
    await lindiwe.orderNext('lost_request');
    await ada.charge({ card: cards.asksForCode, amount: '6300' });
    expect(await ada.modalSays('Charging …')).toContain('You may close this');
    await ada.close();
    await ada.channel('Pay');
    await ada.click(page.getByRole('tab', { name: 'Messages' }));
    await pressInChannel(ada, 'NGN 6,300.00', 'Enter code');
    await ada.modalSays('3 of 3 tries left');
    await ada.close();
    await ada.click(page.getByRole('tab', { name: 'Home' }));
    const home = page.getByRole('tabpanel', { name: 'Home' });
    await ada.click(home.getByRole('button', { name: 'Enter code' }).first());
    await ada.modalSays('3 of 3 tries left');
    await ada.close();

    await ada.click(page.getByRole('button', { name: 'Kill −9' }));
    await ada.click(page.getByRole('button', { name: 'Start', exact: true }));
    await page.getByRole('region', { name: 'The bot' }).getByText('ready', { exact: true }).waitFor();
    await ada.channel('pay-desk');
    await pressInChannel(ada, 'NGN 6,300.00', 'Enter code');
    await ada.modalSays('3 of 3 tries left');
    await ada.close();
    await ada.type('/pay otp');
    await ada.modalSays('3 of 3 tries left');
    await ada.enterCode(rightCode);
    await ada.modalSays('Paid (confirmed)');
    expect(charges('6300.00')).toHaveLength(1);
  });

  it('says In doubt after a lost answer, lists it, refuses a second charge, and settles to Paid by itself', async () => {
    playground.payments.sendWebhooksTo(undefined);
    await lindiwe.orderNext('lost_answer');
    await lindiwe.click(lindiwe.page.getByRole('tab', { name: 'Weather' }));
    await ada.readBack({ card: cards.approves, amount: '3000' });
    await ada.press('Charge NGN 3,000.00');
    await ada.modalSays('Charging …');
    await expect.poll(() => charges('3000.00').length).toBe(1);
    await lindiwe.click(lindiwe.page.getByRole('radio', { name: 'Hangs' }));
    const doubt = await ada.modalSays('In doubt, checking');
    expect(doubt).toContain('Do not charge again');
    expect(doubt).not.toMatch(/paid|failed/i);
    await lindiwe.type('/pay doubt');
    const listed = lindiwe.page.locator('article.message-ephemeral', { hasText: 'NGN 3,000.00' }).last();
    await listed.waitFor();
    expect(oneLine(await listed.innerText())).toMatch(
      /1 charge without a known outcome.*By: @Ada, since .*Next: /,
    );
    const refused = await lindiwe.readBack({ card: cards.approves, amount: '3000' });
    expect(refused).toContain('Another charge of this card is still open');
    await lindiwe.close();

    await lindiwe.setWeather('Normal');
    await ada.modalSays('Paid (confirmed)');
    playground.payments.sendWebhooksTo(`${playground.bot.state().url}/webhooks/payments`);
    await playground.payments.settled();
    await expectTold('NGN 3,000.00', 'Paid (confirmed)');
    expect(charges('3000.00')).toHaveLength(1);
  });

  it('tells a decline in the bank’s words with the wait, and refuses a try before it is over', async () => {
    await ada.charge({ card: cards.declines, amount: '5200' });
    const declined = await ada.modalSays('Try again from');
    expect(declined).toContain('Declined by the bank · NGN 5,200.00');
    expect(declined).toMatch(/Insufficient funds\n/);
    expect(declined).toMatch(/Try again from Tomorrow \d\d:\d\d, or use another card\. 2 attempts left\./);
    await ada.close();
    await ada.message('NGN 5,200.00').getByText('on hold until').waitFor();

    const refused = await lindiwe.readBack({ card: cards.declines, amount: '5300' });
    expect(refused).toContain('Card on hold until');
    expect(refused).toMatch(/Card on hold until: Tomorrow \d\d:\d\d after a decline\./);
    expect(charges('5300.00')).toEqual([]);
  });

  it('makes a payment link where the bank wants 3-D Secure', async () => {
    await ada.charge({ card: cards.threeDSecure, amount: '9100' });
    expect(await ada.modalSays('Send a payment link')).toContain('retrying can’t help');
    await ada.press('Payment link');
    const made = await ada.modalSays('Tell the customer:');
    const link = /http:\/\/\S+\/checkout\/\S+/.exec(made)?.[0] ?? '';
    expect(await (await fetch(link)).text()).toContain('9,100.00');
    expect(made).toContain('Don’t charge the card for this again');
  });

  it('refuses a card number in the token field and in the code field, and shows it nowhere', async () => {
    await ada.type('/pay charge');
    await ada.modalSays('You review it');
    await ada.fillIn({ token: cardNumber, amount: '61', email: 'ada.obi@example.com' });
    await ada.press('Review');
    expect(await ada.modalSays('That looks like a card number')).toContain('I did not keep it');
    await ada.close();
    await ada.charge({ card: cards.asksForCode, amount: '6100' });
    await ada.modalSays('3 of 3 tries left');
    await ada.enterCode(cardNumber);
    await ada.modalSays('That looks like a card number');
    expect(charges('6100.00')[0]?.otp?.triesLeft).toBe(3);

    const state = await (await fetch(`${playground.url}/state?user=U0AGENT01`)).text();
    const { log } = JSON.parse(state) as { log: { id: number }[] };
    const bodies = await Promise.all(
      log.map(async ({ id }) => (await fetch(`${playground.url}/exchange?id=${id}`)).text()),
    );
    const everything = [await ada.page.content(), state, ...bodies, playground.bot.log()].join('\n');
    expect(playground.bot.log()).toContain('A card number was typed and refused');
    expect(bodies.join('\n')).toContain('6100.00');
    expect(typedCardNumber.test(everything)).toBe(false);
  });

  it('charges once on a double click, and asks before the same card and amount again, naming who did the first', async () => {
    await ada.readBack({ card: cards.approves, amount: '2100' });
    await ada.page.bringToFront();
    await ada.modal.getByRole('button', { name: 'Charge NGN 2,100.00' }).dblclick();
    await ada.modalSays('Paid (confirmed)');
    const asked = await lindiwe.readBack({ card: cards.approves, amount: '2100' });
    expect(asked).toContain('Charge it again only if the customer owes it twice');
    const [first] = charges('2100.00');
    expect(asked).toMatch(new RegExp(`The first: @Ada, \\d\\d:\\d\\d, ${first?.orderReference}`));
    expect(asked).toContain('Charging again takes the money a second time');
    await lindiwe.press('Cancel');
    expect(charges('2100.00')).toHaveLength(1);
    await expect.poll(() => parentsAtDesk('NGN 2,100.00')).toBe(1);
  });

  it('tells why a token was refused and lets another card be chosen', async () => {
    await ada.charge({ token: 'tok-of-nobody', email: 'ada.obi@example.com', amount: '1900' });
    const refused = await ada.modalSays('Not sent (fix the request)');
    expect(refused).toContain('Invalid card token');
    expect(refused).toContain('Next: choose another card');
    expect(refused).toContain('Nothing was sent to the bank, and no money moved.');
    await ada.press('Choose another card');
    await ada.modalSays('You review it');
    await ada.fillIn({ card: cards.approves });
    await ada.press('Review');
    expect(await ada.modalSays('Nothing sent yet.')).toContain('NGN 1,900.00 to Mastercard ·· 4081');
    expect(charges('1900.00')).toEqual([]);
  });
});

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => oneLine(line).trim())
    .filter((line) => line !== '');
}

function untilIn(text: string): string | undefined {
  return /until (\d\d:\d\d)/.exec(text)?.[1];
}

async function pressInChannel(person: ChargePage, amount: string, button: string): Promise<void> {
  await person.click(person.message(amount).getByRole('button', { name: button }));
}
