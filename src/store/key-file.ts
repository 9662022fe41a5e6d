import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../domain/failure.ts';

const keyBytes = 32;

/**
 * The 32 random bytes in the file, made now if there is none. Two processes that start at once get the
 * same key: the file appears whole or not at all, and is on the disk before anything is sealed with it.
 * Throws when others than its owner may read it, or when it does not hold 32 bytes.
 */
export function readOrMakeKeyFile(path: string): Buffer {
  if (!existsSync(path)) makeKeyFile(path);
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0 && process.platform !== 'win32') {
    throw new Error(
      `The key file ${path} may be read by others (mode ${mode.toString(8).padStart(4, '0')}). Run: chmod 600 ${path}`,
    );
  }
  const key = readFileSync(path);
  if (key.length !== keyBytes) {
    throw new Error(
      `The key file ${path} holds ${key.length} bytes instead of ${keyBytes}. Restore it from a backup; what was sealed with it opens with no other key.`,
    );
  }
  return key;
}

function makeKeyFile(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, randomBytes(keyBytes));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    // A link, unlike a rename, never replaces the key another process has made meanwhile.
    linkSync(draft, path);
    syncFolder(folder);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
