import { expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { storeHealth } from '../../src/store/storage.ts';
import type { Store } from '../../src/store/store.ts';

const mark = {
  claim: async () => true,
  refusal: () => undefined,
  lost: async () => undefined,
};

it.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", 'Redis is out of memory'],
  ['MISCONF Redis is configured to save RDB snapshots', 'Redis cannot write to its disk'],
  ["READONLY You can't write against a read only replica.", 'REDIS_URL leads to a replica'],
  ['ERR Error running script: @user_script: 51: -READONLY You', 'REDIS_URL leads to a replica'],
  ['NOREPLICAS 0 of 1 replicas have the change.', 'too few replicas of Redis have the change'],
  ["ERR unknown command 'EVALSHA', with args beginning with: ", 'Redis lacks a command that the bot needs'],
  ['database or disk is full', 'the disk of DATA_DIR is full'],
  ['ENOSPC: no space left on device, fdatasync', 'the disk of DATA_DIR is full'],
  ['attempt to write a readonly database', 'the disk of DATA_DIR takes no writes'],
  [
    "EACCES: permission denied, open '/data/payops.sqlite'",
    'this user may not use the store file, or its folder',
  ],
  ['disk I/O error', 'the disk of DATA_DIR takes no writes'],
  ['EIO: i/o error, fdatasync', 'the disk of DATA_DIR takes no writes'],
])('says why the store takes no writes: %s', async (message, detail) => {
  const ping = async () => {
    throw new StoreUnavailable('The store did not take the change.', new Error(message));
  };
  const kept = { refusal: () => undefined, redis: undefined, store: { ping } as unknown as Store, mark };
  expect(await storeHealth(kept)).toEqual({ state: 'down', detail, fix: expect.any(String) });
});
