import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, type TestContext } from 'vitest';
import { beginAudit } from '../../src/audit/audit-chain.ts';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { auditCommand } from '../../src/cli/audit.ts';
import { commands } from '../../src/cli/command-line.ts';
import { noteInNewStore, readCommand, withStorage, type CommandEnd } from '../../src/cli/command.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import type { Runtime } from '../../src/config/config.ts';
import { openFingerprint } from '../../src/records/fingerprint.ts';
import { indexAt, searchList } from '../../src/records/found-by.ts';
import { createSealer } from '../../src/store/sealed.ts';
import { markMoved } from '../../src/store/sqlite-file.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { openStorage } from '../../src/store/storage.ts';
import { findProgram } from '../support/programs.ts';
import { redisForTests } from '../support/redis-for-tests.ts';
import { startRedis } from '../support/redis-server.ts';
import { runtimeOf } from '../support/runtime-of.ts';

const done: CommandEnd = { exitCode: exitCodes.ok, words: 'Done.' };
const failed = (error: unknown): string => String(error);

async function dataFolder({ onTestFinished }: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payops-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Makes the store as a bot does at its first start, with one audit entry. */
async function startBot(runtime: Runtime): Promise<void> {
  const { store, sealer, mark } = await openStorage(runtime);
  await mark.claim(() => beginAudit({ store, sealer }));
  const audit = createAuditLog({ store, sealer, log: runtime.log });
  await audit.append({ id: 'first', atMs: 1, who: 'U1', what: 'command' });
  await audit.stop();
  await store.close();
}

describe('a command that changes the store', () => {
  it('does nothing with sealing keys that are not the bot’s, and leaves the audit trail whole', async (test) => {
    const DATA_DIR = await dataFolder(test);
    const bot = runtimeOf({ DATA_DIR, SEALING_KEYS: `a:${randomBytes(32).toString('base64')}` });
    const other = runtimeOf({ DATA_DIR, SEALING_KEYS: `b:${randomBytes(32).toString('base64')}` });
    await startBot(bot);
    const end = await withStorage(other, async () => done, failed, { verb: 'redrive' });
    const { store, sealer, close } = await openStorage(bot);
    const { problems, count } = await verifyAudit({ store, sealer });
    await close();
    expect({ problems, count }).toEqual({ problems: [], count: 1 });
    expect(end).toMatchObject({
      exitCode: exitCodes.settings,
      words: expect.stringMatching(/^Nothing was done\. The sealing keys do not open what this store holds/),
    });
  });

  it('makes no store where there is none', async (test) => {
    const DATA_DIR = join(await dataFolder(test), 'elsewhere');
    const end = await withStorage(runtimeOf({ DATA_DIR }), async () => done, failed, {
      verb: 'forget-cards',
    });
    expect(end).toMatchObject({ exitCode: exitCodes.settings, words: expect.stringContaining(DATA_DIR) });
    expect(existsSync(DATA_DIR)).toBe(false);
  });
});

async function runs(runtime: Runtime, name: string, ...words: string[]): Promise<CommandEnd> {
  const command = commands[name];
  const read = command && readCommand(command, words);
  if (!read?.ok || !('run' in read.value)) throw new Error(`${name} was not understood.`);
  return await read.value.run(runtime, async () => undefined);
}

const reseals = (runtime: Runtime): Promise<CommandEnd> => runs(runtime, 'reseal');

describe('reseal', () => {
  it('names the key file by its name, not by the id of its key', async (test) => {
    const DATA_DIR = await dataFolder(test);
    await startBot(runtimeOf({ DATA_DIR }));
    const alone = await reseals(runtimeOf({ DATA_DIR }));
    expect(alone).toEqual({ exitCode: exitCodes.ok, words: '0 records resealed with sealing.key.' });
    const { exitCode, words } = await reseals(runtimeOf({ DATA_DIR, SEALING_KEYS }));
    expect(exitCode).toBe(exitCodes.ok);
    expect(words).toMatch(/^\d+ records resealed with a\.\nNothing is sealed with sealing\.key\. /);
    expect(words).toMatch(/ delete sealing\.key in DATA_DIR\.$/);
  });

  it('says where to put a key that is missing, and which record it sealed', async (test) => {
    const DATA_DIR = await dataFolder(test);
    const runtime = runtimeOf({ DATA_DIR, SEALING_KEYS });
    await startBot(runtime);
    const { store, close } = await openStorage(runtime);
    const gone = createSealer([{ id: 'gone', key: randomBytes(32) }]);
    await store.create('charge:1', gone.seal('charge:1', 'x'));
    await store.create('charge:2', gone.seal('charge:2', 'x').replace('gone', 'a'));
    await store.create('charge:3', gone.seal('charge:3', 'x').replace('gone', 'file'));
    await close();
    const { exitCode, words } = await reseals(runtime);
    expect(exitCode).toBe(exitCodes.failed);
    expect(words.split('\n').toSorted()).toEqual([
      '0 records resealed with a.',
      'One record is damaged, or sealed with another key that had the id a, and stays as it is: charge:2',
      'One record is sealed with gone, which is missing. Add that key at the end of SEALING_KEYS, and run this again: charge:1',
      'One record is sealed with sealing.key, which is missing. Put that file back into DATA_DIR, and run this again: charge:3',
    ]);
  });
});

it('audit export is not understood with an end before its start', () => {
  const [first, later] = ['2026-11-01', '2026-11-21'];
  expect(readCommand(auditCommand, ['export', '--from', first, '--to', first])).toMatchObject({ ok: true });
  expect(readCommand(auditCommand, ['export', '--from', later, '--to', first])).toMatchObject({
    ok: false,
    problem: expect.stringContaining('--from must be before --to'),
  });
});

it.each(['2026-02-30', '2026-13-01', '2026-02-30T09:00:00Z', '2026-02-28T25:00:00Z'])(
  'audit export understands no time that does not exist, like %s',
  (time) => {
    const problem = expect.stringContaining('--from and --to are days or times in UTC');
    expect(readCommand(auditCommand, ['export', '--from', time])).toMatchObject({ ok: false, problem });
  },
);

const SEALING_KEYS = `a:${Buffer.alloc(32, 1).toString('base64')}`;

it('a command that has replaced the store says so, and that the audit lacks it if the new store is away', async () => {
  const runtime = runtimeOf({ REDIS_URL: 'redis://127.0.0.1:1', SEALING_KEYS });
  const { exitCode, words } = await noteInNewStore(runtime, done, 'move-store');
  expect(exitCode).toBe(exitCodes.ok);
  expect(words).toMatch(/^Done\.\nThe audit has no entry of it: /);
});

it.concurrent.each([
  'audit export',
  'audit verify',
  'day 2026-11-20',
  'doubt',
  'find ada@example.com',
  'forget-cards ada@example.com',
  'forward',
  'redrive',
  'rehearse',
  'reseal',
  'revoke-token',
])('%s ends with the code for “try again” while the store is away', async (line) => {
  const [name = '', ...words] = line.split(' ');
  const runtime = runtimeOf({
    REDIS_URL: 'redis://127.0.0.1:1',
    SEALING_KEYS,
    PAYMENTS_TOKEN_REVOKE_BODY: '{"accessToken":"{{ACCESS_TOKEN}}"}',
  });
  expect(await runs(runtime, name, ...words)).toMatchObject({
    exitCode: exitCodes.noAnswer,
    words: expect.stringMatching(
      /The store does not answer: .*nothing listens there\.\s(Next: )?Start Redis/,
    ),
  });
});

it('find is not whole where a record cannot be read, and says so', async (test) => {
  const runtime = runtimeOf({ DATA_DIR: await dataFolder(test), SEALING_KEYS });
  await startBot(runtime);
  const { store, sealer, close } = await openStorage(runtime);
  const fingerprint = openFingerprint(store, sealer, runtime.log);
  const list = await searchList(fingerprint, { customerEmail: 'ada@example.com' });
  const gone = createSealer([{ id: 'gone', key: randomBytes(32) }]);
  await store.create('charge:1', gone.seal('charge:1', 'x'), { index: indexAt([list], Date.now()) });
  await close();
  const { exitCode, words } = await runs(runtime, 'find', 'ada@example.com');
  expect(exitCode).toBe(exitCodes.unproven);
  expect(words).toContain('1 record can’t be read: a sealing key is missing.');
});

/** Runs the command on the store file that `make` writes. */
async function endOnFile(make: (path: string) => void, name: string): Promise<CommandEnd> {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'payops-'));
  make(join(DATA_DIR, 'payops.sqlite'));
  const end = await runs(runtimeOf({ DATA_DIR, SEALING_KEYS }), name);
  await rm(DATA_DIR, { recursive: true });
  return end;
}

describe('a store without its key file', () => {
  const asked = [
    'audit verify',
    'day 2026-11-20',
    'doubt',
    'find ada@example.com',
    'lookup R',
    'rehearse',
    'reseal',
  ];

  it.concurrent.each(asked)('makes %s say so, and gets no new key', async (line) => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'payops-'));
    const runtime = runtimeOf({ DATA_DIR });
    await startBot(runtime);
    await rm(join(DATA_DIR, 'sealing.key'));
    const [name = '', ...words] = line.split(' ');
    const end = await runs(runtime, name, ...words);
    const left = readdirSync(DATA_DIR);
    await rm(DATA_DIR, { recursive: true });
    expect(left).toEqual(['payops.sqlite']);
    expect(end.exitCode).toBe(exitCodes.settings);
    expect(end.words).toMatch(/^Nothing was done\. The key file .* is missing.* Put it back from a backup/);
  });

  it('is backed up with a word about the key', async (test) => {
    const DATA_DIR = await dataFolder(test);
    const runtime = runtimeOf({ DATA_DIR });
    await startBot(runtime);
    await rm(join(DATA_DIR, 'sealing.key'));
    expect(await runs(runtime, 'backup', join(DATA_DIR, 'copy'))).toMatchObject({
      exitCode: exitCodes.ok,
      words: expect.stringContaining('sealing.key is missing, so look for a copy of it now'),
    });
  });

  it('but another makes audit verify say first that it is the key', async (test) => {
    const DATA_DIR = await dataFolder(test);
    const runtime = runtimeOf({ DATA_DIR });
    await startBot(runtime);
    writeFileSync(join(DATA_DIR, 'sealing.key'), randomBytes(32));
    const { exitCode, words } = await runs(runtime, 'audit', 'verify');
    expect(exitCode).toBe(exitCodes.unproven);
    expect(words).toMatch(
      /^The audit trail is broken at entry 1\.\nThe sealing keys do not open what this store/,
    );
  });

  it('but another makes rehearse say so, instead of finding no event', async (test) => {
    const DATA_DIR = await dataFolder(test);
    const runtime = runtimeOf({ DATA_DIR });
    await startBot(runtime);
    writeFileSync(join(DATA_DIR, 'sealing.key'), randomBytes(32));
    expect(await runs(runtime, 'rehearse')).toMatchObject({
      exitCode: exitCodes.settings,
      words: expect.stringContaining('The sealing keys do not open what this store holds'),
    });
  });
});

/** Another process with an open transaction on the store. */
async function holdStore(test: TestContext, path: string, sql: string): Promise<number | undefined> {
  const program = `const { DatabaseSync } = require('node:sqlite');
    new DatabaseSync(${JSON.stringify(path)}).exec(${JSON.stringify(sql)});
    console.log('held');
    setInterval(() => undefined, 1_000);`;
  const holder = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  test.onTestFinished(() => void holder.kill());
  await once(holder.stdout, 'data');
  return holder.pid;
}

it.for(['backup', 'restore'])(
  '%s says which process holds the store, and to try again',
  async (name, test) => {
    const DATA_DIR = await dataFolder(test);
    const runtime = runtimeOf({ DATA_DIR });
    await startBot(runtime);
    const copy = join(DATA_DIR, 'copy');
    expect(await runs(runtime, 'backup', copy)).toMatchObject({ exitCode: exitCodes.ok });
    const path = join(DATA_DIR, 'payops.sqlite');
    const pid = await holdStore(test, path, 'pragma locking_mode = exclusive; begin exclusive');
    const end = await runs(runtime, name, name === 'backup' ? `${copy}-2` : copy);
    expect(end.exitCode).toBe(exitCodes.noAnswer);
    const isLinux = process.platform === 'linux';
    expect(end.words).toContain(`(database is locked${isLinux ? ` by process ${pid}` : ''}). Stop it`);
  },
);

describe('a store file that cannot be opened', () => {
  it.concurrent.each(['backup', 'restore', 'doubt'])(
    'because of a folder in its place makes %s say so',
    async (name) => {
      const DATA_DIR = mkdtempSync(join(tmpdir(), 'payops-'));
      const runtime = runtimeOf({ DATA_DIR, SEALING_KEYS });
      await startBot(runtime);
      const copy = join(DATA_DIR, 'copy');
      await runs(runtime, 'backup', copy);
      const path = join(DATA_DIR, 'payops.sqlite');
      await rm(path);
      mkdirSync(path);
      const end = await runs(
        runtime,
        name,
        ...(name === 'doubt' ? [] : [name === 'backup' ? `${copy}-2` : copy]),
      );
      await rm(DATA_DIR, { recursive: true });
      expect(end.exitCode).toBe(exitCodes.noAnswer);
      expect(end.words).toMatch(
        /payops\.sqlite cannot be opened: a folder stands in its place \(EISDIR.*\)\.\s(Next: )?Move that folder away/,
      );
    },
  );

  it.concurrent.each(['doubt', 'redrive'])('makes %s say why, and what to do', async (name) => {
    const { exitCode, words } = await endOnFile((path) => writeFileSync(path, 'x'.repeat(4_096)), name);
    expect(exitCode).toBe(exitCodes.noAnswer);
    expect(words).toMatch(
      /the file is damaged, or no SQLite file \(.*\)\.\s(Next: )?Stop every bot and copy/,
    );
    expect(words).not.toContain('can be reached');
  });

  it.concurrent('is not said to be out of reach where its records are in Redis', async () => {
    const { words } = await endOnFile((path) => {
      const db = new DatabaseSync(path);
      db.exec('begin');
      markMoved(db);
      db.close();
    }, 'doubt');
    expect(words).toMatch(
      /Its records were moved to Redis by npm run move-store\. Set REDIS_URL to go on there\.$/,
    );
  });
});

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: move-store, because redis-server is not installed.');

describe.skipIf(missing)('a Redis that refuses', () => {
  it.concurrent.each(['doubt', 'redrive', 'move-store'])('makes %s say why, and what to do', async (name) => {
    const server = await startRedis({ args: ['--requirepass', 'a-password'] });
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'payops-'));
    await startBot(runtimeOf({ DATA_DIR, SEALING_KEYS }));
    const end = await runs(runtimeOf({ DATA_DIR, REDIS_URL: server.url, SEALING_KEYS }), name);
    await Promise.all([server.stop(), rm(DATA_DIR, { recursive: true })]);
    expect(end.exitCode).toBe(exitCodes.noAnswer);
    expect(end.words).toMatch(/Redis wants a password \(NOAUTH\)\.\s(Next: )?Put it into REDIS_URL/);
  });
});

describe.skipIf(missing)('move-store', () => {
  const redis = redisForTests();

  it('moves nothing without the key that sealed the store', async (test) => {
    const DATA_DIR = await dataFolder(test);
    await startBot(runtimeOf({ DATA_DIR }));
    await rm(join(DATA_DIR, 'sealing.key'));
    const REDIS_URL = redis.server().url;
    const runtime = runtimeOf({ DATA_DIR, REDIS_URL, REDIS_PREFIX: 'other-key', SEALING_KEYS });
    expect(await runs(runtime, 'move-store')).toMatchObject({
      exitCode: exitCodes.failed,
      words: expect.stringMatching(/^Nothing was moved\. The sealing keys do not open what this store holds/),
    });
    expect(await redis.connection().client.keys('{other-key}*')).toEqual([]);
    await openSqliteStore({ path: join(DATA_DIR, 'payops.sqlite'), now: runtime.now }).close();
  });

  it('says that it moved, and that the audit lacks it, if the bot refuses the Redis by then', async () => {
    await redis.connection().client.set('{moved}:schema', '1000');
    const runtime = runtimeOf({ REDIS_URL: redis.server().url, REDIS_PREFIX: 'moved', SEALING_KEYS });
    const { exitCode, words } = await noteInNewStore(runtime, done, 'move-store');
    expect(exitCode).toBe(exitCodes.ok);
    expect(words).toMatch(/^Done\.\nThe audit has no entry of it: .*written by a newer Payops/);
  });
});
