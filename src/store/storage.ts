import {
  accessSync,
  closeSync,
  constants,
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
import { dirname, join, resolve } from 'node:path';
import { type PartHealth, errorCode } from '../domain/failure.ts';
import type { Sealer, Store } from './store.ts';
import { type SealingKey, createSealer } from './sealed.ts';
import { withinDeadline } from './deadline.ts';
import type { RedisConnection } from './redis-client.ts';
import { openRedisStore } from './redis-store.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { watchRedis } from './check-redis.ts';
import { createStoreMark, lostFix, type StoreMark } from './store-mark.ts';
import { explainStoreError } from './explain-error.ts';
import type { Log } from '../log.ts';
import { randomBytes } from 'node:crypto';

/** See `config/settings.ts`. */
type StoreSettings = {
  redisUrl: string | undefined;
  redisPrefix: string;
  redisWaitReplicas: number;
  sealingKeys: readonly SealingKey[] | undefined;
  dataDir: string;
};

export type Storage = {
  store: Store;
  sealer: Sealer;
  /** The ids of the configured sealing keys; the first one seals, all of them open. */
  keyIds: readonly string[];
  /** The whole store, if `store` and `sealer` are one account's part of it. */
  whole?: Pick<Storage, 'store' | 'sealer'>;
  redis: RedisConnection | undefined;
  /** Path of the embedded store. */
  file?: string;
  /** Checks that the configured keys open the store, and that it is still the one on which the process began. */
  mark: StoreMark;
  /** Resolves once the store was checked, or is away. */
  checked: () => Promise<void>;
  /** Why the store can't be trusted; undefined if it can. */
  refusal: () => string | undefined;
  close: () => Promise<void>;
};

/** The embedded store's file, in DATA_DIR. */
export const storeFile = 'payops.sqlite';
/** The embedded store's key, in DATA_DIR, and the id under which it seals. */
export const keyFile = 'sealing.key';
export const keyFileId = 'file';

/** False: no bot has run with these settings, so opening the embedded store would create an empty one. */
export function hasStore({ redisUrl, dataDir }: Pick<StoreSettings, 'redisUrl' | 'dataDir'>): boolean {
  if (redisUrl !== undefined) return true;
  try {
    return statSync(join(dataDir, storeFile), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // In a folder that this user may not enter there may be one: opening it gives the reason.
    return errorCode(error) === 'EACCES';
  }
}

/** Opens the embedded store with its key file, or Redis with the keys that the replicas share. */
export async function openStorage(needs: {
  config: StoreSettings;
  log: Log;
  now: () => number;
}): Promise<Storage> {
  const { config, log, now } = needs;
  if (config.redisUrl === undefined) {
    ifWritable(config.dataDir, () => {
      mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
      accessSync(config.dataDir, constants.W_OK | constants.X_OK);
    });
    const keys = embeddedKeys(config);
    const file = join(config.dataDir, storeFile);
    const opened = openEmbedded(file, keys, now);
    return {
      ...opened,
      file,
      keyIds: keys.map(({ id }) => id),
      redis: undefined,
      checked: () => Promise.resolve(),
      refusal: opened.mark.refusal,
      close: () => opened.store.close(),
    };
  }
  const { redisUrl: url, redisPrefix: prefix, redisWaitReplicas: waitReplicas, sealingKeys = [] } = config;
  // Imported only here, because the embedded store doesn't need its 400 files.
  const { connectRedis } = await import('./redis-client.ts');
  const onOtherNode = () => void watch.check();
  const redis = connectRedis({ url, log, prefix, waitReplicas, onOtherNode });
  const store = openRedisStore(redis.commands, { prefix });
  const watch = watchRedis(redis.commands, prefix, log);
  const sealer = createSealer(sealingKeys);
  const mark = createStoreMark({ store, sealer });
  return {
    store,
    sealer,
    mark,
    keyIds: sealingKeys.map(({ id }) => id),
    redis,
    refusal: () => watch.refusal() ?? mark.refusal(),
    async checked() {
      // Wait for the first attempt to connect: a Redis that is still connecting would count as away and stay unchecked.
      await withinDeadline(redis.tried, firstAttemptMs).catch(() => undefined);
      await watch.check();
    },
    async close() {
      watch.stop();
      await store.close();
      redis.close();
    },
  };
}

/** Opens the store's file with the keys that sealed its records. Throws StoreUnavailable like `openStoreFile`. */
export function openEmbedded(path: string, keys: readonly SealingKey[], now: () => number) {
  const store = openSqliteStore({ path, now });
  const sealer = createSealer(keys);
  return { store, sealer, mark: createStoreMark({ store, sealer }) };
}

export function embeddedStore(config: StoreSettings): { path: string; keys: readonly SealingKey[] } {
  return { path: join(config.dataDir, storeFile), keys: embeddedKeys(config) };
}

/** False if there is no key yet, so that asking for the embedded store's keys would create one. */
export function hasKeys({ sealingKeys = [], dataDir }: StoreSettings): boolean {
  return sealingKeys.length > 0 || existsSync(join(dataDir, keyFile));
}

/** If SEALING_KEYS is set, the key file still opens what it sealed, as long as it exists. */
function embeddedKeys({ sealingKeys = [], dataDir }: StoreSettings): readonly SealingKey[] {
  const path = join(dataDir, keyFile);
  if (sealingKeys.length > 0 && !existsSync(path)) return sealingKeys;
  if (sealingKeys.some(({ id }) => id === keyFileId)) return sealingKeys;
  return [...sealingKeys, { id: keyFileId, key: readOrMakeKeyFile(path, join(dataDir, storeFile)) }];
}

/** How long the start waits for Redis: a hanging one must not keep the process from serving. */
const firstAttemptMs = 2_000;

/** Throws, with the fix, if this user can't make the folder, or can't write to it. Makes nothing. */
export function checkFolderCanBeMade(path: string): void {
  ifWritable(path, () => {
    let existing = resolve(path);
    while (!existsSync(existing)) existing = dirname(existing);
    accessSync(existing, constants.W_OK | constants.X_OK);
  });
}

function ifWritable(path: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const code = errorCode(cause) ?? 'unknown error';
    // Of a folder that is there no other is named: the bot would begin an empty store in that.
    const fix = existsSync(path)
      ? (explainStoreError(code)?.fix ?? 'Check DATA_DIR.')
      : 'Set DATA_DIR to a folder that this user may write to.';
    throw new Error(`The data folder ${path} cannot be written to (${code}). ${fix}`, { cause });
  }
}

/** The store's health. Throws StoreUnavailable if the store takes no writes for an unknown reason. */
export async function storeHealth({
  store,
  refusal,
  redis,
  mark,
}: Pick<Storage, 'store' | 'refusal' | 'redis' | 'mark'>): Promise<PartHealth> {
  const refused = refusal();
  if (refused !== undefined) return { state: 'down', detail: refused };
  try {
    await store.ping();
    const lost = await mark.lost();
    return lost === undefined ? { state: 'ok' } : { state: 'down', detail: lost, fix: lostFix };
  } catch (error) {
    const cause = error instanceof Error ? String(error.cause) : '';
    // If there is no connection, the call's error doesn't say why; the connection's failure does.
    const why = explainStoreError(cause) ?? explainStoreError(redis?.failure() ?? '');
    if (!why) throw error;
    return { state: 'down', ...why };
  }
}

const keyBytes = 32;

/**
 * Reads the file's 32 random bytes, or makes them. Two processes that start at once get the same key, because the file
 * is complete and on the disk when it appears. Throws if others may read the file, if it doesn't contain 32 bytes, or if
 * it is missing beside a store: no other key opens that.
 */
export function readOrMakeKeyFile(path: string, store: string): Buffer {
  // In this order: the process that makes both makes the key first.
  const isKeyLost = existsSync(store) && !existsSync(path);
  if (isKeyLost)
    throw new Error(
      `The key file ${path} is missing, and nothing else opens the store beside it. Put it back from a backup (mode 600), or set the SEALING_KEYS of that store.`,
    );
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
    // `link` instead of `rename`: it never replaces a key that another process has made meanwhile.
    linkSync(draft, path);
    syncToDisk(folder);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}

/** Flushes a file, or a folder's entries, to the disk, so that they survive a power cut. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
