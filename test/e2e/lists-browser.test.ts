import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlayground, type Playground } from '../../src/playground/playground.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { pressByKeys, typeByKeys } from '../support/by-keys.ts';
import { openChargePage, type ChargePage } from '../support/charge-page.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: lists in a browser, because chromium is not installed.');

const waitMs = 15_000;
const soon = { timeout: waitMs };

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
