import {
  allBlocks,
  believed,
  emptyTail,
  headKey,
  readMarks,
  stubKey,
  type AuditBlock,
  type AuditStub,
  type BlockDeps,
  type Marks,
} from './audit-blocks.ts';
import {
  createAuditCheck,
  cutOff,
  writtenAnew,
  type AuditCheck,
  type AuditReport,
  type Witness,
} from './audit-check.ts';
import type { AuditHead } from './audit-line.ts';

export type VerifiedAudit = AuditReport & {
  /** What retention removed from the beginning; undefined: nothing. */
  stub: AuditStub | undefined;
};

/**
 * Reads the whole chain and finds an entry that was changed, removed, put elsewhere, cut off at the end or added, and
 * a chain that was written anew, by whoever can write to the store and has no sealing key. What somebody with the
 * keys did, or a store that was put back as a whole, only a witness shows. Bots may go on writing meanwhile.
 * Throws StoreUnavailable.
 */
export async function verifyAudit(
  deps: BlockDeps,
  witnesses: readonly Witness[] = [],
): Promise<VerifiedAudit> {
  const marks = await readMarks(deps);
  const verified = await verifyBehind(deps, marks, witnesses);
  if (verified.problems.length === 0) return verified;
  // What retention removed meanwhile is no problem.
  const now = await readMarks(deps);
  return now.stub?.said?.block === marks.stub?.said?.block ? verified : verifyAudit(deps, witnesses);
}

async function verifyBehind(deps: BlockDeps, marks: Marks, told: readonly Witness[]): Promise<VerifiedAudit> {
  const witnesses = [...told, ...headWitness(marks)];
  const before: AuditHead = marks.stub?.said ?? emptyTail;
  const check = createAuditCheck({ before, witnesses });
  for (const witness of witnesses) {
    if (witness.seq === before.seq && witness.hash !== before.hash) check.add(writtenAnew(witness));
  }
  judgeStub(check, marks);
  for await (const block of allBlocks(deps, marks)) checkBlock(check, block);
  judgeHead(check, marks);
  judgeEnd(check, witnesses);
  return { ...check.report(), stub: marks.stub?.said };
}

/** The signed head is one more witness. */
function headWitness({ head }: Marks): Witness[] {
  const said = believed(head);
  return said ? [{ ...said, by: `The record ${headKey}` }] : [];
}

function judgeStub(check: AuditCheck, { stub }: Marks): void {
  if (stub?.problem === undefined) return;
  const words = `The record ${stubKey}, which says what retention removed, is not the bot's. ${stub.problem}`;
  check.add({ kind: 'forged', seq: stub.said?.seq ?? 0, words });
}

/** Line by line; a signature that fails is told where the lines alone show nothing. */
export function checkBlock(check: AuditCheck, block: AuditBlock): void {
  const place = `block ${block.number}`;
  const met = check.problems();
  const first = (check.last()?.seq ?? 0) + 1;
  for (const line of block.lines) check.line(line, place);
  if (block.problem === undefined || check.problems() > met) return;
  const words = `The entries from ${first} on (${place}) were not written by this bot, or written anew since. ${block.problem}`;
  check.add({ kind: 'forged', seq: first, words });
}

function judgeHead(check: AuditCheck, { head }: Marks): void {
  const seq = check.last()?.seq ?? 0;
  if (head?.problem !== undefined) {
    const words = `The record ${headKey}, which says how far the chain went, is not the bot's. ${head.problem}`;
    check.add({ kind: 'forged', seq, words });
  } else if (!head && seq > 0) {
    const words = `The record ${headKey}, which says how far the chain went, is gone: nothing shows that it went no further than entry ${seq}.`;
    check.add({ kind: 'cut_off', seq: seq + 1, words });
  }
}

/** The one that says most of the chain's end tells it for all. */
export function judgeEnd(check: AuditCheck, witnesses: readonly Witness[]): void {
  const lastSeq = check.last()?.seq ?? 0;
  const [furthest] = witnesses.toSorted((a, b) => b.seq - a.seq);
  if (furthest && furthest.seq > lastSeq) check.add(cutOff(furthest, lastSeq));
}
