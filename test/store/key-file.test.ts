import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hasStore, readOrMakeKeyFile } from '../../src/store/storage.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-key-'));
const noStore = join(folder, 'none.sqlite');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(process.getuid?.() !== 0)(
  'a store in a folder that this user may not enter is no missing one',
  () => {
    const dataDir = mkdtempSync(join(folder, 'owned-'));
    expect(hasStore({ redisUrl: undefined, dataDir })).toBe(false);
    process.seteuid?.(65_534);
    try {
      expect(hasStore({ redisUrl: undefined, dataDir })).toBe(true);
    } finally {
      process.seteuid?.(0);
    }
  },
);

describe('readOrMakeKeyFile', () => {
  it('makes 32 random bytes that only the owner may read, and then always returns these', () => {
    const path = join(folder, 'data', 'one.key');
    const key = readOrMakeKeyFile(path, noStore);
    expect(key).toHaveLength(32);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
    expect(readOrMakeKeyFile(path, noStore)).toEqual(key);
    expect(readOrMakeKeyFile(join(folder, 'data', 'two.key'), noStore)).not.toEqual(key);
    expect(readdirSync(join(folder, 'data'))).toEqual(['one.key', 'two.key']);
  });

  it('gives one key to processes that start at once', async () => {
    const module = new URL('../../src/store/storage.ts', import.meta.url).href;
    const path = join(folder, 'race', 'race.key');
    const program = `import { readOrMakeKeyFile } from ${JSON.stringify(module)};
      process.stdout.write('r');
      process.stdin.once('data', () => {
        process.stdout.write(readOrMakeKeyFile(${JSON.stringify(path)}, ${JSON.stringify(noStore)}).toString('hex'));
        process.exit();
      });`;
    const children = [0, 1, 2].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    await Promise.all(children.map((child) => once(child.stdout, 'data')));
    const keys = children.map(async (child) => String((await once(child.stdout, 'data'))[0]));
    for (const child of children) child.stdin.write('go');
    const [first, ...others] = await Promise.all(keys);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    for (const other of others) expect(other).toBe(first);
    expect(readdirSync(join(folder, 'race'))).toEqual(['race.key']);
  });

  it('refuses a file that others may read, with the command that fixes it', () => {
    const path = join(folder, 'open.key');
    readOrMakeKeyFile(path, noStore);
    chmodSync(path, 0o640);
    expect(() => readOrMakeKeyFile(path, noStore)).toThrow(/mode 0640.*chmod 600/);
  });

  it('refuses a file without a key, and leaves it unchanged', () => {
    const path = join(folder, 'short.key');
    writeFileSync(path, 'short', { mode: 0o600 });
    expect(() => readOrMakeKeyFile(path, noStore)).toThrow(/5 bytes instead of 32/);
    expect(statSync(path).size).toBe(5);
  });
});
