import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { readDay } from '../../src/features/day/day.ts';
import { findersOf, storeSteps } from '../../src/merchants.ts';
import type { Log } from '../../src/log.ts';
import { openFingerprint } from '../../src/records/fingerprint.ts';
import type { RedisClient } from '../../src/store/redis-node.ts';
import { storagePart } from '../../src/store/scoped-store.ts';
import { createSealer } from '../../src/store/sealed.ts';
import { createStoreSteps } from '../../src/store/store-steps.ts';
import type { Storage } from '../../src/store/storage.ts';
import { createStoreMark } from '../../src/store/store-mark.ts';
import type { Store } from '../../src/store/store.ts';

// Stores as written by an earlier state of this release, before any step: two accounts with a charge each, the first
// also with a payment link, and none of them in the list from which a day is read. They were made once, by that state's
// own bot.

const sealer = sealerOf('sealing-key-canary');

function sealerOf(key: string) {
  return createSealer([{ id: 'test', key: Buffer.alloc(32, key) }]);
}

export const sampled = {
  main: ['pay-bepmrlse2brbyrg2cppqsd2ajm', 'OLD-LINK'],
  lagos: ['pay-g56nbbuwpu5xvxkdnzuqq5euht'],
} as const;
type Account = keyof typeof sampled;

const sampledDay = { fromMs: Date.UTC(2026, 10, 27), untilMs: Date.UTC(2026, 10, 28) };

export function writeSqliteSample(path: string): void {
  const db = new DatabaseSync(path);
  db.exec(textOf('schema-3.sql'));
  db.close();
}

type Kind =
  | { type: 'string'; value: string }
  | { type: 'set'; value: string[] }
  | { type: 'zset'; value: { value: string; score: number }[] }
  | { type: 'hash'; value: Record<string, string> };

/** Writes the sample into a Redis, under the usual prefix. */
export async function writeRedisSample(client: RedisClient): Promise<void> {
  await client.sendCommand(['FLUSHALL']);
  for (const line of textOf('schema-3.redis.jsonl').trim().split('\n')) {
    const { key, pttl, ...one } = JSON.parse(line) as { key: string; pttl: number } & Kind;
    if (one.type === 'string') await client.set(key, one.value);
    else if (one.type === 'set') await client.sAdd(key, one.value);
    else if (one.type === 'zset') await client.zAdd(key, one.value);
    else await client.hSet(key, one.value);
    if (pttl > 0) await client.pExpire(key, pttl);
  }
}

function textOf(name: string): string {
  return readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8');
}

/** The sample's accounts, made as in the bot. */
function accountsOf(store: Store, log: Log) {
  const storage = { store, sealer } as Storage;
  return (['main', 'lagos'] as const).map((name) => {
    const { storage: part, entryOf } = storagePart(storage, {
      name,
      isFirst: name === 'main',
      isMixed: false,
    });
    const fingerprint = openFingerprint(part.store, part.sealer, log);
    return { name, ...part, entryOf, steps: storeSteps({ ...part, fingerprint, log }) };
  });
}

/** The steps of this release, in one process. `key`: another sealing key than the sample's. */
export function stepsOver(store: Store, log: Log, file?: string, key = 'sealing-key-canary') {
  const mark = createStoreMark({ store, sealer: sealerOf(key) });
  const claim = (): Promise<boolean> => mark.claim(async () => undefined);
  return createStoreSteps({ store, claim, file, parts: accountsOf(store, log), log });
}

/** The words of `npm run payops -- day` about the sample's day. */
export async function knownOfDay(store: Store, account: Account): Promise<(string | undefined)[]> {
  const part = accountsOf(store, () => undefined).find(({ name }) => name === account);
  if (!part) throw new Error('No such account.');
  const finders = findersOf(part);
  const { rows } = await readDay(part, finders, { span: sampledDay, hasEvent: async () => true });
  return rows.map(({ reference }) => reference);
}
