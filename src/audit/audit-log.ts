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
import { hourMs } from '../domain/span.ts';

/** Resolves once the entry is on the chain. Throws StoreUnavailable; then call again with the same id. */
export type Audit = (entry: AuditEntry) => Promise<void>;

/**
 * What was done, in one chain for all replicas: each entry carries the hash of the entry before. Entries are first cleaned
 * by `cleanAuditEntry`.
 */
export type AuditLog = {
  /**
   * Resolves once the entry is on the chain, in this process's order of calls. Many at once cost what a few do. Throws
   * StoreUnavailable; a repeat with the same id counts once.
   */
  append: Audit;
  /** All acknowledged entries about the reference, by any replica, oldest first, each id once. Throws StoreUnavailable. */
  ofReference: (reference: string) => Promise<AuditEntry[]>;
  /**
   * Moves the signed head to the chain's end and returns it; undefined if the chain is empty. Runs by itself a second after
   * each append. Throws StoreUnavailable.
   */
  settle(): Promise<AuditHead | undefined>;
  /** Finishes a dead process's work; logs the chain's end hourly, as a witness outside the store. */
  start: () => void;
  /** Finishes work under way and logs the chain's end once more. Never throws. */
  stop: () => Promise<void>;
};

/** The most entries in a block: reading one entry reads its whole block. */
const mostTogether = 512;
/** In a shorter outage the store cannot have gone back unseen: calls would have failed. */
const trustedMs = 1_000;
const settleAfterMs = 1_000;
const witnessEveryMs = hourMs;
const latestMs = Date.UTC(9999, 11, 31);

type Waiting = { entry: AuditEntry; resolve: () => void; reject: (error: unknown) => void };

export function createAuditLog(options: {
  /** The whole store: all accounts share one chain, and an entry names its account. */
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  log: Log;
  /** Each block costs a write to disk, however few its entries. */
  blockEveryMs?: number;
}): AuditLog {
  const { store, sealer, log, blockEveryMs = 50 } = options;
  const chain = { store, sealer };
  const queue = createQueue(createChainEnd(store, sealer, log), blockEveryMs, settleSoon);
  let settling: NodeJS.Timeout | undefined;
  let witness: NodeJS.Timeout | undefined;
  let isDamageTold = false;

  /**
   * Head and witness move only along the chain. One that contradicts the chain stays for ever: it shows that the end was
   * cut off, rewritten, or put back.
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
  /** The witness first: a head that names its store always has one. */
  async function moveMarks({ head }: Marks, { number, witness }: Tie, tail: Tail): Promise<void> {
    const says = { ...tail, ...withoutUndefined({ store: number ?? believed(head)?.store }) };
    if (number !== undefined) {
      const signed = signMark(sealer, witnessKey, says);
      await (witness ? store.write(witness.entry, signed) : store.create(witnessKey, signed));
    }
    if (head) await store.write(head.entry, signMark(sealer, headKey, says));
  }
  /** Undefined: the chain continues from its marks, and is this store’s. */
  async function damageOf({ head, stub }: Marks, { number, isUnopened, witness }: Tie) {
    const said = believed(head);
    // The head is made before the first block: with blocks and no head, somebody removed it.
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

/** Our ids are short; a longer one still stays distinct. */
function cleanId(id: string): string {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) return id;
  return outsideText(id, 200) === id && id !== '' ? id : `id-${sha256(id).slice(0, 40)}`;
}

/** Called with each block that this process may not have written. */
type Seen = (block: AuditBlock) => void;

type ChainEnd = {
  /** Returns the tail for the next block. */
  current(seen: Seen): Promise<Tail>;
  /** Writes the entries after the tail. False: another replica was faster. */
  write(tail: Tail, entries: readonly AuditEntry[]): Promise<boolean>;
};

/** The end of the chain as this process knows it. One `write` at a time. */
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

  /** Logged as a witness outside the store: chain and head may agree with each other. */
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
      // The next block may be ours, from a call whose answer was lost.
      const next = known && (await readBlock(chain, known.block + 1));
      if (next) seen(next);
      const isThere = known !== undefined && (await stands(known));
      // Unchanged: nobody has written since.
      if (known && isThere && !next) return trust(known);
      const marks = await readMarks(chain);
      const removed = believed(marks.stub)?.block ?? -1;
      if (known && !isThere && known.block > removed) tellGoneBack(known);
      const tail = await findTail(chain, marks);
      if (tail.seq > 0) return trust(tail);
      const tie = await readTie(chain);
      // The store was away at start, and has no mark yet.
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

/** Entries that arrive during a write share the next block. */
function createQueue(chain: ChainEnd, blockEveryMs: number, wrote: () => void) {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let lastAtMs = -Infinity;

  /** Entries already on the chain: written by an earlier call, or by a replica that did the same thing. */
  function settleSeen(block: AuditBlock): void {
    const ids = new Set(entriesOf(block).map(({ entry }) => entry.id));
    const done = waiting.filter(({ entry }) => ids.has(entry.id));
    waiting = waiting.filter((one) => !done.includes(one));
    for (const { resolve } of done) resolve();
  }

  async function writeAll(): Promise<void> {
    // Entries of the same turn share a block.
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
      // Entries that arrived meanwhile come next.
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
