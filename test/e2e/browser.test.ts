import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PageState, PaymentsOrder } from '../../src/simulators/protocol.ts';
import { findViolations } from '../support/axe.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { itInFull } from '../support/counts.ts';
import { openWindow, posted, pressIn, type PersonName, type PersonWindow } from '../support/person-window.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: the whole product in a browser, because chromium is not installed.');

/** The program of `npm run playground`. */
const startProgram = fileURLToPath(new URL('../../src/playground/start.ts', import.meta.url));
const cards = { approves: '4081', asksForCode: '1127' } as const;
const cardNumber = '4111 1111 1111 1111';
const mostKeys = 80;

/** One playground, started by its command, and two windows on it; Ada has the first. */
describe.skipIf(missing)('the whole product in a browser', () => {
  let playground: ChildProcess;
  let folder: string;
  let url: string;
  /**
   * When a person could type: the time since the command, and the playground's own processor time by then, without the
   * bot's.
   */
  let usable: { afterMs: number; cpuMs: number | undefined };
  let browser: TestBrowser;
  let ada: PersonWindow;
  let second: PersonWindow | undefined;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'payops-browser-'));
    const opened = await openBrowser({ viewport: { width: 1440, height: 900 } });
    if (!opened) throw new Error('There is no browser.');
    browser = opened;
    const page = await browser.context.newPage();
    const startedAt = performance.now();
    playground = spawn(process.execPath, [startProgram, '--port', '0'], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    url = await addressIn(createInterface({ input: playground.stdout ?? process.stdin }));
    ada = openWindow(url, page);
    await page.goto(url);
    await page.locator('#composer:focus').waitFor();
    usable = { afterMs: performance.now() - startedAt, cpuMs: cpuMsOf(playground.pid) };
    // The opening conversation is played first.
    await vi.waitUntil(
      async () => {
        return (await state()).openedAt !== undefined;
      },
      { timeout: 60_000 },
    );
  });
  afterAll(async () => {
    await browser?.close();
    if (playground?.exitCode === null) playground.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    while (await ada.modal.isVisible()) await ada.close();
  });
  afterEach(async ({ task }) => {
    for (const [index, page] of browser.context.pages().entries()) {
      if (task.result?.state === 'fail') {
        const path = join(tmpdir(), `payops-${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}-${index}.png`);
        await page.screenshot({ path });
        console.error(`What a window showed: ${path}`);
      }
      if (await page.locator('.undrawn').count()) throw new Error('The page cannot draw a block of the bot.');
    }
    // Empty the second window: it would still be redrawn, although no test uses it any more.
    await second?.page.goto('about:blank');
    browser.checkQuiet();
  });

  /** The second window, as that person. */
  async function openSecond(person: PersonName): Promise<PersonWindow> {
    second ??= openWindow(url, await browser.context.newPage());
    await second.be(person);
    return second;
  }

  async function state(user = 'U0AGENT01'): Promise<PageState> {
    return (await (await fetch(`${url}/state?user=${user}`)).json()) as PageState;
  }

  async function ordersOf(amount: string): Promise<PaymentsOrder[]> {
    return (await state()).payments.orders.filter((order) => order.amount === amount);
  }

  /** The merchant's system charges a saved card and the bank declines; returns the charge's reference. */
  async function decline(amount: string): Promise<string> {
    await ada.tab('Saved cards');
    await ada.page.locator('input[name=amount]').fill(amount);
    await ada.page.getByLabel('If declined, because').selectOption('Do not honour');
    await ada.click(ada.page.getByRole('button', { name: 'Charge, declined' }));
    await expect.poll(() => ordersOf(amount)).toHaveLength(1);
    return (await ordersOf(amount))[0]?.orderReference ?? '';
  }

  /** Alerts of a channel come in order: once a later one is there, no more of an earlier one can come. */
  async function expectOneAlert(reference: string, later: string): Promise<void> {
    await ada.message(await decline(later)).waitFor();
    expect(await posted(ada, reference).count()).toBe(1);
  }

  async function codeOnPhone(): Promise<string> {
    const phone = ada.page.getByRole('region', { name: 'The customer’s phone' });
    return /The bank sent (\d+) to/.exec(await phone.innerText())?.[1] ?? '';
  }

  it('starts by one command, with a conversation to read and to continue', async () => {
    const { page } = ada;
    expect(await page.locator('.log details').count()).toBe(0);
    const found = page.locator('.channel article');
    const words = [
      'Paid (confirmed) · NGN 12,500.00',
      'Resolved by another payment',
      'Paid (confirmed) · NGN 5,000.00',
    ];
    await Promise.all(words.map((one) => found.filter({ hasText: one }).first().waitFor()));
    const refused = (await state()).log.filter(({ summary }) => / → [a-z_]+$/.test(summary));
    expect(refused.map(({ summary }) => summary)).toEqual([]);

    await ada.type('/pay ORDER-1002');
    const unpaid = ada.message('ORDER-1002');
    await unpaid.getByText('Not confirmed').waitFor();
    expect(ticksIn(await unpaid.innerText())).toEqual({ holding: 2, broken: 1 });
    await ada.click(page.locator('[data-order=ORDER-1002]').getByRole('button', { name: 'Customer pays' }));
    await pressIn(ada, 'ORDER-1002', 'Look up');
    await unpaid.getByText('Paid (confirmed)').waitFor();
    await ada.type('@pay is ORDER-1005 paid?');
    await ada.message('Paid (confirmed) · NGN 96,000.00').waitFor();
    await ada.message('@pay is ORDER-1005 paid?').waitFor();
    expect(await page.locator('.channel article.ephemeral', { hasText: 'ORDER-1002' }).count()).toBe(1);

    await ada.type('/pay charge');
    const terms = await ada.review({ card: cards.approves, amount: '9400', reason: 'Renewal' });
    expect(terms).toContain('LIVE');
    expect(await ordersOf('9400.00')).toEqual([]);
    await ada.press('Charge NGN 9,400.00');
    expect(await ada.modalSays('Paid (confirmed)')).toContain('proven');
    await ada.close();
    await ada.message('NGN 9,400.00').getByText('Paid (confirmed)').waitFor();
    await ada.click(ada.message('NGN 9,400.00').getByRole('button', { name: /repl(y|ies)/ }));
    const thread = page.getByRole('region', { name: 'Thread', exact: true });
    await thread.getByText('Deliver once').waitFor();
    await page.locator('#thread-composer').fill('Told the customer.');
    await page.keyboard.press('Enter');
    await thread.locator('article', { hasText: 'Told the customer.' }).waitFor();
    await page.keyboard.press('Escape');
    await thread.waitFor({ state: 'hidden' });

    const reference = await decline('7700.00');
    await ada.message(reference).getByText('Declined by the bank').waitFor();
    await ada.tab('Events');
    await ada.click(page.getByRole('button', { name: `Send again: payment_failed for ${reference}` }).last());
    await ada.click(page.getByRole('button', { name: 'With a bad signature' }));
    await ada.click(page.getByRole('button', { name: 'HTTP exchanges' }));
    await ada.click(page.locator('.log summary', { hasText: `${reference}, with a bad signature: refused` }));
    await page.getByRole('group', { name: 'Request' }).getByText('payment_failed').waitFor();
    await ada.click(page.getByRole('button', { name: 'HTTP exchanges' }));
    await expectOneAlert(reference, '7701.00');
  });

  it('accepts typing within two seconds of the command, before its bot is ready', () => {
    const [afterMs, cpuMs] = [Math.round(usable.afterMs), usable.cpuMs];
    console.log(`The page could be used ${afterMs} ms after the command, ${cpuMs} ms of them computed.`);
    // Under load the clock says nothing: the processor time must fit into two seconds.
    expect(usable.cpuMs ?? 0).toBeLessThan(2_000);
  });

  it('charges by keyboard alone, and keeps a card number out of page, log and bot', async () => {
    const { page, modal } = ada;
    await ada.channel('pay-desk');
    await page.locator('#composer').focus();
    await page.keyboard.type(`/pay lookup ${cardNumber}`);
    await page.keyboard.press('Enter');
    await ada.message('That looks like a card number').waitFor();

    await page.keyboard.type('/pay charge 1,250.50');
    await page.keyboard.press('Enter');
    await modal.locator('input[role=combobox]:focus').waitFor();
    await page.keyboard.type(cards.asksForCode);
    await modal.getByRole('option', { name: cards.asksForCode }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await ada.modalSays('Nothing sent yet.');
    // The focus is on the title, so that pressing Enter once more agrees to nothing.
    await page.keyboard.press('Enter');
    await keysTo(modal.getByRole('button', { name: 'Change', exact: true }));
    await page.keyboard.press('Enter');
    await ada.modalSays('You review it');
    // The form comes back with its values, including the card.
    await keysTo(modal.getByRole('textbox', { name: /^Amount/ }));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('1350.50');
    await page.keyboard.press('Enter');
    await ada.modalSays('Nothing sent yet.');
    expect(await ordersOf('1250.50')).toEqual([]);
    await keysTo(modal.getByRole('button', { name: 'Charge NGN 1,350.50' }));
    await page.keyboard.press('Enter');
    await ada.modalSays('3 of 3 tries left');
    for (const [typed, answer] of [
      [cardNumber, 'That looks like a card number'],
      ['000000', '2 of 3 tries left'],
      [await codeOnPhone(), 'Paid (confirmed)'],
    ] as const) {
      await keysTo(modal.getByRole('textbox', { name: /code/i }));
      await page.keyboard.press('Control+A');
      await page.keyboard.type(typed);
      await page.keyboard.press('Enter');
      await ada.modalSays(answer);
    }
    await page.keyboard.press('Escape');
    await modal.waitFor({ state: 'hidden' });

    const { log } = await state();
    const bodies = await Promise.all(log.map(({ id }) => text(`/exchange?id=${id}`)));
    const botLog = await text('/bot.log');
    const seen = [await text('/state?user=U0AGENT01'), await text('/state?user=U0ONCALL01')];
    const everything = [await page.content(), ...seen, ...bodies, botLog].join('\n');
    expect(botLog).toContain('A card number was typed and refused');
    expect(bodies.join('\n')).toContain('1350.50');
    expect(everything).not.toMatch(/4111\D?1111\D?1111/);
  });

  it('shows an acknowledgement in the other window at once, and an ephemeral answer only to its person', async () => {
    await ada.channel('pay-desk');
    const reference = await decline('6600.00');
    const omar = await openSecond('omar');
    await omar.channel('pay-desk');
    const answers = ({ page }: PersonWindow): Locator =>
      page.locator('.channel article.ephemeral', { hasText: reference });
    await omar.click(posted(omar, reference).getByRole('button', { name: 'More', exact: true }));
    await omar.click(omar.page.getByRole('button', { name: 'Look up', exact: true }).last());
    await answers(omar).getByRole('button', { name: 'Look up' }).waitFor();
    await omar.click(posted(omar, reference).getByRole('button', { name: 'Acknowledge' }));
    await posted(ada, reference).getByText('Acknowledged by').waitFor();
    expect(await posted(ada, reference).innerText()).toMatch(/Acknowledged by\s+Omar/);
    expect(await answers(omar).count()).toBe(1);
    expect(await ada.page.locator('.channel article', { hasText: reference }).count()).toBe(1);
    await omar.page.getByRole('button', { name: 'Olu' }).press('Enter');
    await omar.page.getByRole('button', { name: 'Olu', pressed: true }).waitFor();
    expect(await answers(omar).count()).toBe(0);
  });

  it('needs two people in two windows to charge what needs approval', async () => {
    await ada.channel('pay-desk');
    await ada.charge({ card: cards.approves, amount: '150000', reason: 'Renewal' });
    await ada.modalSays('Sent to the approvers');
    const lindiwe = await openSecond('lindiwe');
    await lindiwe.channel('pay-ops');
    await lindiwe.message('NGN 150,000.00').getByText('Asked by').waitFor();
    expect(await posted(lindiwe, 'NGN 150,000.00').innerText()).toMatch(/Asked by\s+Ada/);
    await pressIn(lindiwe, 'NGN 150,000.00', 'Approve NGN 150,000.00');
    const sure = lindiwe.page.getByRole('alertdialog');
    expect(await sure.innerText()).toContain('NGN 150,000.00 to Mastercard ·· 4081 of a***@example.com');
    expect(await ordersOf('150000.00')).toEqual([]);
    await lindiwe.click(sure.getByRole('button', { name: 'Approve', exact: true }));
    await ada.modalSays('Paid (confirmed)');
    await ada.close();
    await posted(lindiwe, 'NGN 150,000.00').getByText('Paid (confirmed)').waitFor();
    expect(await ordersOf('150000.00')).toHaveLength(1);
  });

  it('turns a list’s pages, filters it and makes its CSV by keyboard alone', async () => {
    await ada.channel('pay-desk');
    await typeByKeys('/pay terminals');
    await pressByKeys('Terminals 1–10', 'Next');
    await pressByKeys('Terminals 11–20', 'Back');
    await ada.message('Terminals 1–10').waitFor();
    await typeByKeys('/pay terminals lekki');
    await pressByKeys('match “lekki”', 'CSV');
    await ada.message('CSV of 12 terminals that match “lekki” · in your direct messages').waitFor();
    await ada.channel('Pay');
    await ada.click(
      ada.message('the file you asked for is in this thread').getByRole('button', { name: '1 reply' }),
    );
    const file = ada.page.locator('details.file').last();
    await file.getByText(/terminals-\d{4}-\d\d-\d\d-\d{4}\.csv/).waitFor();
    expect((await file.locator('pre').textContent())?.trim().split('\n')).toHaveLength(13);
  });

  it('looks up a message’s reference, charges from anywhere, and shows the Home, by keyboard alone', async () => {
    const { page } = ada;
    await ada.channel('pay-desk');
    await typeByKeys('is ORDER-1001 <img src=x onerror="pwned=1"> or ORDER-1002 paid?');
    await pressByKeys('is ORDER-1001 <img', 'More actions');
    await keysTo(page.getByRole('button', { name: 'Look up reference here' }));
    await page.keyboard.press('Enter');
    await ada.modal.getByRole('button', { name: 'ORDER-1002' }).waitFor();
    await page.keyboard.press('Escape');
    await ada.modal.waitFor({ state: 'hidden' });
    expect(await page.evaluate('typeof pwned')).toBe('undefined');

    await page.locator('#composer').focus();
    await keysTo(page.getByRole('button', { name: 'Shortcuts', exact: true }));
    await page.keyboard.press('Enter');
    await keysTo(page.getByRole('button', { name: 'Charge a saved card' }));
    await page.keyboard.press('Enter');
    await ada.modalSays('You review it');
    await page.keyboard.press('Escape');
    await ada.modal.waitFor({ state: 'hidden' });

    const workspace = page.getByRole('navigation', { name: 'Workspace' });
    await keysTo(workspace.getByRole('button', { name: /^Pay( |$)/ }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await keysTo(page.getByRole('tab', { name: 'Home' }));
    await page.keyboard.press('Enter');
    await page.getByRole('tabpanel', { name: 'Home' }).getByText('lists what you can type').waitFor();
    // A long log scrolls in its own pane.
    expect(await page.evaluate('document.documentElement.scrollHeight - window.innerHeight')).toBe(0);
  });

  itInFull('has nothing that axe finds serious or moderate, wide or narrow', async () => {
    const { page } = ada;
    const checkAll = async (width: number): Promise<string[]> => {
      const found: string[] = [];
      const check = async (screen: string): Promise<void> => {
        const violations = await findViolations(page);
        const grave = violations.filter((violation) => !violation.startsWith('minor'));
        found.push(...grave.map((violation) => `${screen} ${width}: ${violation}`));
      };
      await page.setViewportSize({ width, height: 900 });
      const toggle = page.getByRole('button', { name: 'Payments', exact: true });
      // The guide has opened the panel beside the conversation; on a phone the panel covers it.
      const isOver = width < 1000 && (await toggle.getAttribute('aria-pressed')) === 'true';
      if (isOver) await ada.click(toggle);
      await ada.channel('pay-desk');
      await check('desk');
      // A change of the window's size redraws the page.
      const fits = `document.documentElement.scrollWidth === ${width}`;
      await page.waitForFunction(fits, undefined, { timeout: 10_000 }).catch(() => found.push('too wide'));
      const people = page.getByRole('group', { name: 'You are' });
      await people.getByRole('button').last().click({ trial: true });
      await ada.type('/pay charge');
      await ada.modalSays('You review it');
      await check('form');
      await ada.close();
      if (width < 1000) await ada.click(toggle);
      await ada.tab('Events');
      await check('events');
      if (width < 1000) await ada.click(toggle);
      await ada.channel('Pay');
      await ada.tab('Home');
      await page.getByRole('tabpanel', { name: 'Home' }).getByText('lists what you can type').waitFor();
      await check('Home');
      return found;
    };
    expect([...(await checkAll(390)), ...(await checkAll(1280))]).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it('loses neither an alert nor a charge by Kill −9, and repeats none', async () => {
    const { page } = ada;
    const bot = page.getByRole('region', { name: 'The bot' });
    await ada.channel('pay-desk');
    await ada.charge({ card: cards.asksForCode, amount: '6300' });
    await ada.modalSays('3 of 3 tries left');
    await ada.close();
    await ada.tab('Faults');
    await ada.click(page.getByRole('radio', { name: /^Hangs/ }));
    const reference = await decline('5500.00');
    await page.getByRole('button', { name: 'HTTP exchanges' }).click();
    await page.locator('.log summary', { hasText: `payment_failed for ${reference}: received` }).waitFor();
    await ada.click(bot.getByRole('button', { name: 'Kill −9' }));
    await bot.getByText('down', { exact: true }).waitFor();
    await bot.getByText('ended by SIGKILL').waitFor();
    await ada.type('/pay ORDER-1001');
    await ada.message('/pay failed with the error "dispatch_failed"').waitFor();

    await ada.tab('Faults');
    await ada.click(page.getByRole('radio', { name: /^Works/ }));
    await ada.click(bot.getByRole('button', { name: 'Start', exact: true }));
    await bot.getByText('ready', { exact: true }).waitFor();
    await ada.channel('Pay');
    await ada.tab('Home');
    const home = page.getByRole('tabpanel', { name: 'Home' });
    await ada.click(home.getByRole('button', { name: 'Enter code' }).first());
    await ada.modalSays('3 of 3 tries left');
    await ada.enterCode(await codeOnPhone());
    await ada.modalSays('Paid (confirmed)');
    await ada.close();
    expect(await ordersOf('6300.00')).toHaveLength(1);

    await ada.channel('pay-desk');
    await ada.message(reference).getByText('Declined by the bank').waitFor();
    await expectOneAlert(reference, '5501.00');
  });

  it('shows an old workspace plain text in a direct message, and posts no alert without an invitation', async () => {
    const { page } = ada;
    const fault = async (name: RegExp): Promise<Locator> => {
      await ada.tab('Faults');
      return page.getByRole('checkbox', { name });
    };
    await ada.channel('pay-desk');
    await ada.click(await fault(/^Old workspace/));
    await ada.type('/pay ORDER-1001');
    await ada.channel('Pay');
    await ada.tab('Messages');
    const plain = page.locator('.channel article:not(:has(.block))', { hasText: 'ORDER-1001' });
    await plain.getByText('Paid (confirmed)').waitFor();
    await ada.click(await fault(/^Old workspace/));
    await ada.channel('pay-desk');

    await ada.click(await fault(/^The bot is not in/));
    await page.getByText('The bot is not in this channel').waitFor();
    const reference = await decline('4400.00');
    await expect
      .poll(async () => (await state()).log.map(({ summary }) => summary))
      .toContain('chat.postMessage to #pay-desk → not_in_channel');
    expect(await posted(ada, reference).count()).toBe(0);
    await ada.type('/invite @pay');
    await page.getByText('The bot is not in this channel').waitFor({ state: 'hidden' });
    expect(await (await fault(/^The bot is not in/)).isChecked()).toBe(false);
  });

  it('ends on Ctrl+C and leaves no files', async () => {
    await Promise.all(browser.context.pages().map((page) => page.goto('about:blank')));
    const ended = once(playground, 'exit');
    playground.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(readdirSync(folder).filter((name) => name.startsWith('payops-'))).toEqual([]);
  });

  async function text(path: string): Promise<string> {
    return (await fetch(`${url}${path}`)).text();
  }

  /** Moves the focus to the element, from anywhere; throws if the keys do not lead there. */
  async function keysTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    await target.waitFor();
    for (let keys = 0; keys < mostKeys; keys += 1) {
      if (await target.evaluate((element) => element.matches(':focus'))) return;
      await ada.page.keyboard.press(key);
    }
    throw new Error(`${key} does not lead to ${String(target)}.`);
  }

  async function typeByKeys(command: string): Promise<void> {
    await ada.page.locator('#composer').focus();
    await ada.page.keyboard.type(command);
    await ada.page.keyboard.press('Enter');
  }

  /** Presses a button of the newest message with the words, coming from the message field below it. */
  async function pressByKeys(words: string, name: string): Promise<void> {
    await ada.message(words).waitFor();
    await ada.page.locator('#composer').focus();
    await keysTo(ada.message(words).getByRole('button', { name, exact: true }), 'Shift+Tab');
    await ada.page.keyboard.press('Enter');
  }
});

/** A process's processor time so far; undefined if the system does not tell. */
function cpuMsOf(pid: number | undefined): number | undefined {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return undefined;
  const fields = readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const msInTick = 10;
  return (Number(fields[11]) + Number(fields[12])) * msInTick;
}

function ticksIn(text: string): { holding: number; broken: number } {
  return { holding: text.split('✓').length - 1, broken: text.split('✗').length - 1 };
}

async function addressIn(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error('The playground ended without an address.');
}
