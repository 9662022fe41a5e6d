import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { exitCodes } from './exit-codes.ts';
import { isoTime } from './lines.ts';
import { exportAudit, type AuditChoice, type ExportedAudit } from '../audit/export-audit.ts';
import {
  createAuditCheck,
  checkEnd,
  verifyAudit,
  type AuditReport,
  type VerifiedAudit,
  type Witness,
} from '../audit/verify-audit.ts';
import { counted, parsed, problem, type Parsed } from '../domain/wording.ts';
import { withoutUndefined } from '../domain/json.ts';
import { accountNamed, command, type CommandEnd, type Prepared, withStorage } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';
import type { Storage } from '../store/storage.ts';
import { whyNotWrite } from '../store/store-mark.ts';
import type { Runtime } from '../config/config.ts';
import { dayMs } from '../domain/span.ts';

export const auditCommand = command({
  summary: 'Verify or export the audit trail',
  usage: [
    'npm run audit -- verify [--head SEQ:HASH]',
    'npm run audit -- verify --file export.jsonl [--part] [--head SEQ:HASH]',
    'npm run audit --silent -- export [--format jsonl|csv] [--from DATE] [--to DATE] [--reference REF] [--account NAME]',
  ],
  more: 'Reads, and changes nothing; the bot may run. verify ends with 0 when the trail is whole and 3 when it is not (docs/audit.md).',
  scope: 'shared',
  options: {
    head: { type: 'string', multiple: true },
    file: { type: 'string' },
    part: { type: 'boolean' },
    format: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    reference: { type: 'string' },
    account: { type: 'string' },
  },
  mostWords: 1,
  prepare({ values: { head, file, part, ...chosen }, positionals: [what = ''] }) {
    if (what === 'verify' && Object.keys(chosen).length === 0) return prepareVerify({ head, file, part });
    if (what === 'export' && !head && file === undefined && !part) return prepareExport(chosen);
    return problem('Say verify or export, each with its own options.');
  },
});

type VerifyOptions = { head?: string[] | undefined; file?: string | undefined; part?: boolean | undefined };

function prepareVerify({ head, file, part = false }: VerifyOptions): Parsed<Prepared> {
  const witnesses = readWitnesses(head);
  if (!witnesses.ok) return witnesses;
  // An auditor may have only the file: it is verified without settings and store.
  if (file !== undefined) {
    return parsed({ runWithoutSettings: () => verifyFile(file, part, witnesses.value) });
  }
  if (part) return problem('--part is about a --file.');
  return parsed({
    run: (runtime) =>
      runOnStore(runtime, async (storage) =>
        verifyEnd(await verifyAudit(storage, witnesses.value), await whyNotWrite(storage)),
      ),
  });
}

type ExportOptions = Partial<Record<'format' | 'from' | 'to' | 'reference' | 'account', string | undefined>>;

function prepareExport({ format = 'jsonl', ...chosen }: ExportOptions): Parsed<Prepared> {
  if (format !== 'jsonl' && format !== 'csv') return problem('--format is jsonl or csv.');
  const choice = readChoice(chosen);
  if (!choice.ok) return choice;
  return parsed({
    run: (runtime, out) =>
      runOnStore(runtime, async (storage) =>
        exportEnd(await exportAudit(storage, { format, choice: choice.value }, out), choice.value, runtime),
      ),
  });
}

async function runOnStore(
  runtime: Runtime,
  work: (storage: Storage) => Promise<CommandEnd>,
): Promise<CommandEnd> {
  // All accounts share one trail, which is in the first account's part of the store. Of a store that was emptied the
  // check itself says so.
  return await withStorage(runtime, work, unreadWords, { mayBeNew: true });
}

function unreadWords(error: unknown): string {
  return `The audit trail could not be read to its end. ${reasonOf(error)}`;
}

/** `wrongKey`: said first, because with another key nothing looks like the bot's. */
function verifyEnd(report: VerifiedAudit, wrongKey: string | undefined): CommandEnd {
  const { stub, isBegun } = report;
  if (report.problems.length > 0) return brokenEnd(report, 'The audit trail', wrongKey);
  const removed =
    stub === undefined
      ? []
      : [
          `Before them retention removed the entries up to ${stub.seq}, the newest of ${stub.newest}; its record of ${stub.removedAt} is signed by the bot.`,
        ];
  if (report.count === 0 && stub === undefined)
    return isBegun
      ? { exitCode: exitCodes.ok, words: nothingYet }
      : { exitCode: exitCodes.unproven, words: neverBegun };
  return { exitCode: exitCodes.ok, words: [wholeWords(report, 'The audit trail'), ...removed].join('\n') };
}

const nothingYet =
  'The audit trail is whole: it holds no entry yet. If the bot has been used, check --head with the newest “The audit trail stands here” of its log.';
const neverBegun =
  'No bot has started on this store yet, or it was emptied, or these are not the settings of the bot.';

function wholeWords({ count, first, last }: AuditReport, what: string): string {
  if (!first || !last) return `${what} is whole: it holds no entry any more.`;
  return [
    `${what} is whole: ${counted(count, 'entry', 'entries')}.`,
    `First  ${entryWords(first)}`,
    `Last   ${entryWords(last)}`,
    `Head   ${last.seq}:${last.hash}`,
  ].join('\n');
}

function entryWords({ seq, entry }: NonNullable<AuditReport['first']>): string {
  return `${seq} of ${new Date(entry.atMs).toISOString()}`;
}

function brokenEnd(
  { problems, furtherProblems, count, last }: AuditReport,
  what: string,
  wrongKey?: string,
): CommandEnd {
  const [first] = problems;
  const more = furtherProblems > 0 ? [`And ${furtherProblems} more.`] : [];
  const head = last ? ` The last is ${entryWords(last)}, with the hash ${last.hash}.` : '';
  return {
    exitCode: exitCodes.unproven,
    isReport: true,
    words: [
      `${what} is broken at entry ${first?.seq ?? 0}.`,
      ...(wrongKey === undefined ? [] : [wrongKey]),
      ...problems.map(({ words }) => words),
      ...more,
      `${counted(count, 'entry was', 'entries were')} read.${head} Keep a copy of the store as it is.`,
    ].join('\n'),
  };
}

function exportEnd(
  { count, unreadable }: ExportedAudit,
  { account }: AuditChoice,
  { config }: Runtime,
): CommandEnd {
  // An account that the policy file no longer has may still be on the trail.
  const named = count === 0 && account !== undefined ? accountNamed(account, config) : undefined;
  if (named?.ok === false) return { exitCode: exitCodes.usage, words: named.problem };
  const words = `${counted(count, 'entry', 'entries')} exported.`;
  if (unreadable === 0) return { exitCode: exitCodes.ok, words };
  return {
    exitCode: exitCodes.unproven,
    words: `${words} ${unreadable} more cannot be read: npm run audit -- verify says where.`,
  };
}

/** Verifies an exported file. Without store and keys it skips the checks that need them. */
async function verifyFile(
  path: string,
  hasGaps: boolean,
  witnesses: readonly Witness[],
): Promise<CommandEnd> {
  const check = createAuditCheck({ before: undefined, hasGaps, witnesses });
  try {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
      number += 1;
      if (line !== '') check.line(line, `line ${number}`);
    }
  } catch (error) {
    return { exitCode: exitCodes.failed, words: `The file could not be read. ${reasonOf(error)}` };
  }
  checkEnd(check, witnesses);
  const report = check.report();
  if (report.problems.length > 0) return brokenEnd(report, 'The file');
  if (report.count === 0) return { exitCode: exitCodes.unproven, words: 'The file holds no entry.' };
  return { exitCode: exitCodes.ok, words: wholeWords(report, 'The file') };
}

function readWitnesses(heads: readonly string[] = []): Parsed<Witness[]> {
  const witnesses: Witness[] = [];
  for (const text of heads) {
    const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
    if (seq === undefined || hash === undefined) {
      return problem('--head is the number and the hash that the log told, like 1234:0a1b…, 64 characters.');
    }
    witnesses.push({ seq: Number(seq), hash, by: 'What was given with --head' });
  }
  return parsed(witnesses);
}

function readChoice({ from, to, reference, account }: Omit<ExportOptions, 'format'>): Parsed<AuditChoice> {
  const fromMs = from === undefined ? undefined : readTime(from, 0);
  // `--to` with a date includes that whole day.
  const untilMs = to === undefined ? undefined : readTime(to, dayMs);
  if (Number.isNaN(fromMs) || Number.isNaN(untilMs))
    return problem('--from and --to are days or times in UTC, like 2026-11-21 or 2026-11-21T14:30:00Z.');
  // Otherwise no entry is chosen, which would look like an export of a quiet time.
  if (fromMs !== undefined && untilMs !== undefined && fromMs >= untilMs)
    return problem('--from must be before --to.');
  return parsed(withoutUndefined({ fromMs, untilMs, reference, account: account?.toLowerCase() }));
}

/** UTC ms; NaN if it is neither a date nor a time. */
function readTime(text: string, addedToDayMs: number): number {
  const [, date, time] = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+Z)?$/.exec(text) ?? [];
  const ms = Date.parse(`${date}${time ?? 'T00:00:00Z'}`);
  // Date.parse takes the 30th of February for the 2nd of March.
  if (Number.isNaN(ms) || isoTime(ms).slice(0, 10) !== date) return Number.NaN;
  return time === undefined ? ms + addedToDayMs : ms;
}
