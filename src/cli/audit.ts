import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { exitCodes } from './exit-codes.ts';
import { StoreUnavailable } from '../domain/store-unavailable.ts';
import { exportAudit, type ExportedAudit } from '../audit/export-audit.ts';
import {
  createAuditCheck,
  judgeEnd,
  verifyAudit,
  type AuditReport,
  type VerifiedAudit,
  type Witness,
} from '../audit/verify-audit.ts';
import { operatorHelp } from './operator-commands.ts';
import { readAuditWords, type AuditAsked } from './audit-words.ts';
import { reasonOf, type CommandEnd, type Out } from './command-end.ts';
import { hasStore } from '../store/kept.ts';
import type { Outside } from '../app/outside.ts';
import { withKept } from './with-kept.ts';

/**
 * `npm run audit -- verify` says whether the audit trail is whole, and what is wrong where it is not; `-- export`
 * writes it out. Both read, and change nothing; the bot may run. Never throws.
 */
export async function runAudit(outside: Outside, words: readonly string[], out: Out): Promise<CommandEnd> {
  const asked = readAuditWords(words);
  if (!asked.ok) return misread(asked.problem);
  if (asked.value.kind === 'verify_file') return await verifyFile(asked.value);
  // What a store that was made just now lacks would seem whole.
  if (!hasStore(outside.config)) return { exitCode: exitCodes.unproven, words: noTrail };
  return await runOnStore(outside, asked.value, out);
}

/** The end of what needs no settings: words that are not understood, and a file, which whoever audits has without the bot. */
export async function auditWithoutSettings(words: readonly string[]): Promise<CommandEnd | undefined> {
  const asked = readAuditWords(words);
  if (!asked.ok) return misread(asked.problem);
  return asked.value.kind === 'verify_file' ? await verifyFile(asked.value) : undefined;
}

function misread(problem: string): CommandEnd {
  const usage = operatorHelp['audit']?.usage ?? [];
  return { exitCode: exitCodes.usage, words: [problem, ...usage].join('\n') };
}

function runOnStore(
  outside: Outside,
  asked: Exclude<AuditAsked, { kind: 'verify_file' }>,
  out: Out,
): Promise<CommandEnd> {
  return withKept(
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
