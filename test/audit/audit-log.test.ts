import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { AuditEntry } from '../../src/records/shapes.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { allBlocks, blockKey, entriesOf, readAuditLine, readMarks } from '../../src/audit/audit-chain.ts';
import { createAuditLog } from '../../src/audit/audit-log.ts';
import { createAuditNotes, createAuditTrail } from '../../src/audit/audit-trail.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
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
import { memoryStore } from '../features/memory-store.ts';
import { onBothStores } from '../features/two-stores.ts';

async function idsOnChain(store: RecordsOnly): Promise<string[]> {
  const ids: string[] = [];
  const deps = { store, sealer };
  for await (const block of allBlocks(deps, await readMarks(deps))) {
    ids.push(...entriesOf(block).map(({ entry }) => entry.id));
  }
  return ids;
}

onBothStores('the audit trail', (open) => {
  it('is one chain for many replicas that write at once, with nothing lost or doubled', async () => {
    const { one, two, close } = await open();
    const logs = [one, two].map((store) => auditLog(store));
    const ids = Array.from({ length: 500 }, (_, index) => String(index));
    await Promise.all(
      logs.flatMap((log, replica) => [
        // Most of them at once, the others one after the other.
        ...ids.slice(0, 480).map((id) => log.append(entryOf(`${replica}/${id}`))),
        ids
          .slice(480)
          .reduce(
            (before, id) => before.then(() => log.append(entryOf(`${replica}/${id}`))),
            Promise.resolve(),
          ),
      ]),
    );
    await Promise.all(logs.map((log) => log.moveHead()));
    const report = await verifyAudit({ store: one, sealer });
    expect(report.problems).toEqual([]);
    expect(report.count).toBe(1_000);
    expect(report.last?.seq).toBe(1_000);
    const all = [0, 1].flatMap((replica) => ids.map((id) => `${replica}/${id}`));
    expect((await idsOnChain(two)).toSorted()).toEqual(all.toSorted());
    await close();
  });

  it('never stores a card number or an e-mail address', async () => {
    const { one, contents, close } = await open();
    const log = auditLog(one);
    for (const secret of ['canary.obi@example.com', '4111111111111111']) {
      const said = `so ${secret} it is`;
      const all = { who: said, where: said, verb: said, account: said, reference: said, before: said };
      await log.append(entryOf(said, { ...all, after: said, result: said, reason: said }));
      expect(await log.ofReference(said)).toHaveLength(1);
      expect(await contents.dump()).not.toContain(secret);
    }
    expect(await contents.dump()).toContain('c***@example.com');
    await close();
  });

  it('refuses only an entry without a time', async () => {
    const { one, close } = await open();
    const log = auditLog(one);
    const times = { a: 1, b: Number.NaN, c: 1 };
    const results = await Promise.allSettled(
      Object.entries(times).map(([id, atMs]) => log.append(entryOf(id, { atMs }))),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await idsOnChain(one)).toEqual(['a', 'c']);
    await close();
  });

  it('counts an entry once if the store’s answer was lost and the entry is appended again', async () => {
    const { one, two, close } = await open();
    let isLost = false;
    const losing: RecordsOnly = {
      ...one,
      async create(key, value, options) {
        const created = await one.create(key, value, options);
        if (isLost && key.startsWith('audit:')) throw new StoreUnavailable('The answer was lost.');
        return created;
      },
    };
    const log = auditLog(losing);
    await log.append(entryOf('first'));
    isLost = true;
    await expect(log.append(entryOf('second'))).rejects.toThrow(StoreUnavailable);
    isLost = false;
    await auditLog(two).append(entryOf('of another replica'));
    await Promise.all(['second', 'third'].map((id) => log.append(entryOf(id))));
    expect(await idsOnChain(one)).toEqual(['first', 'second', 'of another replica', 'third']);
    expect(await found({ store: one, sealer })).toEqual([]);
    await close();
  });

  it('counts an entry once if its late block appears while the entry is appended again', async () => {
    const { one, close } = await open();
    let late: (() => Promise<boolean>) | undefined;
    const slow: RecordsOnly = {
      ...one,
      async create(key, value, options) {
        if (!key.startsWith('audit:')) return await one.create(key, value, options);
        if (late) {
          await late();
          return await one.create(key, value, options);
        }
        late = () => one.create(key, value, options);
        throw new StoreUnavailable('No answer in time.');
      },
    };
    const log = auditLog(slow);
    await expect(log.append(entryOf('a'))).rejects.toThrow(StoreUnavailable);
    await Promise.all(['a', 'b'].map((id) => log.append(entryOf(id))));
    expect(await idsOnChain(one)).toEqual(['a', 'b']);
    await close();
  });

  it('continues from an older state of the store that was put back, and reports that', async () => {
    const { one, close } = await open();
    let isAway = false;
    const told: unknown[] = [];
    const store: RecordsOnly = {
      ...one,
      create: (...given) => (isAway ? Promise.reject(new StoreUnavailable('Away.')) : one.create(...given)),
    };
    const log = createAuditLog({
      store,
      sealer,
      log: (level, message, fields) => told.push([level, message, fields]),
    });
    await appendBlocks(log, [['a'], ['b'], ['c']]);
    const [, line = ''] = (await readRecord(one, blockKey(2))).split('\n');
    isAway = true;
    await expect(log.append(entryOf('d'))).rejects.toThrow(StoreUnavailable);
    isAway = false;
    expect(told).toEqual([]);
    await remove(one, blockKey(2));
    await log.append(entryOf('d'));
    // Chain and head may agree again, so the log is the only witness.
    expect(told).toEqual([
      [
        'error',
        expect.stringContaining('gone back'),
        expect.objectContaining({ auditSeq: 3, auditHash: readAuditLine(line)?.hash }),
      ],
    ]);
    expect(await idsOnChain(one)).toEqual(['a', 'b', 'd']);
    expect(await found({ store: one, sealer })).toEqual([]);
    await close();
  });

  it('finds its end with few reads, even if the signed head is far behind', async () => {
    const { one, close } = await open();
    const log = auditLog(one);
    await appendBlocks(
      log,
      Array.from({ length: 150 }, (_, index) => [`e${index}`]),
    );
    let reads = 0;
    const counted = auditLog({
      ...one,
      read(key) {
        reads += 1;
        return one.read(key);
      },
    });
    await counted.append(entryOf('last'));
    expect(reads).toBeLessThan(25);
    expect((await counted.moveHead())?.seq).toBe(151);
    // After the time in which the end is trusted without reading, and after the head has moved, which also reads.
    await sleep(1_600);
    reads = 0;
    await counted.append(entryOf('after a rest'));
    expect(reads).toBe(2);
    await close();
  });

  it('returns all entries about a reference, of every replica, in order and once', async () => {
    const { one, two, close } = await open();
    const [first, second] = [auditLog(one), auditLog(two)];
    const reference = 'pay-abc';
    await first.append(entryOf('a', { reference }));
    await second.append(entryOf('b', { reference: 'another' }));
    expect((await second.ofReference(reference)).map(({ id }) => id)).toEqual(['a']);
    await first.append(entryOf('c', { reference, after: 'approved' }));
    // The same entry again, as after a crash.
    await second.append(entryOf('a', { reference }));
    expect(await first.ofReference(reference)).toEqual([
      entryOf('a', { reference }),
      entryOf('c', { reference, after: 'approved' }),
    ]);
    expect((await second.ofReference(reference)).map(({ id }) => id)).toEqual(['a', 'c']);
    expect(await second.ofReference('never heard of')).toEqual([]);
    await close();
  });

  it('distinguishes two references that are masked alike, and stores neither address', async () => {
    const { one, close } = await open();
    const log = auditLog(one);
    const [jane, john] = ['jane@example.com', 'john@example.com'];
    await appendBlocks(log, [['other']]);
    await log.append(entryOf('a', { reference: jane }));
    await log.append(entryOf('b', { reference: john }));
    await log.moveHead();
    for (const [reference, id] of [[jane, 'a'] as const, [john, 'b'] as const]) {
      const told = await log.ofReference(reference);
      expect(told.map((entry) => entry.id)).toEqual([id]);
      expect(JSON.stringify(told)).not.toContain(reference);
    }
    await close();
  });

  it('continues after a damaged block, which verification finds', async () => {
    const { one, two, close } = await open();
    await appendBlocks(auditLog(one), [['a'], ['b']]);
    await overwrite(one, blockKey(1), () => 'nothing of ours');
    const log = auditLog(two);
    await appendBlocks(log, [['c'], ['d']]);
    expect(await idsOnChain(one)).toEqual(['a', 'c', 'd']);
    expect((await found({ store: one, sealer }))[0]).toBe('changed 2');
    await close();
  });
});

it('logs the chain’s end when the process stops, and nothing for an empty chain', async () => {
  const lines: unknown[] = [];
  const store = memoryStore({ nowMs: 0 });
  const log = createAuditLog({
    store,
    sealer,
    log: (level, message, fields) => void lines.push([level, message, fields]),
  });
  log.start();
  await log.stop();
  expect(lines).toEqual([]);
  await log.append(entryOf('a'));
  await log.stop();
  const head = await log.moveHead();
  expect(lines).toEqual([['info', 'The audit trail stands here', { auditSeq: 1, auditHash: head?.hash }]]);
});

it('writes a note with its account’s name, retries a few times, and logs the id of a note that fails', async () => {
  const [written, logged, waited]: [AuditEntry[], unknown[], number[]] = [[], [], []];
  let refusals = 3;
  const all = createAuditNotes({
    async audit(...entries) {
      refusals -= 1;
      if (refusals >= 0) throw new StoreUnavailable('away');
      written.push(...entries);
    },
    now: () => 1_000,
    wait: (ms) => Promise.resolve(waited.push(ms)),
    log: (_level, message, fields) => void logged.push({ message, key: fields?.key }),
  });
  // Two accounts may have the same order reference.
  const notes = all.of('shop-b');
  notes.note({ what: 'step', who: 'payops', id: 'mine' });
  await all.drained();
  expect(written).toEqual([
    { what: 'step', who: 'payops', id: 'shop-b/mine', account: 'shop-b', atMs: 1_000 },
  ]);
  expect(waited).toEqual([100, 400, 1_600]);
  expect(logged).toEqual([]);
  refusals = 4;
  notes.note({ what: 'step', who: 'payops', id: 'other' });
  await all.drained();
  expect(written).toHaveLength(1);
  expect(logged).toEqual([{ message: 'an entry of the audit could not be written', key: 'shop-b/other' }]);
});

it('writes the notes of one turn together, of all accounts in order; one without a time fails alone', async () => {
  const [appended, failed]: [string[][], unknown[]] = [[], []];
  const all = createAuditNotes({
    async audit(...entries) {
      if (entries.some(({ atMs }) => Number.isNaN(atMs))) throw new RangeError('An audit entry has no time.');
      appended.push(entries.map(({ id }) => id));
    },
    now: () => 1_000,
    wait: () => Promise.resolve(),
    log: (_level, _message, fields) => void failed.push(fields?.key),
  });
  const step = { what: 'step', who: 'payops' } as const;
  all.of('shop-b').note({ ...step, id: 'first' });
  all.of(undefined).note({ ...step, id: 'no time', atMs: Number.NaN });
  const isWritten = all.of(undefined).write({ ...step, id: 'second', atMs: 2_000 });
  expect(await isWritten).toBe(true);
  all.of(undefined).note({ ...step, id: 'later' });
  await all.drained();
  expect(appended).toEqual([['shop-b/first', 'second'], ['later']]);
  expect(failed).toEqual(['no time']);
});

it('the audit trail has all earlier notes when it stops, even if the store was away for a moment', async () => {
  const clock = { nowMs: 1_000 };
  const store = memoryStore(clock);
  let isAway = true;
  const blinking: typeof store = {
    ...store,
    async create(...given) {
      if (!isAway) return await store.create(...given);
      isAway = false;
      throw new StoreUnavailable('away');
    },
  };
  const runtime = { config: { auditKeepDays: 0 }, log: () => undefined, now: () => clock.nowMs };
  const trail = createAuditTrail(runtime, { store: blinking, sealer });
  trail.notesOf(undefined).note({ what: 'command', who: 'operator', id: 'mine' });
  await trail.stop();
  expect(await idsOnChain(store)).toEqual(['mine']);
});
