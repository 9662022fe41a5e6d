import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filledPolicyFile } from '../../support/filled-policy.ts';
import { openKept } from '../../../src/app/kept.ts';
import type { Outside } from '../../../src/app/outside.ts';
import { runCommand } from '../../../src/app/command-line/run-command.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { createAuditLog } from '../../../src/operations/audit/audit-log.ts';
import type { Store } from '../../../src/store/store.ts';
import { appendBlocks, entryOf, overwriteLines } from '../../operations/audit-house.ts';
import { findProgram } from '../../support/programs.ts';
import { startRedis, type RedisServer } from '../../support/redis-server.ts';
import { runPayops } from '../../support/run-payops.ts';

type Variables = Record<string, string>;

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  folders.push(folder);
  return folder;
}

function variables(more: Variables): Variables {
  return {
    SLACK_BOT_TOKEN: 'xoxb-token',
    SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
    PAYMENTS_SANDBOX_URL: 'https://payments.test',
    PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
    PAYMENTS_TOKEN_ISSUE_BODY: '{}',
    PAYOPS_FILE: filledPolicyFile,
    ...more,
  };
}

function outside(settings: Variables): Outside {
  const result = readConfig(settings, []);
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  return { config: result.config, log: () => undefined, now: () => Date.now() };
}

async function inStore(
  settings: Variables,
  use: (store: Store, log: ReturnType<typeof createAuditLog>) => Promise<void>,
) {
  const kept = openKept(outside(settings));
  try {
    await kept.checked();
    const { store, sealer } = kept;
    await use(store, createAuditLog({ store, sealer, log: () => undefined, keepMs: undefined }));
  } finally {
    await kept.close();
  }
}

/** Seven entries of three days, in four blocks. */
function fill(settings: Variables): Promise<void> {
  return inStore(settings, async (_store, log) => {
    await appendBlocks(log, [['a', 'b'], ['c'], ['d', 'e', 'f']]);
    const reason = '=HYPERLINK("https://example.com"), said "no"';
    await log.append(
      entryOf('g', { reference: 'pay-1', reason, account: 'lagos', atMs: Date.UTC(2026, 10, 23, 9) }),
    );
    await log.settle();
  });
}

async function run(settings: Variables, ...words: string[]) {
  let data = '';
  const end = await runCommand('audit', words, outside(settings), async (text) => {
    data += text;
    await Promise.resolve();
  });
  return { ...end, data };
}

function onStore(settingsOf: () => Variables): void {
  it('verify says how much there is, from when to when, and where the chain stands', async () => {
    const settings = settingsOf();
    await fill(settings);
    const { exitCode, words } = await run(settings, 'verify');
    expect(exitCode).toBe(0);
    expect(words).toMatch(
      /^The audit trail is whole: 7 entries\.\nFirst {2}1 of 2026-11-21T00:00:00\.000Z\nLast {3}7 of 2026-11-23T09:00:00\.000Z\nHead {3}7:[0-9a-f]{64}$/,
    );
    const [, head = ''] = /Head {3}(.*)$/.exec(words) ?? [];
    expect(await run(settings, 'verify', '--head', head)).toMatchObject({ exitCode: 0 });
    const other = await run(settings, 'verify', '--head', `7:${'0'.repeat(64)}`);
    expect(other).toMatchObject({ exitCode: 3, words: expect.stringContaining('is broken at entry 7') });
    const ahead = await run(settings, 'verify', '--head', `9:${'0'.repeat(64)}`);
    expect(ahead.words).toContain('Entries 8 to 9 are missing at the end: cut off.');
  });

  it('the real process says the same, and its exit code what is wrong', async () => {
    const settings = settingsOf();
    await fill(settings);
    const whole = await runPayops(['audit', 'verify'], settings);
    expect(whole).toMatchObject({ code: 0, stdout: expect.stringContaining('is whole: 7 entries') });
    const exported = await runPayops(['audit', 'export'], settings);
    expect(exported).toMatchObject({ code: 0, stderr: '7 entries exported.\n' });
    expect(exported.stdout.trimEnd().split('\n')).toHaveLength(7);
    await inStore(settings, (store) =>
      overwriteLines(store, 2, ([d = '', ...others]) => [d.replace('U0AGENT01', 'U0AGENT02'), ...others]),
    );
    const broken = await runPayops(['audit', 'verify'], settings);
    // What was found is what was asked for: it goes through a pipe like a whole one.
    expect(broken).toMatchObject({ code: 3, stderr: '' });
    expect(broken.stdout).toBe(
      'The audit trail is broken at entry 4.\n' +
        'Entry 4 (block 2) was changed: its hash is not the hash of what it says.\n' +
        `7 entries were read. The last is 7 of 2026-11-23T09:00:00.000Z, with the hash ${hashIn(whole.stdout)}. Keep a copy of the store as it is.\n`,
    );
  });

  it('an export can be verified without the store, and with any tool', async () => {
    const settings = settingsOf();
    await fill(settings);
    const { data } = await run(settings, 'export');
    const path = join(newFolder(), 'export.jsonl');
    writeFileSync(path, data);
    const none = variables({ DATA_DIR: join(newFolder(), 'none') });
    expect(await run(none, 'verify', '--file', path)).toMatchObject({
      exitCode: 0,
      words: expect.stringMatching(/^The file is whole: 7 entries\./),
    });
    // What docs/audit.md shows.
    const shell = spawn('sh', [
      '-c',
      `sed -n 2p ${path} | sed 's/,"hash":"[0-9a-f]*"}$/}/' | tr -d '\\n' | sha256sum`,
    ]);
    let sum = '';
    shell.stdout.on('data', (text) => (sum += String(text)));
    await once(shell, 'close');
    expect(sum.slice(0, 64)).toBe(JSON.parse(data.split('\n')[1] ?? '').hash);
    expect(sum.slice(0, 64)).toBe(JSON.parse(data.split('\n')[2] ?? '').prev);

    writeFileSync(
      path,
      data
        .split('\n')
        .filter((_, index) => index !== 3)
        .join('\n'),
    );
    expect(await run(none, 'verify', '--file', path)).toMatchObject({
      exitCode: 3,
      words: expect.stringContaining('Entry 4 is missing before entry 5 (line 4): removed.'),
    });
    expect(await run(none, 'verify', '--file', path, '--part')).toMatchObject({ exitCode: 0 });
    writeFileSync(path, data.replace('U0AGENT01', 'U0AGENT02'));
    expect(await run(none, 'verify', '--file', path, '--part')).toMatchObject({
      exitCode: 3,
      words: expect.stringContaining('Entry 1 (line 1) was changed'),
    });
  });

  it('an export takes the days, the reference and the account that were asked for', async () => {
    const settings = settingsOf();
    await fill(settings);
    async function idsOf(...words: string[]): Promise<string> {
      const { data } = await run(settings, 'export', ...words);
      return data.trim() === ''
        ? ''
        : data
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line).id)
            .join('');
    }
    expect(await idsOf('--from', '2026-11-22')).toBe('cdefg');
    expect(await idsOf('--to', '2026-11-22')).toBe('abc');
    expect(await idsOf('--from', '2026-11-23T00:00:01Z')).toBe('g');
    expect(await idsOf('--reference', 'pay-1')).toBe('g');
    expect(await idsOf('--account', 'lagos')).toBe('g');
    expect(await idsOf('--account', 'accra')).toBe('');
  });

  it('a CSV holds no formula and no broken line', async () => {
    const settings = settingsOf();
    await fill(settings);
    const { data } = await run(settings, 'export', '--format', 'csv', '--reference', 'pay-1');
    const [head, row, ...rest] = data.split('\r\n');
    expect(head).toBe(
      '\uFEFFseq,at,who,where,what,verb,account,reference,before,after,result,reason,id,prev,hash',
    );
    expect(row).toContain(`7,2026-11-23T09:00:00.000Z,U0AGENT01,,command,charge,lagos,pay-1,`);
    expect(row).toContain(`"'=HYPERLINK(""https://example.com""), said ""no"""`);
    expect(rest).toEqual(['']);
  });

  it('an export gives a spoilt line as it stands, and says so', async () => {
    const settings = settingsOf();
    await fill(settings);
    await inStore(settings, (store) => overwriteLines(store, 1, () => ['{"spoilt']));
    const { data, words, exitCode } = await run(settings, 'export');
    expect(data.split('\n')[2]).toBe('{"spoilt');
    expect({ exitCode, words }).toEqual({
      exitCode: 3,
      words: '6 entries exported. 1 more cannot be read: npm run audit -- verify says where.',
    });
  });
}

describe('npm run audit on SQLite', () => {
  onStore(() => variables({ DATA_DIR: newFolder() }));

  it('says of a folder without a store that there is nothing, and makes none', async () => {
    const settings = variables({ DATA_DIR: join(newFolder(), 'none') });
    expect(await run(settings, 'verify')).toMatchObject({
      exitCode: 3,
      words: 'There is no audit trail here. Run this with the very settings of the bot.',
    });
    await inStore(settings, () => Promise.resolve());
    expect(await run(settings, 'verify')).toMatchObject({ exitCode: 3 });
  });

  it.each([
    [],
    ['check'],
    ['verify', '--head', '12'],
    ['verify', '--part'],
    ['verify', '--all'],
    ['export', '--format', 'xml'],
    ['export', '--from', 'yesterday'],
    ['export', '4111111111111111'],
  ])('refuses what it does not understand, without repeating it (%s %s %s)', async (...words: string[]) => {
    const end = await run(variables({ DATA_DIR: newFolder() }), ...words);
    expect(end).toMatchObject({ exitCode: 2, words: expect.stringContaining('npm run audit -- verify') });
    expect(end.words).not.toContain('4111');
  });
});

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: npm run audit on Redis, because redis-server is not installed.');
describe.skipIf(missing)('npm run audit on Redis', () => {
  let server: RedisServer;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());
  const sealingKeys = `k1:${randomBytes(32).toString('base64')}`;
  onStore(() => {
    prefixes += 1;
    return variables({ REDIS_URL: server.url, SEALING_KEYS: sealingKeys, REDIS_PREFIX: `audit-${prefixes}` });
  });

  it('opens what an older key signed, as long as that is there, and says so when it is not', async () => {
    const prefix = { REDIS_PREFIX: 'audit-keys' };
    const second = `k2:${randomBytes(32).toString('base64')}`;
    const old = variables({ REDIS_URL: server.url, SEALING_KEYS: sealingKeys, ...prefix });
    await fill(old);
    const both = { ...old, SEALING_KEYS: `${second},${sealingKeys}` };
    await inStore(both, async (_store, log) => {
      await log.append(entryOf('with the new key'));
      await log.settle();
    });
    expect(await run(both, 'verify')).toMatchObject({ exitCode: 0 });
    const end = await run({ ...old, SEALING_KEYS: second }, 'verify');
    expect(end).toMatchObject({
      exitCode: 3,
      words: expect.stringContaining('add the old key after the new one'),
    });
  });

  it('says that the store does not answer, with a code of its own', async () => {
    const away = variables({ REDIS_URL: 'redis://127.0.0.1:1', SEALING_KEYS: sealingKeys });
    expect(await run(away, 'verify')).toMatchObject({
      exitCode: 6,
      words: expect.stringContaining('The store does not answer'),
    });
  });
});

function hashIn(words: string): string {
  return /[0-9a-f]{64}/.exec(words)?.[0] ?? '';
}
