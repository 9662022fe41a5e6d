import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openPayopsDesk } from '../support/payops-desk.ts';
import { runPayops, startPayops } from '../support/run-payops.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const terminalsPath = '/v1/accounts/terminals';
const lookupPath = '/v1/transactions/accounts/single';

describe('payops terminals and accounts', () => {
  it('print a table, and beside it how much of the list that is', async (test) => {
    const { house, ask } = await openPayopsDesk(test);
    const first = await ask('terminals');
    expect(first.code).toBe(0);
    const lines = first.stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^Terminal +Label +Merchant +Serial number +Added \(UTC\)$/);
    expect(lines).toHaveLength(51);
    expect(first.stderr).toBe('50 terminals read in 1 call; more follow: --all reads them all\n');
    expect(house.paymentsGate.passed.filter(({ path }) => path === terminalsPath)).toHaveLength(1);

    const all = await ask('terminals', '--all', '--quiet');
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout.trimEnd().split('\n')).toHaveLength(121);
    const none = await ask('terminals', 'nothing-like-it');
    expect(none).toMatchObject({ code: 4, stdout: '' });
    expect(none.stderr).toContain('No terminal matches “nothing-like-it”; 120 terminals read in 3 calls');
    const accounts = await ask('accounts', 'PLAYGROUND-SUB-00003', '--json');
    expect(JSON.parse(accounts.stdout)).toMatchObject({
      kind: 'accounts',
      filter: 'PLAYGROUND-SUB-00003',
      found: 1,
      complete: true,
    });
    expect(accounts.stdout).not.toMatch(/@|phone/i);
  });

  it('write 40,000 terminals in a heap that holds 50, page by page, whole', async (test) => {
    const { house } = await openPayopsDesk(test, {
      payments: { terminals: 40_000, seed: false, rateLimit: { limit: 1_000_000, windowMs: 60_000 } },
    });
    // It starts in 27 MB, and ends in 40 where all terminals are held.
    const smallHeap = ['--max-old-space-size=36', '--max-semi-space-size=2'];
    const few = startPayops(['terminals', '--json'], house.settings(), smallHeap);
    expect(await few.ended).toMatchObject({ code: 0 });
    const csv = startPayops(['terminals', '--csv'], house.settings(), smallHeap);
    const { code, stdout, stderr } = await csv.ended;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: '40,000 terminals read in 800 calls, the last included\n',
    });
    const rows = stdout.trimEnd().split('\r\n');
    expect(rows).toHaveLength(40_001);
    expect(new Set(rows.slice(1).map((row) => row.split(',')[0])).size).toBe(40_000);
    const json = await runPayops(['terminals', 'Lekki Kiosk', '--json'], house.settings());
    const document = JSON.parse(json.stdout) as { items: { merchantName: string }[] };
    expect(document).toMatchObject({ found: 666, read: { pages: 800, items: 40_000 }, complete: true });
    expect(document.items).toHaveLength(666);
  });

  it('have each page on the way before the next is asked for', async (test) => {
    const { house } = await openPayopsDesk(test);
    const first = house.paymentsGate.hold(terminalsPath, 'before');
    const csv = startPayops(['terminals', '--csv'], house.settings());
    (await first).release();
    const second = await house.paymentsGate.hold(terminalsPath, 'before');
    await house.until('the first page is out', () => csv.stdout().split('\r\n').length > 50);
    expect(csv.stdout().split('\r\n')).toHaveLength(52);
    second.release();
    expect(await csv.ended).toMatchObject({ code: 0 });
  });

  it('that break off say so by code and words, and the JSON is a document all the same', async (test) => {
    const { ask } = await openPayopsDesk(test, { payments: { rateLimit: { limit: 2, windowMs: 600_000 } } });
    const json = await ask('terminals', '--all', '--json');
    expect(json.code).toBe(6);
    expect(JSON.parse(json.stdout)).toMatchObject({
      found: 100,
      read: { pages: 2, items: 100 },
      end: 'broke_off',
      complete: false,
    });
    expect(json.stderr).toContain('The list broke off after 2 pages, 100 terminals');
    const csv = await ask('accounts', '--csv');
    expect(csv).toMatchObject({ code: 0 });
  });

  it('end quietly when the reader leaves, and say when the disk is full', async (test) => {
    const { house } = await openPayopsDesk(test);
    const first = house.paymentsGate.hold(terminalsPath, 'before');
    const csv = startPayops(['terminals', '--csv'], house.settings());
    csv.child.stdout.destroy();
    (await first).release();
    expect(await csv.ended).toMatchObject({ code: 141, stderr: '' });

    const full = openSync('/dev/full', 'w');
    const main = join(root, 'src/main.ts');
    const child = spawn(process.execPath, [main, 'payops', 'lookup', 'ORDER-1001'], {
      env: house.settings(),
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    const [stderr, code] = await Promise.all([
      text(child.stderr!),
      new Promise((resolve) => child.once('close', resolve)),
    ]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'The output cannot be written: ENOSPC\n' });
  });

  it('stop at Ctrl-C with its code', async (test) => {
    const { house } = await openPayopsDesk(test);
    const held = house.paymentsGate.hold(lookupPath, 'before');
    const lookup = startPayops(['lookup', 'ORDER-1001'], house.settings());
    await held;
    lookup.child.kill('SIGINT');
    expect(await lookup.ended).toEqual({ code: 130, stdout: '', stderr: '' });
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;
if (!hasScript)
  console.warn('SKIPPED: the progress on a terminal, because script (util-linux) is not installed.');

describe.skipIf(!hasScript)('on a terminal', () => {
  it('progress is shown where people look and nowhere else', async (test) => {
    const { house } = await openPayopsDesk(test);
    const file = join(house.folder, 'out.csv');
    const command = `'${process.execPath}' '${join(root, 'src/main.ts')}' payops terminals --csv > '${file}'`;
    const env = { ...house.settings(), SHELL: '/bin/sh', TERM: 'xterm', PATH: process.env['PATH'] ?? '' };
    const held = house.paymentsGate.hold(terminalsPath, 'before');
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let seen = '';
    terminal.stdout.setEncoding('utf8').on('data', (chunk: string) => (seen += chunk));
    const ended = new Promise((resolve) => terminal.once('close', resolve));
    await held;
    await house.until('it is shown', () => seen.includes('Reading terminals: 0 pages, 0 read'));
    (await held).release();
    expect(await ended).toBe(0);
    expect(seen).toContain('120 terminals read in 3 calls');
    // Each drawing is wiped before the next and at the end.
    expect(seen.split('\r\u001B[K').length).toBeGreaterThan(2);
    expect(readFileSync(file, 'utf8')).not.toMatch(/Reading|\[K/);
    expect(readFileSync(file, 'utf8').trimEnd().split('\r\n')).toHaveLength(121);
  });
});
