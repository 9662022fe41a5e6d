import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser, type TestBrowser } from '../../support/browser.ts';
import { findProgram } from '../../support/programs.ts';
import {
  emptyState,
  everyInput,
  everyMessageBlock,
  message,
  option,
  startCanned,
  view,
  type CannedPlayground,
} from './canned.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: the page in a browser, because chromium is not installed.');

/** One window on one playground that only writes down what it is asked; both begin fresh for each test. */
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

  it('describes a slash command, completes it by Tab and sends it by Enter', async () => {
    await page.locator('#composer').pressSequentially('/pa');
    const usage = page.locator('.usage');
    expect(await usage.innerText()).toContain('<reference> | help');
    await page.keyboard.press('Tab');
    expect(await page.locator('#composer').inputValue()).toBe('/pay ');
    await page.keyboard.type('ORDER-1001');
    expect(await usage.count()).toBe(1);
    await page.keyboard.press('Enter');
    expect(await acted(1)).toEqual([
      { user: 'U1', kind: 'send_message', channel: 'C1', text: '/pay ORDER-1001' },
    ]);
    expect(await page.locator('#composer').inputValue()).toBe('');
    expect(await usage.count()).toBe(0);
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
    await page.getByRole('button', { name: 'Olu' }).press('Enter');
    await page.getByRole('button', { name: 'Olu', pressed: true }).waitFor();
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
    await page.getByRole('region', { name: 'Thread', exact: true }).getByText('Child').waitFor();
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
    const people = page.getByRole('group', { name: 'You are' }).getByRole('button');
    const last = await people.last().boundingBox();
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThan(390);
    expect(await people.last().getAttribute('title')).toMatch(/^Be /);
  });

  it('copies the token key of a card', async () => {
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('tab', { name: 'Saved cards' }).press('Enter');
    await page.getByRole('button', { name: /^Copy the token key/ }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('tok-ada');
  });

  it('begins in the composer, and has a way there from the top', async () => {
    await page.locator('#composer:focus').waitFor();
    await page.getByRole('link', { name: 'Skip to the conversation' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
  });

  it.each<[string, string]>([
    ['*Paid* now', '<b>Paid</b> now'],
    ['_a_ ~b~ `a*b*`', '<i>a</i> <s>b</s> <code>a*b*</code>'],
    ['2*3*4 and snake_case_name * not bold *', '2*3*4 and snake_case_name * not bold *'],
    ['*a _b_*', '<b>a <i>b</i></b>'],
    ['a &lt;b&gt; &amp;amp;', 'a &lt;b&gt; &amp;amp;'],
    ['<https://a.example/?x=1&amp;y=2|here>', '<a href="https://a.example/?x=1&amp;y=2">here</a>'],
    [
      '<javascript:alert(1)|x> <data:text/html,x|y>',
      '&lt;javascript:alert(1)|x&gt; &lt;data:text/html,x|y&gt;',
    ],
    ['<@U1>, <#C2>, <!here>', '@Ada, #pay-alerts, @here'],
    ['&gt; said\n```\n<x>\n```', '<blockquote>said</blockquote>\n<pre>\n&lt;x&gt;\n</pre>'],
  ])('reads %s as Slack does', async (text, drawn) => {
    canned.show((state) => ({
      ...state,
      messages: { ...state.messages, C1: [message('1700000000.1', { text })] },
    }));
    const body = page.locator('.message > div > .text');
    await body.waitFor();
    const markup = await body.innerHTML();
    const plain = markup
      .replaceAll(/<!--.*?-->| (class|target|rel|type)="[^"]*"|<\/?(span|button)[^>]*>/g, '')
      .replaceAll(/ {2,}|\n +/g, '');
    expect(plain).toBe(drawn);
  });

  it('tells dates in the reader’s own time', async () => {
    const at = new Date();
    at.setHours(14, 5, 9);
    const seconds = Math.floor(at.getTime() / 1000);
    const text = `<!date^${seconds}^{date_short_pretty} at {time_secs}|x> <!date^1700000000^since {date_short_pretty} {none}|x> <!date^${seconds - 86_400}^since {date_short_pretty}|x>`;
    canned.show((state) => ({
      ...state,
      messages: { ...state.messages, C1: [message('1700000000.1', { text })] },
    }));
    const told = page.locator('.message > div > .text');
    await expect
      .poll(() => told.innerText())
      .toBe('Today at 14:05:09 since Nov 14, 2023 {none} since yesterday');
  });

  it('draws every kind of block that a message may hold', async () => {
    showBlocks('Chidi *Eze*');
    const drawn = page.locator('.message .block');
    await expect.poll(() => drawn.count()).toBe(everyMessageBlock('').length);
    expect(await page.locator('.undrawn').count()).toBe(0);
    expect(await page.locator('.block-section b').first().textContent()).toBe('Eze');
    expect(await page.locator('.block-header').innerText()).toBe('Chidi *Eze*');
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
            attachments: [
              { color: evil, blocks: [{ type: 'section', text: { type: 'mrkdwn', text: evil } }] },
            ],
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
    expect(await page.locator('img:not([src="/page/icon.svg"])').count()).toBe(0);
    expect(await page.locator('body script').count()).toBe(0);
    expect(await page.locator('[href^="javascript"]').count()).toBe(0);
    expect(await page.locator('.message').last().innerText()).toContain('<img src=x');
  });

  it('submits a modal with what was typed and with the values it began with', async () => {
    await page.locator('#composer').focus();
    canned.show((state) => ({ ...state, views: [view(everyInput('x'))] }));
    const dialog = page.getByRole('dialog', { name: 'Charge a saved card' });
    await dialog.waitFor();
    expect(await page.evaluate('document.activeElement.value')).toBe('12,500.00');
    await dialog.getByRole('textbox', { name: 'otp x' }).fill('1234567');
    await dialog.getByRole('combobox', { name: 'card x' }).selectOption('Visa');
    await dialog.getByRole('radio', { name: 'later' }).check();
    canned.answer({ ok: true, options: [option('Till 7')] });
    await dialog.getByRole('combobox', { name: 'terminal x' }).pressSequentially('7');
    await dialog.getByRole('option', { name: 'Till 7' }).waitFor();
    await page.keyboard.press('Enter');
    // News of the server leaves what was typed and chosen as it is.
    canned.show((state) => ({ ...state, messages: { ...state.messages, C2: [message('1700000000.1')] } }));
    await expect.poll(() => page.locator('.unread').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Charge' }).click();
    await expect.poll(() => canned.acts.at(-1)?.action.action.kind).toBe('submit_view');
    expect(canned.acts.at(-2)?.action.action).toMatchObject({
      kind: 'suggest',
      blockId: 'terminal',
      text: '7',
    });
    const request = canned.acts.at(-1)?.action.action as unknown as { values: Record<string, { a: object }> };
    expect(request).toMatchObject({ kind: 'submit_view', viewId: 'V1' });
    expect(Object.fromEntries(Object.entries(request.values).map(([block, { a }]) => [block, a]))).toEqual({
      amount: { type: 'plain_text_input', value: '12,500.00' },
      otp: { type: 'plain_text_input', value: '123456' },
      note: { type: 'plain_text_input', value: null },
      card: { type: 'static_select', selected_option: option('Visa') },
      terminal: { type: 'external_select', selected_option: option('Till 7') },
      who: { type: 'users_select', selected_user: 'U2' },
      where: { type: 'conversations_select', selected_conversation: null },
      radio: { type: 'radio_buttons', selected_option: option('later') },
    });
  });

  it('keeps what was typed while another view lies above or the bot changes this one, and forgets it with its field', async () => {
    const form = view(everyInput('x'));
    canned.show((state) => ({ ...state, views: [form] }));
    const otp = page.getByRole('textbox', { name: 'otp x' });
    await otp.fill('1234');
    canned.show((state) => ({ ...state, views: [form, view([], { id: 'V2', title: 'Above' })] }));
    await page.getByRole('dialog', { name: 'Above' }).waitFor();
    canned.show((state) => ({ ...state, views: [view(everyInput('x'), { title: 'Other' })] }));
    await page.getByRole('dialog', { name: 'Other' }).waitFor();
    expect(await otp.inputValue()).toBe('1234');
    canned.show((state) => ({ ...state, views: [view([], { title: 'Checking' })] }));
    await page.getByRole('dialog', { name: 'Checking' }).waitFor();
    canned.show((state) => ({ ...state, views: [] }));
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    canned.show((state) => ({ ...state, views: [form] }));
    expect(await otp.inputValue()).toBe('');
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

  it('works selects and the overflow menu as Slack sends them', async () => {
    showBlocks('x');
    await page.getByRole('combobox', { name: 'Who' }).selectOption('Olu');
    await page.getByRole('button', { name: 'More', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Mute' }).press('Enter');
    expect(await acted(2)).toMatchObject([
      { actionId: 'users', element: { type: 'users_select', selected_user: 'U2' } },
      { actionId: 'over', element: { type: 'overflow', selected_option: { value: 'Mute' } } },
    ]);
  });
});
