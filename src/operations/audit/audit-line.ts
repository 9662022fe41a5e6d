import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { holdsCardNumber } from '../../domain/card-number.ts';
import { cleanAuditReference } from '../../domain/clean-audit-entry.ts';
import { cut } from '../../domain/outside-text.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';

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

/** What stands before the first entry. */
export const beforeFirst: AuditHead = { seq: 0, hash: '0'.repeat(64) };

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

/** Undefined: it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
