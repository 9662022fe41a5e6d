import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { storeHealth } from '../../src/store/storage.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { claimRace } from './claim-race.ts';
import { storeContract } from './contract.ts';
import { compareWithModel } from './model.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function newPath(): string {
  files += 1;
  return join(folder, `data-${files}`, 'payops.db');
}

function openAt(path: string, clock = { ms: 1_700_000_000_000 }) {
  const store = openSqliteStore({ path, now: () => clock.ms });
  return {
    store,
    clock,
    path,
    shift: (ms: number) => void (clock.ms += ms),
    pass: async (ms: number) => void (clock.ms += ms),
    close: () => store.close(),
  };
}

function openOnSlowDisk() {
  const syncs: PromiseWithResolvers<void>[] = [];
  function sync(): Promise<void> {
    const one = Promise.withResolvers<void>();
    syncs.push(one);
    return one.promise;
  }
  const path = newPath();
  return { store: openSqliteStore({ path, now: Date.now, sync }), path, syncs };
}

/** What has resolved after some turns of the event loop. */
async function settled(calls: Record<string, Promise<unknown>>): Promise<string[]> {
  const done: string[] = [];
  for (const [name, call] of Object.entries(calls)) void call.then(() => done.push(name));
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  return done;
}

storeContract('SQLite', async () => openAt(newPath()));

describe('openSqliteStore', () => {
  it('gives the model’s answers, for any order of calls', async () => {
    const path = newPath();
    const { store, clock, close } = openAt(path);
    const raw = new DatabaseSync(path);
    const subject = {
      store,
      setClock: (ms: number) => void (clock.ms = ms),
      clear: async () => raw.exec('delete from entries; delete from lanes'),
    };
    await expect(compareWithModel(subject, { ttl: true, runs: 200 })).resolves.toBeUndefined();
    raw.close();
    await close();
  });

  it('keeps an acknowledged change even if its process is killed right after', async () => {
    const path = newPath();
    const module = new URL('../../src/store/sqlite-store.ts', import.meta.url).href;
    const program = `import { openSqliteStore } from ${JSON.stringify(module)};
      const store = openSqliteStore({ path: ${JSON.stringify(path)}, now: Date.now });
      await store.create('a', 'kept', { delayMs: 0 });
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    expect(child.signal).toBe('SIGKILL');
    expect(child.stderr).toBe('');
    const { store, close } = openAt(path, { ms: Date.now() + 1000 });
    expect(await store.take(1000)).toMatchObject([{ key: 'a', value: 'kept' }]);
    await close();
  });

  it('puts on the disk what a killed process may have left unsynced, before it reads it', async () => {
    const { store, path, close } = openAt(newPath());
    await store.create('a', 'x');
    const left = join(path, '..', 'left.db');
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, left + suffix);
    await close();
    const next = openAt(left);
    // SQLite syncs what it copies from the log into the file itself.
    const alone = `${left}.alone`;
    copyFileSync(left, alone);
    const raw = new DatabaseSync(alone);
    expect(raw.prepare('select key, value from entries').all()).toMatchObject([{ key: 'a', value: 'x' }]);
    raw.close();
    await next.close();
  });

  it('opens a file by a symbolic link; its log is next to the file', async () => {
    const { path, close } = openAt(newPath());
    await close();
    const link = join(folder, 'link.db');
    symlinkSync(path, link);
    const linked = openAt(link);
    expect(await linked.store.create('a', '')).toBe(true);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await linked.close();
  });

  it('lets only one of two processes create each of 2,000 keys', async () => {
    const [one = 0, two = 0] = await claimRace(newPath(), 2_000);
    expect(one + two).toBe(2_000);
    expect(Math.min(one, two)).toBeGreaterThan(0);
  });

  it('keeps its folder and files from other users', async () => {
    const { store, path, close } = openAt(newPath());
    await store.create('a', '');
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o077).toBe(0);
    await close();
  });

  it('frees the space of expired memory, a little with each call', async () => {
    const { store, path, clock, close } = openAt(newPath());
    const raw = new DatabaseSync(path);
    const count = () => Number(raw.prepare('select count(*) n from entries').get()?.['n']);
    await Promise.all(Array.from({ length: 100 }, (_, n) => store.create(`old ${n}`, '', { ttlMs: 10 })));
    await store.create('work', '', { delayMs: 1_000_000 });
    clock.ms += 10;
    await store.take(1000);
    expect(count()).toBeLessThan(101);
    expect(count()).toBeGreaterThan(90);
    for (let n = 0; n < 30; n += 1) await store.take(1000);
    expect(count()).toBe(1);
    raw.close();
    await close();
  });

  it.each<[string, (path: string) => void]>([
    ['moved', (path) => renameSync(path, `${path}.old`)],
    ['removed', (path) => ['', '-wal', '-shm'].forEach((part) => rmSync(path + part))],
    ['replaced', (path) => renameSync(`${path}.other`, path)],
  ])('takes no change once its file was %s: the next start would not have it', async (_how, change) => {
    const path = newPath();
    const store = openSqliteStore({ path, now: Date.now });
    writeFileSync(`${path}.other`, 'another');
    await store.create('before', 'it');
    change(path);
    const refused = {
      name: 'StoreUnavailable',
      cause: expect.objectContaining({ message: expect.any(String) }),
    };
    await expect(store.create('after', 'it')).rejects.toMatchObject(refused);
    const { refusal, redis } = { refusal: () => undefined, redis: undefined };
    const mark = { claim: async () => true, refusal, lost: async () => undefined };
    expect(await storeHealth({ store, refusal, redis, mark })).toEqual({
      state: 'down',
      detail: 'the store file was moved, removed or replaced while the bot ran',
      fix: 'Move the file back, and the bot goes on at once. If it is gone, stop the bot and restore a backup: docs/operating.md.',
    });
    await store.close();
  });

  it('goes on once its file is moved back', async () => {
    const path = newPath();
    const store = openSqliteStore({ path, now: Date.now });
    renameSync(path, `${path}.old`);
    await expect(store.create('a', '')).rejects.toThrow(StoreUnavailable);
    renameSync(`${path}.old`, path);
    expect(await store.create('a', '')).toBe(true);
    await store.close();
  });

  it('throws StoreUnavailable while the file can’t be written, and is intact afterwards', async () => {
    const { store, path, close } = openAt(newPath());
    await store.create('before', '', { delayMs: 0 });
    const raw = new DatabaseSync(path);
    raw.exec(
      `create trigger refuse before insert on entries when new.key = 'b' begin select raise(abort, 'disk'); end`,
    );
    const calls = await Promise.allSettled([store.create('a', ''), store.create('b', '')]);
    expect(calls.map((call) => call.status)).toEqual(['rejected', 'rejected']);
    expect(calls[0]).toMatchObject({ reason: { name: 'StoreUnavailable' } });
    expect(await store.read('a')).toBeUndefined();
    raw.exec('drop trigger refuse');
    expect(await store.create('a', '')).toBe(true);
    expect(await store.take(1000)).toHaveLength(1);
    raw.close();
    await close();
  });

  describe('with a disk that takes its time', () => {
    it('answers a change and what reads it only once the disk has it', async () => {
      const { store, syncs } = openOnSlowDisk();
      const created = store.create('a', 'x', { delayMs: 0 });
      expect(await settled({ created })).toEqual([]);
      const calls = { read: store.read('a'), again: store.create('a', 'y'), backlog: store.backlog() };
      expect(await settled({ created, ...calls })).toEqual([]);
      expect(syncs).toHaveLength(1);
      syncs[0]?.resolve();
      expect(await settled({ created, ...calls })).toHaveLength(4);
      expect(await calls.read).toMatchObject({ value: 'x' });
      expect(await calls.again).toBe(false);
      await store.close();
    });

    it('waits for one sync after the running one, for all changes made meanwhile', async () => {
      const { store, syncs } = openOnSlowDisk();
      const first = store.create('a', '');
      await nextTurn();
      const second = store.create('b', '');
      await nextTurn();
      const third = store.take(1_000);
      const late = store.create('c', '', { delayMs: 0 });
      expect(await settled({ first, second, third, late })).toEqual([]);
      syncs[0]?.resolve();
      expect(await settled({ first, second, third, late })).toEqual(['first']);
      expect(syncs).toHaveLength(2);
      syncs[1]?.resolve();
      expect(await settled({ second, third, late })).toEqual(['second', 'third', 'late']);
      const closed = store.close();
      expect(await settled({ closed })).toEqual(['closed']);
      expect(syncs).toHaveLength(2);
    });

    it('closes once the disk has the last change', async () => {
      const { store, syncs } = openOnSlowDisk();
      const last = store.create('a', '');
      const closed = store.close();
      const again = store.close();
      expect(await settled({ last, closed, again })).toEqual([]);
      syncs[0]?.resolve();
      expect(await settled({ last, closed, again })).toEqual(['last', 'closed', 'again']);
      await expect(store.create('b', '')).rejects.toThrow('closed');
    });

    it('takes no more calls after a sync that failed: nobody knows what the disk has', async () => {
      const { store, path, syncs } = openOnSlowDisk();
      const calls = [store.create('a', ''), store.create('b', '')];
      await nextTurn();
      const meanwhile = [store.create('c', ''), store.read('a')];
      await nextTurn();
      syncs[0]?.reject(new Error('EIO: i/o error, fdatasync'));
      const before = await Promise.allSettled([...calls, ...meanwhile]);
      const later = [store.ping(), store.read('a'), store.take(1_000), store.create('d', '')];
      const ended = [...before, ...(await Promise.allSettled(later))];
      const failed = { status: 'rejected', reason: { name: 'StoreUnavailable' } };
      expect(ended).toMatchObject(ended.map(() => failed));
      expect(syncs).toHaveLength(1);
      await store.close();
      // Later calls didn't write on top of it.
      const raw = new DatabaseSync(path);
      expect(raw.prepare('select key from entries').all()).toMatchObject(
        ['a', 'b', 'c'].map((key) => ({ key })),
      );
      raw.close();
    });
  });

  it('rejects a ping once its disk is full', () => {
    const module = new URL('../../src/store/sqlite-store.ts', import.meta.url).href;
    // A process that may not let a file grow beyond 256 KiB simulates a full disk.
    const program = `import { openSqliteStore } from ${JSON.stringify(module)};
      process.on('SIGXFSZ', () => undefined);
      const store = openSqliteStore({ path: ${JSON.stringify(newPath())}, now: Date.now });
      await store.ping();
      for (let n = 0; await store.create('a' + n, 'x'.repeat(999)).catch(() => false); n += 1) continue;
      // A few pings may still fit where a record doesn't.
      for (let n = 0; n < 10; n += 1) await store.ping().catch((error) => console.log(String(error.cause)));`;
    const run = `ulimit -f 256; exec '${process.execPath}' --input-type=module -e "$0"`;
    const child = spawnSync('bash', ['-c', run, program], { encoding: 'utf8' });
    expect(child.stderr).toBe('');
    expect(child.stdout).toMatch(/disk|full/);
  });

  it('says so if too many files are open', () => {
    const module = new URL('../../src/store/sqlite-store.ts', import.meta.url).href;
    const path = newPath();
    const program = `import { openSqliteStore } from ${JSON.stringify(module)};
      await openSqliteStore({ path: ${JSON.stringify(path)}, now: Date.now }).close();
      try {
        // Each store needs four; the last one finds too few left, at any of its steps.
        for (;;) openSqliteStore({ path: ${JSON.stringify(path)}, now: Date.now });
      } catch (error) {
        console.log(error.name, error.message);
      }`;
    for (const most of [60, 61, 62, 63]) {
      const run = `ulimit -n ${most}; exec '${process.execPath}' --input-type=module -e "$0"`;
      const child = spawnSync('bash', ['-c', run, program], { encoding: 'utf8' });
      expect(child.stdout).toMatch(/^StoreUnavailable .*(too many files are open|SQLite cannot open)/);
    }
  });

  it('says why it cannot open a file', async () => {
    const notOurs = newPath();
    expect(() => openSqliteStore({ path: join(folder, '\0'), now: Date.now })).toThrow(/cannot be opened/);
    await openAt(notOurs).close();
    const raw = new DatabaseSync(notOurs);
    raw.exec('pragma user_version = 99');
    raw.close();
    expect(() => openAt(notOurs)).toThrow(
      /newer Payops \(schema 99; this one knows 3\)\. Run that version again\./,
    );
    const older = new DatabaseSync(notOurs);
    older.exec('pragma user_version = 1');
    older.close();
    expect(() => openAt(notOurs)).toThrow(/older Payops.*Run the release that wrote it/);
    const text = join(folder, 'text.db');
    writeFileSync(text, 'this is a text file and no database at all'.repeat(50));
    expect(() => openAt(text)).toThrow(/not a database/);
    expect(readFileSync(text, 'utf8')).toMatch(/^this is a text file/);
  });
});
