import { chromium, type BrowserContext } from 'playwright-core';
import { findProgram } from './programs.ts';

export type TestBrowser = {
  /** A fresh window of that size, and its storage; the others of the same test share it. */
  context: BrowserContext;
  close: () => Promise<void>;
};

/** Where the one Chromium of the tests listens, which `one-chromium.ts` starts. */
export const chromiumVariable = 'PAYOPS_TEST_CHROMIUM';

export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export type BrowserOptions = {
  width?: number;
  height?: number;
  /** Device pixels per page pixel: 2 for pictures that are to look sharp. */
  scale?: number;
  colorScheme?: 'light' | 'dark';
};

/** A window with a storage of its own in the tests' Chromium, or in one of its own; undefined when there is none. */
export async function openBrowser(options: BrowserOptions = {}): Promise<TestBrowser | undefined> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) return undefined;
  const endpoint = process.env[chromiumVariable];
  const browser = await (endpoint === undefined
    ? chromium.launch({ executablePath, headless: true, args: chromiumArguments })
    : chromium.connect(endpoint));
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    deviceScaleFactor: options.scale ?? 1,
    colorScheme: options.colorScheme ?? 'light',
    reducedMotion: 'reduce',
  });
  // A click or a wait for words fails by this: beside other work a page takes many times its time.
  context.setDefaultTimeout(45_000);
  return {
    context,
    async close() {
      await context.close();
      await browser.close();
    },
  };
}
