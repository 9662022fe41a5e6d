/**
 * Does the Dockerfile's work without a container engine: a folder with production dependencies only, without playground
 * and simulators. Fails unless the bot gets as far as reading its settings there, which loads every import. Then runs it
 * as the manifests do: a read-only root with that folder and the machine's programs, the image's user, and Redis; it must
 * answer its probes, post an event and stop cleanly. That part needs root.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as rest } from 'node:timers/promises';
import { openStage, type Stage, startLoad } from '../test/load/load.ts';

/** Arguments: the new root, its /app, node's folder, the user; then the command to run. All of it is read-only. */
const inReadOnlyRoot = `
root=$1 app=$2 node=$3 user=$4; shift 4
mount -t tmpfs root "$root"
cd "$root"
mkdir usr etc proc dev app node
cp -P /bin /lib /sbin . ; [ ! -e /lib64 ] || cp -P /lib64 .
mount --rbind /usr usr; mount --rbind /etc etc; mount --rbind /proc proc
mount --bind "$app" app; mount --bind "$node" node
for device in null urandom; do touch dev/$device; mount --bind /dev/$device dev/$device; done
for part in usr etc app node; do mount -o remount,bind,ro $part; done
mount -o remount,ro "$root"
exec chroot --userspec="$user" --groups= "$root" env -C /app "$@"
`;

const folder = mkdtempSync(join(tmpdir(), 'payops-image-'));
// The image's user must be able to read it.
chmodSync(folder, 0o755);
const dockerfile = readFileSync('Dockerfile', 'utf8');
try {
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'LICENSE'])
    cpSync(name, join(folder, name));
  cpSync('src', join(folder, 'src'), {
    recursive: true,
    filter: (path) => !/playground|simulators/.test(path),
  });
  cpSync('openapi/services', join(folder, 'openapi/services'), { recursive: true });
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
  });
  for (const name of ['cache', 'data']) mkdirSync(join(folder, name));
  // The image's own step: it fails if the bot stops for another reason than missing settings.
  const [, step = ''] = /^RUN (said=[^]*?[^\\])$/m.exec(dockerfile) ?? [];
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
  if (process.getuid?.() === 0) await runReadOnly();
  else if (process.env['PAYOPS_SKIP_NOTHING'] === undefined)
    console.warn('SKIPPED: the read-only root, which takes root to mount.');
  else throw new Error('The read-only root takes root to mount.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function launch(env: Readonly<Record<string, string>>, words: readonly string[]) {
  const [, user = ''] = /^USER (\S+)$/m.exec(dockerfile) ?? [];
  const root = join(folder, 'root');
  mkdirSync(root, { recursive: true });
  const mounted = ['--mount', '--propagation', 'private', 'sh', '-euc', inReadOnlyRoot, 'sh'];
  const places = [root, folder, join(process.execPath, '..'), user];
  return spawn('unshare', [...mounted, ...places, '/node/node', ...words], {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function runReadOnly(): Promise<void> {
  await tryToWrite();
  const stage = await openStage({ events: 10, channels: 1 });
  try {
    await runBot(stage);
  } finally {
    await stage.close();
  }
}

async function tryToWrite(): Promise<void> {
  const tries = `for (const path of ['/x', '/app/x', '/app/cache/x', '/app/data/x', '/etc/x', '/usr/x'])
    try { fs.writeFileSync(path, ''); console.log(path); } catch (error) { if (error.code !== 'EROFS') console.log(path, error.code); }`;
  const written = launch({}, ['-e', tries]);
  const places: string[] = [];
  createInterface({ input: written.stdout }).on('line', (line) => places.push(line));
  const [triedCode] = (await once(written, 'close')) as [number];
  if (triedCode !== 0 || places.length > 0)
    throw new Error(`The root is not read-only: ${places.join(', ') || `code ${triedCode}`}.`);
}

async function runBot(stage: Stage): Promise<void> {
  copyFileSync(String(stage.env['PAYOPS_FILE']), join(folder, 'payops.yml'));
  const [, command = ''] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [, ...words] = JSON.parse(command) as string[];
  const bot = launch(
    {
      ...stage.env,
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: '/app/cache',
      DATA_DIR: '/app/data',
      PAYOPS_FILE: '/app/payops.yml',
      DRAIN_SECONDS: '1',
    },
    words,
  );
  const ended = once(bot, 'close');
  const listening = Promise.withResolvers<{ port: number; metricsPort: number }>();
  void ended.then(() => listening.reject(new Error('The bot ended before it listened.')));
  createInterface({ input: bot.stdout }).on('line', (line) => {
    if (/"level":"(warn|error)"/.test(line)) console.log(line);
    if (line.includes('"Payops listens"')) listening.resolve(JSON.parse(line) as never);
  });
  try {
    const { port, metricsPort } = await listening.promise;
    for (const at of [`${port}/healthz`, `${metricsPort}/readyz`]) {
      const { status } = await fetch(`http://127.0.0.1:${at}`);
      if (status !== 200) throw new Error(`${at} answered ${status}.`);
    }
    const [, uid] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${bot.pid}/status`, 'utf8')) ?? [];
    const load = startLoad(stage, {
      url: `http://127.0.0.1:${port}`,
      eventsPerSecond: 2,
      commandsPerSecond: 1,
    });
    await rest(2_500);
    await load.stop();
    await stage.leftAfter(30_000);
    const { lost, unanswered } = load.findings();
    if (stage.workspace.posts().length === 0 || lost.length + unanswered.length > 0)
      throw new Error(`Not told: ${[...lost, ...unanswered].join(', ')}.`);
    bot.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error(`It ended with ${code}.`);
    console.log(
      `✓ it runs on a root that cannot be written, as user ${uid}, tells its events, and stops in good order`,
    );
  } finally {
    bot.kill('SIGKILL');
  }
}
