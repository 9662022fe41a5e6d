import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Approval } from '../../src/domain/approval.ts';
import { approvalPrefix } from '../../src/features/approvals/approval-case.ts';
import { createChargeRecords, type ChargeRecord } from '../../src/features/charge/charge-record.ts';
import type { Sealer, Store } from '../../src/store/store.ts';
import { readOrMakeKeyFile } from '../../src/store/key-file.ts';
import type { RedisClient } from '../../src/store/redis-client.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { createSealer } from '../../src/store/sealed.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import type { House } from './house.ts';

/** What a bot's store holds of charges, read past the bot. */
export type ChargeInStore = {
  read: (reference: string) => Promise<ChargeRecord | undefined>;
  /** The request for a second person that has this id. */
  approval: (id: string) => Promise<Approval | undefined>;
  /** Keys of what is still to be told or edited. */
  toTell: () => Promise<string[]>;
  close: () => Promise<void>;
};

/** Of a house whose bot has started once: there is no file before. */
export function openChargeInStore(house: House, redis: RedisClient | undefined): ChargeInStore {
  return redis ? inRedis(house, redis) : inFile(house);
}

async function readApproval(store: Store, sealer: Sealer, id: string): Promise<Approval | undefined> {
  const entry = await store.read(approvalPrefix + id);
  if (!entry) return undefined;
  const { state } = JSON.parse(sealer.open(entry.key, entry.value)) as { state: { approval: Approval } };
  return state.approval;
}

function inFile({ dataDir }: House): ChargeInStore {
  const path = join(dataDir, 'payops.sqlite');
  const sealer = createSealer([{ id: 'file', key: readOrMakeKeyFile(join(dataDir, 'sealing.key')) }]);
  const store = openSqliteStore({ path, now: Date.now });
  const charges = createChargeRecords({ store, sealer, wait: sleep });
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const due = db.prepare(
    "select key from entries where due_at is not null and key like 'message:%' and lane <> 'alert-details'",
  );
  return {
    read: (reference) => charges.read(reference),
    approval: (id) => readApproval(store, sealer, id),
    toTell: () => Promise.resolve(due.all().map((row) => String(row['key']))),
    async close() {
      db.close();
      await store.close();
    },
  };
}

function inRedis(house: House, client: RedisClient): ChargeInStore {
  const { REDIS_PREFIX: prefix = '', SEALING_KEYS = '' } = house.settings();
  const [id = '', key = ''] = SEALING_KEYS.split(':');
  const sealer = createSealer([{ id, key: Buffer.from(key, 'base64') }]);
  const store = openRedisStore(client, { prefix });
  const charges = createChargeRecords({ store, sealer, wait: sleep });
  return {
    read: (reference) => charges.read(reference),
    approval: (id) => readApproval(store, sealer, id),
    async toTell() {
      const lanes = (await client.keys(`{${prefix}}:work:*`)).filter(
        (lane) => !lane.endsWith(':alert-details'),
      );
      const works = await Promise.all(lanes.map((lane) => client.zRange(lane, 0, -1)));
      return works.flat().filter((work) => work.startsWith('message:'));
    },
    close: () => store.close(),
  };
}
