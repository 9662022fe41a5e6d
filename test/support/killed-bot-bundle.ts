import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export type Bundle = {
  program: string;
  /** For the environment of whoever starts it. */
  env: Record<string, string>;
  remove: () => void;
};

type Rolldown = {
  rolldown: (options: { input: string; platform: 'node' }) => Promise<{
    write: (options: { file: string; format: 'esm'; codeSplitting: false }) => Promise<unknown>;
    close: () => Promise<void>;
  }>;
};

/**
 * killed-bot.ts, or another program, and all of src as one file, which starts in less than half the processor time
 * of several hundred: kills by the thousand are otherwise mostly time spent on starting. The same code, and Node
 * runs it.
 */
export async function bundleKilledBot(
  input = fileURLToPath(new URL('killed-bot.ts', import.meta.url)),
): Promise<Bundle> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-kills-'));
  const program = join(folder, 'killed-bot.mjs');
  const { rolldown } = (await import(pathToFileURL(rolldownOfVitest()).href)) as Rolldown;
  const bundle = await rolldown({ input, platform: 'node' });
  await bundle.write({ file: program, format: 'esm', codeSplitting: false });
  await bundle.close();
  return {
    program,
    env: { NODE_COMPILE_CACHE: join(folder, 'compiled') },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** It comes with vitest, through vite, wherever npm has put them. */
function rolldownOfVitest(): string {
  let from = import.meta.url;
  for (const name of ['vitest/package.json', 'vite/package.json', 'rolldown']) {
    from = createRequire(from).resolve(name);
  }
  return from;
}
