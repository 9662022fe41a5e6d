import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startPlayground, type Playground } from '../../src/playground/playground.ts';
import type { PageState } from '../../src/simulators/protocol.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: the whole product in a browser, because chromium is not installed.');

const startProgram = fileURLToPath(new URL('../../src/playground/start.ts', import.meta.url));
const people = { ada: 'U0AGENT01', omar: 'U0ONCALL01', olu: 'U0OUTSIDE1' } as const;
/** The promise is three seconds on a machine that is not busy with these tests. */
const startDeadlineMs = 6_000;
/** What a start takes of Node starting with nothing to do, where that alone takes long. */
const bareStarts = 80;

describe.skipIf(missing)('the whole product in a browser', () => {
  let playground: Playground;
  let browser: TestBrowser;
  let page: Page;
  let earlier: Page | undefined;
  let complaints: string[] = [];

  beforeAll(async () => {
    const env = { PAYMENTS_TIMEOUT_SECONDS: '3', SLACK_TIMEOUT_SECONDS: '1', WORK_LEASE_SECONDS: '7' };
    const opened = await openBrowser({ width: 1440, height: 900 });
    if (!opened) throw new Error('There is no browser.');
    browser = opened;
    playground = await startPlayground({ botEnv: env });
    watch(browser.context, (complaint) => complaints.push(complaint));
    // What is measured first shall not race this bot's own start.
    await vi.waitUntil(() => playground.bot.state().status === 'ready', 60_000);
  });
  afterAll(async () => {
    await browser?.close();
    await playground?.close();
  });

  beforeEach(async ({ task, onTestFailed }) => {
    await earlier?.close();
    complaints = [];
    page = await browser.context.newPage();
    earlier = page;
    onTestFailed(async () => {
      const path = join(tmpdir(), `payops-browser-${task.name.replaceAll(/\W+/g, '-').slice(0, 60)}.png`);
      await page.screenshot({ path });
      console.error(`What the page showed: ${path}`);
    });
  });
  afterEach(() => {
    if (complaints.length > 0) throw new Error(`The browser complained:\n${complaints.join('\n')}`);
  });

  /** Opens the page as somebody, when the bot is ready. */
  async function be(person: keyof typeof people, tab: Page = page): Promise<void> {
    await tab.goto(`${playground.url}/?user=${people[person]}`);
    await botIs('ready', tab);
  }

  function botIs(status: 'ready' | 'down', tab: Page = page): Promise<void> {
    return tab.getByRole('region', { name: 'The bot' }).getByText(status, { exact: true }).waitFor();
  }

  function article(text: string): Locator {
    return page.locator('article', { hasText: text });
  }

  /** Types it and gives what the bot says to it, as a person reads it. */
  function ask(command: string): Promise<string> {
    return answerTo(async () => {
      await page.locator('#composer').fill(command);
      await page.keyboard.press('Enter');
    });
  }

  async function answerTo(asking: () => Promise<void>): Promise<string> {
    const messages = page.locator('article');
    const before = await messages.count();
    await asking();
    await expect.poll(() => messages.count()).toBeGreaterThan(before);
    return messages.last().innerText();
  }

  async function openChannel(name: string): Promise<void> {
    await page
      .getByRole('navigation', { name: 'Workspace' })
      .getByRole('button', { name, exact: true })
      .click();
    await page.getByRole('main', { name: name === 'Pay' ? 'Pay' : `#${name}` }).waitFor();
  }

  /** The merchant's system charges a saved card and the bank declines; gives the charge's reference. */
  async function decline(): Promise<string> {
    await page.getByRole('tab', { name: 'Saved cards' }).click();
    const known = new Set((await stateOf('ada')).payments.orders.map((order) => order.orderReference));
    await page.getByRole('button', { name: 'Charge, declined' }).click();
    const made = async () =>
      (await stateOf('ada')).payments.orders.find((order) => !known.has(order.orderReference))
        ?.orderReference;
    await expect.poll(made).toBeDefined();
    return (await made()) ?? '';
  }

  /** Alerts of one channel come in order: when a later one is there, no more of an earlier one can come. */
  async function expectOneAlert(reference: string): Promise<void> {
    const later = await decline();
    await article(later).first().waitFor();
    expect(await page.locator('article:not(.message-ephemeral)', { hasText: reference }).count()).toBe(1);
  }

  async function setWeather(name: string): Promise<void> {
    await page.getByRole('tab', { name: 'Weather' }).click();
    await page.getByRole('radio', { name }).click();
  }

  async function stateOf(person: keyof typeof people): Promise<PageState> {
    const answer = await fetch(`${playground.url}/state?user=${people[person]}`);
    return (await answer.json()) as PageState;
  }

  it('shows everything within three seconds of starting', async () => {
    const startedAt = performance.now();
    const started = spawn(process.execPath, [startProgram, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(started, 'exit');
    try {
      const url = await addressIn(createInterface({ input: started.stdout }));
      complaints = [];
      await page.goto(url);
      await Promise.all([
        page.getByRole('navigation', { name: 'Workspace' }).waitFor(),
        page.locator('#composer').waitFor(),
        page.getByRole('complementary', { name: 'Payments service' }).waitFor(),
        page.getByRole('region', { name: 'HTTP exchanges' }).waitFor(),
      ]);
      const tookMs = performance.now() - startedAt;
      const bareMs = await bareStartMs();
      console.log(
        `The playground's page was there ${Math.round(tookMs)} ms after starting it (Node alone: ${Math.round(bareMs)} ms).`,
      );
      expect(tookMs).toBeLessThan(Math.max(startDeadlineMs, bareStarts * bareMs));
      await page.goto('about:blank');
    } finally {
      started.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
    complaints = complaints.filter((complaint) => !complaint.startsWith('asked for'));
  });

  it('gives the verdict on a paid, an unpaid and an unknown reference, with its proof', async () => {
    await be('ada');
    await page.locator('#composer').pressSequentially('/p');
    await page.getByRole('option', { name: '/pay' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.type('ORDER-1001');
    await page.keyboard.press('Enter');
    const paid = article('ORDER-1001');
    await paid.waitFor();
    expect(await paid.innerText()).toContain('Paid (confirmed) · NGN 12,500.00 · a***@example.com');
    expect(ticksIn(await paid.innerText())).toEqual({ holding: 3, broken: 0 });
    expect(await paid.innerText()).toContain('Only visible to you');

    const unpaid = await ask('/pay ORDER-1002');
    expect(unpaid).toContain('Not confirmed');
    expect(unpaid).toContain('status PENDING');
    expect(unpaid).toContain('give no value yet');
    expect(ticksIn(unpaid)).toEqual({ holding: 2, broken: 1 });
    expect(await ask('/pay NOPE-1')).toContain('Not found · NOPE-1');
    expect(await ask('/pay lookup ORDER-1001 12,500.00')).toContain('Paid (confirmed)');
    const other = await ask('/pay lookup ORDER-1001 12,400.00');
    expect(other).toContain('Not confirmed');
    expect(other).toContain('Amount NGN 12,500.00 differs from the amount you gave, NGN 12,400.00');

    await page.locator('[data-order=ORDER-1002]').getByRole('button', { name: 'Customer pays' }).click();
    await article('ORDER-1002').getByRole('button', { name: 'Refresh' }).click();
    await article('ORDER-1002').getByText('Paid (confirmed)').waitFor();
    expect(await article('ORDER-1002').count()).toBe(1);
  });

  it('tells one declined charge once, however often and in whatever dress its event comes', async () => {
    await be('ada');
    await openChannel('pay-alerts');
    const reference = await decline();
    const alert = article(reference);
    await alert.getByText('Declined by the bank').waitFor();
    expect(await alert.innerText()).toContain('Next: ');

    await page.getByRole('tab', { name: 'Events' }).click();
    const ways = ['The same delivery again', 'Again, with a new event id', 'Again, three days late'];
    for (const way of [...ways, 'With a bad signature']) {
      const first = page.getByRole('button', { name: `Send payment_failed for ${reference} again` }).last();
      await first.click();
      await page.getByRole('menuitem', { name: way }).click();
    }
    const answers = async () =>
      (await stateOf('ada')).payments.deliveries
        .filter((delivery) => delivery.orderReference === reference)
        .map((delivery) => delivery.lastStatus ?? 0)
        .toSorted((a, b) => a - b);
    await expect.poll(answers).toEqual([200, 200, 200, 200, 401]);
    const refused = page.locator('.log-row', { hasText: `${reference}, with a bad signature: refused` });
    expect(await refused.locator('.state').innerText()).toBe('401');
    await expectOneAlert(reference);

    await alert.first().getByRole('button', { name: 'Look up' }).click();
    const answer = page.locator('article.message-ephemeral', { hasText: reference });
    await answer.waitFor();
    expect(await answer.innerText()).toContain('Declined since ');
    const seenByOmar = JSON.stringify((await stateOf('omar')).messages);
    expect(seenByOmar).toContain(reference);
    expect(seenByOmar).not.toContain('Declined since ');
  });

  it('loses no alert to kill -9 and repeats none', async () => {
    await be('ada');
    await openChannel('pay-alerts');
    await setWeather('Hangs');
    const reference = await decline();
    await page.locator('.log-row', { hasText: `payment_failed for ${reference}: received` }).waitFor();
    await page.getByRole('button', { name: 'Kill −9' }).click();
    await botIs('down');
    expect(await article(reference).count()).toBe(0);
    await setWeather('Normal');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await botIs('ready');
    await article(reference).getByText('Declined by the bank').waitFor();
    await expectOneAlert(reference);
  });

  it('refuses Olu in words, and shows Omar nothing that was for Ada alone', async () => {
    await be('olu');
    const refusal = await ask('/pay ORDER-1001');
    expect(refusal).toContain('Not allowed: /pay lookup');
    expect(refusal).toContain('Who can: People in the roles support-agent, lead, on-call');
    expect(await ask('/pay help')).toContain('Not allowed: every command but help');

    const omars = await browser.context.newPage();
    await be('omar', omars);
    await be('ada');
    expect(await ask('/pay ORDER-1004')).toContain('NGN 3,250.50');
    await omars.locator('.log-row', { hasText: 'ORDER-1004 is SUCCESS' }).waitFor();
    expect(await omars.locator('article').count()).toBe(0);
    await omars.close();
  });

  it('answers what cannot be read with what helps', async () => {
    await be('ada');
    const slip = await ask('/pay lokup ORDER-1001');
    expect(slip).toContain('Did you mean /pay lookup ORDER-1001?');
    await page.locator('article').last().getByRole('button', { name: 'Look up ORDER-1001' }).click();
    await page.locator('article').last().getByText('Paid (confirmed)').waitFor();
    expect(await ask(`/pay ${'X'.repeat(51)}`)).toContain('51 characters; a reference has at most 50');
    expect(await ask('/pay lookup ORDER-1001 12.345')).toContain('at most two decimals');
  });

  it('keeps a card number out of page, log and bot', async () => {
    await be('ada');
    expect(await ask('/pay 4111 1111 1111 1111')).toContain('That looks like a card number');
    expect(await ask('/pay lookup 4242-4242-4242-4242 5')).toContain('That looks like a card number');
    const states = await Promise.all([stateOf('ada'), stateOf('omar')]);
    const bodies = await Promise.all(
      states[0].log.map(async ({ id }) => (await fetch(`${playground.url}/exchange?id=${id}`)).text()),
    );
    const botLog = await (await fetch(`${playground.url}/bot.log`)).text();
    expect(botLog).toContain('A card number was typed and refused');
    const everything = [await page.content(), JSON.stringify(states), ...bodies, botLog].join('\n');
    expect(everything).not.toMatch(/4111\D?1111\D?1111|4242\D?4242\D?4242/);
  });

  it('says what is happening while the payments service hangs, then what became of it', async () => {
    await be('ada');
    await setWeather('Hangs');
    const first = await ask('/pay ORDER-1005');
    expect(first).toContain('Looking up ORDER-1005');
    expect(first).toContain('The payments service has not answered yet');
    await article('No answer from the payments service in time').waitFor();
    const last = await article('No answer from the payments service in time').innerText();
    expect(last).toContain('Money: none was moved by this');
    expect(last).toContain('Next: try again in a minute');
    await setWeather('Normal');
    expect(await ask('/pay ORDER-1005')).toContain('Paid (confirmed)');
  });

  it('is worked by keyboard alone', async () => {
    await be('ada');
    const verdict = await answerTo(async () => {
      await tabTo('#composer');
      await page.keyboard.type('/p');
      await page.keyboard.press('Enter');
      await page.keyboard.type('ORDER-1001');
      await page.keyboard.press('Enter');
    });
    expect(verdict).toContain('Paid (confirmed)');

    await tabTo('[role=tab][aria-selected=true]');
    await page.keyboard.press('ArrowRight');
    await tabTo('button[value=decline]');
    await page.keyboard.press('Enter');
    const unread = page.locator('.entry', { hasText: 'pay-alerts' }).locator('.unread');
    await unread.waitFor();
    await tabTo('.entry:has(.unread)', 'Shift+Tab', 'pay-alerts');
    await page.keyboard.press('Enter');
    const alert = page.locator('article').last();
    await alert.getByText('Declined by the bank').waitFor();
    await tabTo('article:last-of-type .block-actions button', 'Shift+Tab', 'Look up');
    await page.keyboard.press('Enter');
    await page.locator('article.message-ephemeral').last().getByText('Declined since ').waitFor();

    await tabTo('[role=tab][aria-selected=true]');
    await page.keyboard.press('ArrowRight');
    await tabTo('[data-delivery] button[aria-haspopup=menu]');
    await page.keyboard.press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.locator('[data-delivery]').first().getByText('refused', { exact: true }).waitFor();
  });

  /** `words`: of several such, the one that says so. Which of them is met first depends on what came when. */
  async function tabTo(selector: string, key: 'Tab' | 'Shift+Tab' = 'Tab', words = ''): Promise<void> {
    const focused = page.locator(':focus');
    for (let presses = 0; presses < 80; presses += 1) {
      const isIt = `document.activeElement.matches(${JSON.stringify(selector)})`;
      if ((await page.evaluate(isIt)) && (await focused.innerText()).includes(words)) return;
      await page.keyboard.press(key);
    }
    throw new Error(`${key} does not lead to ${selector}.`);
  }

  it('shows in the App Home what one can do', async () => {
    await be('ada');
    await openChannel('Pay');
    await page.getByRole('tab', { name: 'Home' }).click();
    const home = page.getByRole('tabpanel', { name: 'Home' });
    await home.getByText('/pay lookup <reference> [amount]').waitFor();
    await page.getByRole('tab', { name: 'Messages' }).click();
    await page.getByText('Sending messages to this app has been turned off').waitFor();
    expect(await page.locator('#composer').count()).toBe(0);
  });

  function watch(context: BrowserContext, complain: (text: string) => void): void {
    context.on('console', (line) => {
      if (line.type() === 'error' || line.type() === 'warning') complain(line.text());
    });
    context.on('weberror', (failure) => complain(failure.error().message));
    context.on('request', (request) => {
      if (!request.url().startsWith(`${playground.url}/`)) complain(`asked for ${request.url()}`);
    });
  }
});

function ticksIn(text: string): { holding: number; broken: number } {
  return { holding: text.split('✓').length - 1, broken: text.split('✗').length - 1 };
}

async function bareStartMs(): Promise<number> {
  const startedAt = performance.now();
  await once(spawn(process.execPath, ['-e', ''], { stdio: 'ignore' }), 'exit');
  return performance.now() - startedAt;
}

async function addressIn(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error('The playground ended without an address.');
}
