import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import type { AuditEntry } from '../records/shapes.ts';
import { holdsCardNumber } from '../domain/card.ts';
import { outsideText, cut } from '../domain/outside-text.ts';
import { SealBroken, type Sealer, type Entry, type Store } from '../store/store.ts';
import { readStoreId } from '../store/store-mark.ts';
import { withoutUndefined, parseJson } from '../domain/json.ts';
import { pagesOf } from '../records/pages.ts';

/** Where a chain stands: the number of an entry, counted from 1, and the entry's hash. */
export type AuditHead = { seq: number; hash: string };

/** One entry as it stands on the chain. */
export type ChainedEntry = AuditHead & {
  /** The hash of the entry before. */
  prev: string;
  /** Whether the hash is the one of what the line says. */
  isTrue: boolean;
  entry: AuditEntry;
};

/**
 * The entry as one line of JSON, which is how it is kept and how it is exported. Its `hash`, always the last member,
 * is the SHA-256 of the line without it: whoever cuts `,"hash":"…"` out can check it with any tool, in any language,
 * and nothing has to be written in a canonical form again.
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

/** In UTF-16 units: what whoever reads the audit can still take in, and a bound on what one entry costs. */
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
 * The entry as it may be kept for years and handed to an auditor: each text one visible line, no e-mail address in
 * full, nothing that looks like a card number, none of it long. Cleaned twice it is the same.
 *
 * Codes, token keys and transaction ids look like any other word: those who write entries put none into them.
 */
export function cleanAuditEntry(entry: AuditEntry): AuditEntry {
  const { id, atMs, what } = entry;
  const cleaned: Partial<AuditEntry> = {};
  for (const name of Object.keys(longest) as (keyof typeof longest)[]) {
    // An empty text says nothing, and is left out as an absent one is.
    const text = outsideText(entry[name] ?? '', longest[name]);
    if (text !== '') cleaned[name] = text;
  }
  return { ...cleaned, id, atMs, who: outsideText(entry.who, longestWho), what };
}

/** As `cleanAuditEntry` writes it, so that what is asked for is what was kept. */
function cleanAuditReference(reference: string): string {
  return outsideText(reference, longest.reference);
}

/**
 * A reference as entries have it and are asked for by it. Two that are masked alike are still told apart; one that
 * looks like a card number is not, because a hash of so few digits gives them away.
 */
export function keptReference(reference: string): string {
  const clean = cleanAuditReference(reference);
  if (clean === reference || holdsCardNumber(reference)) return clean;
  return `${cut(clean, 180)} #${sha256(reference).slice(0, 8)}`;
}

const hashEnd = /,"hash":"([0-9a-f]{64})"\}$/;

/** Strict in what a chain needs, and only there: an entry that a newer release wrote may say more. */
const lineShape = z.object({
  seq: z.number().int().min(1),
  prev: z.string(),
  id: z.string(),
  at: z.iso.datetime(),
  who: z.string(),
  where: z.string().optional(),
  what: z.string(),
  verb: z.string().optional(),
  account: z.string().optional(),
  reference: z.string().optional(),
  before: z.string().optional(),
  after: z.string().optional(),
  result: z.string().optional(),
  reason: z.string().optional(),
});

/** Undefined: it is no line of a chain. */
export function readAuditLine(line: string): ChainedEntry | undefined {
  const found = hashEnd.exec(line);
  const hash = found?.[1];
  if (!found || hash === undefined) return undefined;
  const told = `${line.slice(0, found.index)}}`;
  const read = lineShape.safeParse(parseJson(told));
  if (!read.success) return undefined;
  const { seq, prev, at, what, ...rest } = read.data;
  const entry = { ...withoutUndefined(rest), what: what as AuditEntry['what'], atMs: Date.parse(at) };
  return { seq, prev, hash, isTrue: sha256(told) === hash, entry };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The text in the clear behind a line that only who holds a sealing key can write, and for this record alone: a copy
 * under another key of the store is none. Which key it was is in the line, so the keys may be rotated.
 */
export function signText(sealer: Sealer, key: string, text: string): string {
  return `${sealer.seal(key, sha256(text))}\n${text}`;
}

/** `problem`: why it is not believed. */
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
 * How the chain is kept: blocks of a few entries each, numbered from 0, created once and never changed. Whoever
 * creates number n first has continued the chain, so it is one across replicas and needs no lock.
 */
export type AuditBlock = {
  number: number;
  lines: readonly string[];
  /** Why it is not believed that the bot wrote it. */
  problem: string | undefined;
};

/** Where it is kept, and what signs it. */
export type Chain = { store: Pick<Store, 'read' | 'list'>; sealer: Sealer };

/** The last block and the entry it ends with; -1 before the first. */
export type Tail = AuditHead & { block: number };

export const emptyTail: Tail = { seq: 0, hash: '0'.repeat(64), block: -1 };

const blockPrefix = 'audit:';

export function blockKey(number: number): string {
  return blockPrefix + String(number);
}

const everyBlock = 'audit-blocks';

/**
 * False: another replica was faster. With its write the block comes into the list of all, and into one for each reference
 * it has. The lists are not signed, and prove nothing.
 */
export function createBlock(
  { store, sealer }: { store: Pick<Store, 'create'>; sealer: Sealer },
  number: number,
  { lines, entries }: { lines: readonly string[]; entries: readonly AuditEntry[] },
): Promise<boolean> {
  const ofReferences = entries.flatMap(({ reference }) => (reference === undefined ? [] : listOf(reference)));
  const index = Object.fromEntries([everyBlock, ...ofReferences].map((name) => [name, number]));
  return store.create(blockKey(number), signText(sealer, blockKey(number), lines.join('\n')), { index });
}

/** References come from outside and may hold anything; a hash keeps names short and plain. */
function listOf(reference: string): string {
  return `audit-of:${sha256(reference).slice(0, 32)}`;
}

/** A reference that is asked about all day; the oldest are then found by an export alone. */
const mostBlocks = 5_000;
/** A block may hold tens of kilobytes. */
const readTogether = 16;

/** What stands on the chain about the reference, as entries have it, by any replica. */
export async function entriesAbout(chain: Chain, reference: string): Promise<ChainedEntry[]> {
  const found: ChainedEntry[] = [];
  const newestFirst = { max: readTogether, newestFirst: true };
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

/** The entries of a block, without the lines that are none. */
export function entriesOf({ lines }: AuditBlock): ChainedEntry[] {
  return lines.flatMap((line) => readAuditLine(line) ?? []);
}

/**
 * What the next entry follows. A block that somebody spoilt is followed as it stands, so that its damage shows, and
 * by a number that was not given before: larger than `seqBefore`.
 */
export function endOf(block: AuditBlock, seqBefore = 0): Tail {
  const last = block.lines.at(-1) ?? '';
  const read = readAuditLine(last);
  if (read) return { block: block.number, seq: read.seq, hash: read.hash };
  const seq = Math.max(seqBefore + 1, ...entriesOf(block).map((entry) => entry.seq));
  return { block: block.number, seq, hash: sha256(block.lines.join('\n')) };
}

/** The block that is listed last; -1: none is. That is not signed, and so no more than a place to look. */
async function lastListed(store: Pick<Store, 'list'>): Promise<number> {
  const { entries } = await store.list(everyBlock, { max: 1, newestFirst: true });
  return entries[0] ? numberOf(entries[0].key) : -1;
}

/** The number of the last block, from one on that is there. */
async function lastBlockFrom(store: Chain['store'], from: number): Promise<number> {
  let last = Math.max(from, await lastListed(store));
  while (await store.read(blockKey(last + 1))) last += 1;
  return last;
}

/**
 * What the bot says of the chain beside it, signed: how far it went, and what retention took from its beginning. `store`:
 * whose chain it is; absent in the mark of an earlier release, and until the first entries stand.
 */
const markShape = z.object({
  block: z.number().int(),
  seq: z.number().int(),
  hash: z.string(),
  store: z.string().exactOptional(),
});
const stubShape = markShape.extend({
  /** The first entry that was removed with that last one; those before it were removed earlier. */
  from: z.number().int(),
  /** When the last were, and when the newest of them had been written; ISO 8601, UTC. */
  removedAt: z.string(),
  newest: z.string(),
  /** False between its writing and the end of the removal that it tells of. */
  isDone: z.boolean(),
});

export type AuditStub = z.infer<typeof stubShape>;

export const headKey = 'audit-head';
export const stubKey = 'audit-stub';
/** Says what the head says, and has another name: an older copy of the audit’s records, put back, does not replace it. */
export const witnessKey = 'store-audit';

/** `problem`: it is not believed; what it says is then no more than a place to look. */
type Mark<T> = { entry: Entry; said: T | undefined; problem: string | undefined };

export function believed<T>(mark: Mark<T> | undefined): T | undefined {
  return mark?.problem === undefined ? mark?.said : undefined;
}

type SignedTail = z.infer<typeof markShape>;

export function signMark(sealer: Sealer, key: string, said: SignedTail | AuditStub): string {
  return signText(sealer, key, JSON.stringify(said));
}

/** Before the store gets its mark: where a store has its mark and no head, somebody removed the trail. */
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
  const { success, data: said } = shape.safeParse(parseJson(text));
  return { entry, said, problem: problem ?? (success ? undefined : 'It cannot be read.') };
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
 * What ties the chain to its store. `number`: the store’s own, as it may be read by anybody; undefined: no bot of this
 * release has started on it. `isUnopened`: its key is not here.
 */
export type Tie = {
  number: string | undefined;
  isUnopened: boolean;
  witness: Mark<SignedTail> | undefined;
};

export async function readTie(chain: Chain): Promise<Tie> {
  const [number, witness] = await Promise.all([storeNumber(chain), readMark(chain, witnessKey, markShape)]);
  return { ...number, witness };
}

async function storeNumber(chain: Chain): Promise<Pick<Tie, 'number' | 'isUnopened'>> {
  try {
    const id = await readStoreId(chain);
    return { number: id && sha256(`payops audit of store ${id}`), isUnopened: false };
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    return { number: undefined, isUnopened: true };
  }
}

/** What the first entry follows: the store’s number; zeros where no bot had started, and in an earlier release’s chain. */
export function beginningOf({ number }: Pick<Tie, 'number'>): AuditHead {
  return { seq: 0, hash: number ?? emptyTail.hash };
}

/** Where the chain ends. What the marks say is tried and not believed: a forged one must not start the chain anew. */
export async function findTail(chain: Chain, { head, stub }: Marks): Promise<Tail> {
  const removed = believed(stub) ?? emptyTail;
  const atHead = await readBlock(chain, head?.said?.block ?? -1);
  const from = Math.max(removed.block, atHead?.number ?? -1);
  const last = await readBlock(chain, await lastBlockFrom(chain.store, from));
  return last ? endOf(last, Math.max(removed.seq, believed(head)?.seq ?? 0)) : removed;
}

/** The blocks from one number on; behind `until` they end with the first that is not there. */
export async function* blocksFrom(chain: Chain, from: number, until = from): AsyncGenerator<AuditBlock> {
  for (let first = from; ; first += readTogether) {
    const numbers = Array.from({ length: readTogether }, (_, index) => first + index);
    await breathe();
    const blocks = await Promise.all(numbers.map((number) => readBlock(chain, number)));
    for (const [index, block] of blocks.entries()) {
      if (block) yield block;
      else if (first + index >= until) return;
    }
  }
}

/** Every block that is there behind what retention removed, also behind gaps that somebody tore. */
export async function* allBlocks(chain: Chain, { head, stub }: Marks): AsyncGenerator<AuditBlock> {
  const last = Math.max(believed(head)?.block ?? -1, await lastListed(chain.store));
  yield* blocksFrom(chain, (stub?.said?.block ?? -1) + 1, last);
}
