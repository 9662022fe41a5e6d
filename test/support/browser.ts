import { chromium, type BrowserContext, type BrowserContextOptions } from 'playwright-core';
import { findProgram } from './programs.ts';

export type TestBrowser = {
  /** A new window with its own storage, which other windows of the test share. */
  context: BrowserContext;
  /**
   * Throws if a page has logged a warning or an error, failed, or loaded something from elsewhere since the last call.
   */
  checkQuiet: () => void;
  close: () => Promise<void>;
};

const chromiumVariable = 'PAYOPS_TEST_CHROMIUM';

const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Windows share a process: to start one takes longer than most pages need.
  '--renderer-process-limit=2',
];

/** One Chromium for all browser tests, started before them; its windows share nothing. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined || process.env[chromiumVariable] !== undefined) return undefined;
  const server = await chromium.launchServer({ executablePath, headless: true, args: chromiumArguments });
  process.env[chromiumVariable] = server.wsEndpoint();
  return async () => {
    delete process.env[chromiumVariable];
    await server.close();
  };
}

/** A window with its own storage in the tests' Chromium, or in a new one; undefined if Chromium is missing. */
export async function openBrowser(options: BrowserContextOptions = {}): Promise<TestBrowser | undefined> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) return undefined;
  const endpoint = process.env[chromiumVariable];
  const browser = await (endpoint === undefined
    ? chromium.launch({ executablePath, headless: true, args: chromiumArguments })
    : chromium.connect(endpoint));
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  // The deadline of a click or a wait: under load a page takes many times as long.
  context.setDefaultTimeout(45_000);
  const complaints: string[] = [];
  context.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text());
  });
  context.on('weberror', (failure) => complaints.push(failure.error().message));
  context.on('request', (request) => {
    if (new URL(request.url()).hostname !== '127.0.0.1') complaints.push(`asked for ${request.url()}`);
  });
  return {
    context,
    checkQuiet() {
      const said = complaints.splice(0);
      if (said.length > 0) throw new Error(`The browser complained:\n${said.join('\n')}`);
    },
    async close() {
      await context.close();
      await browser.close();
    },
  };
}
