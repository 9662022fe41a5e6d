import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlayground, type Playground } from '../../src/playground/playground.ts';
import { openBrowser } from './browser.ts';
import { openChargePage, type ChargePage, type PersonName } from './charge-page.ts';

export type PlaygroundScene<Name extends PersonName> = {
  playground: Playground;
  /** A window of its own on the playground for each of them. */
  people: Record<Name, ChargePage>;
  /** Throws when the browser has complained since the last time. */
  checkBrowser: () => void;
  /** What everybody sees, as pictures of that name; says where they are. */
  shoot: (name: string) => Promise<void>;
  close: () => Promise<void>;
};

type SceneOptions<Name extends PersonName> = {
  as: readonly Name[];
  channel: string;
  playground?: Parameters<typeof startPlayground>[0];
};

/** The playground with real Chromium in front of it, everybody in the channel. Throws where there is no browser. */
export async function openPlaygroundScene<Name extends PersonName>(
  options: SceneOptions<Name>,
): Promise<PlaygroundScene<Name>> {
  const [browser, playground] = await Promise.all([
    openBrowser({ width: 1440, height: 900 }),
    startPlayground(options.playground),
  ]);
  if (!browser) throw new Error('There is no browser.');
  const { context } = browser;
  const complaints: string[] = [];
  context.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text());
  });
  context.on('weberror', (failure) => complaints.push(failure.error().message));
  const windows = await Promise.all(
    options.as.map(async (name) => {
      const person = openChargePage(playground, await context.newPage());
      await person.be(name);
      await person.channel(options.channel);
      return [name, person] as const;
    }),
  );
  return {
    playground,
    people: Object.fromEntries(windows) as Record<Name, ChargePage>,
    checkBrowser() {
      const said = complaints.splice(0);
      if (said.length > 0) throw new Error(`The browser complained:\n${said.join('\n')}`);
    },
    async shoot(name) {
      for (const [who, { page }] of windows) {
        const path = join(tmpdir(), `payops-${name.replaceAll(/\W+/g, '-').slice(0, 60)}-${who}.png`);
        // oxlint-disable-next-line no-await-in-loop
        await page.screenshot({ path });
        console.error(`What ${who} saw: ${path}`);
      }
    },
    async close() {
      await browser.close();
      await playground.close();
    },
  };
}
