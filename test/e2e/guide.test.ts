import type { Locator } from 'playwright-core';
import { describe, expect, it, type TestContext } from 'vitest';
import { startPlayground } from '../../src/playground/playground.ts';
import type { PageState } from '../../src/simulators/protocol.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { openBrowser } from '../support/browser.ts';
import { openWindow, posted, pressIn, type PersonWindow } from '../support/person-window.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: the guide of the playground, because chromium is not installed.');

/** PAYOPS_GUIDE_SEED plays another order. */
const given = process.env['PAYOPS_GUIDE_SEED'];
const seeds = given === undefined ? [1, 2, 3] : [Number(given)];

type Newcomer = PersonWindow & {
  random: Random;
  state: () => Promise<PageState>;
  /** The link of the guide's current step. */
  link: Locator;
  /** The customer's page, in a window of its own. */
  opensCustomerPage: () => Promise<PersonWindow['page']>;
};

async function openGuide(test: TestContext, seed: number): Promise<Omit<Newcomer, 'link'>> {
  const playground = await startPlayground();
  test.onTestFinished(() => playground.close());
  const browser = await openBrowser({ viewport: { width: 1440, height: 900 } });
  if (!browser) throw new Error('There is no browser.');
  test.onTestFinished(() => browser.close());
  const page = await browser.context.newPage();
  const window = openWindow(playground.url, page);
  const state = async (): Promise<PageState> =>
    (await (await fetch(`${playground.url}/state?user=U0AGENT01`)).json()) as PageState;
  await page.goto(playground.url);
  await expect.poll(async () => (await state()).openedAt).toBeDefined();
  return {
    ...window,
    state,
    random: createRandom(seed),
    async opensCustomerPage() {
      const opened = browser.context.waitForEvent('page');
      await window.click(page.getByRole('link', { name: 'Open the link, as the customer' }));
      return await opened;
    },
  };
}

/** A reader's actions for each step, by the step's first words. The amount is unique to the step. */
const steps: Record<string, (newcomer: Newcomer, amount: string) => Promise<void>> = {
  async '/pay ORDER-1001: paid, with proof'(newcomer) {
    expect(await asksFor('ORDER-1001', newcomer)).toMatch(/Paid \(confirmed\) · NGN 12,500\.00[^]*proven/);
  },
  async '/pay ORDER-1002: not confirmed, and why'(newcomer) {
    expect(await asksFor('ORDER-1002', newcomer)).toMatch(/Not confirmed[^]*✗/);
  },
  async '/pay charge: Bola’s card (1127) asks for the code on the customer’s phone'(newcomer, amount) {
    await typed(newcomer);
    await newcomer.review({ card: '1127', amount });
    await newcomer.press(`Charge NGN ${amount}`);
    await newcomer.modalSays('3 of 3 tries left');
    await newcomer.enterCode(await codeOnPhone(newcomer));
    await newcomer.modalSays('Paid (confirmed)');
    await newcomer.close();
    await expectNoPhone(newcomer);
  },
  async '/pay charge: Bola’s card (1127): the customer types the code on their own page'(newcomer, amount) {
    await typed(newcomer);
    await newcomer.review({ card: '1127', amount });
    await newcomer.press(`Charge NGN ${amount}`);
    await newcomer.press('Let the customer type it');
    await newcomer.modalSays('Tell the code to nobody.');
    const code = await codeOnPhone(newcomer);
    const customer = await newcomer.opensCustomerPage();
    await customer.getByLabel('Code from your bank').fill(code);
    await customer.getByRole('button', { name: 'Approve' }).click();
    await customer.getByRole('heading', { name: 'Paid' }).waitFor();
    await customer.close();
    await newcomer.close();
    await newcomer.modalSays('Paid (confirmed)');
    await newcomer.close();
    await expectNoPhone(newcomer);
  },
  async 'Let the bank decline a saved card: one alert'(newcomer, amount) {
    await newcomer.click(newcomer.link);
    const reference = await declines(newcomer, amount);
    await newcomer.message(reference).getByText('Declined by the bank').waitFor();
  },
  async 'Send the event of an alert again, then with a bad signature: still one alert'(newcomer) {
    await newcomer.click(newcomer.link);
    const { page, state, click } = newcomer;
    const delivered = async () => (await state()).payments.deliveries;
    const failures = (await delivered()).filter(({ event }) => event === 'payment_failed');
    const { orderReference } = newcomer.random.pick(failures);
    const lastId = Math.max(...(await delivered()).map(({ id }) => id));
    const send = page.getByRole('button', { name: `Send again: payment_failed for ${orderReference}` });
    for (const way of ['The same delivery again', 'Again, three days late', 'With a bad signature']) {
      await click(send.last());
      await click(page.getByRole('button', { name: way }));
    }
    const answers = async () =>
      (await delivered()).filter(({ id }) => id > lastId).map(({ lastStatus }) => lastStatus ?? 0);
    await expect.poll(async () => (await answers()).toSorted((a, b) => a - b)).toEqual([200, 200, 401]);
  },
  async 'Send 60 failures: #pay-alerts gets one count, not 60 messages'(newcomer) {
    await newcomer.click(newcomer.link);
    await newcomer.click(newcomer.page.getByRole('button', { name: 'Send 60 failures' }));
    await newcomer.channel('pay-alerts');
    // A failure that was posted before the others is not in the digest.
    const messages = newcomer.page.locator('.channel article');
    const counted = async () => {
      const all = (await messages.allInnerTexts()).map(
        (text) => /Storm: (\d+) failed charges/.exec(text)?.[1],
      );
      return { messages: all.length, failures: all.reduce((sum, count) => sum + Number(count ?? 1), 0) };
    };
    await expect.poll(async () => (await counted()).failures).toBe(60);
    expect((await counted()).messages).toBeLessThan(10);
  },
  async '/pay charge 100,000.00: needs a second person: be Lindiwe, approve it in #pay-ops'(newcomer) {
    const { page } = newcomer;
    await typed(newcomer);
    await newcomer.review({ card: '4081', amount: '100,000.00', reason: 'Renewal' });
    await newcomer.press('Ask for approval');
    await newcomer.modalSays('Sent to the approvers');
    await newcomer.close();
    const people = page.getByRole('group', { name: 'You are' });
    await newcomer.click(people.getByRole('button', { name: 'Lindiwe' }));
    await newcomer.channel('pay-ops');
    await pressIn(newcomer, 'NGN 100,000.00', 'Approve NGN 100,000.00');
    const sure = page.getByRole('alertdialog');
    await newcomer.click(sure.getByRole('button', { name: 'Approve', exact: true }));
    await posted(newcomer, 'NGN 100,000.00').getByText('Paid (confirmed)').waitFor();
    await newcomer.click(people.getByRole('button', { name: 'Ada' }));
  },
  async 'Home: your charges, codes to enter, alerts assigned to you'(newcomer) {
    await newcomer.click(newcomer.link);
    const home = newcomer.page.getByRole('tabpanel', { name: 'Home' });
    await home.getByText('lists what you can type').waitFor();
  },
  async 'Faults: the service hangs, decline, Kill −9; it works, Start: one alert'(newcomer, amount) {
    await newcomer.click(newcomer.link);
    const { page } = newcomer;
    const bot = page.getByRole('region', { name: 'The bot' });
    await newcomer.click(page.getByRole('radio', { name: /^Hangs/ }));
    const reference = await declines(newcomer, amount);
    await newcomer.click(bot.getByRole('button', { name: 'Kill −9' }));
    await bot.getByText('down', { exact: true }).waitFor();
    await newcomer.tab('Faults');
    await newcomer.click(page.getByRole('radio', { name: /^Works/ }));
    await newcomer.click(bot.getByRole('button', { name: 'Start', exact: true }));
    await newcomer.message(reference).getByText('Declined by the bank').waitFor();
  },
};

async function typed({ page, link, click }: Newcomer): Promise<void> {
  await click(link);
  await page.locator('#composer:focus').waitFor();
  await page.keyboard.press('Enter');
}

/** Types the step's command; returns the answer. */
async function asksFor(reference: string, newcomer: Newcomer): Promise<string> {
  await newcomer.channel('pay-desk');
  const answers = newcomer.page.locator('.channel article.ephemeral', { hasText: reference });
  const before = await answers.count();
  await typed(newcomer);
  await answers.nth(before).waitFor();
  return await answers.nth(before).innerText();
}

/** The merchant's system charges any saved card; returns the charge's reference. */
async function declines(newcomer: Newcomer, amount: string): Promise<string> {
  const { page, random, state } = newcomer;
  await newcomer.tab('Saved cards');
  const { cards } = (await state()).payments;
  await page.getByLabel('Saved card of').selectOption(random.pick(cards).customerEmail);
  await page.locator('input[name=amount]').fill(amount);
  await newcomer.click(page.getByRole('button', { name: 'Charge, declined' }));
  const order = async () =>
    (await state()).payments.orders.find((one) => one.amount === amount.replace(',', ''));
  await expect.poll(order).toBeDefined();
  await newcomer.channel('pay-desk');
  return (await order())?.orderReference ?? '';
}

const phoneOf = ({ page }: Newcomer): Locator => page.getByRole('region', { name: 'The customer’s phone' });

async function codeOnPhone(newcomer: Newcomer): Promise<string> {
  return /The bank sent (\d+) to/.exec(await phoneOf(newcomer).innerText())?.[1] ?? '';
}

/** The phone disappears once its code is used. */
async function expectNoPhone(newcomer: Newcomer): Promise<void> {
  await phoneOf(newcomer).waitFor({ state: 'hidden' });
}

describe.skipIf(missing)('the guide of the playground', () => {
  it.for(seeds)('works step by step as written, in the order that %i draws', async (seed, test) => {
    const newcomer = await openGuide(test, seed);
    const { page, random } = newcomer;
    const items = page.getByRole('region', { name: 'Try this' }).locator('li');
    const written = (await items.allInnerTexts()).map((all) =>
      all.replace(/ (Type it|Show me|Open it)$/, ''),
    );
    expect(written).toEqual(Object.keys(steps));
    const order = written.map((says, at) => ({ says, at, drawn: random.next() }));
    for (const { says, at } of order.toSorted((a, b) => a.drawn - b.drawn)) {
      const link = items.nth(at).getByRole('button');
      await steps[says]?.({ ...newcomer, link }, `${2 + at},${100 + (seed % 900)}.00`);
    }
    // Even if events repeated and processes died meanwhile.
    await newcomer.channel('pay-desk');
    const { deliveries } = (await newcomer.state()).payments;
    const failed = deliveries.filter(({ event }) => event === 'payment_failed');
    const alerts = await Promise.all(
      failed.map(({ orderReference }) => posted(newcomer, orderReference).count()),
    );
    expect(Math.max(...alerts)).toBe(1);
  });
});
