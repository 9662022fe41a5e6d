import { expect, it } from 'vitest';
import {
  blockKey,
  emptyTail,
  headKey,
  readAuditLine,
  signMark,
  signText,
  stubKey,
  writeAuditLine,
  type AuditHead,
} from '../../src/audit/audit-chain.ts';
import { verifyAudit, type VerifiedAudit } from '../../src/audit/verify-audit.ts';
import {
  appendBlocks,
  auditLog,
  entryOf,
  found,
  overwrite,
  overwriteLines,
  readRecord,
  remove,
  sealer,
  startMs,
  strangersSealer,
  type RecordsOnly,
} from '../features/audit-house.ts';
import { onBothStores } from '../features/two-stores.ts';

/** Ten entries in four blocks: 1 to 3, 4 to 6, 7 to 9 and 10. */
const blocks = [['a', 'b', 'c'], ['d', 'e', 'f'], ['g', 'h', 'i'], ['j']];

type Tampering = [what: string, tamper: (store: RecordsOnly) => Promise<unknown>, found: string[]];

function ofBlock(number: number, change: (lines: string[]) => string[]): Tampering[1] {
  return (store) => overwriteLines(store, number, change);
}

onBothStores('a verification', (open) => {
  async function withChain(
    work: (store: RecordsOnly) => Promise<unknown>,
  ): Promise<{ report: VerifiedAudit; problems: string[] }> {
    const { one, two, close } = await open();
    const log = auditLog(one);
    await appendBlocks(log, blocks);
    await log.moveHead();
    await work(two);
    const report = await verifyAudit({ store: two, sealer });
    await close();
    return { report, problems: report.problems.map(({ kind, seq }) => `${kind} ${seq}`) };
  }

  it('finds no problem in an unchanged chain, and counts its entries', async () => {
    const { report } = await withChain(() => Promise.resolve());
    expect(report).toMatchObject({ problems: [], count: 10, first: { seq: 1 }, last: { seq: 10 } });
    expect(report.first?.entry).toEqual(entryOf('a', { atMs: startMs }));
  });

  it.each<Tampering>([
    [
      'a changed word',
      ofBlock(1, ([d = '', e = '', f = '']) => [d, e.replace('charge', 'lookup'), f]),
      ['changed 5'],
    ],
    [
      'an added member',
      ofBlock(3, (lines) => lines.map((line) => line.replace(',"what"', ',"more":1,"what"'))),
      ['changed 10'],
    ],
    [
      'a changed entry with a matching hash',
      ofBlock(1, ([d = '', e = '', f = '']) => {
        const [before, changed] = [readAuditLine(d)!, readAuditLine(e)!];
        return [d, writeAuditLine({ ...changed.entry, who: 'U0INNOCENT' }, before).line, f];
      }),
      ['changed 5'],
    ],
    ['an emptied block', (store) => overwrite(store, blockKey(1), () => ''), ['changed 4', 'removed 5']],
    ['a removed block', (store) => remove(store, blockKey(1)), ['removed 4']],
    [
      'an entry removed from the middle of a block',
      ofBlock(1, ([d = '', , f = '']) => [d, f]),
      ['removed 5'],
    ],
    ['an entry removed from the beginning of a block', ofBlock(1, ([, ...others]) => others), ['removed 4']],
    [
      'an entry removed from the end of a block',
      ofBlock(1, (lines) => lines.slice(0, -1)),
      ['forged 4', 'removed 6'],
    ],
    [
      'two entries that changed places',
      ofBlock(1, ([d = '', e = '', f = '']) => [e, d, f]),
      ['removed 4', 'misplaced 4'],
    ],
    ['a repeated entry', ofBlock(1, ([d = '', e = '', f = '']) => [d, e, e, f]), ['misplaced 5']],
    ['that the last block was removed', (store) => remove(store, blockKey(3)), ['cut_off 10']],
    [
      'that all blocks were removed',
      (store) => Promise.all([0, 1, 2, 3].map((number) => remove(store, blockKey(number)))),
      ['cut_off 1'],
    ],
    [
      'that the last two entries were removed',
      async (store) => {
        await remove(store, blockKey(3));
        await overwriteLines(store, 2, (lines) => lines.slice(0, -1));
      },
      ['forged 7', 'cut_off 9'],
    ],
    [
      'that the end was removed, also if bots have written again',
      async (store) => {
        await remove(store, blockKey(3));
        const log = auditLog(store);
        await appendBlocks(log, [['k'], ['l'], ['m']]);
        await log.moveHead();
      },
      ['rewritten 10'],
    ],
    [
      'a forged entry at the end',
      async (store) => {
        const last = readAuditLine((await readRecord(store, blockKey(3))).split('\n')[1] ?? '');
        const { line } = writeAuditLine(entryOf('approved by', { who: 'U0LEAD' }), last!);
        await store.create(blockKey(4), signText(strangersSealer, blockKey(4), line));
      },
      ['forged 11'],
    ],
    [
      'a removed beginning with a forged stub',
      async (store) => {
        const third = readAuditLine((await readRecord(store, blockKey(0))).split('\n')[3] ?? '');
        await remove(store, blockKey(0));
        const said = {
          block: 0,
          seq: 3,
          hash: third!.hash,
          from: 1,
          removedAt: '',
          newest: '',
          isDone: true,
        };
        await store.create(stubKey, signMark(strangersSealer, stubKey, said));
      },
      ['forged 3'],
    ],
    ['a removed head', (store) => remove(store, headKey), ['cut_off 11']],
    [
      'a removed head, also if bots have written again',
      async (store) => {
        await remove(store, headKey);
        const log = auditLog(store);
        await appendBlocks(log, [['k']]);
        await log.moveHead();
      },
      ['cut_off 12'],
    ],
    [
      'a forged head',
      (store) =>
        overwrite(store, headKey, () =>
          signMark(strangersSealer, headKey, { block: 3, seq: 10, hash: '0'.repeat(64) }),
        ),
      ['forged 10'],
    ],
    [
      'another record of the bot’s in the place of the head',
      async (store) => {
        const other = await readRecord(store, blockKey(3));
        await overwrite(store, headKey, () => other);
      },
      ['forged 10'],
    ],
  ])('finds %s', async (_what, tamper, problems) => {
    expect((await withChain(tamper)).problems).toEqual(problems);
  });

  it('finds two blocks that changed places', async () => {
    const { problems, report } = await withChain(async (store) => {
      const second = await readRecord(store, blockKey(1));
      const third = await readRecord(store, blockKey(2));
      await overwrite(store, blockKey(1), () => third);
      await overwrite(store, blockKey(2), () => second);
    });
    expect(problems.slice(0, 2)).toEqual(['removed 4', 'misplaced 4']);
    expect(report.problems[0]?.words).toBe('Entries 4 to 6 are missing before entry 7 (block 1).');
  });

  it('finds that head and stub were removed after retention, also if a bot starts after that', async () => {
    const taken = Array.from({ length: 80 }, (_, index) => [`e${index}`]);
    const { problems } = await withChain(async (store) => {
      await appendBlocks(auditLog(store), taken);
      await auditLog(store).moveHead();
      // As after retention, but without the stub.
      await Promise.all(Array.from({ length: 70 }, (_, number) => remove(store, blockKey(number))));
      await Promise.all([remove(store, headKey), remove(store, stubKey)]);
      expect(await found({ store, sealer })).toEqual(['removed 1', 'cut_off 91']);
      const log = auditLog(store);
      await log.append(entryOf('behind'));
      await log.moveHead();
    });
    expect(problems).toEqual(['removed 1', 'cut_off 92']);
  });

  it('finds a whole chain that was rewritten without the key, with hashes, blocks and head', async () => {
    const { problems, report } = await withChain(async (store) => {
      let head: AuditHead = emptyTail;
      for (const [number, ids] of blocks.entries()) {
        const lines = ids.map((id) => {
          const written = writeAuditLine(entryOf(id, { who: 'U0X' }), head);
          head = written.head;
          return written.line;
        });
        const key = blockKey(number);
        await overwrite(store, key, () => signText(strangersSealer, key, lines.join('\n')));
      }
      const end = head;
      await overwrite(store, headKey, () => signMark(strangersSealer, headKey, { block: 3, ...end }));
    });
    expect(problems[0]).toBe('forged 1');
    expect(report.problems[0]?.words).toContain('were not written by this bot');
    expect(problems.at(-1)).toBe('forged 10');
  });

  it('checks the chain against the log’s notes, which can’t be changed through the store', async () => {
    const { one, close } = await open();
    const log = auditLog(one);
    await appendBlocks(log, blocks);
    const head = await log.moveHead();
    if (!head) throw new Error('no head');
    const told = { ...head, by: 'The log' };
    const deps = { store: one, sealer };
    expect((await verifyAudit(deps, [told])).problems).toEqual([]);
    const ahead = await verifyAudit(deps, [{ ...told, seq: 12 }]);
    expect(ahead.problems.map(({ words }) => words)).toEqual([
      'Entries 11 to 12 are missing at the end: cut off. The log says that the chain went to entry 12.',
    ]);
    const other = await verifyAudit(deps, [{ ...told, hash: 'f'.repeat(64) }]);
    expect(other.problems).toMatchObject([{ kind: 'rewritten', seq: 10 }]);
    await close();
  });

  it('reports no problem for a chain that begins meanwhile', async () => {
    const { one, close } = await open();
    let began: Promise<void> | undefined;
    const store: RecordsOnly = {
      ...one,
      async list(...given) {
        // By now head and stub have been read.
        began ??= auditLog(one).append(entryOf('a'));
        await began;
        return await one.list(...given);
      },
    };
    expect(await found({ store, sealer })).toEqual([]);
    expect((await verifyAudit({ store, sealer })).count).toBe(1);
    await close();
  });

  it('finds no problem while bots write', async () => {
    const { one, two, close } = await open();
    const log = auditLog(one);
    const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
    const over = new AbortController();
    const writing = ids
      .reduce(
        (before, id) =>
          before.then(() => log.append(entryOf(id))).then(async () => void (await log.moveHead())),
        Promise.resolve(),
      )
      .finally(() => over.abort());
    let times = 0;
    while (!over.signal.aborted) {
      expect(await found({ store: two, sealer })).toEqual([]);
      times += 1;
    }
    await writing;
    expect(times).toBeGreaterThan(2);
    await close();
  });
});
