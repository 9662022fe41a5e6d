import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright-core';
import { findProgram } from './programs.ts';

export type TestBrowser = {
  /** A fresh window of that size; its storage is shared with the others of this browser. */
  context: BrowserContext;
  close: () => Promise<void>;
};

const args = [
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

/** The installed Chromium with a profile of its own, or undefined when there is none. */
export async function openBrowser(options: BrowserOptions = {}): Promise<TestBrowser | undefined> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) return undefined;
  const profile = await mkdtemp(join(tmpdir(), 'payops-chromium-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args,
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
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
