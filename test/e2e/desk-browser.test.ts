import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Playground } from '../../src/playground/playground.ts';
import { fillByKeys, keysTo, pressByKeys, pressInModalByKeys, typeByKeys } from '../support/by-keys.ts';
import type { ChargePage } from '../support/charge-page.ts';
import { openPlaygroundScene, type PlaygroundScene } from '../support/playground-scene.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: the desk in a browser, because chromium is not installed.');

const newCustomer = 'new.customer@example.com';

/** Every verb that is not charging, alerts or lists, which have browser tests of their own; by keys alone. */
describe.skipIf(missing)('the desk by keyboard alone', () => {
  let playground: Playground;
  let scene: PlaygroundScene<'lindiwe'>;
  let lindiwe: ChargePage;

  beforeAll(async () => {
    scene = await openPlaygroundScene({ as: ['lindiwe'], channel: 'pay-desk' });
    ({
      playground,
      people: { lindiwe },
    } = scene);
    await vi.waitUntil(() => playground.payments.state().deliveries.length > 0, 60_000);
    await playground.payments.settled();
  });
  afterAll(async () => {
    await scene?.close();
  });
  beforeEach(async ({ task, onTestFailed }) => {
    onTestFailed(() => scene.shoot(task.name));
    await lindiwe.tidy();
  });
  afterEach(() => scene.checkBrowser());

  async function closeByKeys(): Promise<void> {
    await lindiwe.page.keyboard.press('Escape');
    await lindiwe.modal.waitFor({ state: 'hidden' });
  }

  it('makes a payment link, which says when it is paid and its card saved, and deletes that card', async () => {
    const { page } = lindiwe;
    await typeByKeys(lindiwe, '/pay link 2,500.00');
    await lindiwe.modalSays('It charges nobody by itself');
    await fillByKeys(lindiwe, 'Customer’s e-mail', newCustomer);
    await page.keyboard.press('Enter');
    await lindiwe.modalSays('Send it to the customer');
    await closeByKeys();
    const card = lindiwe.message('NGN 2,500.00');
    await card.getByText('Send it to the customer').waitFor();
    expect(await card.innerText()).not.toContain(newCustomer);
    const order = playground.payments.state().orders.find(({ amount }) => amount === '2500.00');
    const paying = {
      kind: 'pay_order',
      orderReference: order?.orderReference ?? '',
      outcome: 'approved',
    } as const;
    await playground.payments.act(paying);
    await expect.poll(() => card.innerText()).toContain('Paid (confirmed)');
    expect(await card.innerText()).toContain('Card saved');

    await typeByKeys(lindiwe, `/pay cards ${newCustomer}`);
    await pressByKeys(lindiwe, '1 saved card', 'Delete …');
    const question = page.getByRole('alertdialog');
    await keysTo(lindiwe, question.getByRole('button', { name: 'Delete the card' }));
    await page.keyboard.press('Enter');
    await lindiwe.message('Deleted').waitFor();
    await typeByKeys(lindiwe, `/pay cards ${newCustomer}`);
    await lindiwe.message('No saved card').waitFor();
  });

  it('creates a sub account, and finds it by its reference', async () => {
    const { page } = lindiwe;
    const reference = 'BROWSER-REFERENCE-01';
    await typeByKeys(lindiwe, '/pay account new');
    await lindiwe.modalSays('No money moves by this');
    await fillByKeys(lindiwe, 'Account name', 'Ikeja branch');
    await fillByKeys(lindiwe, 'Reference', 'too short');
    await page.keyboard.press('Enter');
    await lindiwe.modalSays(/exactly 20 characters/i);
    await fillByKeys(lindiwe, 'Reference', reference);
    await page.keyboard.press('Enter');
    await lindiwe.modalSays(reference);
    await closeByKeys();
    await typeByKeys(lindiwe, `/pay account ${reference}`);
    await expect.poll(() => lindiwe.message(reference).innerText()).toContain('Ikeja branch');
  });

  it('changes the e-mail of a card, with a wrong current one told at its field', async () => {
    const { page, modal } = lindiwe;
    await typeByKeys(lindiwe, '/pay card-email');
    await modal.locator('input[role=combobox]:focus').waitFor();
    await page.keyboard.type('6640');
    await modal.getByRole('option', { name: '6640' }).first().waitFor();
    await page.keyboard.press('Enter');
    await fillByKeys(lindiwe, 'Current e-mail', 'not.hers@example.com');
    await fillByKeys(lindiwe, 'New e-mail', 'chidi.new@example.com');
    await page.keyboard.press('Enter');
    await lindiwe.modalSays('chidi.new@example.com');
    await pressInModalByKeys(lindiwe, 'Change the e-mail');
    await lindiwe.modalSays('this is not the e-mail linked to the card');
    await modal
      .getByRole('textbox', { name: /^Current e-mail/ })
      .and(page.locator(':focus'))
      .waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('chidi.eze@example.com');
    await page.keyboard.press('Enter');
    await pressInModalByKeys(lindiwe, 'Change the e-mail');
    await lindiwe.modalSays('E-mail changed');
    const saved = playground.payments.state().cards.find(({ cardPan }) => cardPan.endsWith('6640'));
    expect(saved?.customerEmail).toBe('chidi.new@example.com');
  });

  it('starts from the menu, answers what is typed, and shares a look-up', async () => {
    const { page } = lindiwe;
    await typeByKeys(lindiwe, '/pay');
    await pressByKeys(lindiwe, 'looks a transaction up', 'Charge a card');
    await lindiwe.modalSays('You review it');
    await closeByKeys();
    for (const [typed, answer] of [
      ['/pay doubt', 'No charge'],
      ['/pay otp', 'No charge waits'],
      ['/pay alerts', 'This channel'],
      ['/pay undelivered', 'Nothing'],
      ['/pay help charge', '/pay charge'],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, as it is typed
      await typeByKeys(lindiwe, typed);
      // oxlint-disable-next-line no-await-in-loop
      await lindiwe.message(answer).waitFor();
    }
    await typeByKeys(lindiwe, '/pay ORDER-1001');
    await pressByKeys(lindiwe, 'ORDER-1001', 'Share to channel');
    const shared = page.locator('article:not(.message-ephemeral)', { hasText: 'ORDER-1001' });
    await shared.getByText('Paid (confirmed)').waitFor();
    expect(await shared.innerText()).not.toContain('ada.obi@example.com');
  });

  it('looks up what a message names, charges from anywhere, and turns to the Home', async () => {
    const { page } = lindiwe;
    await typeByKeys(lindiwe, 'is ORDER-1001 or ORDER-1002 paid?');
    await pressByKeys(lindiwe, 'is ORDER-1001 or', 'More actions');
    await keysTo(lindiwe, page.getByRole('menuitem', { name: 'Look up reference here' }));
    await page.keyboard.press('Enter');
    await lindiwe.modalSays('ORDER-1002');
    await closeByKeys();

    await page.locator('#composer').focus();
    await keysTo(lindiwe, page.getByRole('button', { name: 'Shortcuts', exact: true }));
    await page.keyboard.press('Enter');
    await keysTo(lindiwe, page.getByRole('menuitem', { name: 'Charge a saved card' }));
    await page.keyboard.press('Enter');
    await lindiwe.modalSays('You review it');
    await closeByKeys();

    const workspace = page.getByRole('navigation', { name: 'Workspace' });
    await keysTo(lindiwe, workspace.getByRole('button', { name: /^Pay( |$)/ }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await keysTo(lindiwe, page.getByRole('tab', { name: 'Home' }));
    await page.keyboard.press('Enter');
    await page.getByRole('tabpanel', { name: 'Home' }).getByText('What you can do with /pay').waitFor();
    // However much has been logged by now, it scrolls in its own pane.
    expect(await page.evaluate('document.documentElement.scrollHeight - window.innerHeight')).toBe(0);
  });
});
