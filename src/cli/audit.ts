import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { exitCodes } from './exit-codes.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import {
  exportAudit,
  type AuditChoice,
  type AuditFormat,
  type ExportedAudit,
} from '../audit/export-audit.ts';
import {
  createAuditCheck,
  judgeEnd,
  verifyAudit,
  type AuditReport,
  type VerifiedAudit,
  type Witness,
} from '../audit/verify-audit.ts';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import { type CommandEnd, type CliCommand, reasonOf, withKept } from './command.ts';
import { hasStore } from '../store/kept.ts';
import type { Outside } from '../config/config.ts';

const auditUsage = [
  'npm run audit -- verify [--head SEQ:HASH]',
  'npm run audit -- verify --file export.jsonl [--part] [--head SEQ:HASH]',
  'npm run audit --silent -- export [--format jsonl|csv] [--from DATE] [--to DATE] [--reference REF] [--account NAME]',
];

/** Says whether the audit trail is whole, and what is wrong where it is not; or writes it out. */
export const auditCommand: CliCommand = {
  summary: 'Verify or export the audit trail',
  usage: auditUsage,
  more: 'Reads, and changes nothing; the bot may run. verify ends with 0 when the trail is whole and 3 when it is not (docs/audit.md).',
  scope: 'shared',
  prepare(words) {
    const read = readAuditWords(words);
    if (!read.ok) return problem([read.problem, ...auditUsage].join('\n'));
    const asked = read.value;
    // Whoever audits has the file without the bot.
    if (asked.kind === 'verify_file') return parsed({ alone: () => verifyFile(asked) });
    return parsed({ run: (outside, out) => runOnStore(outside, asked, out) });
  },
};

async function runOnStore(
  outside: Outside,
  asked: Exclude<AuditAsked, { kind: 'verify_file' }>,
  out: (text: string) => Promise<void>,
): Promise<CommandEnd> {
  // What a store that was made just now lacks would seem whole.
  if (!hasStore(outside.config)) return { exitCode: exitCodes.unproven, words: noTrail };
  return await withKept(
    // One trail for all merchant accounts: the first one's part of the store is the whole.
    outside,
    async (kept) =>
      asked.kind === 'verify'
        ? verified(await verifyAudit(kept, asked.witnesses))
        : exported(await exportAudit(kept, asked, out)),
    (error) => ({
      exitCode: error instanceof StoreUnavailable ? exitCodes.noAnswer : exitCodes.failed,
      words: `The audit trail could not be read to its end. ${reasonOf(error)}`,
    }),
  );
}

const noTrail = 'There is no audit trail here. Run this with the very settings of the bot.';

function verified(report: VerifiedAudit): CommandEnd {
  const { stub } = report;
  if (report.problems.length > 0) return broken(report, 'The audit trail');
  const removed =
    stub === undefined
      ? []
      : [
          `Before them retention removed the entries up to ${stub.seq}, the newest of ${stub.newest}; its record of ${stub.removedAt} is signed by the bot.`,
        ];
  if (report.count === 0 && stub === undefined) return { exitCode: exitCodes.unproven, words: noTrail };
  return { exitCode: exitCodes.ok, words: [whole(report, 'The audit trail'), ...removed].join('\n') };
}

function whole({ count, first, last }: AuditReport, what: string): string {
  if (!first || !last) return `${what} is whole: it holds no entry any more.`;
  return [
    `${what} is whole: ${count} ${count === 1 ? 'entry' : 'entries'}.`,
    `First  ${described(first)}`,
    `Last   ${described(last)}`,
    `Head   ${last.seq}:${last.hash}`,
  ].join('\n');
}

function described({ seq, entry }: NonNullable<AuditReport['first']>): string {
  return `${seq} of ${new Date(entry.atMs).toISOString()}`;
}

function broken({ problems, furtherProblems, count, last }: AuditReport, what: string): CommandEnd {
  const [first] = problems;
  const more = furtherProblems > 0 ? [`And ${furtherProblems} more.`] : [];
  const head = last ? ` The last is ${described(last)}, with the hash ${last.hash}.` : '';
  return {
    exitCode: exitCodes.unproven,
    isReport: true,
    words: [
      `${what} is broken at entry ${first?.seq ?? 0}.`,
      ...problems.map(({ words }) => words),
      ...more,
      `${count} ${count === 1 ? 'entry was' : 'entries were'} read.${head} Keep a copy of the store as it is.`,
    ].join('\n'),
  };
}

function exported({ count, unreadable }: ExportedAudit): CommandEnd {
  const words = `${count} ${count === 1 ? 'entry' : 'entries'} exported.`;
  if (unreadable === 0) return { exitCode: exitCodes.ok, words };
  return {
    exitCode: exitCodes.unproven,
    words: `${words} ${unreadable} more cannot be read: npm run audit -- verify says where.`,
  };
}

/** What was exported, by itself: without the store and its keys, so without what only they show. */
async function verifyFile(asked: Extract<AuditAsked, { kind: 'verify_file' }>): Promise<CommandEnd> {
  const witnesses: readonly Witness[] = asked.witnesses;
  const check = createAuditCheck({ before: undefined, hasGaps: asked.hasGaps, witnesses });
  try {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(asked.path), crlfDelay: Infinity })) {
      number += 1;
      if (line !== '') check.line(line, `line ${number}`);
    }
  } catch (error) {
    return { exitCode: exitCodes.failed, words: `The file could not be read. ${reasonOf(error)}` };
  }
  judgeEnd(check, witnesses);
  const report = check.report();
  if (report.problems.length > 0) return broken(report, 'The file');
  if (report.count === 0) return { exitCode: exitCodes.unproven, words: 'The file holds no entry.' };
  return { exitCode: exitCodes.ok, words: whole(report, 'The file') };
}

type AuditAsked =
  | { kind: 'verify'; witnesses: readonly Witness[] }
  /** `hasGaps`: the file holds entries that were chosen. */
  | { kind: 'verify_file'; path: string; hasGaps: boolean; witnesses: readonly Witness[] }
  | { kind: 'export'; format: AuditFormat; choice: AuditChoice };

function readAuditWords([command, ...words]: readonly string[]): Parsed<AuditAsked> {
  try {
    if (command === 'verify') return readVerify(words);
    if (command === 'export') return readExport(words);
    return problem('Say verify or export.');
  } catch {
    // What was typed is not repeated.
    return problem('That was not understood; nothing was done.');
  }
}

function readVerify(words: readonly string[]): Parsed<AuditAsked> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      head: { type: 'string', multiple: true, default: [] },
      file: { type: 'string' },
      part: { type: 'boolean', default: false },
    },
  });
  const witnesses: Witness[] = [];
  for (const text of values.head) {
    const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
    if (seq === undefined || hash === undefined) {
      return problem('--head is the number and the hash that the log told, like 1234:0a1b…, 64 characters.');
    }
    witnesses.push({ seq: Number(seq), hash, by: 'What was given with --head' });
  }
  const { file, part } = values;
  if (file === undefined && part) return problem('--part is about a --file.');
  return parsed(
    file === undefined
      ? { kind: 'verify', witnesses }
      : { kind: 'verify_file', path: file, hasGaps: part, witnesses },
  );
}

function readExport(words: readonly string[]): Parsed<AuditAsked> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      format: { type: 'string', default: 'jsonl' },
      from: { type: 'string' },
      to: { type: 'string' },
      reference: { type: 'string' },
      account: { type: 'string' },
    },
  });
  const { format, from, to, reference, account } = values;
  if (format !== 'jsonl' && format !== 'csv') return problem('--format is jsonl or csv.');
  const fromMs = from === undefined ? undefined : readTime(from, 0);
  // A day is meant with its end.
  const untilMs = to === undefined ? undefined : readTime(to, dayMs);
  if (Number.isNaN(fromMs) || Number.isNaN(untilMs)) {
    return problem('--from and --to are days or times in UTC, like 2026-11-21 or 2026-11-21T14:30:00Z.');
  }
  const choice = withoutUndefined({ fromMs, untilMs, reference, account });
  return parsed({ kind: 'export', format, choice });
}

const dayMs = 86_400_000;

/** NaN: it is neither. */
function readTime(text: string, addedToDayMs: number): number {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return Date.parse(`${text}T00:00:00Z`) + addedToDayMs;
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? Date.parse(text) : Number.NaN;
}
