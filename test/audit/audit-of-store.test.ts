import { expect, it } from 'vitest';
import { beginAudit, blockKey, headKey } from '../../src/audit/audit-chain.ts';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { createStoreMark } from '../../src/store/store-mark.ts';
import {
  appendBlocks,
  auditLog,
  entryOf,
  found,
  overwrite,
  readRecord,
  remove,
  sealer,
  type RecordsOnly,
} from '../features/audit-house.ts';
import { onBothStores } from '../features/two-stores.ts';

const witness = 'store-audit';

/** Makes the records of a store on which a bot of this release has started. */
const begin = (store: RecordsOnly): Promise<boolean> =>
  createStoreMark({ store, sealer }).claim(() => beginAudit({ store, sealer }));

/** Writes these entries in blocks, and moves the head. */
async function write(store: RecordsOnly, ids: readonly (readonly string[])[]): Promise<void> {
  const log = auditLog(store);
  await appendBlocks(log, ids);
  await log.moveHead();
}

/** Copies the chain's own records, as somebody with access to the store could. */
async function copyOf(store: RecordsOnly): Promise<Map<string, string>> {
  const copy = new Map([[headKey, await readRecord(store, headKey)]]);
  for (let number = 0; await store.read(blockKey(number)); number += 1)
    copy.set(blockKey(number), await readRecord(store, blockKey(number)));
  return copy;
}

async function putBack(store: RecordsOnly, copy: ReadonlyMap<string, string>): Promise<void> {
  for (const key of (await copyOf(store).catch(() => new Map<string, string>())).keys()) {
    if (!copy.has(key)) await remove(store, key);
  }
  for (const [key, value] of copy) {
    if (await store.read(key)) await overwrite(store, key, () => value);
    else await store.create(key, value, key === headKey ? {} : { index: { 'audit-blocks': 0 } });
  }
}

onBothStores('the chain of a store', (open) => {
  it('is recognised as an older copy in an otherwise newer store, without --head', async () => {
    const { one, two, close } = await open();
    await begin(one);
    await write(one, [['a', 'b'], ['c']]);
    const copy = await copyOf(two);
    await write(one, [['d'], ['e']]);
    expect(await found({ store: one, sealer })).toEqual([]);
    await putBack(two, copy);
    expect(await found({ store: one, sealer })).toEqual(['cut_off 4']);
    // A bot that starts on it logs that, and its new entries don't hide it.
    const lines: string[] = [];
    const log = createAuditLog({
      store: one,
      sealer,
      log: (_level, line) => void lines.push(line),
      blockEveryMs: 0,
    });
    await log.append(entryOf('f'));
    await log.moveHead();
    expect(lines).toEqual([
      'The audit trail was damaged: it does not lead on from the record store-audit. It is written on all the same',
    ]);
    for (const id of ['g', 'h']) await log.append(entryOf(id));
    await log.moveHead();
    expect(await found({ store: one, sealer })).toEqual(['rewritten 5']);
    await close();
  });

  it('is recognised as another store’s audit, even with the same keys', async () => {
    const own = await open();
    const other = await open();
    for (const { one } of [own, other]) await begin(one);
    await write(other.one, [['a', 'b'], ['c']]);
    await putBack(own.one, await copyOf(other.one));
    const chain = { store: own.two, sealer };
    expect(await found(chain)).toContain('other_store 1');
    // Also with a copy of the witness record.
    await own.one.create(witness, await readRecord(other.one, witness));
    expect(await found(chain)).toEqual(expect.arrayContaining(['other_store 1', 'other_store 3']));
    await Promise.all([own.close(), other.close()]);
  });

  it('is reported if the witness record or the store’s own mark is gone', async () => {
    const { one, two, close } = await open();
    await begin(one);
    await write(one, [['a', 'b'], ['c']]);
    const kept = await readRecord(one, witness);
    await remove(two, witness);
    expect(await found({ store: one, sealer })).toEqual(['cut_off 4']);
    await one.create(witness, kept);
    expect(await found({ store: one, sealer })).toEqual([]);
    await remove(two, 'store-mark');
    expect(await found({ store: one, sealer })).toContain('other_store 1');
    await close();
  });

  it('is reported if it was removed as a whole, before and after its next entry, but not if it is new and empty', async () => {
    const { one, two, close } = await open();
    expect(await verifyAudit({ store: one, sealer })).toMatchObject({ isBegun: false, problems: [] });
    await begin(one);
    const isNew = { count: 0, isBegun: true, problems: [] };
    expect(await verifyAudit({ store: one, sealer })).toMatchObject(isNew);
    await write(one, [['a', 'b'], ['c']]);
    for (const key of [witness, ...(await copyOf(two)).keys()]) await remove(two, key);
    expect(await found({ store: one, sealer })).toEqual(['cut_off 1']);
    // A bot starts on this store.
    await begin(two);
    await write(two, [['d']]);
    expect(await found({ store: one, sealer })).toEqual(['cut_off 2']);
    await close();
  });

  it('is accepted if it began before the store had its id, and is tied to the store from the next entry on', async () => {
    const { one, two, close } = await open();
    await write(one, [['a'], ['b']]);
    expect(await found({ store: one, sealer })).toEqual([]);
    await begin(one);
    expect(await found({ store: one, sealer })).toEqual([]);
    const copy = await copyOf(two);
    await write(two, [['c']]);
    expect(await found({ store: one, sealer })).toEqual([]);
    await putBack(two, copy);
    expect(await found({ store: one, sealer })).toEqual(['cut_off 3']);
    await close();
  });
});
