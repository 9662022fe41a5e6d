import {
  allBlocks,
  beginningOf,
  trusted,
  emptyTail,
  faultsOfEnd,
  headKey,
  readAuditLine,
  readMarks,
  readTie,
  stubKey,
  witnessKey,
  type AuditBlock,
  type AuditHead,
  type AuditStub,
  type Chain,
  type ChainedEntry,
  type EndFault,
  type Marks,
} from './audit-chain.ts';

export type VerifiedAudit = AuditReport & {
  /** What retention has removed; undefined: nothing. */
  stub: AuditStub | undefined;
  /** False: no bot has started on this store. */
  isBegun: boolean;
};

/**
 * Verifies the whole chain. Finds every change that was made without a sealing key: entries changed, removed, moved,
 * cut off or added, and a rewritten chain. Changes made with a key, and a store that was put back as a whole, are found
 * only by a witness. Bots may write meanwhile. Throws StoreUnavailable.
 */
export async function verifyAudit(chain: Chain, witnesses: readonly Witness[] = []): Promise<VerifiedAudit> {
  const marks = await readMarks(chain);
  const verified = await verifyOnce(chain, marks, witnesses);
  if (verified.problems.length === 0) return verified;
  // If retention removed blocks, or the chain was begun, meanwhile, that is no problem: verify again.
  const { head, stub } = await readMarks(chain);
  const isSame = stub?.content?.block === marks.stub?.content?.block && !head === !marks.head;
  return isSame ? verified : verifyAudit(chain, witnesses);
}

async function verifyOnce(chain: Chain, marks: Marks, given: readonly Witness[]): Promise<VerifiedAudit> {
  const tie = await readTie(chain);
  const witnesses = [...given, ...ownWitness(marks.head, headKey), ...ownWitness(tie.witness, witnessKey)];
  const beginning = tie.isIdUnreadable ? { seq: 0, hash: undefined } : beginningOf(tie);
  const before = marks.stub?.content ?? beginning;
  const check = createAuditCheck({ before, witnesses });
  for (const witness of witnesses) {
    if (witness.seq > 0 && witness.seq === before.seq && witness.hash !== before.hash)
      check.add(rewrittenProblem(witness));
  }
  checkStub(check, marks);
  for await (const block of allBlocks(chain, marks)) checkBlock(check, block);
  const seq = check.last()?.seq ?? 0;
  for (const fault of faultsOfEnd(marks, tie, seq > 0)) check.add(endProblem(fault, seq));
  checkEnd(check, witnesses);
  return { ...check.report(), stub: marks.stub?.content, isBegun: tie.storeHash !== undefined };
}

function ownWitness(mark: Marks['head'], key: string): Witness[] {
  const content = trusted(mark);
  return content ? [{ ...content, by: `The record ${key}` }] : [];
}

function checkStub(check: AuditCheck, { stub }: Marks): void {
  if (stub?.problem === undefined) return;
  const words = `The record ${stubKey}, which says what retention removed, is not the bot's. ${stub.problem}`;
  check.add({ kind: 'forged', seq: stub.content?.seq ?? 0, words });
}

/** Checks each line of the block. A bad signature is reported only if the lines alone show no problem. */
export function checkBlock(check: AuditCheck, block: AuditBlock): void {
  const place = `block ${block.number}`;
  const problemsBefore = check.problems();
  const first = (check.last()?.seq ?? 0) + 1;
  for (const line of block.lines) check.line(line, place);
  if (block.problem === undefined || check.problems() > problemsBefore) return;
  const words = `The entries from ${first} on (${place}) were not written by this bot, or rewritten since. ${block.problem}`;
  check.add({ kind: 'forged', seq: first, words });
}

const toldBy = {
  [headKey]: 'which says how far the chain went,',
  [witnessKey]: 'which says once more how far the chain went,',
};

/** `seq`: the last entry that is there. */
function endProblem(fault: EndFault, seq: number): AuditProblem {
  const { kind, key } = fault;
  if (kind === 'other_store') return { kind, seq, words: `The record ${key} was written for another store.` };
  const record = `The record ${key}, ${toldBy[key]}`;
  if (kind === 'forged') return { kind, seq, words: `${record} is not the bot's. ${fault.why}` };
  return { kind: 'cut_off', seq: seq + 1, words: goneWords(record, key, seq) };
}

function goneWords(record: string, key: string, seq: number): string {
  if (key === witnessKey)
    return `${record} is gone: nothing shows that this is not an older copy of the chain.`;
  return seq > 0
    ? `${record} is gone: nothing shows that it went no further than entry ${seq}.`
    : `The record ${key}, which the bot makes when it first starts, is gone, and there is no entry: the trail was removed.`;
}

/** Checks the chain's end against the witness with the highest number; the others would only repeat the problem. */
export function checkEnd(check: AuditCheck, witnesses: readonly Witness[]): void {
  const lastSeq = check.last()?.seq ?? 0;
  const [furthest] = witnesses.toSorted((a, b) => b.seq - a.seq);
  if (furthest && furthest.seq > lastSeq) check.add(cutOff(furthest, lastSeq));
}

/** `seq`: the first entry that is concerned. `words`: the problem, for people. */
type AuditProblem = {
  kind: 'changed' | 'removed' | 'misplaced' | 'forged' | 'cut_off' | 'rewritten' | 'other_store';
  seq: number;
  words: string;
};

/** The chain's end as noted at some time. `by`: the source of the note, like `The log`. */
export type Witness = AuditHead & { by: string };

export type AuditReport = {
  count: number;
  first: ChainedEntry | undefined;
  /** The entry with the highest number. */
  last: ChainedEntry | undefined;
  /** In the order in which they were found; empty: nothing is wrong. */
  problems: readonly AuditProblem[];
  /** How many further problems were found but are not listed. */
  furtherProblems: number;
};

type AuditCheck = ReturnType<typeof createAuditCheck>;

type CheckOptions = {
  /** The entry that the first line must follow; undefined: the lines are a part, which may begin anywhere. */
  before: { seq: number; hash: string | undefined } | undefined;
  /** The lines are a selection, so missing entries between them are no problem. */
  hasGaps?: boolean;
  witnesses?: readonly Witness[];
};

const mostProblems = 20;

/**
 * Checks a chain line by line for entries that were changed, removed, moved or repeated. Continues after a problem, so
 * that the rest is checked as well. Keeps no lines and at most twenty problems.
 */
export function createAuditCheck({ before, hasGaps = false, witnesses = [] }: CheckOptions) {
  const problems: AuditProblem[] = [];
  let furtherProblems = 0;
  let count = 0;
  let first: ChainedEntry | undefined;
  let highest: ChainedEntry | undefined;
  // The hash is undefined after a line that can't be read.
  let last: { seq: number; hash: string | undefined } | undefined = before;

  function add(problem: AuditProblem): void {
    if (problems.length < mostProblems) problems.push(problem);
    else furtherProblems += 1;
  }

  function addUnreadable(place: string): undefined {
    const seq = (last?.seq ?? 0) + 1;
    const words = `Entry ${seq} (${place}) was changed: it cannot be read any more.`;
    add({ kind: 'changed', seq, words });
    last = { seq, hash: undefined };
  }

  /** Checks that a line, whose own hash is right, follows the line before. */
  function checkPlace(read: ChainedEntry, place: string): void {
    if (last === undefined) return;
    const { seq } = read;
    if (seq <= last.seq) {
      const words = `Entry ${seq} stands behind entry ${last.seq} (${place}): put there, or put in twice.`;
      add({ kind: 'misplaced', seq, words });
      return;
    }
    if (seq > last.seq + 1) {
      if (!hasGaps) add(missing(last.seq + 1, seq, place));
      return;
    }
    if (last.hash === undefined || read.prev === last.hash) return;
    if (seq > 1) {
      const words = `Entry ${last.seq} is not the one that entry ${seq} (${place}) was written after: it was changed and given a new hash, or another was put in its place.`;
      add({ kind: 'changed', seq: last.seq, words });
    } else if (read.prev !== emptyTail.hash) {
      add({ kind: 'other_store', seq, words: `Entry 1 (${place}) begins the chain of another store.` });
    }
  }

  function checkWitnesses({ seq, hash }: ChainedEntry): void {
    for (const witness of witnesses) {
      if (witness.seq === seq && witness.hash !== hash) add(rewrittenProblem(witness));
    }
  }

  return {
    /** Checks the next line as it is stored. Problems name its `place`, like `block 12`. */
    line(text: string, place: string): ChainedEntry | undefined {
      const read = readAuditLine(text);
      if (!read) return addUnreadable(place);
      count += 1;
      first ??= read;
      if (!read.isTrue) {
        const seq = last === undefined ? read.seq : last.seq + 1;
        const words = `Entry ${seq} (${place}) was changed: its hash is not the hash of what it says.`;
        add({ kind: 'changed', seq, words });
        last = { seq, hash: read.hash };
        return read;
      }
      checkPlace(read, place);
      checkWitnesses(read);
      if (last === undefined || read.seq > last.seq) last = { seq: read.seq, hash: read.hash };
      if (!highest || read.seq > highest.seq) highest = read;
      return read;
    },
    /** Adds a problem that a line alone doesn't show. */
    add,
    /** The number of problems so far. */
    problems: () => problems.length + furtherProblems,
    /** The entry that the next line must follow; undefined before the first line of a part. */
    last: () => last,
    report: (): AuditReport => ({ count, first, last: highest, problems, furtherProblems }),
  };
}

function missing(from: number, behind: number, place: string): AuditProblem {
  const which = behind === from + 1 ? `Entry ${from} is` : `Entries ${from} to ${behind - 1} are`;
  return { kind: 'removed', seq: from, words: `${which} missing before entry ${behind} (${place}).` };
}

/** The problem that the entry under the witness's number has another hash. */
function rewrittenProblem({ by, seq, hash }: Witness): AuditProblem {
  const words = `Entry ${seq} is not the one that was there: ${by} says that its hash was ${hash}. The chain was rewritten, here or before.`;
  return { kind: 'rewritten', seq, words };
}

function cutOff({ by, seq }: Witness, lastSeq: number): AuditProblem {
  const which = seq === lastSeq + 1 ? `Entry ${seq} is` : `Entries ${lastSeq + 1} to ${seq} are`;
  const words = `${which} missing at the end: cut off. ${by} says that the chain went to entry ${seq}.`;
  return { kind: 'cut_off', seq: lastSeq + 1, words };
}
