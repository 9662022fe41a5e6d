/**
 * What the Dockerfile does, without an engine: production dependencies only, no playground or simulators, in a folder of
 * its own. Fails unless the bot gets as far as reading its settings there, which takes every import it has.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
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
  const env = { PATH: process.env['PATH'] ?? '', NODE_ENV: 'production' };
  const { status, stderr } = spawnSync(process.execPath, ['src/start.js'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status !== 1 || !stderr.startsWith('Payops cannot start. The settings have problems:')) {
    console.error(`The production tree does not start (exit code ${status}):\n${stderr}`);
    process.exitCode = 1;
  } else {
    console.log('✓ the production tree starts');
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
