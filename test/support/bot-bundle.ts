import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export type Bundle = {
  program: string;
  remove: () => void;
};

type Rolldown = {
  rolldown: (options: { input: string; platform: 'node' }) => Promise<{
    write: (options: { file: string; format: 'esm'; codeSplitting: false }) => Promise<unknown>;
    close: () => Promise<void>;
  }>;
};

const packageFile = fileURLToPath(new URL('../../package.json', import.meta.url));

/** Like src/start.js: turns the compile cache on before loading the bot. The cache is in the bundle's folder. */
const starter = `import { enableCompileCache } from 'node:module';
enableCompileCache(import.meta.dirname + '/compiled');
await import('./src/app/command-line/bot.mjs');
`;

/**
 * That program and all of src as one file, which starts in half the processor time: tests start hundreds of bots, and
 * that is most of their work. Node runs the same code.
 */
export async function bundleBot(input: string): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-bundle-'));
  const program = join(folder, 'start.mjs');
  const { rolldown } = (await import(pathToFileURL(rolldownOfVitest()).href)) as Rolldown;
  const bundle = await rolldown({ input, platform: 'node' });
  const file = join(folder, 'src', 'app', 'command-line', 'bot.mjs');
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  writeFileSync(program, starter);
  // `--version` reads it, relative to src/app/command-line.
  copyFileSync(packageFile, join(folder, 'package.json'));
  return { program, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** rolldown comes with vitest, through vite, wherever npm has put them. */
function rolldownOfVitest(): string {
  let from = import.meta.url;
  for (const name of ['vitest/package.json', 'vite/package.json', 'rolldown']) {
    from = createRequire(from).resolve(name);
  }
  return from;
}
