import { describe, expect, it } from 'vitest';
import { message } from './canned.ts';
import { chromiumIsMissing, openPageForEach } from './open-page.ts';

describe.skipIf(chromiumIsMissing)('the playground page', () => {
  const open = openPageForEach();

  it('completes a slash command by keyboard and shows how it is used', async () => {
    await open.page.locator('#composer').pressSequentially('/pa');
    const offers = open.page.getByRole('listbox', { name: 'Commands' }).getByRole('option');
    await expect.poll(() => offers.count()).toBe(2);
    expect(await offers.first().getAttribute('aria-selected')).toBe('true');
    await open.page.keyboard.press('ArrowDown');
    expect(await offers.nth(1).getAttribute('aria-selected')).toBe('true');
    await open.page.keyboard.press('Escape');
    await expect.poll(() => offers.count()).toBe(0);
    await open.page.keyboard.type('y');
    await open.page.keyboard.press('Tab');
    expect(await open.page.locator('#composer').inputValue()).toBe('/pay ');
    expect(await open.page.locator('.command-hint').innerText()).toContain('<reference> | help');
    await open.page.keyboard.type('ORDER-1001');
    await open.page.keyboard.press('Enter');
    expect(await open.acted(1)).toEqual([
      { user: 'U1', kind: 'send_message', channel: 'C1', text: '/pay ORDER-1001' },
    ]);
    expect(await open.page.locator('#composer').inputValue()).toBe('');
    await open.page.keyboard.press('ArrowUp');
    expect(await open.page.locator('#composer').inputValue()).toBe('/pay ORDER-1001');
    await open.page.keyboard.press('ArrowDown');
    expect(await open.page.locator('#composer').inputValue()).toBe('');
  });

  it('sends a command that stands there in full, and offers no composer where only the app writes', async () => {
    await open.page.locator('#composer').pressSequentially('/pay');
    await open.page.keyboard.press('Enter');
    expect(await open.acted(1)).toMatchObject([{ kind: 'send_message', text: '/pay' }]);
    open.canned.show((state) => ({
      ...state,
      channels: state.channels.map((channel) =>
        channel.kind === 'dm' ? { ...channel, readOnly: true } : channel,
      ),
    }));
    await open.page.getByRole('button', { name: 'Pay', exact: true }).click();
    await open.page.getByText('Sending messages to this app has been turned off').waitFor();
    expect(await open.page.locator('#composer').count()).toBe(0);
  });

  it('becomes another person, who does not see what was only visible to the first', async () => {
    open.canned.show((state) => ({
      ...state,
      messages: {
        ...state.messages,
        C1:
          state.user.id === 'U1' ? [message('1700000000.1', { text: 'Just for Ada', ephemeral: true })] : [],
      },
    }));
    await open.page.getByText('Just for Ada').waitFor();
    expect(await open.page.locator('.only-you').innerText()).toContain('Only visible to you');
    await open.page.getByRole('radio', { name: 'Ada' }).focus();
    await open.page.keyboard.press('ArrowRight');
    await open.page.locator('.sidebar-me', { hasText: 'Olu' }).waitFor();
    expect(await open.page.getByText('Just for Ada').count()).toBe(0);
    expect(new URL(open.page.url()).searchParams.get('user')).toBe('U2');
  });

  it('counts what is new elsewhere until one looks', async () => {
    const ts = String(Date.now() / 1000 + 60);
    open.canned.show((state) => ({
      ...state,
      messages: { ...state.messages, C2: [message(ts, { channel: 'C2', text: 'Declined' })] },
    }));
    const alerts = open.page.getByRole('button', { name: 'pay-alerts' });
    await alerts.locator('.unread').waitFor();
    await alerts.click();
    await open.page.getByText('Declined').waitFor();
    await expect.poll(() => alerts.locator('.unread').count()).toBe(0);
  });

  it('opens a thread, replies in it, and closes it on Escape', async () => {
    open.canned.show((state) => ({
      ...state,
      messages: {
        ...state.messages,
        C1: [
          message('1700000000.1', { text: 'Parent', replyCount: 1, edited: true }),
          message('1700000000.2', { text: 'Child', threadTs: '1700000000.1' }),
        ],
      },
    }));
    expect(await open.page.getByText('Child').count()).toBe(0);
    await open.page.getByRole('button', { name: '1 reply' }).click();
    await open.page.getByRole('complementary', { name: 'Thread' }).getByText('Child').waitFor();
    await open.page.locator('#thread-composer').fill('Seen');
    await open.page.keyboard.press('Enter');
    expect(await open.acted(1)).toEqual([
      { user: 'U1', kind: 'send_message', channel: 'C1', text: 'Seen', threadTs: '1700000000.1' },
    ]);
    await open.page.keyboard.press('Escape');
    await expect.poll(() => open.page.getByText('Child').count()).toBe(0);
  });

  it('makes things happen at the payments service', async () => {
    const panel = open.page.getByRole('complementary', { name: 'Payments service' });
    await panel.getByRole('button', { name: 'Customer pays' }).click();
    await panel.getByRole('tab', { name: 'Orders' }).press('ArrowRight');
    await panel.getByLabel('If declined, because').selectOption('Do not honour');
    await panel.getByRole('button', { name: 'Charge, declined' }).click();
    await panel.getByRole('tab', { name: 'Events' }).click();
    await panel.getByRole('button', { name: 'Send payment_failed for SUB-1 again' }).click();
    await open.page.getByRole('menuitem', { name: 'With a bad signature' }).click();
    await panel.getByRole('tab', { name: 'Weather' }).click();
    await panel.getByRole('radio', { name: 'Hangs' }).click();
    await panel.getByRole('button', { name: 'Kill −9' }).click();
    expect(await open.acted(5)).toEqual([
      { user: 'U1', kind: 'pay_order', orderReference: 'ORDER-1002', outcome: 'approved' },
      {
        user: 'U1',
        kind: 'decline_saved_card_charge',
        amount: '12500.00',
        customerEmail: 'ada@example.com',
        reason: 'Do not honour',
      },
      { user: 'U1', kind: 'redeliver', deliveryId: 7, how: 'bad_signature' },
      { user: 'U1', kind: 'set_weather', weather: 'hang' },
      { user: 'U1', kind: 'bot_kill' },
    ]);
  });

  it('shows the bot’s last words when it is down, and starts it', async () => {
    open.canned.show((state) => ({
      ...state,
      bot: { ...state.bot, status: 'down', lastLines: ['Payops cannot start. PORT'] },
    }));
    await open.page.getByText('Payops cannot start. PORT').waitFor();
    await open.page.getByRole('button', { name: 'Start' }).click();
    expect(await open.acted(1)).toEqual([{ user: 'U1', kind: 'bot_start' }]);
  });

  it('filters the exchanges and opens one', async () => {
    const line = { at: 1, method: 'POST', durationMs: 3 };
    open.canned.show((state) => ({
      ...state,
      log: [
        {
          ...line,
          id: 1,
          from: 'slack',
          to: 'bot',
          path: '/slack/events',
          status: 200,
          summary: 'a command',
        },
        {
          ...line,
          id: 2,
          from: 'payments',
          to: 'bot',
          path: '/webhooks/payments',
          status: 401,
          summary: 'bad signature',
        },
      ],
    }));
    const rows = open.page.locator('.log-row');
    await expect.poll(() => rows.count()).toBe(2);
    await open.page.getByRole('searchbox', { name: 'Filter by words' }).fill('401 webhooks');
    await expect.poll(() => rows.count()).toBe(1);
    await rows.first().click();
    await open.page.getByText('the request body').waitFor();
    expect(await open.page.locator('.log-detail').innerText()).toContain('the response body');
  });

  it('says what went wrong, in the words of the answer', async () => {
    open.canned.answer({ ok: false, problem: 'This app could not be reached.' });
    await open.page.locator('#composer').fill('/pay x');
    await open.page.keyboard.press('Enter');
    await open.page.getByRole('alert').getByText('This app could not be reached.').waitFor();
    await open.page.getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(() => open.page.getByRole('alert').count()).toBe(0);
  });

  it('says that it reconnects when the playground goes away, and is live again when it is back', async () => {
    open.mayComplain();
    await open.canned.close();
    await open.page.getByText('reconnecting…').waitFor();
    await open.restart();
    await open.page.getByText('live', { exact: true }).waitFor();
    expect(await open.page.getByText('reconnecting…').count()).toBe(0);
  });

  it('fits a telephone: nothing wider than it, and its people and channels within reach', async () => {
    await open.page.setViewportSize({ width: 390, height: 844 });
    expect(await open.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const talk = await open.page.getByRole('main').boundingBox();
    expect(talk?.width).toBe(390);
    const people = open.page.getByRole('radiogroup', { name: 'You are' }).getByRole('radio');
    const last = await people.last().boundingBox();
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThan(390);
    expect(await people.last().getAttribute('title')).toMatch(/^Be /);
  });

  it('hides the guide for good', async () => {
    await open.page.getByRole('button', { name: 'Hide the guide' }).click();
    await open.page.reload();
    await open.page.locator('#composer').waitFor();
    expect(await open.page.getByRole('region', { name: 'Try this' }).count()).toBe(0);
    await open.page.getByRole('button', { name: 'Try this' }).click();
    expect(await open.page.getByRole('region', { name: 'Try this' }).count()).toBe(1);
  });
});
