import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { openBrowser, type TestBrowser } from '../../support/browser.ts';
import { findProgram } from '../../support/programs.ts';
import { emptyState, startCanned, type CannedPlayground } from './canned.ts';

export const chromiumIsMissing = findProgram('chromium') === undefined;
if (chromiumIsMissing) console.warn('SKIPPED: the page in a browser, because chromium is not installed.');

export type OpenPage = {
  page: Page;
  canned: CannedPlayground;
  /** What the page asked to be done, once it asked that often. */
  acted: (count: number) => Promise<Record<string, unknown>[]>;
  /** From here on the browser may complain: the test provokes it. */
  mayComplain: () => void;
  /** Another playground on the same port. */
  restart: () => Promise<void>;
};

/**
 * For each test of the file a fresh canned playground and a fresh tab on it. A test fails when the tab logs an
 * error or a warning (a breach of the content policy is one) or asks anything of another address.
 */
export function openPageForEach(): OpenPage {
  let browser: TestBrowser | undefined;
  let quiet = true;
  let complaints: string[] = [];
  const open = {} as OpenPage;

  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    if (!browser) throw new Error('There is no browser.');
    quiet = true;
    complaints = [];
    open.canned = await startCanned(emptyState);
    open.page = await browser.context.newPage();
    open.page.on('console', (line) => {
      if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text());
    });
    open.page.on('pageerror', (error) => complaints.push(error.message));
    open.page.on('request', (request) => {
      if (!request.url().startsWith(`${open.canned.url}/`)) complaints.push(`asked for ${request.url()}`);
    });
    await open.page.goto(open.canned.url);
    await open.page.locator('#composer').waitFor();
  });

  afterEach(async () => {
    await open.page.close();
    await open.canned.close();
    if (quiet && complaints.length > 0) throw new Error(`The browser complained:\n${complaints.join('\n')}`);
  });

  return Object.assign(open, {
    async acted(count: number) {
      await expect.poll(() => open.canned.acts.length).toBe(count);
      return open.canned.acts.map(({ user, action }) => ({ user, ...action.action }));
    },
    mayComplain() {
      quiet = false;
    },
    async restart() {
      open.canned = await startCanned(emptyState, open.canned.port);
    },
  });
}
