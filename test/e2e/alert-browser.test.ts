import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Locator } from 'playwright-core';
import type { Playground } from '../../src/playground/playground.ts';
import { channelIds } from '../../src/simulators/slack/cast.ts';
import type { ChargePage } from '../support/charge-page.ts';
import { openPlaygroundScene, type PlaygroundScene } from '../support/playground-scene.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: alerts in a browser, because chromium is not installed.');

async function press(person: ChargePage, card: Locator, button: string): Promise<void> {
  await person.click(card.getByRole('button', { name: button, exact: true }));
}

async function choose(person: ChargePage, card: Locator, choice: string): Promise<void> {
  await person.click(card.locator('.block-overflow'));
  await person.click(person.page.getByRole('menuitem', { name: choice, exact: true }));
}

function digest(person: ChargePage): Locator {
  return person.message('Storm: ');
}

function firstCard(person: ChargePage): Locator {
  return person.message('NGN 12,500.00');
}

describe.skipIf(missing)('alerts in a browser', () => {
  let playground: Playground;
  let scene: PlaygroundScene<'lindiwe' | 'omar'>;
  let lindiwe: ChargePage;
  let omar: ChargePage;

  beforeAll(async () => {
    const mutedUntil = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    const rules = `  - name: expired-cards
    when: { reason: expired card, currency: NGN, amount_to: 3300.00 }
    to: ${channelIds.payAlerts}
    mute_until: ${mutedUntil}
`;
    scene = await openPlaygroundScene({
      as: ['lindiwe', 'omar'],
      channel: 'pay-alerts',
      // More than the alerts of the tests before the storm.
      playground: { rules, botEnv: { DIGEST_THRESHOLD: '6' } },
    });
    ({
      playground,
      people: { lindiwe, omar },
    } = scene);
    await playground.payments.settled();
    await lindiwe.tab('Saved cards');
  });
  afterAll(async () => {
    await scene?.close();
  });
  afterEach(() => scene.checkBrowser());

  /** A charge of a saved card from outside Slack. */
  async function chargeOutside(
    how: 'approved' | 'declined',
    terms: { of: string; amount: string; reason?: string },
  ): Promise<void> {
    const { page } = lindiwe;
    await page.locator('select[name=customerEmail]').selectOption(terms.of);
    await page.locator('input[name=amount]').fill(terms.amount);
    if (terms.reason !== undefined) await page.locator('select[name=reason]').selectOption(terms.reason);
    await lindiwe.click(page.getByRole('button', { name: `Charge, ${how}` }));
  }

  it('shows a failure, who took it, put it off and handed it on, and that a payment made it good', async () => {
    await chargeOutside('declined', {
      of: 'ada.obi@example.com',
      amount: '12500.00',
      reason: 'Insufficient funds',
    });
    await lindiwe.message('Declined by the bank').waitFor();
    expect(await firstCard(lindiwe).getByRole('button').allInnerTexts()).toEqual(
      expect.arrayContaining(['Acknowledge', 'Look up', 'Close…']),
    );
    expect(await firstCard(lindiwe).innerText()).not.toContain('ada.obi@example.com');

    await press(lindiwe, firstCard(lindiwe), 'Acknowledge');
    await expect.poll(() => firstCard(omar).innerText()).toContain('Acknowledged by  @Lindiwe');

    await choose(lindiwe, firstCard(lindiwe), 'Snooze…');
    await lindiwe.modalSays('A payment still resolves the alert');
    await lindiwe.press('Snooze');
    await expect.poll(() => firstCard(omar).innerText()).toContain('Snoozed until');

    await choose(omar, firstCard(omar), 'Assign…');
    await omar.modalSays('They are told by direct message');
    await omar.modal.locator('select').selectOption({ label: 'Omar' });
    await omar.press('Assign');
    await expect.poll(() => firstCard(lindiwe).innerText()).toContain('Assigned to  @Omar');

    await chargeOutside('approved', { of: 'ada.obi@example.com', amount: '12500.00' });
    await expect.poll(() => firstCard(omar).innerText()).toContain('Resolved');
    expect(await firstCard(omar).innerText()).toContain('Resolved');
    expect(await firstCard(omar).locator('.block-button').count()).toBe(0);
    await omar.click(firstCard(omar).getByRole('button', { name: /repl(y|ies)/ }));
    const thread = omar.page.getByRole('complementary', { name: 'Thread' });
    await expect.poll(() => thread.innerText()).toContain('Resolved');
    expect(await thread.innerText()).toContain('Snoozed');
  });

  it('closes a failure with a reason, for which the form asks', async () => {
    await chargeOutside('declined', {
      of: 'ada.obi@example.com',
      amount: '7700.00',
      reason: 'Insufficient funds',
    });
    const card = omar.message('NGN 7,700.00');
    await card.waitFor();
    await press(omar, card, 'Close…');
    await omar.modalSays('The alert loses its buttons and details');
    await omar.press('Close the alert');
    await omar.modal.locator('textarea, input').first().fill('The customer paid in cash');
    await omar.press('Close the alert');
    await expect.poll(() => card.innerText()).toContain('Closed');
    expect(await card.innerText()).toContain('The customer paid in cash');
    expect(await card.locator('.block-button').count()).toBe(0);
  });

  it('tells nothing of what is muted, and says in the channel and at home until when', async () => {
    const before = playground.payments.state().deliveries.length;
    await chargeOutside('declined', { of: 'ada.obi@example.com', amount: '3300.00', reason: 'Expired card' });
    await expect.poll(() => playground.payments.state().deliveries.length).toBeGreaterThan(before);
    await playground.payments.settled();
    // What comes after it is told, so that what was muted had its time.
    await chargeOutside('declined', {
      of: 'ada.obi@example.com',
      amount: '3400.00',
      reason: 'Insufficient funds',
    });
    await omar.message('NGN 3,400.00').waitFor();
    expect(await omar.page.locator('.channel article', { hasText: 'NGN 3,300.00' }).count()).toBe(0);
    await omar.type('/pay alerts');
    await omar.message('expired-cards').waitFor();
    expect(await omar.message('expired-cards').innerText()).toContain('muted until');
    await omar.channel('Pay');
    await omar.click(omar.page.getByRole('tab', { name: 'Home' }));
    await expect.poll(() => omar.page.locator('main').innerText()).toMatch(/expired-cards; muted until .*\d/);
  });

  it('tells a storm by one digest, whose list, file and acknowledgement are for everybody', async () => {
    await lindiwe.click(lindiwe.page.getByRole('button', { name: 'Send 60 failures' }));
    await omar.channel('pay-alerts');
    await digest(omar).waitFor();
    await press(omar, digest(omar), 'Acknowledge all');
    await expect.poll(() => digest(lindiwe).innerText()).toContain('Acknowledged by  @Omar');
    const counted = async (): Promise<number> =>
      Number(/Storm: (\d+) failed/.exec(await digest(lindiwe).innerText())?.[1]);
    // Those of the tests before that stand above it are of the same storm.
    await expect.poll(counted).toBeGreaterThanOrEqual(60);
    const open = lindiwe.page.getByRole('button', { name: 'Acknowledge', exact: true });
    await expect.poll(() => open.count()).toBeLessThanOrEqual(1);

    expect(await digest(lindiwe).innerText()).toMatch(/Muted now[^]*expired-cards; muted until/);

    await press(lindiwe, digest(lindiwe), 'Show list');
    expect(await lindiwe.modalSays('page 1 of')).toContain('Acknowledged');
    expect(await lindiwe.modal.innerText()).not.toMatch(/[a-z]+\.[a-z]+@example\.com/);
    await lindiwe.press('Next');
    await lindiwe.modalSays('page 2 of');
    await lindiwe.close();
    await press(lindiwe, digest(lindiwe), 'CSV');
    await lindiwe.message('The CSV is in the digest’s thread').waitFor();
    await lindiwe.click(digest(lindiwe).getByRole('button', { name: /repl(y|ies)/ }));
    const thread = lindiwe.page.getByRole('complementary', { name: 'Thread' });
    await expect.poll(() => thread.innerText()).toContain('.csv');
  });
});
