import type { Audit } from './audit-log.ts';
import type { Sealer, Entry, Store } from '../store/store.ts';
import type { Log } from '../log.ts';
import {
  beginningOf,
  believed,
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

/**
 * Removes the oldest blocks when all their entries are older than `keepMs`, once a day. First writes a signed stub of what
 * it removes; the chain is verified from the stub on. The next run finishes after a crash. Damaged blocks and all after
 * them are never removed: they are evidence.
 */
type AuditRetention = {
  /** Checks now and then that the timer is in the store. */
  start(): void;
  stop(): void;
  /** Works on records with the prefix `auditRetentionPrefix`. */
  work(entry: Entry): Promise<void>;
};

export const auditRetentionPrefix = 'audit-retention';
const armEveryMs = hourMs;
/** Limits one piece of work, so it ends within its lease. */
const mostBlocks = 256;

export function createAuditRetention(options: {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  append: Audit;
  /** Undefined: nothing is removed. */
  keepMs: number | undefined;
  now: () => number;
  log: Log;
}): AuditRetention {
  const { store, sealer, append, keepMs, now, log } = options;
  const chain = { store, sealer };
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    store
      .create(auditRetentionPrefix, '', { delayMs: armEveryMs })
      .catch((error: unknown) => log('debug', 'the audit retention is not on record yet', {}, error));
  }

  function tellKept(what: string): void {
    const fix = 'Run npm run audit -- verify, which says what is wrong.';
    log('error', `Old entries of the audit trail are kept: ${what}`, { fix });
  }

  /** Returns whether more may be due now. Throws StoreUnavailable. */
  async function removeOld(beforeMs: number): Promise<boolean> {
    const { head, stub: before } = await readMarks(chain);
    const said = believed(before);
    if (before && !said) {
      tellKept(`the record ${stubKey} is not the bot's`);
      return false;
    }
    if (before && said && !said.isDone) {
      await finish(before.entry, said);
      return true;
    }
    // Without a trusted head nothing is removed.
    const old = await findOld(said, beforeMs, believed(head)?.block ?? -1);
    if (!old) return false;
    const signed = signMark(sealer, stubKey, old.stub);
    const written = before
      ? await store.write(before.entry, signed)
      : (await store.create(stubKey, signed)) && (await store.read(stubKey));
    // Undefined: another replica removes them.
    if (written) await finish(written, old.stub);
    return old.blocks >= mostBlocks;
  }

  /** The old, undamaged blocks at the chain's beginning; never the last block. */
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
        tellKept(`block ${block.number} is not as the bot wrote it`);
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

  /** Removes the blocks in the stub, adds an entry about it, and marks the stub done. */
  async function finish(entry: Entry, said: AuditStub): Promise<void> {
    await removeBlocks(said.block);
    await append({
      id: `${auditRetentionPrefix}:${said.seq}`,
      atMs: now(),
      who: 'payops',
      what: 'retention',
      before: `entries ${said.from} to ${said.seq}, the newest of ${said.newest}`,
      after: `removed; the last hash was ${said.hash}`,
      result: 'removed',
    });
    await store.write(entry, signMark(sealer, stubKey, { ...said, isDone: true }));
  }

  /** Oldest first: after a crash the rest is one run of blocks below the stub's, and is found from there. */
  async function removeBlocks(last: number): Promise<void> {
    const found: Entry[] = [];
    // One after the other, so stopping anywhere is safe.
    for (let number = last; number >= 0; number -= 1) {
      const entry = await store.read(blockKey(number));
      if (!entry) break;
      found.push(entry);
    }
    for (const entry of found.toReversed()) await store.write(entry, '', { ttlMs: 0, index: {} });
  }

  return {
    start() {
      if (keepMs === undefined) return;
      arm();
      timer = setInterval(arm, armEveryMs).unref();
    },
    stop() {
      clearInterval(timer);
    },
    async work(entry) {
      if (keepMs === undefined) {
        // Retention is off: drop the timer. A replica with the old settings puts it back.
        await store.write(entry, '', { ttlMs: 0, index: {} });
        return;
      }
      const isMore = await removeOld(now() - keepMs);
      await store.write(entry, '', { delayMs: isMore ? 0 : dayMs });
    },
  };
}
