import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser, type TestBrowser } from '../../support/browser.ts';
import { findProgram } from '../../support/programs.ts';
import {
  emptyState,
  everyInput,
  everyMessageBlock,
  message,
  startCanned,
  view,
  type CannedPlayground,
} from './canned.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: the page in a browser, because chromium is not installed.');

function option(value: string): object {
  return { text: { type: 'plain_text', text: value }, value };
}

/** One window on one playground that only writes down what it is asked; both begin anew for each test. */
describe.skipIf(missing)('the playground page', () => {
  let browser: TestBrowser;
  let page: Page;
  let canned: CannedPlayground;

  beforeAll(async () => {
    const opened = await openBrowser();
    if (!opened) throw new Error('There is no browser.');
    browser = opened;
    canned = await startCanned(emptyState);
    page = await browser.context.newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await canned?.close();
  });
  beforeEach(async () => {
    canned.reset();
    await page.goto(canned.url);
    await page.locator('#composer').waitFor();
  });
  afterEach(() => browser.checkQuiet());

  /** What the page asked to be done, once it asked that often. */
  async function acted(count: number): Promise<Record<string, unknown>[]> {
    await expect.poll(() => canned.acts.length).toBe(count);
    return canned.acts.map(({ user, action }) => ({ user, ...action.action }));
  }

  function showBlocks(text: string): void {
    canned.show((state) => ({
      ...state,
      messages: { ...state.messages, C1: [message('1700000000.1', { blocks: everyMessageBlock(text) })] },
    }));
  }

  it('completes a slash command by keyboard and shows how it is used', async () => {
    await page.locator('#composer').pressSequentially('/pa');
    const offers = page.getByRole('listbox', { name: 'Commands' }).getByRole('option');
    await expect.poll(() => offers.count()).toBe(2);
    expect(await offers.first().getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('ArrowDown');
    expect(await offers.nth(1).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Escape');
    await expect.poll(() => offers.count()).toBe(0);
    await page.keyboard.type('y');
    await page.keyboard.press('Tab');
    expect(await page.locator('#composer').inputValue()).toBe('/pay ');
    expect(await page.locator('.command-hint').innerText()).toContain('<reference> | help');
    await page.keyboard.type('ORDER-1001');
    await page.keyboard.press('Enter');
    expect(await acted(1)).toEqual([
      { user: 'U1', kind: 'send_message', channel: 'C1', text: '/pay ORDER-1001' },
    ]);
    expect(await page.locator('#composer').inputValue()).toBe('');
    await page.keyboard.press('ArrowUp');
    expect(await page.locator('#composer').inputValue()).toBe('/pay ORDER-1001');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#composer').inputValue()).toBe('');
  });

  it('says why a command was not sent, and offers no composer where only the app writes', async () => {
    canned.answer({ ok: false, problem: 'This app could not be reached.' });
    await page.locator('#composer').pressSequentially('/pay');
    await page.keyboard.press('Enter');
    expect(await acted(1)).toMatchObject([{ kind: 'send_message', text: '/pay' }]);
    await page.getByRole('alert').getByText('This app could not be reached.').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    canned.show((state) => ({
      ...state,
      channels: state.channels.map((channel) =>
        channel.kind === 'dm' ? { ...channel, readOnly: true } : channel,
      ),
    }));
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByText('Sending messages to this app has been turned off').waitFor();
    expect(await page.locator('#composer').count()).toBe(0);
  });

  it('becomes another person, who does not see what was only visible to the first', async () => {
    canned.show((state) => ({
      ...state,
      messages: {
        ...state.messages,
        C1:
          state.user.id === 'U1' ? [message('1700000000.1', { text: 'Just for Ada', ephemeral: true })] : [],
      },
    }));
    await page.getByText('Just for Ada').waitFor();
    expect(await page.locator('.only-you').innerText()).toContain('Only visible to you');
    await page.getByRole('radio', { name: 'Ada' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('.sidebar-me', { hasText: 'Olu' }).waitFor();
    expect(await page.getByText('Just for Ada').count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('user')).toBe('U2');
  });

  it('opens a thread, replies in it, and closes it on Escape', async () => {
    canned.show((state) => ({
      ...state,
      messages: {
        ...state.messages,
        C1: [
          message('1700000000.1', { text: 'Parent', replyCount: 1, edited: true }),
          message('1700000000.2', { text: 'Child', threadTs: '1700000000.1' }),
        ],
      },
    }));
    expect(await page.getByText('Child').count()).toBe(0);
    await page.getByRole('button', { name: '1 reply' }).click();
    await page.getByRole('complementary', { name: 'Thread' }).getByText('Child').waitFor();
    await page.locator('#thread-composer').fill('Seen');
    await page.keyboard.press('Enter');
    expect(await acted(1)).toEqual([
      { user: 'U1', kind: 'send_message', channel: 'C1', text: 'Seen', threadTs: '1700000000.1' },
    ]);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByText('Child').count()).toBe(0);
  });

  it('says that it reconnects when the playground goes away, and is live again when it is back', async () => {
    const { port } = canned;
    await canned.close();
    await page.getByText('reconnecting…').waitFor();
    canned = await startCanned(emptyState, port);
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.getByText('reconnecting…').count()).toBe(0);
    expect(() => browser.checkQuiet()).toThrow('Failed to load');
  });

  it('fits a telephone: nothing wider than it, and its people and channels within reach', async ({
    onTestFinished,
  }) => {
    const usual = page.viewportSize();
    onTestFinished(() => page.setViewportSize(usual ?? { width: 1280, height: 720 }));
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const talk = await page.getByRole('main').boundingBox();
    expect(talk?.width).toBe(390);
    const people = page.getByRole('radiogroup', { name: 'You are' }).getByRole('radio');
    const last = await people.last().boundingBox();
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThan(390);
    expect(await people.last().getAttribute('title')).toMatch(/^Be /);
  });

  it('copies the token key of a card', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('tab', { name: 'Orders' }).press('ArrowRight');
    await page.getByRole('button', { name: /^Copy the token key/ }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('tok-ada');
  });

  it('hides the guide for good', async () => {
    await page.getByRole('button', { name: 'Hide the guide' }).click();
    await page.reload();
    await page.locator('#composer').waitFor();
    expect(await page.getByRole('region', { name: 'Try this' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Try this' }).click();
    expect(await page.getByRole('region', { name: 'Try this' }).count()).toBe(1);
  });

  it('draws every kind of block that a message may hold', async () => {
    showBlocks('Chidi *Eze*');
    const drawn = page.locator('.message .block');
    await expect.poll(() => drawn.count()).toBe(everyMessageBlock('').length);
    expect(await page.locator('.undrawn').count()).toBe(0);
    expect(await page.locator('.block-section b').first().textContent()).toBe('Eze');
    expect(await page.locator('.block-header').innerText()).toBe('Chidi *Eze*');
    expect(await page.getByRole('combobox', { name: 'Terminal' }).count()).toBe(1);
  });

  it('keeps what others write from becoming markup, script or a script address', async () => {
    const evil =
      '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>"\'`<javascript:window.pwned=1|go>';
    canned.show((state) => ({
      ...state,
      user: { ...state.user, realName: evil },
      channels: state.channels.map((channel) => ({ ...channel, topic: evil })),
      messages: {
        ...state.messages,
        C1: [
          message('1700000000.1', {
            text: evil,
            authorName: evil,
            blocks: everyMessageBlock(evil),
            attachments: [{ color: evil, blocks: everyMessageBlock(evil) }],
          }),
          message('1700000000.2', { text: evil }),
        ],
      },
      views: [view(everyInput(evil), { title: evil, submit: evil, close: evil, errors: { otp: evil } })],
      log: [
        {
          id: 1,
          at: 1,
          from: 'bot',
          to: 'slack',
          method: evil,
          path: evil,
          status: 200,
          durationMs: 1,
          summary: evil,
        },
      ],
    }));
    await page.locator('#view-dialog .block-input').first().waitFor();
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('#root script').count()).toBe(0);
    expect(await page.locator('[href^="javascript"]').count()).toBe(0);
    expect(await page.locator('.message').last().locator('.message-body').innerText()).toContain(
      '<img src=x',
    );
  });

  it('submits a modal with what was typed and with the values it began with', async () => {
    await page.locator('#composer').focus();
    canned.show((state) => ({ ...state, views: [view(everyInput('x'))] }));
    const dialog = page.getByRole('dialog', { name: 'Charge a saved card' });
    await dialog.waitFor();
    expect(await page.evaluate('document.activeElement.value')).toBe('12,500.00');
    await dialog.getByRole('textbox', { name: 'otp x' }).fill('1234567');
    await dialog.getByRole('textbox', { name: 'email x' }).fill('a@example.com');
    await dialog.getByRole('combobox', { name: 'card x' }).selectOption('Visa');
    await dialog.getByRole('checkbox', { name: 'agree' }).check();
    await dialog.getByRole('radio', { name: 'later' }).check();
    await dialog.getByRole('button', { name: 'Charge' }).click();
    const [request] = (await acted(1)) as unknown as [
      { values: Record<string, { a: Record<string, unknown> }> },
    ];
    expect(request).toMatchObject({ user: 'U1', kind: 'submit_view', viewId: 'V1' });
    expect(Object.fromEntries(Object.entries(request.values).map(([block, { a }]) => [block, a]))).toEqual({
      amount: { type: 'plain_text_input', value: '12,500.00' },
      otp: { type: 'plain_text_input', value: '123456' },
      note: { type: 'plain_text_input', value: null },
      email: { type: 'email_text_input', value: 'a@example.com' },
      count: { type: 'number_input', value: '3' },
      date: { type: 'datepicker', selected_date: '2026-11-20' },
      card: { type: 'static_select', selected_option: option('Visa') },
      who: { type: 'users_select', selected_user: 'U2' },
      checks: { type: 'checkboxes', selected_options: [option('read'), option('agree')] },
      radio: { type: 'radio_buttons', selected_option: option('later') },
      several: { type: 'multi_static_select', selected_options: [option('b')] },
    });
  });

  it('shows a field’s error beside it, and an answer under way as busy', async () => {
    canned.show((state) => ({
      ...state,
      views: [view(everyInput('x'), { errors: { otp: 'Four to six digits.' }, busy: true })],
    }));
    const otp = page.getByRole('textbox', { name: 'otp x' });
    await otp.waitFor();
    expect(await otp.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('alert').filter({ hasText: 'Four to six digits.' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Charge' }).isDisabled()).toBe(true);
  });

  it('keeps the focus in a modal, closes the top view on Escape and gives the focus back', async () => {
    const first = view(everyInput('x'), { id: 'V1' });
    await page.locator('#composer').focus();
    canned.show((state) => ({ ...state, views: [first, view([], { id: 'V2', title: 'Read back' })] }));
    await page.getByRole('dialog', { name: 'Read back' }).waitFor();
    for (let press = 0; press < 12; press += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('!document.activeElement.closest(".page")')).toBe(true);
    }
    await page.getByRole('button', { name: 'Charge' }).focus();
    await page.keyboard.press('Escape');
    expect(await acted(1)).toEqual([{ user: 'U1', kind: 'close_view', viewId: 'V2' }]);
    canned.show((state) => ({ ...state, views: [] }));
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('composer');
  });

  it.each(['message', 'modal'])('asks before a button of a %s that wants to be confirmed', async (where) => {
    if (where === 'message') showBlocks('x');
    else canned.show((state) => ({ ...state, views: [view(everyMessageBlock('x'))] }));
    const refund = page.getByRole('button', { name: 'Refund NGN 5.00' });
    await refund.click();
    const dialog = page.getByRole('alertdialog', { name: 'Refund NGN 5.00?' });
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await refund.click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(canned.acts).toEqual([]);
    await refund.click();
    await dialog.getByRole('button', { name: 'Refund it' }).click();
    expect(await acted(1)).toMatchObject([
      {
        kind: 'block_action',
        blockId: 'actions',
        actionId: 'refund',
        element: { type: 'button', value: 'r1', action_id: 'refund', block_id: 'actions' },
        container:
          where === 'message'
            ? { type: 'message', channel: 'C1', ts: '1700000000.1' }
            : { type: 'view', viewId: 'V1' },
        values: { actions: { static: { type: 'static_select', selected_option: null } } },
      },
    ]);
  });

  it('works selects, the overflow menu and a searched select as Slack sends them', async () => {
    showBlocks('x');
    await page.getByRole('combobox', { name: 'Who' }).selectOption('U2');
    await page.getByRole('button', { name: 'More', exact: true }).press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await acted(2);
    canned.answer({
      ok: true,
      options: [{ text: { type: 'plain_text', text: 'Till 7' }, value: 't7' }],
    });
    await page.getByRole('combobox', { name: 'Terminal' }).pressSequentially('7');
    await page.getByRole('option', { name: 'Till 7' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await acted(4)).toMatchObject([
      { actionId: 'users', element: { type: 'users_select', selected_user: 'U2' } },
      { actionId: 'over', element: { type: 'overflow', selected_option: { value: 'Mute' } } },
      { kind: 'suggest', actionId: 'external', text: '7' },
      { actionId: 'external', element: { type: 'external_select', selected_option: { value: 't7' } } },
    ]);
  });
});
