import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type AuditEntry, auditEntryShape } from '../records/shapes.ts';
import { holdsCardNumber } from '../domain/card.ts';
import { outsideText, cut } from '../domain/outside-text.ts';
import { SealBroken, type Sealer, type Entry, type Store } from '../store/store.ts';
import { readStoreId } from '../store/store-mark.ts';
import { parseJson } from '../domain/json.ts';
import { pagesOf } from '../records/pages.ts';

/** A position in the chain: an entry's number, counted from 1, and its hash. */
export type AuditHead = { seq: number; hash: string };

export type ChainedEntry = AuditHead & {
  /** The hash of the entry before. */
  prev: string;
  /** False: the line was changed after its hash was made. */
  isTrue: boolean;
  entry: AuditEntry;
};

/**
 * Writes the entry as one line of JSON, which is both stored and exported. Its last member, `hash`, is the SHA-256 of
 * the line without that member, so any tool can check it: cut out `,"hash":"…"` and hash the rest. That needs no
 * canonical form of JSON.
 */
export function writeAuditLine(entry: AuditEntry, before: AuditHead): { line: string; head: AuditHead } {
  const { id, atMs, who, where, what, verb, account, reference, result, reason } = entry;
  const seq = before.seq + 1;
  const line = JSON.stringify({
    seq,
    prev: before.hash,
    id,
    at: new Date(atMs).toISOString(),
    who,
    where,
    what,
    verb,
    account,
    reference,
    before: entry.before,
    after: entry.after,
    result,
    reason,
  });
  const hash = sha256(line);
  return { line: `${line.slice(0, -1)},"hash":"${hash}"}`, head: { seq, hash } };
}

/** The longest texts, in UTF-16 units: short enough to read, and to limit what an entry costs. */
const longest = {
  where: 80,
  verb: 80,
  account: 200,
  reference: 200,
  before: 500,
  after: 500,
  result: 500,
  reason: 500,
} as const;
const longestWho = 80;

/**
 * Cleans an entry, which is kept for years and handed to auditors: each text becomes one visible line, shortened,
 * without whole e-mail addresses and possible card numbers. Idempotent. Can't find codes, token keys and transaction
 * ids, which look like other words, so callers must not put them into an entry.
 */
export function cleanAuditEntry(entry: AuditEntry): AuditEntry {
  const { id, atMs, what } = entry;
  const cleaned: Partial<AuditEntry> = {};
  for (const name of Object.keys(longest) as (keyof typeof longest)[]) {
    const given = entry[name];
    if (given === undefined) continue;
    // Empty texts are left out, like absent ones.
    const text = outsideText(given, longest[name]);
    if (text !== '') cleaned[name] = text;
  }
  return { ...cleaned, id, atMs, who: outsideText(entry.who, longestWho), what };
}

/**
 * A reference as it is written into entries. If cleaning changes the text, a hash is added, so that two references that
 * are masked alike stay different. One that looks like a card number gets no hash: with so few digits, the hash would
 * reveal them.
 */
export function auditReference(reference: string): string {
  const clean = outsideText(reference, longest.reference);
  if (clean === reference || holdsCardNumber(reference)) return clean;
  return `${cut(clean, 180)} #${sha256(reference).slice(0, 8)}`;
}

const hashEnd = /,"hash":"([0-9a-f]{64})"\}$/;

/** Strict only about the chain's own fields: an entry of a newer release may have more. */
const lineShape = auditEntryShape.omit({ atMs: true }).extend({
  seq: z.number().int().min(1),
  prev: z.string(),
  at: z.iso.datetime(),
  what: z.string(),
});

export function readAuditLine(line: string): ChainedEntry | undefined {
  const found = hashEnd.exec(line);
  const hash = found?.[1];
  if (!found || hash === undefined) return undefined;
  const unhashed = `${line.slice(0, found.index)}}`;
  const read = lineShape.safeParse(parseJson(unhashed));
  if (!read.success) return undefined;
  const { seq, prev, at, what, ...rest } = read.data;
  const entry = { ...rest, what: what as AuditEntry['what'], atMs: Date.parse(at) };
  return { seq, prev, hash, isTrue: sha256(unhashed) === hash, entry };
}

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * Signs a text: puts a line before it that only holders of a sealing key can make, and that is valid only under this
 * record key. The text stays unencrypted. The line names its sealing key, so keys can be rotated.
 */
export function signText(sealer: Sealer, key: string, text: string): string {
  return `${sealer.seal(key, sha256(text))}\n${text}`;
}

/** Reads a signed text. `problem`: why it is not trusted. */
function readSignedText(
  sealer: Sealer,
  { key, value }: Entry,
): { text: string; problem: string | undefined } {
  const end = value.indexOf('\n');
  const text = value.slice(end + 1);
  try {
    const isTrue = sealer.open(key, value.slice(0, Math.max(end, 0))) === sha256(text);
    return { text, problem: isTrue ? undefined : 'It was changed after it was signed.' };
  } catch (error) {
    return { text, problem: error instanceof Error ? error.message : 'Its signature cannot be read.' };
  }
}

/**
 * The chain is stored in blocks of a few entries. Blocks are numbered from 0, created once and never changed. The
 * replica that creates number n first has continued the chain, so all replicas write one chain without a lock.
 */
export type AuditBlock = {
  number: number;
  lines: readonly string[];
  /** Why the block may not be the bot's own; undefined: its signature is valid. */
  problem: string | undefined;
};

export type Chain = { store: Pick<Store, 'read' | 'list'>; sealer: Sealer };

/** The last block's number and its last entry; block -1: there is no block yet. */
export type Tail = AuditHead & { block: number };

export const emptyTail: Tail = { seq: 0, hash: '0'.repeat(64), block: -1 };

const blockPrefix = 'audit:';

export function blockKey(number: number): string {
  return blockPrefix + String(number);
}

const blocksList = 'audit-blocks';

/**
 * Creates a block; false: another replica was faster. The same write adds the block to the list of all blocks, and to
 * one list for each reference in it. The lists are not signed and prove nothing.
 */
export function createBlock(
  { store, sealer }: { store: Pick<Store, 'create'>; sealer: Sealer },
  number: number,
  { lines, entries }: { lines: readonly string[]; entries: readonly AuditEntry[] },
): Promise<boolean> {
  const ofReferences = entries.flatMap(({ reference }) => (reference === undefined ? [] : listOf(reference)));
  const index = Object.fromEntries([blocksList, ...ofReferences].map((name) => [name, number]));
  return store.create(blockKey(number), signText(sealer, blockKey(number), lines.join('\n')), { index });
}

/** The list of a reference. References are outside text, so the name contains a hash, which is short and plain. */
function listOf(reference: string): string {
  return `audit-of:${sha256(reference).slice(0, 32)}`;
}

/**
 * The most blocks that are read for one reference, which may have been looked up all day. An export also finds older
 * blocks.
 */
const mostBlocks = 5_000;
/** How many blocks are read at once. A block may have tens of kilobytes. */
const blocksAtOnce = 16;

/** The entries about a reference (as `auditReference` writes it), by any replica. */
export async function entriesAbout(chain: Chain, reference: string): Promise<ChainedEntry[]> {
  const found: ChainedEntry[] = [];
  const newestFirst = { max: blocksAtOnce, newestFirst: true };
  let blocks = 0;
  for await (const entries of pagesOf(chain.store, listOf(reference), newestFirst)) {
    const all = entries.flatMap((entry) => entriesOf(openBlock(chain.sealer, entry)));
    found.push(...all.filter(({ entry }) => entry.reference === reference));
    blocks += entries.length;
    if (blocks >= mostBlocks) break;
  }
  return found;
}

export async function readBlock({ store, sealer }: Chain, number: number): Promise<AuditBlock | undefined> {
  const entry = await store.read(blockKey(number));
  return entry && openBlock(sealer, entry);
}

function openBlock(sealer: Sealer, entry: Entry): AuditBlock {
  const { text, problem } = readSignedText(sealer, entry);
  return { number: numberOf(entry.key), lines: text.split('\n'), problem };
}

function numberOf(key: string): number {
  return Number(key.slice(blockPrefix.length));
}

export function entriesOf({ lines }: AuditBlock): ChainedEntry[] {
  return lines.flatMap((line) => readAuditLine(line) ?? []);
}

/**
 * The tail after this block. If its last line is damaged, the chain continues after it without a repair, so that the
 * damage shows; the next entry then gets a number above `seqBefore`.
 */
export function endOf(block: AuditBlock, seqBefore = 0): Tail {
  const last = block.lines.at(-1) ?? '';
  const read = readAuditLine(last);
  if (read) return { block: block.number, seq: read.seq, hash: read.hash };
  const seq = Math.max(seqBefore + 1, ...entriesOf(block).map((entry) => entry.seq));
  return { block: block.number, seq, hash: sha256(block.lines.join('\n')) };
}

/** The number of the last block in the list; -1: none. Only a search starts there, because the list is unsigned. */
async function lastListed(store: Pick<Store, 'list'>): Promise<number> {
  const { entries } = await store.list(blocksList, { max: 1, newestFirst: true });
  return entries[0] ? numberOf(entries[0].key) : -1;
}

/**
 * The number of the last block. Searches upwards from `from`, a block that exists or was removed; -1: from the start.
 */
async function lastBlockFrom(store: Chain['store'], from: number): Promise<number> {
  let last = Math.max(from, await lastListed(store));
  while (await store.read(blockKey(last + 1))) last += 1;
  return last;
}

/**
 * The bot's signed marks beside the chain: the head and its copy, the witness, say how far the chain goes, the stub
 * what retention removed. `store`: the hash of the store's id; absent before the first entries, and
 * if the chain began before the store had its id.
 */
const markShape = z.object({
  block: z.number().int(),
  seq: z.number().int(),
  hash: z.string(),
  store: z.string().exactOptional(),
});
const stubShape = markShape.extend({
  /** The first entry of the last removal; entries before it were removed earlier. */
  from: z.number().int(),
  /** The time of the removal, and the time of the newest removed entry; ISO 8601, UTC. */
  removedAt: z.string(),
  newest: z.string(),
  /** False while the removal is not finished. */
  isDone: z.boolean(),
});

export type AuditStub = z.infer<typeof stubShape>;

export const headKey = 'audit-head';
export const stubKey = 'audit-stub';
/** A copy of the head. Its key doesn't begin with `audit`, so that putting back older audit records leaves the copy. */
export const witnessKey = 'store-audit';

/** A mark as it was read. With a `problem` it isn't trusted: its content only says where to start searching. */
type Mark<T> = { entry: Entry; content: T | undefined; problem: string | undefined };

/** The mark's content, if its signature is valid. */
export function trusted<T>(mark: Mark<T> | undefined): T | undefined {
  return mark?.problem === undefined ? mark?.content : undefined;
}

type SignedTail = z.infer<typeof markShape>;

export function signMark(sealer: Sealer, key: string, content: SignedTail | AuditStub): string {
  return signText(sealer, key, JSON.stringify(content));
}

/**
 * Creates the first head. It runs before the store gets its mark (`store-mark.ts`), so in a store with a mark and
 * without a head somebody has removed the audit.
 */
export async function beginAudit({ store, sealer }: { store: Pick<Store, 'create'>; sealer: Sealer }) {
  await store.create(headKey, signMark(sealer, headKey, emptyTail));
}

async function readMark<T>(
  { store, sealer }: Chain,
  key: string,
  shape: z.ZodType<T>,
): Promise<Mark<T> | undefined> {
  const entry = await store.read(key);
  if (!entry) return undefined;
  const { text, problem } = readSignedText(sealer, entry);
  const { success, data: content } = shape.safeParse(parseJson(text));
  return { entry, content, problem: problem ?? (success ? undefined : 'It cannot be read.') };
}

export type Marks = { head: Mark<SignedTail> | undefined; stub: Mark<AuditStub> | undefined };

export async function readMarks(chain: Chain): Promise<Marks> {
  const [head, stub] = await Promise.all([
    readMark(chain, headKey, markShape),
    readMark(chain, stubKey, stubShape),
  ]);
  return { head, stub };
}

/**
 * What ties the chain to its store, so that another store's chain is found out. `storeHash`: hash of the store's id;
 * undefined: no bot of this release has started on the store. `isIdUnreadable`: the id can't be read, as its sealing
 * key is not configured.
 */
export type Tie = {
  storeHash: string | undefined;
  isIdUnreadable: boolean;
  witness: Mark<SignedTail> | undefined;
};

export async function readTie(chain: Chain): Promise<Tie> {
  const [store, witness] = await Promise.all([readStoreHash(chain), readMark(chain, witnessKey, markShape)]);
  return { ...store, witness };
}

async function readStoreHash(chain: Chain): Promise<Omit<Tie, 'witness'>> {
  try {
    const id = await readStoreId(chain);
    return { storeHash: id && sha256(`payops audit of store ${id}`), isIdUnreadable: false };
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    return { storeHash: undefined, isIdUnreadable: true };
  }
}

/** What is wrong with a mark of the chain's end. `forged`: it isn't the bot's, and `why` says how that shows. */
export type EndFault =
  | { kind: 'gone' | 'other_store'; key: EndKey }
  | { kind: 'forged'; key: EndKey; why: string };
type EndKey = typeof headKey | typeof witnessKey;

/**
 * What head and witness show without the chain, of which `hasEntries` says whether anything is left. One rule for the
 * log, which leaves damaged marks alone, and for the verification.
 */
export function faultsOfEnd({ head }: Marks, tie: Tie, hasEntries: boolean): EndFault[] {
  const { storeHash, isIdUnreadable, witness } = tie;
  const faults: EndFault[] = [];
  if (head?.problem !== undefined) faults.push({ kind: 'forged', key: headKey, why: head.problem });
  // The head is created before the store's mark and before the first block.
  const hasBegun = hasEntries || isIdUnreadable || storeHash !== undefined;
  if (!head && hasBegun) faults.push({ kind: 'gone', key: headKey });
  if (isIdUnreadable) return faults;
  const headStore = trusted(head)?.store;
  const seen = trusted(witness);
  if (headStore !== undefined && headStore !== storeHash) faults.push({ kind: 'other_store', key: headKey });
  if (seen && seen.store !== storeHash) faults.push({ kind: 'other_store', key: witnessKey });
  if (witness?.problem !== undefined) faults.push({ kind: 'forged', key: witnessKey, why: witness.problem });
  // The witness is written before a head that names its store.
  if (!witness && headStore !== undefined) faults.push({ kind: 'gone', key: witnessKey });
  return faults;
}

/**
 * The position before the first entry. Its hash is the store's; zeros if the chain began before the store had its id.
 */
export function beginningOf({ storeHash }: Pick<Tie, 'storeHash'>): AuditHead {
  return { seq: 0, hash: storeHash ?? emptyTail.hash };
}

/** Finds the chain's end. The marks are checked, not trusted: a forged mark must not make the chain start again. */
export async function findTail(chain: Chain, { head, stub }: Marks): Promise<Tail> {
  const removed = trusted(stub) ?? emptyTail;
  const atHead = await readBlock(chain, head?.content?.block ?? -1);
  const from = Math.max(removed.block, atHead?.number ?? -1);
  const last = await readBlock(chain, await lastBlockFrom(chain.store, from));
  return last ? endOf(last, Math.max(removed.seq, trusted(head)?.seq ?? 0)) : removed;
}

/** The blocks from `from` on, up to the first gap after `until`. */
export async function* blocksFrom(chain: Chain, from: number, until = from): AsyncGenerator<AuditBlock> {
  for (let first = from; ; first += blocksAtOnce) {
    const numbers = Array.from({ length: blocksAtOnce }, (_, index) => first + index);
    await nextTurn();
    const blocks = await Promise.all(numbers.map((number) => readBlock(chain, number)));
    for (const [index, block] of blocks.entries()) {
      if (block) yield block;
      else if (first + index >= until) return;
    }
  }
}

/** Every block after the removed ones, also blocks behind gaps. */
export async function* allBlocks(chain: Chain, { head, stub }: Marks): AsyncGenerator<AuditBlock> {
  const last = Math.max(trusted(head)?.block ?? -1, await lastListed(chain.store));
  yield* blocksFrom(chain, (stub?.content?.block ?? -1) + 1, last);
}
