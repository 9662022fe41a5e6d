import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it, type TestContext } from 'vitest';
import { lockStoreFile, markMoved } from '../../src/store/sqlite-file.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { copyStoreFile, putBackStoreFile } from '../../src/store/store-copy.ts';

const checkCopy = () => Promise.resolve();

/** A folder with a store's file, and that store's folder as a snapshot of the disk has it, with the log still there. */
async function snapshotOf(test: TestContext, ...keys: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'payops-'));
  test.onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'payops.sqlite');
  const snapshot = join(folder, 'snapshot', 'payops.sqlite');
  mkdirSync(join(folder, 'snapshot'));
  const store = openSqliteStore({ path, now: Date.now });
  for (const key of keys) await store.create(key, 'value');
  for (const part of ['', '-wal']) copyFileSync(path + part, snapshot + part);
  await store.close();
  return { path, snapshot };
}

async function readsKeys(path: string): Promise<readonly string[]> {
  const store = openSqliteStore({ path, now: Date.now });
  const { keys } = await store.keysAfter('');
  await store.close();
  return keys;
}

it('gives a copy its name only when it is complete, so that a kill leaves none that looks like a backup', async (test) => {
  const { path, snapshot } = await snapshotOf(test);
  const store = openSqliteStore({ path, now: Date.now });
  await Promise.all(Array.from({ length: 300 }, (_, at) => store.create(`key ${at}`, 'x'.repeat(20_000))));
  const copy = `${snapshot}.copy`;
  const thread = new Worker(new URL('../../src/store/store-copy-thread.ts', import.meta.url), {
    workerData: { path, copy },
  });
  const ended = once(thread, 'exit');
  while (!existsSync(copy)) await setImmediate();
  const { size } = statSync(copy);
  await ended;
  await store.close();
  expect(size).toBe(statSync(copy).size);
  expect(copyStoreFile(path, copy)).toEqual({ kind: 'exists' });
});

it('names the copy whose disk is full, and leaves nothing of it', async (test) => {
  const { path } = await snapshotOf(test);
  const store = openSqliteStore({ path, now: Date.now });
  for (let n = 0; n < 10; n += 1) await store.create(`key ${n}`, 'x'.repeat(99_000));
  await store.close();
  const folder = join(dirname(path), 'other-disk');
  mkdirSync(folder);
  const module = new URL('../../src/store/store-copy.ts', import.meta.url).href;
  // A process that may not let a file grow beyond 256 KiB simulates a full disk.
  const program = `import { copyStoreFile } from ${JSON.stringify(module)};
    process.on('SIGXFSZ', () => undefined);
    copyStoreFile(${JSON.stringify(path)}, ${JSON.stringify(join(folder, 'copy'))});`;
  const run = `ulimit -f 256; exec '${process.execPath}' --input-type=module -e "$0"`;
  const { stderr } = spawnSync('bash', ['-c', run, program], { encoding: 'utf8' });
  expect(stderr).toMatch(/other-disk\/copy cannot be written \(.*disk.*\)\. Free some of its disk/);
  expect(readdirSync(folder)).toEqual([]);
});

it('says of a damaged store that it cannot be opened, and what to do, not that the copy cannot', async (test) => {
  const { path } = await snapshotOf(test);
  writeFileSync(path, 'this is a text file and no database at all'.repeat(50));
  expect(() => copyStoreFile(path, `${path}.copy`)).toThrow(
    /payops\.sqlite cannot be opened: the file is damaged, or no SQLite file .*Stop every bot/,
  );
});

it('copies no file whose records were moved to Redis, which would look like a backup', async (test) => {
  const { path } = await snapshotOf(test, 'key');
  const db = lockStoreFile(path);
  markMoved(db);
  db.close();
  expect(() => copyStoreFile(path, `${path}.copy`)).toThrow(/were moved to Redis .* Set REDIS_URL/);
  expect(existsSync(`${path}.copy`)).toBe(false);
});

it('names the file that is no store, not the draft made of it', async (test) => {
  const { path } = await snapshotOf(test);
  const copy = `${path}.text`;
  writeFileSync(copy, 'this is a text file and no database at all'.repeat(50));
  await expect(putBackStoreFile(path, copy, { before: `${path}.before`, checkCopy })).rejects.toThrow(
    `${copy} is not a whole store of Payops`,
  );
});

it('puts back what is only in the log beside the copy, and leaves the copy as it is', async (test) => {
  const { path, snapshot } = await snapshotOf(test, 'older', 'newest');
  rmSync(path);
  const end = await putBackStoreFile(path, snapshot, { before: `${path}.before`, checkCopy });
  expect(end).toMatchObject({ records: 2 });
  expect(await readsKeys(path)).toEqual(['newest', 'older']);
  expect(existsSync(`${snapshot}-wal`)).toBe(true);
});

it('makes no new store beside the log of one that was moved away, which SQLite would delete', async (test) => {
  const { path, snapshot } = await snapshotOf(test, 'newest');
  renameSync(snapshot, `${path}.away`);
  expect(() => openSqliteStore({ path: snapshot, now: Date.now })).toThrow('Put the file back beside it');
  renameSync(`${path}.away`, snapshot);
  expect(await readsKeys(snapshot)).toEqual(['newest']);
});

it('says why a store cannot be replaced, and what to do', async (test) => {
  const { path, snapshot } = await snapshotOf(test);
  const none = join(dirname(path), 'not-mounted', 'payops.sqlite');
  await expect(putBackStoreFile(none, snapshot, { before: `${none}.before`, checkCopy })).rejects.toThrow(
    /cannot be replaced: the file or its folder is not there\. Check DATA_DIR/,
  );
});

it.skipIf(process.getuid?.() !== 0)('puts back by root what the bot’s user can open', async (test) => {
  const { path, snapshot } = await snapshotOf(test, 'key');
  const [uid, gid] = [10_001, 10_002];
  chownSync(dirname(path), uid, gid);
  rmSync(path);
  for (const from of [snapshot, snapshot]) {
    await putBackStoreFile(path, from, { before: `${path}.before`, checkCopy });
    expect(statSync(path)).toMatchObject({ uid, gid });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
});

it('keeps the log of a store whose file was moved away by hand from the store that is put back', async (test) => {
  const { path, snapshot } = await snapshotOf(test, 'lost');
  const copy = `${path}.copy`;
  rmSync(path);
  const store = openSqliteStore({ path, now: Date.now });
  await store.create('kept', 'value');
  copyStoreFile(path, copy);
  await store.close();
  renameSync(path, `${path}.damaged`);
  copyFileSync(`${snapshot}-wal`, `${path}-wal`);
  await putBackStoreFile(path, copy, { before: `${path}.before`, checkCopy });
  expect(await readsKeys(path)).toEqual(['kept']);
  expect(existsSync(`${path}.before-wal`)).toBe(true);
});
