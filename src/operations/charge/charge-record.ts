import type { ChargeSeen, HandOver, Resend, SeenOtp } from '../../domain/charge-seen.ts';
import { otpLimits, type PendingOtp } from '../../domain/otp-rules.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { ChargeIntent } from '../../domain/charge-state.ts';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import type { RetryVerdict } from '../../domain/retry-rule.ts';
import type { Entry, Index, WriteOptions } from '../../store/store.ts';
import type { LimitedCharge } from './limit-claims.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** A modal that shows the charge, and whose it is. */
export type ChargeView = { id: string; userId: string };

/** One charge as the store keeps it, sealed whole: the machine's intent, and what stands beside it. */
export type ChargeRecord = {
  intent: ChargeIntent;
  terms: ChargeTerms;
  /** The card's fingerprint, which names its history. */
  card: string;
  by: string;
  agent: string;
  handOvers: readonly HandOver[];
  resends: readonly Resend[];
  /** Newest last. */
  views: readonly ChargeView[];
  savingLink?: string;
  /** Made anew for each creation, so that a process knows its own when the store's answer was lost. */
  birth: string;
  /** Up to which step the audit has it; absent: as far as this record knows it has none. */
  auditedAt?: number;
};

export const chargePrefix = 'charge:';

/**
 * The lists of charges, in the order they were submitted: those that somebody has to see to, those that a person
 * submitted or took over, and those whose code the person is to enter.
 */
export const chargeLists = {
  open: 'open-charges',
  of: (userId: string) => `charges-of:${userId}`,
  codesOf: (userId: string) => `codes-of:${userId}`,
};

export function listsOfCharge(record: ChargeRecord): Index {
  const { intent, by, agent, handOvers } = record;
  const people = [by, agent, ...handOvers.map(({ to }) => to)];
  const names = people.map(chargeLists.of);
  if (isOpen(record)) names.push(chargeLists.open);
  if (intent.state.kind === 'otp') names.push(chargeLists.codesOf(agent));
  return Object.fromEntries(names.map((name) => [name, intent.submittedAt]));
}

export function chargeKey(reference: string): string {
  return `${chargePrefix}${reference}`;
}

export function sealCharge(sealer: Sealer, record: ChargeRecord): string {
  return sealer.seal(chargeKey(record.intent.reference), JSON.stringify(record));
}

/** It was typed when it was sealed, under a key only this program holds. Throws when it was sealed with a lost key. */
export function openCharge(sealer: Sealer, entry: Pick<Entry, 'key' | 'value'>): ChargeRecord {
  return JSON.parse(sealer.open(entry.key, entry.value)) as ChargeRecord;
}

/** Work again when the machine wants to look at it again; memory when it is done. */
export function keepUntilDue(intent: ChargeIntent, nowMs: number, rememberMs: number): WriteOptions {
  return intent.dueAt === undefined
    ? { ttlMs: rememberMs }
    : { delayMs: Math.max(0, intent.dueAt - Math.max(nowMs, intent.at)) };
}

/** The audit has all of it, and its record says so. */
export function isAudited({ intent, auditedAt = 0 }: ChargeRecord): boolean {
  return auditedAt >= intent.at;
}

/** What people may see of it. */
export function seenOf(record: ChargeRecord, nextTry?: RetryVerdict): ChargeSeen {
  const { intent, terms, by, agent, handOvers, resends, savingLink } = record;
  const { tokenKey: _secret, ...shown } = terms;
  const { reference, submittedAt, at, state, dueAt, otp, bankWords, heard } = intent;
  const corrects =
    'concludedAt' in state
      ? intent.told.findLast((what) => what !== state.kind && what !== 'otp')
      : undefined;
  return {
    reference,
    terms: shown,
    card: record.card,
    by,
    agent,
    submittedAt,
    at,
    state,
    heard,
    sends: intent.sends.length,
    handOvers,
    resends,
    ...(dueAt === undefined ? {} : { dueAt }),
    ...(otp && { otp: seenOtp(intent, otp) }),
    ...(state.kind === 'approved' ? { proof: proofOf(intent) } : {}),
    ...(bankWords === undefined ? {} : { bankWords }),
    ...(corrects === undefined || corrects === 'otp' ? {} : { corrects }),
    ...(nextTry === undefined ? {} : { nextTry }),
    ...(savingLink === undefined ? {} : { savingLink }),
  };
}

function proofOf({ history }: ChargeIntent): NonNullable<ChargeSeen['proof']> {
  const findings = history.map(({ event }) => (event.kind === 'looked_up' ? event.finding : undefined));
  const { status, compared } = findings.findLast((found) => found?.kind === 'paid') ?? {};
  return withoutUndefined({ status, compared });
}

function seenOtp({ state, history }: ChargeIntent, { until, tries, unanswered }: PendingOtp): SeenOtp {
  const triesLeft = Math.max(0, otpLimits.submissions - tries);
  if (tries === 0 || state.kind === 'otp_checking') return { until, triesLeft };
  const isRefused = history.some(
    ({ event }) =>
      event.kind === 'otp_answered' && event.submission === tries && event.answer.kind === 'wrong',
  );
  return {
    until,
    triesLeft,
    lastCode: isRefused ? 'refused' : 'unanswered',
    ...(unanswered > 0 && { answerLost: true }),
  };
}

/** The charge as limits count it: whoever enters its code, it is its submitter's, on the day it was submitted. */
export function limitedOf({ intent, card, by }: ChargeRecord): LimitedCharge {
  const { reference, money, submittedAt } = intent;
  return { reference, by, card, money, atMs: submittedAt };
}

/** Somebody has to wait for it, or to see to it. */
export function isOpen({ intent: { state } }: Pick<ChargeRecord, 'intent'>): boolean {
  return !('concludedAt' in state) || state.kind === 'review';
}
