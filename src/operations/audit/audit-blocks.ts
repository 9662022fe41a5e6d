import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { Entry, Index, Store } from '../../store/store.ts';
import { pagesOf } from '../work/change-record.ts';
import {
  beforeFirst,
  parseJson,
  readAuditLine,
  sha256,
  type AuditHead,
  type ChainedEntry,
} from './audit-line.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { readSignedText, signText } from './signed-text.ts';

/**
 * How the chain is kept: blocks of a few entries each, numbered from 0, created once and never changed. Whoever
 * creates number n first has continued the chain, so it is one across replicas and needs no lock.
 */
export type AuditBlock = {
  number: number;
  lines: readonly string[];
  /** Why it is not believed that the bot wrote it. */
  problem?: string;
};

export type BlockDeps = { store: Pick<Store, 'read' | 'list'>; sealer: Sealer };
type ReadDeps = { store: Pick<Store, 'read'>; sealer: Sealer };

/** The last block and the entry it ends with; -1 before the first. */
export type Tail = AuditHead & { block: number };

const blockPrefix = 'audit:';

export function blockKey(number: number): string {
  return blockPrefix + String(number);
}

const everyBlock = 'audit-blocks';

/** The lists that a block is in: that of all, and one for each reference it has. They are not signed, and prove nothing. */
export function listsOfBlock(number: number, entries: readonly AuditEntry[]): Index {
  const names = [
    everyBlock,
    ...entries.flatMap(({ reference }) => (reference === undefined ? [] : listOf(reference))),
  ];
  return Object.fromEntries(names.map((name) => [name, number]));
}

/** References come from outside and may hold anything; a hash keeps names short and plain. */
function listOf(reference: string): string {
  return `audit-of:${sha256(reference).slice(0, 32)}`;
}

/** A reference that is asked about all day; the oldest are then found by an export alone. */
const mostBlocks = 5_000;
/** A block may hold tens of kilobytes. */
const listedTogether = 16;

/** What stands on the chain about the reference, as entries have it, by any replica. */
export async function entriesAbout(deps: BlockDeps, reference: string): Promise<ChainedEntry[]> {
  const found: ChainedEntry[] = [];
  const newestFirst = { max: listedTogether, newestFirst: true };
  let blocks = 0;
  for await (const entries of pagesOf(deps.store, listOf(reference), newestFirst)) {
    const all = entries.flatMap((entry) => entriesOf(openBlock(deps.sealer, entry)));
    found.push(...all.filter(({ entry }) => entry.reference === reference));
    blocks += entries.length;
    if (blocks >= mostBlocks) break;
  }
  return found;
}

export function writeBlock(sealer: Sealer, number: number, lines: readonly string[]): string {
  return signText(sealer, blockKey(number), lines.join('\n'));
}

export async function readBlock(
  { store, sealer }: ReadDeps,
  number: number,
): Promise<AuditBlock | undefined> {
  const entry = await store.read(blockKey(number));
  return entry && openBlock(sealer, entry);
}

function openBlock(sealer: Sealer, { key, value }: Entry): AuditBlock {
  const { text, ...problem } = readSignedText(sealer, key, value);
  return { number: numberOf(key), lines: text.split('\n'), ...problem };
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
export async function lastBlockFrom(store: BlockDeps['store'], from: number): Promise<number> {
  let last = Math.max(from, await lastListed(store));
  // oxlint-disable-next-line no-await-in-loop -- mostly there is none behind it
  while (await store.read(blockKey(last + 1))) last += 1;
  return last;
}

/** What the bot says of the chain beside it, signed: how far it went, and what retention took from its beginning. */
const markShape = z.object({ block: z.number().int(), seq: z.number().int(), hash: z.string() });
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

/** `problem`: it is not believed; what it says is then no more than a place to look. */
export type Mark<T> = { said: T | undefined; problem?: string };

export function believed<T>(mark: Mark<T> | undefined): T | undefined {
  return mark?.problem === undefined ? mark?.said : undefined;
}

export function signMark(sealer: Sealer, key: string, said: Tail | AuditStub): string {
  return signText(sealer, key, JSON.stringify(said));
}

export function readHeadMark(sealer: Sealer, value: string): Mark<Tail> {
  return readMark(sealer, headKey, value, markShape);
}

export function readStubMark(sealer: Sealer, value: string): Mark<AuditStub> {
  return readMark(sealer, stubKey, value, stubShape);
}

function readMark<T>(sealer: Sealer, key: string, value: string, shape: z.ZodType<T>): Mark<T> {
  const { text, problem } = readSignedText(sealer, key, value);
  const read = shape.safeParse(parseJson(text));
  if (problem !== undefined) return { said: read.data, problem };
  return read.success ? { said: read.data } : { said: undefined, problem: 'It cannot be read.' };
}

export type Marks = {
  head: Mark<Tail> | undefined;
  stub: Mark<AuditStub> | undefined;
  /** The block that is listed last; -1: none is. */
  listed: number;
};

export async function readMarks({ store, sealer }: BlockDeps): Promise<Marks> {
  const [head, stub, listed] = await Promise.all([
    store.read(headKey),
    store.read(stubKey),
    lastListed(store),
  ]);
  return {
    listed,
    head: head && readHeadMark(sealer, head.value),
    stub: stub && readStubMark(sealer, stub.value),
  };
}

export const emptyTail: Tail = { ...beforeFirst, block: -1 };

/** Where the chain ends. What the marks say is tried and not believed: a forged one must not start the chain anew. */
export async function findTail(deps: BlockDeps, { head, stub }: Marks): Promise<Tail> {
  const removed = believed(stub) ?? emptyTail;
  const places = [head?.said?.block ?? -1, (stub?.said?.block ?? -2) + 1];
  const tried = places.filter((number) => number >= 0);
  const read = await Promise.all(tried.map((number) => readBlock(deps, number)));
  const from = Math.max(removed.block, ...read.flatMap((block) => block?.number ?? []));
  const last = await readBlock(deps, await lastBlockFrom(deps.store, from));
  return last ? endOf(last, Math.max(removed.seq, believed(head)?.seq ?? 0)) : removed;
}

const mostReadTogether = 32;

/** Each number from one on with its block, if it is there, without end; a few are read at once and no more are held. */
async function* eachNumber(
  deps: ReadDeps,
  from: number,
): AsyncGenerator<{ number: number; block: AuditBlock | undefined }> {
  let together = 2;
  for (let first = from; ; first += together) {
    if (first > from) together = Math.min(2 * together, mostReadTogether);
    const numbers = Array.from({ length: together }, (_, index) => first + index);
    // oxlint-disable-next-line no-await-in-loop -- a long chain must not keep everything else waiting
    await breathe();
    // oxlint-disable-next-line no-await-in-loop
    const blocks = await Promise.all(numbers.map((number) => readBlock(deps, number)));
    for (const [index, block] of blocks.entries()) yield { number: first + index, block };
  }
}

/** The blocks from one number on, until one is not there. */
export async function* blocksFrom(deps: ReadDeps, from: number): AsyncGenerator<AuditBlock> {
  for await (const { block } of eachNumber(deps, from)) {
    if (!block) return;
    yield block;
  }
}

/** Where nothing else says where the chain is: the last number that is not there before the block that is listed last. */
async function beforeListed(deps: ReadDeps, { head, listed }: Marks): Promise<number> {
  if (head || (await readBlock(deps, 0))) return -1;
  let number = listed;
  // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
  while (number >= 0 && (await readBlock(deps, number))) number -= 1;
  return number === listed ? -1 : number;
}

/** A gap of more blocks than that, behind what the head tells of, is taken for the end. */
const widestGap = 64;

/** Every block that is there behind what retention removed, also behind gaps that somebody tore. */
export async function* allBlocks(deps: ReadDeps, marks: Marks): AsyncGenerator<AuditBlock> {
  const { head, stub } = marks;
  const removed = stub?.said?.block ?? (await beforeListed(deps, marks));
  let until = Math.max(removed, believed(head)?.block ?? -1);
  for await (const { number, block } of eachNumber(deps, removed + 1)) {
    if (block) {
      until = Math.max(until, number);
      yield block;
    } else if (number > until + widestGap) return;
  }
}
