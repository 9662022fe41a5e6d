import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PageBlock, PageView } from '../../../src/simulators/protocol.ts';
import { openBrowser, type TestBrowser } from '../../support/browser.ts';
import { findProgram } from '../../support/programs.ts';
import { message, startCanned, type CannedPlayground } from './canned.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: the page in a browser, because chromium is not installed.');

/** One browser window and a canned playground, which only records the page's actions. Both are reset for each test. */
describe.skipIf(missing)('the playground page', () => {
  let browser: TestBrowser;
  let page: Page;
  let canned: CannedPlayground;

  beforeAll(async () => {
    const opened = await openBrowser();
    if (!opened) throw new Error('There is no browser.');
    browser = opened;
    canned = await startCanned();
    page = await browser.context.newPage();
  });
  afterAll(async () => {
    await browser?.close();
    await canned?.close();
  });
  beforeEach(async () => {
    canned.reset();
    await page.goto(canned.url);
    await page.locator('#composer:focus').waitFor();
  });
  afterEach(() => browser.checkQuiet());

  /** The page's actions, once there are `count`. */
  async function acted(count: number): Promise<Record<string, unknown>[]> {
    await expect.poll(() => canned.acts.length).toBe(count);
    return canned.acts.map(({ user, action }) => ({ user, ...action.action }));
  }

  it('says why a command was not sent and keeps its text, and has a link that skips to the conversation', async () => {
    canned.answer({ ok: false, problem: 'This app could not be reached.' });
    await page.keyboard.type('/pa');
    await page.getByText('<reference> | help').waitFor();
    await page.keyboard.press('Enter');
    expect(await acted(1)).toEqual([{ user: 'U1', kind: 'send_message', channel: 'C1', text: '/pa' }]);
    await page.getByRole('alert').getByText('This app could not be reached.').waitFor();
    expect(await page.locator('#composer').inputValue()).toBe('/pa');
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.getByRole('link', { name: 'Skip to the conversation' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByText('Sending messages to this app has been turned off').waitFor();
    expect(await page.locator('#composer').count()).toBe(0);
  });

  it('closes the guide in a small window and opens it in a large one', async () => {
    const guide = page.locator('.guide details');
    const size = page.viewportSize() ?? { width: 1280, height: 720 };
    const isOpen = (): Promise<boolean> => guide.evaluate((details) => details.hasAttribute('open'));
    await page.setViewportSize({ width: 1200, height: 800 });
    await expect.poll(isOpen).toBe(true);
    await page.setViewportSize({ width: 800, height: 800 });
    await expect.poll(isOpen).toBe(false);
    await page.setViewportSize(size);
  });

  it('says that the person in the address does not exist', async () => {
    canned.show((state) => ({ user: { ...state.user, id: 'U7', realName: 'Olu' } }));
    await page.goto(`${canned.url}/?user=U2`);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toContain('Nobody here is U2. You are Olu.');
  });

  it('says that it reconnects when the playground goes away, and is live again when it is back', async () => {
    const { port } = canned;
    await canned.close();
    await page.getByText('reconnecting…').waitFor();
    canned = await startCanned(port);
    await page.getByText('live', { exact: true }).waitFor();
    expect(() => browser.checkQuiet()).toThrow('Failed to load');
  });

  it.each<[string, string]>([
    ['*not* _marked_ &lt;b&gt; &amp;amp;', '*not* _marked_ &lt;b&gt; &amp;amp;'],
    ['<https://a.example/?x=1&amp;y=2|here>', '<a href="https://a.example/?x=1&amp;y=2">here</a>'],
    ['<javascript:alert(1)|x> <data:text/html,x>', '&lt;javascript:alert(1)|x&gt; &lt;data:text/html,x&gt;'],
    ['<@U1>, <#C2>, <#C9>', '@Ada, #pay-alerts, #private channel'],
    ['<!date^1700000000^since {date_short_pretty} {none}|x>', 'since Nov 14, 2023 {none}'],
  ])('reads %s as Slack does', async (text, drawn) => {
    canned.say(message('1.1', { text }));
    const body = page.locator('article .text');
    await body.waitFor();
    const markup = await body.innerHTML();
    const plain = markup.replaceAll(
      /<!--.*?-->| (class|target|rel|type)="[^"]*"|<\/?(span|button|time)[^>]*>| {2,}|\n +/g,
      '',
    );
    expect(plain).toBe(drawn);
  });

  it('shows dates in the reader’s time zone', async () => {
    const seconds = Math.floor(new Date().setHours(14, 5, 9) / 1000);
    const text = `<!date^${seconds}^{date_short_pretty} at {time_secs}|x> <!date^${seconds - 86_400}^since {date_short_pretty}|x>`;
    canned.say(message('1.1', { text }));
    await expect
      .poll(() => page.locator('article .text').innerText())
      .toBe('Today at 14:05:09 since yesterday');
  });

  it('draws every kind of block and input, and shows markup, scripts and addresses in outside text as text', async () => {
    const evil =
      '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>"\'`<javascript:window.pwned=1|go>';
    const blocks = everyMessageBlock(evil);
    canned.say(message('1.1', { authorName: evil, blocks }), message('1.2', { text: evil }));
    canned.show((state) => ({
      user: { ...state.user, realName: evil },
      channels: state.channels.map((channel) => ({ ...channel, topic: evil })),
      views: [view(everyInput(evil), { title: evil, submit: evil, close: evil, errors: { otp: evil } })],
    }));
    await page.locator('dialog .block-input').first().waitFor();
    expect(await page.locator('article .block').count()).toBe(blocks.length);
    expect(await page.locator('.undrawn').count()).toBe(0);
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(await page.locator('img:not([src="/page/icon.svg"])').count()).toBe(0);
    expect(await page.locator('body script, [href^="javascript"]').count()).toBe(0);
    expect(await page.locator('article').last().innerText()).toContain('<img src=x');
  });

  it('submits a modal with the typed and the initial values', async () => {
    canned.show(() => ({ views: [view(everyInput('x'), { errors: { otp: 'Four to six digits.' } })] }));
    const dialog = page.getByRole('dialog', { name: 'Charge a saved card' });
    const otp = dialog.getByRole('textbox', { name: 'otp x' });
    await dialog.getByRole('alert').getByText('Four to six digits.').waitFor();
    expect(await otp.getAttribute('aria-invalid')).toBe('true');
    expect(await page.evaluate('document.activeElement.value')).toBe('12,500.00');
    await otp.fill('1234567');
    await dialog.getByRole('combobox', { name: 'card x' }).selectOption('Visa');
    canned.answer({ ok: true, options: [option('Till 7')] });
    await dialog.getByRole('combobox', { name: 'terminal x' }).pressSequentially('7');
    await dialog.getByRole('option', { name: 'Till 7' }).waitFor();
    await page.keyboard.press('Enter');
    // A new state from the server changes no typed or chosen value.
    canned.show(({ bot }) => ({ bot: { ...bot, starts: 7 } }));
    await page.getByText('7 starts').waitFor();
    await dialog.getByRole('button', { name: 'Charge' }).click();
    await expect.poll(() => canned.acts.at(-1)?.action.action.kind).toBe('submit_view');
    expect(canned.acts.at(-2)?.action.action).toMatchObject({ blockId: 'terminal', text: '7' });
    expect(canned.acts.at(-1)?.action.action).toEqual({
      kind: 'submit_view',
      viewId: 'V1',
      values: {
        amount: { a: { type: 'plain_text_input', value: '12,500.00' } },
        otp: { a: { type: 'plain_text_input', value: '123456' } },
        note: { a: { type: 'plain_text_input', value: null } },
        card: { a: { type: 'static_select', selected_option: option('Visa') } },
        terminal: { a: { type: 'external_select', selected_option: option('Till 7') } },
      },
    });
  });

  it('keeps typed text while another view is above or the bot updates this one, and drops it with its field', async () => {
    const form = view(everyInput('x'));
    canned.show(() => ({ views: [form] }));
    const otp = page.getByRole('textbox', { name: 'otp x' });
    await otp.fill('1234');
    canned.show(() => ({ views: [form, view([], { id: 'V2', title: 'Above' })] }));
    const above = page.getByRole('dialog', { name: 'Above' });
    await above.waitFor();
    for (let press = 0; press < 6; press += 1) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.closest("main, nav, [data-view=V1]")')).toBeNull();
    }
    await above.getByRole('button', { name: 'Charge' }).focus();
    await page.keyboard.press('Escape');
    expect(await acted(1)).toEqual([{ user: 'U1', kind: 'close_view', viewId: 'V2' }]);
    canned.show(() => ({ views: [view(everyInput('x'), { title: 'Other', busy: true })] }));
    const other = page.getByRole('dialog', { name: 'Other' });
    await other.waitFor();
    expect(await otp.inputValue()).toBe('1234');
    expect(await other.getByRole('button', { name: 'Charge' }).isDisabled()).toBe(true);
    canned.show(() => ({ views: [view([], { title: 'Checking' })] }));
    await page.getByRole('dialog', { name: 'Checking' }).waitFor();
    canned.show(() => ({ views: [] }));
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.locator('#composer:focus').waitFor();
    canned.show(() => ({ views: [form] }));
    expect(await otp.inputValue()).toBe('');
  });

  it('shows the confirm dialog of a button before the press is sent', async () => {
    canned.show(() => ({ views: [view(everyMessageBlock('x'))] }));
    const refund = page.getByRole('button', { name: 'Refund NGN 5.00' });
    const dialog = page.getByRole('alertdialog', { name: 'Refund NGN 5.00?' });
    const refuse = dialog.getByRole('button', { name: 'Keep it' });
    for (const no of [() => refuse.click(), () => page.keyboard.press('Escape')]) {
      await refund.click();
      await refuse.and(page.locator(':focus')).waitFor();
      await no();
      await dialog.waitFor({ state: 'hidden' });
    }
    expect(canned.acts).toEqual([]);
    await refund.click();
    await dialog.getByRole('button', { name: 'Refund it' }).click();
    const element = { type: 'button', value: 'r1', action_id: 'refund', block_id: 'actions' };
    const container = { type: 'view', viewId: 'V1' };
    expect(await acted(1)).toMatchObject([
      { kind: 'block_action', blockId: 'actions', actionId: 'refund', element, container },
    ]);
  });

  it('sends a choice of an overflow menu as Slack does', async () => {
    canned.say(message('1.1', { blocks: everyMessageBlock('x') }));
    await page.getByRole('button', { name: 'More', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Mute' }).press('Enter');
    expect(await acted(1)).toMatchObject([
      { actionId: 'over', element: { type: 'overflow', selected_option: { value: 'Mute' } } },
    ]);
  });
});

const plain = (text: string): { type: 'plain_text'; text: string } => ({ type: 'plain_text', text });
const option = (text: string): { text: { type: 'plain_text'; text: string }; value: string } => ({
  text: plain(text),
  value: text,
});

function view(blocks: PageBlock[], change: Partial<PageView> = {}): PageView {
  return {
    id: 'V1',
    type: 'modal',
    callbackId: 'charge',
    title: 'Charge a saved card',
    submit: 'Charge',
    close: 'Cancel',
    blocks,
    errors: {},
    busy: false,
    ...change,
  };
}

/** Every kind of block in the bot's messages, with `text` in every place that can have text. */
function everyMessageBlock(text: string): PageBlock[] {
  const parts = [
    { type: 'text', text, style: { bold: true, code: true } },
    { type: 'user', user_id: text },
    { type: 'usergroup', usergroup_id: text },
    { type: 'channel', channel_id: text },
    { type: 'date', timestamp: 1_700_000_000, format: text, fallback: text },
  ];
  const refund = {
    type: 'button',
    action_id: 'refund',
    text: plain('Refund NGN 5.00'),
    style: 'danger',
    value: 'r1',
    confirm: {
      title: plain('Refund NGN 5.00?'),
      text: plain(text),
      confirm: plain('Refund it'),
      deny: plain('Keep it'),
      style: 'danger',
    },
  };
  return [
    { type: 'header', block_id: 'header', text: plain(text) },
    { type: 'divider', block_id: 'divider' },
    { type: 'context', block_id: 'context', elements: [{ type: 'mrkdwn', text }, plain(text)] },
    {
      type: 'actions',
      block_id: 'actions',
      elements: [
        { type: 'button', action_id: 'plain', text: plain(text), value: 'v' },
        refund,
        { type: 'overflow', action_id: 'over', options: [option('Mute'), option(text)] },
      ],
    },
    {
      type: 'rich_text',
      block_id: 'rich',
      elements: ['section', 'quote', 'preformatted'].map((of) => ({
        type: `rich_text_${of}`,
        elements: parts,
      })),
    },
  ];
}

/** Every kind of input in the bot's forms, some with initial values. */
function everyInput(text: string): PageBlock[] {
  const input = (blockId: string, element: Record<string, unknown>): PageBlock => ({
    type: 'input',
    block_id: blockId,
    label: plain(`${blockId} ${text}`),
    hint: plain(text),
    element: { action_id: 'a', ...element },
  });
  const [visa, verve] = ['Visa', 'Verve'].map(option);
  return [
    input('amount', { type: 'plain_text_input', initial_value: '12,500.00' }),
    input('otp', { type: 'plain_text_input', min_length: 4, max_length: 6, placeholder: plain('Code') }),
    input('note', { type: 'plain_text_input' }),
    input('card', { type: 'static_select', options: [visa, verve], initial_option: verve }),
    input('terminal', { type: 'external_select', placeholder: plain('Terminal'), min_query_length: 0 }),
  ];
}
