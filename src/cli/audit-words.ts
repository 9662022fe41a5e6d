import { parseArgs } from 'node:util';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { Witness } from '../audit/verify-audit.ts';
import type { AuditChoice, AuditFormat } from '../audit/export-audit.ts';

export type AuditAsked =
  | { kind: 'verify'; witnesses: readonly Witness[] }
  /** `hasGaps`: the file holds entries that were chosen. */
  | { kind: 'verify_file'; path: string; hasGaps: boolean; witnesses: readonly Witness[] }
  | { kind: 'export'; format: AuditFormat; choice: AuditChoice };

export function readAuditWords([command, ...words]: readonly string[]): Parsed<AuditAsked> {
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
