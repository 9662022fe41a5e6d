import { readAuditLine, type AuditHead, type ChainedEntry } from './audit-line.ts';

/** `seq`: the first entry that it is about. `words`: what is wrong, for people. */
export type AuditProblem = {
  kind: 'changed' | 'removed' | 'reordered' | 'doubled' | 'forged' | 'cut_off' | 'written_anew';
  seq: number;
  words: string;
};

/** What somebody noted of the chain's end at some time, and where that is written, like `The log`. */
export type Witness = AuditHead & { by: string };

export type AuditReport = {
  count: number;
  first: ChainedEntry | undefined;
  /** Of the entries that are there the one with the highest number. */
  last: ChainedEntry | undefined;
  /** In the order in which they were met; empty: nothing is wrong. */
  problems: readonly AuditProblem[];
  /** How many more there were. */
  furtherProblems: number;
};

export type AuditCheck = {
  /** The next line, as it stands, and the place that is named when something is wrong with it: `block 12`. */
  line(text: string, place: string): ChainedEntry | undefined;
  /** What the line alone cannot show. */
  add(problem: AuditProblem): void;
  /** How many problems were met so far. */
  problems(): number;
  /** What the next line follows; undefined before the first line of a part. */
  last(): { seq: number } | undefined;
  report(): AuditReport;
};

export type CheckOptions = {
  /** What the first line must follow; undefined: the lines are a part, which may begin anywhere. */
  before: AuditHead | undefined;
  /** The lines were chosen: entries in between are missing rightly. */
  hasGaps?: boolean;
  witnesses?: readonly Witness[];
};

const mostProblems = 20;

/** Entries that were not where they belong; they may yet turn up elsewhere. */
type Gap = { from: number; to: number; found: number; place: string; behind: number };

type Met = { kind: 'problem'; problem: AuditProblem } | { kind: 'gap'; gap: Gap };

/**
 * Reads a chain line by line and finds whatever was changed, removed, put elsewhere or put in twice. Goes on behind
 * what is wrong, so that the rest is judged for itself. Holds no lines.
 */
export function createAuditCheck({ before, hasGaps = false, witnesses = [] }: CheckOptions): AuditCheck {
  const problems = createProblems();
  let count = 0;
  let first: ChainedEntry | undefined;
  let highest: ChainedEntry | undefined;
  // The hash is undefined behind a line that cannot be read.
  let last: { seq: number; hash: string | undefined } | undefined = before;

  function spoilt(place: string): undefined {
    const seq = (last?.seq ?? 0) + 1;
    const words = `Entry ${seq} (${place}) was changed: it cannot be read any more.`;
    problems.add({ kind: 'changed', seq, words });
    last = { seq, hash: undefined };
  }

  /** Of a line that says what its hash says: whether it follows the one before. */
  function judgePlace(read: ChainedEntry, place: string): void {
    if (last === undefined) return;
    const { seq } = read;
    if (seq <= last.seq) return judgeEarlier(seq, place, last.seq);
    if (seq > last.seq + 1) {
      const gap = { from: last.seq + 1, to: seq - 1, found: 0, place, behind: seq };
      if (!hasGaps) problems.addGap(gap);
      return;
    }
    if (last.hash !== undefined && read.prev !== last.hash) {
      const words = `Entry ${last.seq} is not the one that entry ${seq} (${place}) was written after: it was changed and given a new hash, or another was put in its place.`;
      problems.add({ kind: 'changed', seq: last.seq, words });
    }
  }

  function judgeEarlier(seq: number, place: string, lastSeq: number): void {
    if (problems.fill(seq)) return;
    const words = `Entry ${seq} stands again behind entry ${lastSeq} (${place}).`;
    problems.add({ kind: 'doubled', seq, words });
  }

  function judgeWitness({ seq, hash }: ChainedEntry): void {
    for (const witness of witnesses) {
      if (witness.seq === seq && witness.hash !== hash) problems.add(writtenAnew(witness));
    }
  }

  return {
    line(text, place) {
      const read = readAuditLine(text);
      if (!read) return spoilt(place);
      count += 1;
      first ??= read;
      if (!read.isTrue) {
        const seq = last === undefined ? read.seq : last.seq + 1;
        const words = `Entry ${seq} (${place}) was changed: its hash is not the hash of what it says.`;
        problems.add({ kind: 'changed', seq, words });
        last = { seq, hash: read.hash };
        return read;
      }
      judgePlace(read, place);
      judgeWitness(read);
      if (last === undefined || read.seq > last.seq) last = { seq: read.seq, hash: read.hash };
      if (!highest || read.seq > highest.seq) highest = read;
      return read;
    },
    add: problems.add,
    problems: problems.count,
    last: () => last,
    report: () => ({ count, first, last: highest, ...problems.report() }),
  };
}

function createProblems() {
  const met: Met[] = [];
  let further = 0;
  function meet(one: Met): void {
    if (met.length < mostProblems) met.push(one);
    else further += 1;
  }
  return {
    add: (problem: AuditProblem): void => meet({ kind: 'problem', problem }),
    addGap: (gap: Gap): void => meet({ kind: 'gap', gap }),
    /** Whether that entry was missing before. */
    fill(seq: number): boolean {
      const one = met.find((each) => each.kind === 'gap' && each.gap.from <= seq && seq <= each.gap.to);
      if (one?.kind !== 'gap') return false;
      one.gap.found += 1;
      return true;
    },
    count: () => met.length + further,
    report: () => ({
      problems: met.flatMap((one) => (one.kind === 'problem' ? [one.problem] : gapProblems(one.gap))),
      furtherProblems: further,
    }),
  };
}

function gapProblems({ from, to, found, place, behind }: Gap): AuditProblem[] {
  const all = to - from + 1;
  const which = from === to ? `Entry ${from}` : `Entries ${from} to ${to}`;
  const verb = from === to ? 'stands' : 'stand';
  const reordered = `${which} ${verb} behind entry ${behind} (${place}): the order was changed.`;
  const some = found > 0 ? `, ${found} of them put elsewhere` : '';
  const missing = `${which} ${from === to ? 'is' : 'are'} missing before entry ${behind} (${place}): removed${some}.`;
  return found >= all
    ? [{ kind: 'reordered', seq: from, words: reordered }]
    : [{ kind: 'removed', seq: from, words: missing }];
}

/** The chain does not reach the witness, or holds another entry under its number. */
export function writtenAnew({ by, seq, hash }: Witness): AuditProblem {
  const words = `Entry ${seq} is not the one that was there: ${by} says that its hash was ${hash}. The chain was written anew, here or before.`;
  return { kind: 'written_anew', seq, words };
}

export function cutOff({ by, seq }: Witness, lastSeq: number): AuditProblem {
  const which = seq === lastSeq + 1 ? `Entry ${seq} is` : `Entries ${lastSeq + 1} to ${seq} are`;
  const words = `${which} missing at the end: cut off. ${by} says that the chain went to entry ${seq}.`;
  return { kind: 'cut_off', seq: lastSeq + 1, words };
}
