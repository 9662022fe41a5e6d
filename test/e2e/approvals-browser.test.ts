import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Playground } from '../../src/playground/playground.ts';
import type { ChargePage } from '../support/charge-page.ts';
import { openPlaygroundScene, type PlaygroundScene } from '../support/playground-scene.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: approvals in a browser, because chromium is not installed.');

/** Ada asks, Lindiwe decides, each in a window of her own, with what a newcomer has after one command. */
describe.skipIf(missing)('four eyes in a browser', () => {
  let playground: Playground;
  let scene: PlaygroundScene<'ada' | 'lindiwe'>;
  let ada: ChargePage;
  let lindiwe: ChargePage;

  beforeAll(async () => {
    scene = await openPlaygroundScene({ as: ['ada', 'lindiwe'], channel: 'pay-ops' });
    ({
      playground,
      people: { ada, lindiwe },
    } = scene);
    await playground.payments.settled();
    await ada.channel('pay-desk');
  });
  afterAll(async () => {
    await scene?.close();
  });
  beforeEach(async ({ task, onTestFailed }) => {
    onTestFailed(() => scene.shoot(task.name));
    await ada.tidy();
    await lindiwe.tidy();
  });
  afterEach(() => scene.checkBrowser());

  function charged(amount: string): number {
    return playground.payments.state().orders.filter((order) => order.amount === amount).length;
  }
  async function cardSays(words: string, amount: string): Promise<string> {
    const card = lindiwe.message(amount);
    await expect.poll(() => card.innerText()).toContain(words);
    return card.innerText();
  }

  it('asks, is refused with a reason, asks again, is approved, and charges', async () => {
    await ada.charge({ card: '4081', amount: '150000', reason: 'Renewal, asked for by phone' });
    expect(await ada.modalSays('Sent to 2 approvers')).toContain('Nothing is charged until it’s approved');
    const card = await cardSays('Needs approval', 'NGN 150,000.00');
    expect(card).toContain('Charges from NGN 100,000.00 need one approver');
    expect(card).not.toContain('ada.obi@example.com');

    await lindiwe.click(lindiwe.message('NGN 150,000.00').getByRole('button', { name: 'Refuse…' }));
    await lindiwe.modalSays('In your own words');
    await lindiwe.press('Refuse it');
    await lindiwe.modalSays(/choose a reason above/i);
    await lindiwe.modal
      .getByRole('combobox', { name: /^Reason/ })
      .selectOption({ label: 'The amount is not right' });
    await lindiwe.press('Refuse it');
    await lindiwe.modalSays('You refused it');
    expect(await ada.modalSays('Why it was refused:')).toContain('The amount is not right');
    await ada.close();
    expect(charged('150000.00')).toBe(0);

    await ada.charge({ card: '4081', amount: '120000', reason: 'The amount corrected' });
    await ada.modalSays('Sent to 2 approvers');
    await lindiwe.tidy();
    await cardSays('Needs approval', 'NGN 120,000.00');
    const approve = lindiwe.message('NGN 120,000.00').getByRole('button', { name: 'Approve NGN 120,000.00' });
    await lindiwe.click(approve);
    const sure = lindiwe.page.getByRole('alertdialog');
    expect(await sure.innerText()).toContain('NGN 120,000.00 from Mastercard ·· 4081 of a***@example.com');
    expect(charged('120000.00')).toBe(0);
    await lindiwe.click(sure.getByRole('button', { name: 'Approve', exact: true }));
    await ada.modalSays('Paid (confirmed)');
    expect(charged('120000.00')).toBe(1);
    await lindiwe.page.getByText('Paid (confirmed)').first().waitFor();

    const [reference] = /pay-[a-z0-9]{26}/.exec(await lindiwe.message('NGN 120,000.00').innerText()) ?? [];
    await lindiwe.type(`/pay story ${reference}`);
    const story = lindiwe.message('started the charge');
    await expect.poll(() => story.innerText()).toMatch(/→ Paid \(confirmed\)/);
    const told = await story.innerText();
    const order = [/asked for a second person/, /approved it/, /started the charge/, /→ Paid \(confirmed\)/];
    const steps = order.map((words) => told.search(words));
    expect(told).toContain('Paid (confirmed) · NGN 120,000.00');
    expect(told).toContain('Ada');
    expect(told).toContain('Lindiwe');
    expect(told).not.toContain('ada.obi@example.com');
    expect(steps).toEqual(steps.toSorted((one, other) => one - other));
    expect(steps).not.toContain(-1);
  });

  it('waits in the Home and the menu of whoever can decide, and is taken back by whoever asked', async () => {
    await ada.charge({ card: '4081', amount: '130000' });
    await ada.modalSays('Sent to 2 approvers');
    await lindiwe.channel('Pay');
    await lindiwe.click(lindiwe.page.getByRole('tab', { name: 'Home' }));
    const home = lindiwe.page.getByRole('tabpanel', { name: 'Home' });
    await home.getByText('Waiting for your decision').waitFor();
    expect(await home.innerText()).toContain('NGN 130,000.00');
    await ada.press('Withdraw');
    await ada.modalSays('You withdrew it');
    await lindiwe.click(lindiwe.page.getByRole('tab', { name: 'Messages' }));
    await lindiwe.click(lindiwe.page.getByRole('tab', { name: 'Home' }));
    await expect.poll(() => home.innerText()).not.toContain('Waiting for your decision');
    expect(charged('130000.00')).toBe(0);
  });
});
