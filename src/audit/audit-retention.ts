import type { Audit } from './audit-log.ts';
import type { Sealer, Entry, Store } from '../store/store.ts';
import type { Log } from '../log.ts';
import {
  beginningOf,
  trusted,
  blockKey,
  blocksFrom,
  endOf,
  entriesOf,
  readMarks,
  readTie,
  signMark,
  stubKey,
  type AuditBlock,
  type AuditStub,
} from './audit-chain.ts';
import { checkBlock, createAuditCheck } from './verify-audit.ts';
import { dayMs, hourMs } from '../domain/span.ts';

/** The timer record's key. */
export const auditRetentionPrefix = 'audit-retention';
const timerEveryMs = hourMs;
/** The most blocks in one piece of work, so that it ends within its lease. */
const mostBlocks = 256;

/**
 * Once a day, removes the oldest blocks whose entries are all older than `keepMs`. First writes a signed stub that says
 * what is removed; from then on the chain is verified from the stub. After a crash the next run finishes the removal.
 * Damaged blocks, and all blocks after them, are never removed: they are evidence.
 */
export function createAuditRetention(options: {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  append: Audit;
  /** How long entries are kept; undefined: for ever. */
  keepMs: number | undefined;
  now: () => number;
  log: Log;
}) {
  const { store, sealer, append, keepMs, now, log } = options;
  const chain = { store, sealer };
  let timer: NodeJS.Timeout | undefined;

  function makeTimer(): void {
    store
      .create(auditRetentionPrefix, '', { delayMs: timerEveryMs })
      .catch((error: unknown) => log('debug', 'the audit retention is not on record yet', {}, error));
  }

  function logKept(what: string): void {
    const fix = 'Run npm run audit -- verify, which says what is wrong.';
    log('error', `Old entries of the audit trail are kept: ${what}`, { fix });
  }

  /** Removes old blocks; returns whether there may be more. Throws StoreUnavailable. */
  async function removeOld(beforeMs: number): Promise<boolean> {
    const { head, stub: mark } = await readMarks(chain);
    const stub = trusted(mark);
    if (mark && !stub) {
      logKept(`the record ${stubKey} is not the bot's`);
      return false;
    }
    if (mark && stub && !stub.isDone) {
      await finish(mark.entry, stub);
      return true;
    }
    // Block -1: without a trusted head nothing is removed.
    const old = await findOld(stub, beforeMs, trusted(head)?.block ?? -1);
    if (!old) return false;
    const signed = signMark(sealer, stubKey, old.stub);
    const written = mark
      ? await store.write(mark.entry, signed)
      : (await store.create(stubKey, signed)) && (await store.read(stubKey));
    // If this write loses, another replica removes the blocks.
    if (written) await finish(written, old.stub);
    return old.blocks >= mostBlocks;
  }

  /** Finds the old, undamaged blocks at the chain's beginning; never the last block. */
  async function findOld(
    stub: AuditStub | undefined,
    beforeMs: number,
    lastBlock: number,
  ): Promise<{ stub: AuditStub; blocks: number } | undefined> {
    const check = createAuditCheck({ before: stub ?? beginningOf(await readTie(chain)) });
    let last: AuditBlock | undefined;
    let blocks = 0;
    let newestMs = 0;
    for await (const block of blocksFrom(chain, (stub?.block ?? -1) + 1)) {
      const blockMs = Math.max(...entriesOf(block).map(({ entry }) => entry.atMs));
      if (blocks >= mostBlocks || block.number >= lastBlock || blockMs >= beforeMs) break;
      checkBlock(check, block);
      if (check.problems() > 0) {
        logKept(`block ${block.number} is not as the bot wrote it`);
        break;
      }
      last = block;
      blocks += 1;
      newestMs = Math.max(newestMs, blockMs);
    }
    if (!last) return undefined;
    const removedAt = new Date(now()).toISOString();
    const newest = new Date(newestMs).toISOString();
    const from = (stub?.seq ?? 0) + 1;
    return { stub: { ...endOf(last), from, removedAt, newest, isDone: false }, blocks };
  }

  /** Removes the blocks that the stub names, appends an entry about that, and marks the stub as done. */
  async function finish(entry: Entry, stub: AuditStub): Promise<void> {
    await removeBlocks(stub.block);
    await append({
      id: `${auditRetentionPrefix}:${stub.seq}`,
      atMs: now(),
      who: 'payops',
      what: 'retention',
      before: `entries ${stub.from} to ${stub.seq}, the newest of ${stub.newest}`,
      after: `removed; the last hash was ${stub.hash}`,
      result: 'removed',
    });
    await store.write(entry, signMark(sealer, stubKey, { ...stub, isDone: true }));
  }

  /**
   * Removes the blocks up to this number, oldest first, so that after a crash the remaining ones are found again right
   * below the stub's last block.
   */
  async function removeBlocks(last: number): Promise<void> {
    const found: Entry[] = [];
    for (let number = last; number >= 0; number -= 1) {
      const entry = await store.read(blockKey(number));
      if (!entry) break;
      found.push(entry);
    }
    for (const entry of found.toReversed()) await store.write(entry, '', { ttlMs: 0, index: {} });
  }

  return {
    /** Creates the timer record at once and every hour, in case it was lost. */
    start(): void {
      if (keepMs === undefined) return;
      makeTimer();
      timer = setInterval(makeTimer, timerEveryMs).unref();
    },
    stop(): void {
      clearInterval(timer);
    },
    async work(entry: Entry): Promise<void> {
      if (keepMs === undefined) {
        // Retention is switched off: remove the timer. A replica that still has the old settings creates it again.
        await store.write(entry, '', { ttlMs: 0, index: {} });
        return;
      }
      const isMore = await removeOld(now() - keepMs);
      await store.write(entry, '', { delayMs: isMore ? 0 : dayMs });
    },
  };
}
