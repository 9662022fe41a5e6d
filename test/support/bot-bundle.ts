import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleVariable } from './bot.ts';

export type Bundle = {
  program: string;
  remove: () => void;
};

const inputs = {
  bot: fileURLToPath(new URL('../../src/main.ts', import.meta.url)),
  killed: fileURLToPath(new URL('killed-bot.ts', import.meta.url)),
  chaos: fileURLToPath(new URL('../chaos/chaos-bot.ts', import.meta.url)),
};
type Program = keyof typeof inputs;

type Plugin = { name: string; load: (id: string) => string | undefined };
type Rolldown = {
  rolldown: (options: {
    input: Partial<typeof inputs>;
    platform: 'node';
    plugins: readonly Plugin[];
  }) => Promise<{
    write: (options: {
      dir: string;
      format: 'esm';
      entryFileNames: string;
      chunkFileNames: string;
      comments: false;
    }) => Promise<unknown>;
    close: () => Promise<void>;
  }>;
};

const packageFile = fileURLToPath(new URL('../../package.json', import.meta.url));

/** What src/start.js leaves out, too: Bolt and prom-client load them, and the bot uses none. */
const unused = ['express/index.js', '@slack/oauth/dist/index.js', '@opentelemetry/api/dist/index.cjs'];
const leaveOut: Plugin = {
  name: 'leave-out',
  load: (id) =>
    unused.includes(id.split('/node_modules/').at(-1) ?? '') ? 'module.exports = {};' : undefined,
};

/** Like src/start.js: turns the compile cache on before loading the bot. The cache is in the bundle's folder. */
const starterOf = (program: string): string => `import { enableCompileCache } from 'node:module';
enableCompileCache(import.meta.dirname + '/compiled');
await import('./src/cli/${program}.mjs');
`;

/**
 * The bot, and its variants for tests that kill it, as few files, which start in half the processor time: tests start
 * hundreds of bots, and that is most of their work. What they share is compiled once. Node runs the same code.
 */
export function bundleBots(): Promise<Bundle> {
  return bundle(inputs, 'bot');
}

/** One of them: from the bundle of `npm test`, or else alone; the caller removes it. */
export async function bundleOf(program: Program): Promise<Bundle> {
  const shared = process.env[bundleVariable];
  if (shared !== undefined) {
    return { program: join(dirname(shared), `${program}.mjs`), remove: () => undefined };
  }
  return bundle({ [program]: inputs[program] }, program);
}

async function bundle(input: Partial<typeof inputs>, program: Program): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-bundle-'));
  const { rolldown } = (await import(pathToFileURL(rolldownOfVitest()).href)) as Rolldown;
  const bundled = await rolldown({ input, platform: 'node', plugins: [leaveOut] });
  await bundled.write({
    // `version` reads package.json, relative to here.
    dir: join(folder, 'src', 'cli'),
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    comments: false,
  });
  await bundled.close();
  for (const name of Object.keys(input)) writeFileSync(join(folder, `${name}.mjs`), starterOf(name));
  copyFileSync(packageFile, join(folder, 'package.json'));
  return {
    program: join(folder, `${program}.mjs`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** rolldown comes with vitest, through vite, wherever npm has put them. */
function rolldownOfVitest(): string {
  let from = import.meta.url;
  for (const name of ['vitest/package.json', 'vite/package.json', 'rolldown']) {
    from = createRequire(from).resolve(name);
  }
  return from;
}
