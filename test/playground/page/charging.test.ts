import type { App } from '@slack/bolt';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, type TestBrowser } from '../../support/browser.ts';
import { closeAll } from '../../simulators/slack/support.ts';
import { adasCard, bolasCard, modals, openDesk, type Desk } from './desk.ts';
import { chromiumIsMissing } from './open-page.ts';

describe.skipIf(chromiumIsMissing)('charging, as the page shows it', () => {
  let browser: TestBrowser | undefined;
  let desk: Desk | undefined;
  let page: Page | undefined;

  beforeAll(async () => {
    browser = await openBrowser({ width: 1440, height: 900 });
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await page?.close();
    await desk?.page.close();
    await desk?.payments.close();
    await closeAll();
  });

  async function open(register: (app: App) => void): Promise<{ page: Page; desk: Desk }> {
    if (!browser) throw new Error('There is no browser.');
    const opened = await openDesk(register);
    desk = opened;
    page = await browser.context.newPage();
    await page.goto(opened.page.url);
    await page.locator('#composer').waitFor();
    return { page, desk: opened };
  }

  it('goes by keyboard from the form over the read-back to the code and the outcome, in one modal', async () => {
    const asked: string[] = [];
    const submitted: Record<string, unknown>[] = [];
    const opened = await open((app) => {
      app.shortcut('charge', async ({ ack, client, shortcut }) => {
        await ack();
        await client.views.open({ trigger_id: shortcut.trigger_id, view: modals.form() });
      });
      app.options('charge_card', async ({ ack, payload }) => {
        asked.push(payload.value);
        const cards = [adasCard, bolasCard];
        await ack({ options: cards.filter(({ text }) => text.text.includes(payload.value)) });
      });
      app.view('charge', async ({ ack, view }) => {
        submitted.push(view.state.values);
        await ack({ response_action: 'update', view: modals.terms() });
      });
      app.view('terms', async ({ ack, client, view }) => {
        await ack({ response_action: 'update', view: modals.charging() });
        await client.views.update({ view_id: view.id, view: modals.code() });
      });
      app.view('otp', async ({ ack, view }) => {
        submitted.push(view.state.values);
        const code = view.state.values['otp_code']?.['otp_code']?.value;
        if (code === '123456')
          await ack({ response_action: 'update', view: modals.outcome('✅ NGN 12,500.00') });
        else await ack({ response_action: 'errors', errors: { otp_code: 'Not accepted. 2 tries left.' } });
      });
    });
    const { keyboard } = opened.page;
    const dialog = (name: string) => opened.page.getByRole('dialog', { name });
    await opened.page.getByRole('button', { name: 'Shortcuts' }).first().click();
    await opened.page.getByRole('menuitem', { name: 'Charge a saved card' }).click();
    await dialog('Charge a saved card').waitFor();

    const card = opened.page.getByRole('combobox', { name: 'Saved card' });
    await expect.poll(() => hasFocus(card)).toBe(1);
    expect(await offers(opened.page).count()).toBe(0);
    await keyboard.press('ArrowDown');
    await offers(opened.page).nth(1).waitFor();
    await keyboard.type('1127');
    await expect.poll(() => offers(opened.page).count()).toBe(1);
    await keyboard.press('Enter');
    await expect.poll(() => card.inputValue()).toBe(bolasCard.text.text);
    await card.click();
    await offers(opened.page).nth(1).waitFor();
    await keyboard.press('Escape');
    expect(asked).toEqual(['', '1', '11', '112', '1127', '']);
    await keyboard.press('Tab');
    await keyboard.press('Tab');
    await keyboard.type('tok-typed');
    await keyboard.press('Tab');
    await keyboard.type('12500');
    await keyboard.press('Enter');

    await dialog('Check the terms').waitFor();
    expect(await dialog('Check the terms').innerText()).toContain('By @Lindiwe at');
    await expect.poll(() => opened.page.evaluate('document.activeElement.id')).toBe('view-title');
    await dialog('Check the terms').getByRole('button', { name: 'Charge NGN 12,500.00' }).press('Enter');

    await dialog('Enter the code').waitFor();
    const code = opened.page.getByRole('textbox', { name: 'The code from the customer’s bank' });
    await expect.poll(() => hasFocus(code)).toBe(1);
    await keyboard.type('0000');
    await keyboard.press('Enter');
    await dialog('Enter the code').getByText('Not accepted. 2 tries left.').waitFor();
    await code.fill('123456');
    await keyboard.press('Enter');
    await dialog('Paid (confirmed)').waitFor();
    await keyboard.press('Escape');
    await expect.poll(() => opened.page.getByRole('dialog').count()).toBe(0);

    expect(submitted).toMatchObject([
      {
        charge_card: { charge_card: { selected_option: bolasCard } },
        token_key: { token_key: { value: 'tok-typed' } },
        amount: { amount: { value: '12500' } },
        currency: { currency: { selected_option: { value: 'NGN' } } },
      },
      { otp_code: { otp_code: { value: '0000' } } },
      { otp_code: { otp_code: { value: '123456' } } },
    ]);
  });

  it('takes a chosen card back, and begins a form that comes back with what the bot gave it', async () => {
    const submitted: Record<string, unknown>[] = [];
    const opened = await open((app) => {
      app.shortcut('charge', async ({ ack, client, shortcut }) => {
        await ack();
        await client.views.open({ trigger_id: shortcut.trigger_id, view: modals.form('1.00') });
      });
      app.view('charge', async ({ ack, view }) => {
        submitted.push(view.state.values);
        await ack({ response_action: 'update', view: modals.terms() });
      });
      app.action('change', async ({ ack, body, client }) => {
        await ack();
        if (body.type === 'block_actions' && body.view)
          await client.views.update({ view_id: body.view.id, view: modals.form('7,500.00') });
      });
    });
    await opened.page.getByRole('button', { name: 'Shortcuts' }).first().click();
    await opened.page.getByRole('menuitem', { name: 'Charge a saved card' }).click();
    await opened.page.getByRole('textbox', { name: 'Token key' }).fill('tok-typed');
    await opened.page.getByRole('textbox', { name: 'Amount' }).fill('2.00');
    await opened.page.getByRole('button', { name: 'Clear the choice' }).click();
    expect(await opened.page.getByRole('combobox', { name: 'Saved card' }).inputValue()).toBe('');
    await opened.page.getByRole('button', { name: 'Check the terms' }).click();
    await opened.page.getByRole('button', { name: 'Change the terms' }).click();

    const amount = opened.page.getByRole('textbox', { name: 'Amount' });
    await amount.waitFor();
    expect(await amount.inputValue()).toBe('7,500.00');
    expect(await opened.page.getByRole('textbox', { name: 'Token key' }).inputValue()).toBe('');
    const card = opened.page.getByRole('combobox', { name: 'Saved card' });
    expect(await card.inputValue()).toBe(bolasCard.text.text);
    expect(submitted).toMatchObject([
      { charge_card: { charge_card: { selected_option: null } }, amount: { amount: { value: '2.00' } } },
    ]);
  });

  it('asks above a modal before money or access changes, and gives the modal back', async () => {
    const pressed: string[] = [];
    const opened = await open((app) => {
      app.shortcut('charge', async ({ ack, client, shortcut }) => {
        await ack();
        await client.views.open({ trigger_id: shortcut.trigger_id, view: modals.code() });
      });
      app.action(/otp_.*/, async ({ ack, body, client, payload }) => {
        await ack();
        if ('action_id' in payload) pressed.push(payload.action_id);
        if (body.type === 'block_actions')
          await client.views.push({ trigger_id: body.trigger_id, view: modals.outcome('Yours now') });
      });
    });
    await opened.page.getByRole('button', { name: 'Shortcuts' }).first().click();
    await opened.page.getByRole('menuitem', { name: 'Charge a saved card' }).click();
    const takeOver = opened.page.getByRole('button', { name: 'Take over' });
    await takeOver.click();
    const question = opened.page.getByRole('alertdialog', { name: 'Take over NGN 12,500.00?' });
    await question.getByText('Ada can then no longer enter its code.').waitFor();
    await opened.page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    expect(pressed).toEqual([]);
    await takeOver.click();
    await question.getByRole('button', { name: 'Take over' }).click();
    await opened.page.getByRole('dialog', { name: 'Paid (confirmed)' }).waitFor();
    expect(pressed).toEqual(['otp_take_over']);
    await opened.page.keyboard.press('Escape');
    await opened.page.getByRole('dialog', { name: 'Enter the code' }).waitFor();
  });

  it('shows an edited message, its thread and an unread direct message', async () => {
    const opened = await open(() => {});
    const { client } = opened.desk.app;
    const { channels, users } = opened.desk.workspace.ids;
    const { ts = '' } = await client.chat.postMessage({ channel: channels.payDesk, text: 'Needs OTP' });
    await client.chat.postMessage({ channel: channels.payDesk, text: 'Wrong code', thread_ts: ts });
    await client.chat.update({ channel: channels.payDesk, ts, text: 'Paid (confirmed)' });
    await client.chat.postMessage({ channel: users.agent, text: 'Enter the code' });

    const message = opened.page.locator('article', { hasText: 'Paid (confirmed)' });
    await message.getByText('(edited)').waitFor();
    await message.getByRole('button', { name: '1 reply' }).click();
    const thread = opened.page.getByRole('complementary', { name: 'Thread' });
    await thread.getByText('Wrong code').waitFor();

    const direct = opened.page
      .getByRole('navigation', { name: 'Workspace' })
      .getByRole('button', { name: /^Pay/ });
    await direct.getByText('1 unread').waitFor();
    await direct.click();
    await opened.page.getByText('Enter the code').waitFor();
    await expect.poll(() => direct.locator('.unread').count()).toBe(0);
    await opened.page.getByRole('tab', { name: 'Home' }).click();
    await client.chat.postMessage({ channel: users.agent, text: 'Paid' });
    await direct.getByText('1 unread').waitFor();
  });

  it('shows the customer’s phone while a charge waits for its code, on whatever tab', async () => {
    const opened = await open(() => {});
    const panel = opened.page.getByRole('complementary', { name: 'Payments service' });
    const phone = panel.getByRole('region', { name: 'The customer’s phone' });
    expect(await phone.count()).toBe(0);
    await payWaiting(opened.desk);
    await phone.getByText('The bank sent 123456 to').waitFor();
    expect(await phone.innerText()).toContain('3 of 3 tries left');
    await panel.getByRole('tab', { name: 'Weather' }).click();
    expect(await phone.isVisible()).toBe(true);
  });

  it('orders the next charge and lists cards, their token keys and the amounts that decide', async () => {
    const opened = await open(() => {});
    const panel = opened.page.getByRole('complementary', { name: 'Payments service' });
    await panel.getByRole('tab', { name: 'Saved cards' }).click();
    await panel.getByLabel('The next charge from Slack').selectOption('Charged, but the answer is lost');
    await expect.poll(() => opened.desk.payments.state().nextCharge).toBe('lost_answer');
    await panel.getByText('Amounts that decide by their last two digits').click();
    await panel.getByText('Reaches the bank, but the answer never comes.').waitFor();
    const card = panel.locator('[data-card]', { hasText: 'Bola Ade' });
    expect(await card.innerText()).toMatch(/tok-bola-otp/);
    await opened.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await card.getByRole('button', { name: /^Copy the token key/ }).click();
    await card.getByText('Copied').waitFor();
    expect(await opened.page.evaluate('navigator.clipboard.readText()')).toBe('tok-bola-otp');
  });
});

/** The merchant charges a card whose bank sends its owner a code. */
async function payWaiting({ payments }: Desk): Promise<void> {
  const { accountId, clientId, clientSecret } = payments.credentials;
  const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> => {
    const response = await fetch(payments.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accountId, ...headers },
      body: JSON.stringify(body),
    });
    return response.json();
  };
  const issued = (await post('/v1/auth/token/issue', { clientId, clientSecret })) as {
    data: { accessToken: string };
  };
  const order = { amount: '12500.00', currency: 'NGN', customerEmail: 'bola.ade@example.com' };
  const authorization = `Bearer ${issued.data.accessToken}`;
  await post(
    '/v1/checkout/tokenized-card-payment',
    { tokenKey: 'tok-bola-otp', order: { ...order, orderReference: 'pay-waiting' } },
    { authorization },
  );
}

/** Of the searched select; a select of the browser's own has options too. */
function offers(on: Page): Locator {
  return on.locator('.options').getByRole('option');
}

function hasFocus(field: Locator): Promise<number> {
  return field.and(field.page().locator(':focus')).count();
}
