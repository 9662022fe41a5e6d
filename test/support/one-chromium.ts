import { chromium } from 'playwright-core';
import { chromiumArguments, chromiumVariable } from './browser.ts';
import { findProgram } from './programs.ts';

/** Once before the tests in a browser: one Chromium for all of them, whose windows share nothing. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) return undefined;
  const server = await chromium.launchServer({ executablePath, headless: true, args: chromiumArguments });
  process.env[chromiumVariable] = server.wsEndpoint();
  return () => server.close();
}
