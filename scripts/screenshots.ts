import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { startPlayground } from '../src/playground/playground.ts';
import { openBrowser } from '../test/support/browser.ts';

/** Makes the pictures of the documentation from the running playground: `node scripts/screenshots.ts`. */

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url));

async function type(page: Page, command: string): Promise<void> {
  await page.locator('#composer').fill(command);
  await page.keyboard.press('Enter');
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${folder}${name}.png` });
  console.log(`docs/images/${name}.png`);
}

await mkdir(folder, { recursive: true });
const playground = await startPlayground();
const browser = await openBrowser({ width: 1280, height: 800, scale: 1.25 });
if (!browser) {
  console.error('The pictures need chromium.');
  await playground.close();
  process.exit(1);
}
try {
  const page = await browser.context.newPage();
  await page.goto(playground.url);
  await page.getByText('ready', { exact: true }).waitFor();

  await type(page, '/pay ORDER-1001');
  await page.getByText('Paid (confirmed)').waitFor();
  await shoot(page, 'look-up');

  await page.getByRole('tab', { name: 'Saved cards' }).click();
  await page.getByRole('button', { name: 'Charge, declined' }).click();
  const alerts = page
    .getByRole('navigation', { name: 'Workspace' })
    .getByRole('button', { name: 'pay-alerts' });
  await alerts.locator('.unread').waitFor();
  await alerts.click();
  await page.getByText('Declined by the bank').waitFor();
  await page.getByRole('tab', { name: 'Events' }).click();
  for (const how of ['The same delivery again', 'With a bad signature']) {
    await page
      .getByRole('button', { name: /^Send payment_failed/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: how }).click();
  }
  await page.locator('.log-row', { hasText: '401' }).first().waitFor();
  await shoot(page, 'alert');
} finally {
  await browser.close();
  await playground.close();
}
