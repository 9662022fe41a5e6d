import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { pressByKeys, typeByKeys } from '../support/by-keys.ts';
import type { ChargePage } from '../support/charge-page.ts';
import { openPlaygroundScene, type PlaygroundScene } from '../support/playground-scene.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('chromium') === undefined;
if (missing) console.warn('SKIPPED: lists in a browser, because chromium is not installed.');

describe.skipIf(missing)('lists in a browser', () => {
  let scene: PlaygroundScene<'ada'>;
  let ada: ChargePage;

  beforeAll(async () => {
    scene = await openPlaygroundScene({ as: ['ada'], channel: 'pay-desk' });
    ({ ada } = scene.people);
  });

  afterAll(async () => {
    await scene?.close();
  });

  afterEach(() => scene.checkBrowser());

  it('are turned, filtered and made a CSV of by the keyboard alone', async () => {
    await typeByKeys(ada, '/pay terminals');
    await pressByKeys(ada, 'Terminals 1–50', 'Next');
    await pressByKeys(ada, 'Terminals 51–100', 'Back');
    await ada.message('Terminals 1–50').waitFor();
    await typeByKeys(ada, '/pay terminals lekki');
    await pressByKeys(ada, 'match “lekki”', 'CSV');
    await ada.message('CSV of 12 terminals that match “lekki” · in this conversation').waitFor();
    const file = ada.page.locator('details.file').last();
    await expect.poll(() => file.innerText()).toMatch(/terminals-\d{4}-\d\d-\d\d-\d{4}\.csv/);
    const rows = await file.locator('pre').textContent();
    expect(rows?.trim().split('\n').length).toBe(13);
  });
});
