import { setTimeout as sleep } from 'node:timers/promises';
import {
  cleanAuditEntry,
  beginAudit,
  beginningOf,
  trusted,
  createBlock,
  emptyTail,
  endOf,
  entriesAbout,
  entriesOf,
  faultsOfEnd,
  findTail,
  headKey,
  auditReference,
  readBlock,
  readMarks,
  readTie,
  sha256,
  signMark,
  witnessKey,
  writeAuditLine,
  type AuditBlock,
  type AuditHead,
  type Chain,
  type EndFault,
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

/** Appends entries; resolves once all are on the chain. Throws StoreUnavailable; then call again with the same ids. */
export type Audit = (...entries: AuditEntry[]) => Promise<void>;

/**
 * The audit log: one chain for all replicas, in which each entry has the hash of the entry before. Entries are first
 * cleaned by `cleanAuditEntry`.
 */
export type AuditLog = {
  /**
   * Resolves once the entries are on the chain. Keeps the order of this process's calls. Many simultaneous entries cost
   * little more than one. Throws StoreUnavailable; a repeat with the same id counts once.
   */
  append: Audit;
  /**
   * All acknowledged entries about the reference, of all replicas, oldest first, each id once. Throws StoreUnavailable.
   */
  ofReference: (reference: string) => Promise<AuditEntry[]>;
  /**
   * Moves the signed head to the chain's end, and returns that end; undefined if the chain is empty. Runs by itself a
   * second after each append. Throws StoreUnavailable.
   */
  moveHead(): Promise<AuditHead | undefined>;
  /**
   * Moves the head if a process died before it could. Logs the chain's end every hour, as a witness outside the store.
   */
  start: () => void;
  /** Finishes work under way, and logs the chain's end once more. Never throws. */
  stop: () => Promise<void>;
};

/** The most entries in a block. To read one entry its whole block must be read. */
const mostPerBlock = 512;
/**
 * How long the known end of the chain is used without reading it again. Putting back a backup takes longer, and writes
 * fail meanwhile; after a failed write the end is read again.
 */
const trustedMs = 1_000;
const moveHeadAfterMs = 1_000;
const logEndEveryMs = hourMs;
const latestMs = Date.UTC(9999, 11, 31);

/** One call of `append`, and how many of its entries are not on the chain yet. */
type Call = { missing: number; resolve: () => void; reject: (error: unknown) => void };

type Waiting = { entry: AuditEntry; call: Call };

export function createAuditLog(options: {
  /** The whole store: all accounts share one chain, in which entries name their account. */
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  log: Log;
  /** The least time between two blocks: each costs a write to disk, even with few entries. */
  blockEveryMs?: number;
}): AuditLog {
  const { store, sealer, log, blockEveryMs = 50 } = options;
  const chain = { store, sealer };
  const queue = createQueue(createChainEnd(chain, log), blockEveryMs, moveHeadSoon);
  let headTimer: NodeJS.Timeout | undefined;
  let logTimer: NodeJS.Timeout | undefined;
  let isDamageLogged = false;

  /**
   * Moves head and witness to the chain's end, unless one of them contradicts the chain: then both stay as evidence
   * that the end was cut off, rewritten or put back.
   */
  async function moveHead(): Promise<AuditHead | undefined> {
    const [marks, tie] = await Promise.all([readMarks(chain), readTie(chain)]);
    const tail = await findTail(chain, marks);
    if (tail.seq === 0) return undefined;
    const damage = await damageOf(marks, tie);
    const head = trusted(marks.head);
    if (damage !== undefined) logDamage(damage);
    else if (head && (head.seq < tail.seq || (head.store === undefined && tie.storeHash !== undefined)))
      await moveMarks(marks, tie, tail);
    return { seq: tail.seq, hash: tail.hash };
  }
  /** Writes the witness first, so that a head that names its store always has a witness. */
  async function moveMarks({ head }: Marks, { storeHash, witness }: Tie, tail: Tail): Promise<void> {
    const content = { ...tail, ...withoutUndefined({ store: storeHash ?? trusted(head)?.store }) };
    if (storeHash !== undefined) {
      const signed = signMark(sealer, witnessKey, content);
      await (witness ? store.write(witness.entry, signed) : store.create(witnessKey, signed));
    }
    if (head) await store.write(head.entry, signMark(sealer, headKey, content));
  }
  /** What is wrong with the chain's end; undefined: it continues both marks, and belongs to this store. */
  async function damageOf(marks: Marks, tie: Tie): Promise<string | undefined> {
    const [fault] = faultsOfEnd(marks, tie, true);
    if (fault) return damageWords(fault);
    const removedBlock = trusted(marks.stub)?.block ?? -1;
    const head = trusted(marks.head);
    const witness = tie.isIdUnreadable ? undefined : trusted(tie.witness);
    if (head && !(await isOnChain(head))) return leadsOff(headKey);
    const isWitnessed =
      !witness || witness.hash === head?.hash || witness.block <= removedBlock || (await isOnChain(witness));
    return isWitnessed ? undefined : leadsOff(witnessKey);
  }
  async function isOnChain({ block: number, seq, hash }: Tail): Promise<boolean> {
    const block = await readBlock(chain, number);
    const end = block ? endOf(block) : emptyTail;
    return end.seq === seq && end.hash === hash;
  }
  function logDamage(damage: string): void {
    if (isDamageLogged) return;
    isDamageLogged = true;
    const fix = 'Run npm run audit -- verify, which says where; keep a copy of the store as it is.';
    log('error', `The audit trail was damaged: ${damage}. It is written on all the same`, { fix });
  }
  function moveHeadSoon(): void {
    headTimer ??= setTimeout(() => {
      headTimer = undefined;
      void moveHead().catch((error: unknown) => {
        log('debug', 'the signed head of the audit trail lags behind', {}, error);
        moveHeadSoon();
      });
    }, moveHeadAfterMs).unref();
  }
  /** Logs the chain's end. Never throws. */
  async function logEnd(): Promise<void> {
    try {
      const last = await moveHead();
      if (last) log('info', 'The audit trail stands here', { auditSeq: last.seq, auditHash: last.hash });
    } catch (error) {
      log('warn', 'Where the audit trail stands could not be read', {}, error);
    }
  }

  return {
    async append(...entries) {
      if (!entries.every(hasTime)) throw new RangeError('An audit entry has no time.');
      await queue.add(entries.map(cleaned));
    },
    async ofReference(reference) {
      const byId = new Map<string, AuditEntry>();
      const found = await entriesAbout(chain, auditReference(reference));
      for (const { entry } of found.toSorted((a, b) => a.seq - b.seq)) {
        if (!byId.has(entry.id)) byId.set(entry.id, entry);
      }
      return [...byId.values()];
    },
    moveHead,
    start() {
      moveHeadSoon();
      logTimer = setInterval(() => void logEnd(), logEndEveryMs).unref();
    },
    async stop() {
      clearInterval(logTimer);
      await queue.drained();
      clearTimeout(headTimer);
      await logEnd();
    },
  };
}

function damageWords({ kind, key }: EndFault): string {
  if (kind === 'gone') return `the record ${key} is gone`;
  return kind === 'other_store' ? 'it is another store’s' : leadsOff(key);
}

function leadsOff(key: string): string {
  return `it does not lead on from the record ${key}`;
}

/** Whether the entry has a time that can be written: from 1970 to 9999. */
export function hasTime({ atMs }: AuditEntry): boolean {
  return atMs >= 0 && atMs < latestMs;
}

function cleaned(entry: AuditEntry): AuditEntry {
  const { id, reference } = entry;
  const named = reference === undefined ? entry : { ...entry, reference: auditReference(reference) };
  return { ...cleanAuditEntry(named), id: cleanId(id) };
}

/** Cleans an id. The bot's own ids are short; a longer one is replaced by a hash, so that it stays unique. */
function cleanId(id: string): string {
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) return id;
  return outsideText(id, 200) === id && id !== '' ? id : `id-${sha256(id).slice(0, 40)}`;
}

type ChainEnd = ReturnType<typeof createChainEnd>;

/** The end of the chain as this process knows it. Call `write` one at a time. */
function createChainEnd(chain: Chain & { store: Pick<Store, 'create'> }, log: Log) {
  let known: Tail | undefined;
  let trustedUntilMs = -Infinity;

  function trust(tail: Tail): Tail {
    known = tail;
    trustedUntilMs = performance.now() + trustedMs;
    return tail;
  }

  async function isStillThere({ block, hash }: Tail): Promise<boolean> {
    const same = block < 0 ? undefined : await readBlock(chain, block);
    return same !== undefined && endOf(same).hash === hash;
  }

  /** Logs the known end that is gone. If chain and head were replaced together, no check of the store would find that. */
  function logLostEnd({ seq, hash }: Tail): void {
    const fix = `Run npm run audit -- verify --head ${seq}:${hash}; keep a copy of the store as it is.`;
    log('error', 'The audit trail has gone back: an entry that stood in it is gone or another', {
      auditSeq: seq,
      auditHash: hash,
      fix,
    });
  }

  return {
    /** Returns the tail after which the next block goes. `onBlock` gets a block that another process may have made. */
    async current(onBlock: (block: AuditBlock) => void): Promise<Tail> {
      if (known && performance.now() < trustedUntilMs) return known;
      // There may be a next block: another replica's, or our own from a call whose answer was lost.
      const next = known && (await readBlock(chain, known.block + 1));
      if (next) onBlock(next);
      const isThere = known !== undefined && (await isStillThere(known));
      // The end is unchanged.
      if (known && isThere && !next) return trust(known);
      const marks = await readMarks(chain);
      const removedBlock = trusted(marks.stub)?.block ?? -1;
      if (known && !isThere && known.block > removedBlock) logLostEnd(known);
      const tail = await findTail(chain, marks);
      if (tail.seq > 0) return trust(tail);
      const tie = await readTie(chain);
      // The store has no mark yet, because it was away when the bot started.
      if (!marks.head && tie.storeHash === undefined) await beginAudit(chain);
      return trust({ ...tail, ...beginningOf(tie) });
    },
    /** Writes the entries after the tail. False: another replica was faster. */
    async write(tail: Tail, entries: readonly AuditEntry[]): Promise<boolean> {
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

/** Collects entries into blocks: those that arrive during a write share the next block. */
function createQueue(chain: ChainEnd, blockEveryMs: number, onWritten: () => void) {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let lastAtMs = -Infinity;

  /** Resolves waiting entries that are already in this block: an earlier call wrote them, or another replica. */
  function resolveWritten(block: AuditBlock): void {
    const ids = new Set(entriesOf(block).map(({ entry }) => entry.id));
    const done = waiting.filter(({ entry }) => ids.has(entry.id));
    waiting = waiting.filter((one) => !done.includes(one));
    resolveCalls(done);
  }

  async function writeAll(): Promise<void> {
    // Wait one turn of the event loop, so that its entries share a block.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      // One block after the other, because each needs the hash of the previous block.
      const soonMs = lastAtMs + blockEveryMs - performance.now();
      if (soonMs > 0 && waiting.length < mostPerBlock) await sleep(soonMs);
      const tail = await chain.current(resolveWritten);
      const batch = waiting.slice(0, mostPerBlock);
      if (batch.length === 0) return;
      const entries = batch.map(({ entry }) => entry);
      if (!(await chain.write(tail, entries))) continue;
      lastAtMs = performance.now();
      // Entries that arrived meanwhile wait for the next block.
      waiting = waiting.slice(batch.length);
      resolveCalls(batch);
      onWritten();
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      try {
        await writeAll();
      } catch (error) {
        const all = waiting;
        waiting = [];
        for (const { call } of all) call.reject(error);
      }
    }
    writing = undefined;
  }

  return {
    add(entries: readonly AuditEntry[]): Promise<void> {
      return new Promise((resolve, reject) => {
        const call: Call = { missing: entries.length, resolve, reject };
        for (const entry of entries) waiting.push({ entry, call });
        writing ??= run();
      });
    },
    drained: () => writing ?? Promise.resolve(),
  };
}

function resolveCalls(written: readonly Waiting[]): void {
  for (const { call } of written) {
    call.missing -= 1;
    if (call.missing === 0) call.resolve();
  }
}
