import { setTimeout as sleep } from 'node:timers/promises';
import {
  cleanAuditEntry,
  beginAudit,
  beginningOf,
  believed,
  createBlock,
  emptyTail,
  endOf,
  entriesAbout,
  entriesOf,
  findTail,
  headKey,
  keptReference,
  readBlock,
  readMarks,
  readTie,
  sha256,
  signMark,
  witnessKey,
  writeAuditLine,
  type AuditBlock,
  type AuditHead,
  type Marks,
  type Tail,
  type Tie,
} from './audit-chain.ts';
import type { AuditEntry } from '../records/shapes.ts';
import { withoutUndefined } from '../domain/json.ts';
import { outsideText } from '../domain/outside-text.ts';
import type { Sealer, Store } from '../store/store.ts';
import type { Log } from '../log.ts';

/** On the chain when it resolves; throws StoreUnavailable, and then it may be called again with the same id. */
export type Audit = (entry: AuditEntry) => Promise<void>;

/**
 * What was done, in one chain for all replicas: each entry carries the hash of the one before. Entries are cleaned
 * (`cleanAuditEntry`) before anything else is done with them.
 */
export type AuditLog = {
  /**
   * On the chain when it resolves, in the order of the calls of this process. Many at once cost what a few do.
   * Throws StoreUnavailable; called again with the same id it counts once.
   */
  append: Audit;
  /** Everything about the reference that was acknowledged before, by any replica, oldest first, each id once. Throws StoreUnavailable. */
  ofReference: (reference: string) => Promise<AuditEntry[]>;
  /**
   * Brings the signed head up to the chain's end, and gives that; undefined while it is empty. Happens by itself a second
   * after each append. Throws StoreUnavailable.
   */
  settle(): Promise<AuditHead | undefined>;
  /** Takes up what a process that died left, and tells the log once an hour where the chain stands, as a witness outside the store. */
  start: () => void;
  /** Finishes what is under way and tells the log once more. Never throws. */
  stop: () => Promise<void>;
};

/** Entries in one block, at most: a block is read as a whole for any one of them. */
const mostTogether = 512;
/** A store that was away for less cannot have gone back to an older state unseen: calls would have failed. */
const trustedMs = 1_000;
const settleAfterMs = 1_000;
const witnessEveryMs = 3_600_000;
const latestMs = Date.UTC(9999, 11, 31);

type Waiting = { entry: AuditEntry; resolve: () => void; reject: (error: unknown) => void };

export function createAuditLog(options: {
  /** The whole store: with several merchant accounts there is one chain, and an entry names its account. */
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  log: Log;
  /** Each block costs a write that waits for the disk, however few its entries are. */
  blockEveryMs?: number;
}): AuditLog {
  const { store, sealer, log, blockEveryMs = 50 } = options;
  const chain = { store, sealer };
  const queue = createQueue(createChainEnd(store, sealer, log), blockEveryMs, settleSoon);
  let settling: NodeJS.Timeout | undefined;
  let witness: NodeJS.Timeout | undefined;
  let isDamageTold = false;

  /**
   * Head and witness move only along the chain: one that says what the chain does not hold stays as it is for ever, because
   * it is what shows that the chain's end was cut off, written anew, or put back.
   */
  async function settle(): Promise<AuditHead | undefined> {
    const [marks, tie] = await Promise.all([readMarks(chain), readTie(chain)]);
    const tail = await findTail(chain, marks);
    if (tail.seq === 0) return undefined;
    const damage = await damageOf(marks, tie);
    const said = believed(marks.head);
    if (damage !== undefined) tellDamage(damage);
    else if (said && (said.seq < tail.seq || (said.store === undefined && tie.number !== undefined)))
      await moveMarks(marks, tie, tail);
    return { seq: tail.seq, hash: tail.hash };
  }
  /** The witness first: a head that names its store has one. */
  async function moveMarks({ head }: Marks, { number, witness }: Tie, tail: Tail): Promise<void> {
    const says = { ...tail, ...withoutUndefined({ store: number ?? believed(head)?.store }) };
    if (number !== undefined) {
      const signed = signMark(sealer, witnessKey, says);
      await (witness ? store.write(witness.entry, signed) : store.create(witnessKey, signed));
    }
    if (head) await store.write(head.entry, signMark(sealer, headKey, says));
  }
  /** Undefined: the chain leads on from what is said of it, and is this store’s. */
  async function damageOf({ head, stub }: Marks, { number, isUnopened, witness }: Tie) {
    const said = believed(head);
    // It is made before the first block: where there are blocks, somebody removed it.
    if (!head) return `the record ${headKey} is gone`;
    if (!said || !(await isOnChain(said))) return `it does not lead on from the record ${headKey}`;
    if (isUnopened) return undefined;
    if (said.store !== undefined && said.store !== number) return 'it is another store’s';
    if (!witness) return said.store === undefined ? undefined : `the record ${witnessKey} is gone`;
    const seen = believed(witness);
    const isRemoved = seen !== undefined && seen.block <= (believed(stub)?.block ?? -1);
    const leadsOn = seen?.hash === said.hash || isRemoved || (seen !== undefined && (await isOnChain(seen)));
    return leadsOn && seen.store === number ? undefined : `it does not lead on from the record ${witnessKey}`;
  }
  async function isOnChain(said: Tail): Promise<boolean> {
    const block = await readBlock(chain, said.block);
    const end = block ? endOf(block) : emptyTail;
    return end.seq === said.seq && end.hash === said.hash;
  }
  function tellDamage(what: string): void {
    if (isDamageTold) return;
    isDamageTold = true;
    const fix = 'Run npm run audit -- verify, which says where; keep a copy of the store as it is.';
    log('error', `The audit trail was damaged: ${what}. It is written on all the same`, { fix });
  }
  function settleSoon(): void {
    settling ??= setTimeout(() => {
      settling = undefined;
      void settle().catch((error: unknown) => {
        log('debug', 'the signed head of the audit trail lags behind', {}, error);
        settleSoon();
      });
    }, settleAfterMs).unref();
  }
  /** Never throws. */
  async function tellWitness(): Promise<void> {
    try {
      const last = await settle();
      if (last) log('info', 'The audit trail stands here', { auditSeq: last.seq, auditHash: last.hash });
    } catch (error) {
      log('warn', 'Where the audit trail stands could not be read', {}, error);
    }
  }

  return {
    async append(entry) {
      if (!(entry.atMs >= 0 && entry.atMs < latestMs)) throw new RangeError('An audit entry has no time.');
      const { id, reference } = entry;
      const named = reference === undefined ? {} : { reference: keptReference(reference) };
      await queue.add({ ...cleanAuditEntry({ ...entry, ...named }), id: cleanId(id) });
    },
    async ofReference(reference) {
      const byId = new Map<string, AuditEntry>();
      const found = await entriesAbout(chain, keptReference(reference));
      for (const { entry } of found.toSorted((a, b) => a.seq - b.seq)) {
        if (!byId.has(entry.id)) byId.set(entry.id, entry);
      }
      return [...byId.values()];
    },
    settle,
    start() {
      settleSoon();
      witness = setInterval(() => void tellWitness(), witnessEveryMs).unref();
    },
    async stop() {
      clearInterval(witness);
      await queue.drained();
      clearTimeout(settling);
      await tellWitness();
    },
  };
}

/** An id is ours and short; one that is not is still told apart from every other. */
function cleanId(id: string): string {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) return id;
  return outsideText(id, 200) === id && id !== '' ? id : `id-${sha256(id).slice(0, 40)}`;
}

/** Told of a block that this process did not write, as far as it knows. */
type Seen = (block: AuditBlock) => void;

type ChainEnd = {
  /** Where the next block belongs. */
  current(seen: Seen): Promise<Tail>;
  /** Writes them behind that tail. False: another replica was faster. */
  write(tail: Tail, entries: readonly AuditEntry[]): Promise<boolean>;
};

/** The end of the chain as this process knows it, and how it is continued. One `write` at a time. */
function createChainEnd(store: Pick<Store, 'create' | 'read' | 'list'>, sealer: Sealer, log: Log): ChainEnd {
  const chain = { store, sealer };
  let known: Tail | undefined;
  let trustedUntilMs = -Infinity;

  function trust(tail: Tail): Tail {
    known = tail;
    trustedUntilMs = performance.now() + trustedMs;
    return tail;
  }

  async function stands({ block, hash }: Tail): Promise<boolean> {
    const same = block < 0 ? undefined : await readBlock(chain, block);
    return same !== undefined && endOf(same).hash === hash;
  }

  /** A witness outside the store: chain and head may agree on what is there now. */
  function tellGoneBack({ seq, hash }: Tail): void {
    const fix = `Run npm run audit -- verify --head ${seq}:${hash}; keep a copy of the store as it is.`;
    log('error', 'The audit trail has gone back: an entry that stood in it is gone or another', {
      auditSeq: seq,
      auditHash: hash,
      fix,
    });
  }

  return {
    async current(seen) {
      if (known && performance.now() < trustedUntilMs) return known;
      // It may be ours, of a call whose answer was lost.
      const next = known && (await readBlock(chain, known.block + 1));
      if (next) seen(next);
      const isThere = known !== undefined && (await stands(known));
      // As it was left: nobody has written since.
      if (known && isThere && !next) return trust(known);
      const marks = await readMarks(chain);
      const removed = believed(marks.stub)?.block ?? -1;
      if (known && !isThere && known.block > removed) tellGoneBack(known);
      const tail = await findTail(chain, marks);
      if (tail.seq > 0) return trust(tail);
      const tie = await readTie(chain);
      // The store was away when the bot started, and has no mark yet.
      if (!marks.head && tie.number === undefined) await beginAudit({ store, sealer });
      return trust({ ...tail, ...beginningOf(tie) });
    },
    async write(tail, entries) {
      const { lines, head } = chained(entries, tail);
      const number = tail.block + 1;
      trustedUntilMs = -Infinity;
      if (!(await createBlock(chain, number, { lines, entries }))) return false;
      trust({ block: number, ...head });
      return true;
    },
  };
}

function chained(entries: readonly AuditEntry[], after: AuditHead): { lines: string[]; head: AuditHead } {
  let head: AuditHead = after;
  const lines = entries.map((entry) => {
    const written = writeAuditLine(entry, head);
    head = written.head;
    return written.line;
  });
  return { lines, head };
}

/** What waits while a block is on its way goes into the next one together. */
function createQueue(chain: ChainEnd, blockEveryMs: number, wrote: () => void) {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let lastAtMs = -Infinity;

  /** What is on the chain already was written by an earlier call, or by a replica that did the same thing. */
  function settleSeen(block: AuditBlock): void {
    const ids = new Set(entriesOf(block).map(({ entry }) => entry.id));
    const done = waiting.filter(({ entry }) => ids.has(entry.id));
    waiting = waiting.filter((one) => !done.includes(one));
    for (const { resolve } of done) resolve();
  }

  async function writeAll(): Promise<void> {
    // What is asked for in the same turn goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      // Each block needs the hash of the one before.
      const soonMs = lastAtMs + blockEveryMs - performance.now();
      if (soonMs > 0 && waiting.length < mostTogether) await sleep(soonMs);
      const tail = await chain.current(settleSeen);
      const batch = waiting.slice(0, mostTogether);
      if (batch.length === 0) return;
      const entries = batch.map(({ entry }) => entry);
      if (!(await chain.write(tail, entries))) continue;
      lastAtMs = performance.now();
      // What came meanwhile stands behind them.
      waiting = waiting.slice(batch.length);
      for (const { resolve } of batch) resolve();
      wrote();
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      try {
        await writeAll();
      } catch (error) {
        const all = waiting;
        waiting = [];
        for (const { reject } of all) reject(error);
      }
    }
    writing = undefined;
  }

  return {
    add(entry: AuditEntry): Promise<void> {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, resolve, reject });
        writing ??= run();
      });
    },
    drained: () => writing ?? Promise.resolve(),
  };
}
