/**
 * What the Dockerfile does, without an engine: production dependencies only, no playground or simulators, in a folder of
 * its own. Fails unless the bot gets as far as reading its settings there, which takes every import it has.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'payops-image-'));
try {
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'LICENSE'])
    cpSync(name, join(folder, name));
  cpSync('src', join(folder, 'src'), {
    recursive: true,
    filter: (path) => !/playground|simulators/.test(path),
  });
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
  });
  mkdirSync(join(folder, 'cache'));
  // The step of the image itself: it says so when the tree starts otherwise than for want of settings.
  const [, step = ''] = /^RUN (said=[^]*?[^\\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  if (step === '') throw new Error('The Dockerfile has no step that fills the compile cache.');
  execFileSync('sh', ['-c', step], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: join(folder, 'cache'),
    },
    stdio: 'inherit',
  });
  console.log('✓ the production tree starts, and leaves its compile cache');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
