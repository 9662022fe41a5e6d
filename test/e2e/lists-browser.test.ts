import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlayground, type Playground } from '../../src/playground/playground.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { openChargePage, type ChargePage } from '../support/charge-page.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: lists in a browser, because chromium is not installed.');

const waitMs = 15_000;
const soon = { timeout: waitMs };

/** Moves on from the composer to a button of the newest message that holds the words, and presses it, by keys alone. */
async function pressByKeys(person: ChargePage, words: string, name: string): Promise<void> {
  const button = person.message(words).getByRole('button', { name, exact: true });
  await button.waitFor();
  await person.page.locator('#composer').focus();
  const isThere = (): Promise<boolean> => button.evaluate((element) => element.matches(':focus'));
  for (let steps = 0; steps < 60 && !(await isThere()); steps += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one key after the other
    await person.page.keyboard.press('Shift+Tab');
  }
  expect(await isThere()).toBe(true);
  await person.page.keyboard.press('Enter');
}

async function typeByKeys(person: ChargePage, command: string): Promise<void> {
  await person.page.locator('#composer').focus();
  await person.page.keyboard.type(command);
  await person.page.keyboard.press('Enter');
}

describe.skipIf(missing)('lists in a browser', () => {
  let playground: Playground;
  let browser: TestBrowser;
  let ada: ChargePage;
  const complaints: string[] = [];

  beforeAll(async () => {
    const [opened, started] = await Promise.all([
      openBrowser({ width: 1440, height: 900 }),
      startPlayground(),
    ]);
    playground = started;
    if (!opened) throw new Error('There is no browser.');
    browser = opened;
    browser.context.setDefaultTimeout(waitMs);
    browser.context.on('console', (line) => {
      if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text());
    });
    browser.context.on('weberror', (failure) => complaints.push(failure.error().message));
    ada = openChargePage(playground, await browser.context.newPage());
    await ada.be('ada');
    await ada.channel('pay-desk');
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await playground?.close();
  }, 30_000);

  it('are turned, filtered and made a CSV of by the keyboard alone', async () => {
    await typeByKeys(ada, '/pay terminals');
    await pressByKeys(ada, 'Terminals 1–50', 'Next');
    await pressByKeys(ada, 'Terminals 51–100', 'Back');
    await ada.message('Terminals 1–50').waitFor();
    await typeByKeys(ada, '/pay terminals lekki');
    await pressByKeys(ada, 'match “lekki”', 'CSV');
    await ada.message('CSV of 12 terminals that match “lekki” · in this conversation').waitFor();
    const file = ada.page.locator('details.file').last();
    await expect.poll(() => file.innerText(), soon).toMatch(/terminals-\d{4}-\d\d-\d\d-\d{4}\.csv/);
    const rows = await file.locator('pre').textContent();
    expect(rows?.trim().split('\n').length).toBe(13);
    expect(complaints).toEqual([]);
  }, 60_000);

  it('break no id of a table in two at desktop width', async () => {
    await ada.type('/pay accounts');
    const references = ada.message('Accounts 1–50').locator('td:nth-child(2)');
    await references.first().waitFor();
    await ada.type('/pay terminals');
    const terminals = ada.message('Terminals 1–50').locator('td:first-child');
    await terminals.first().waitFor();
    for (const column of [references, terminals]) {
      // oxlint-disable-next-line no-await-in-loop
      const lines = await column.evaluateAll((cells) =>
        cells.map((cell) => {
          const range = cell.ownerDocument.createRange();
          range.selectNodeContents(cell);
          return range.getClientRects().length;
        }),
      );
      expect(new Set(lines)).toEqual(new Set([1]));
    }
  }, 60_000);
});
