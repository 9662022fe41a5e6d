import { step } from '../../domain/charge.ts';
import { countsForLimits } from '../../domain/charge-limits.ts';
import type { ChargeEvent, Effect } from '../../domain/charge-state.ts';
import type { Entry, Store, WriteOptions } from '../../store/store.ts';
import {
  chargeKey,
  isAudited,
  keepUntilDue,
  limitedOf,
  listsOfCharge,
  openCharge,
  sealCharge,
  type ChargeRecord,
} from './charge-record.ts';
import type { LimitClaims } from './limit-claims.ts';
import type { Sealer } from '../../domain/sealer.ts';

export type AdvanceDeps = {
  store: Pick<Store, 'read' | 'write'>;
  sealer: Sealer;
  limits: Pick<LimitClaims, 'count' | 'release'>;
  rememberMs: number;
  now: () => number;
  /** Absent: nothing of charges is written down but in their own records. */
  audit?: ChargeAudit;
};

/** What has the steps of charges written into the audit. */
export type ChargeAudit = {
  /** Called with what was just stored. Never throws, and nobody waits for it. */
  stored(record: ChargeRecord): void;
  /** Up to which step the audit has this charge, as far as this process knows. */
  upTo(record: ChargeRecord): number;
  /** Writes down what is missing and old enough to be nobody else's to write. Throws StoreUnavailable. */
  catchUp(record: ChargeRecord): Promise<void>;
};

/** How soon a charge whose last steps may be missing in the audit is looked at, whatever its own timer says. */
const auditWithinMs = 30_000;

/** What a step made of a charge, stored: `effect` is the caller's to run, and nobody else's. */
export type Advanced = { record: ChargeRecord; effect: Effect | undefined };

/**
 * Makes one event's step of a charge, stored before it is given back; stepped again from what is stored
 * whenever somebody else was faster. Undefined when there is no such charge, the event changes nothing, or
 * `mayStep` says no to the very record that would be written over.
 */
export async function advanceCharge(
  deps: AdvanceDeps,
  reference: string,
  event: ChargeEvent,
  mayStep: (record: ChargeRecord) => boolean = () => true,
): Promise<Advanced | undefined> {
  for (;;) {
    // Each round starts from what the one before found changed.
    // oxlint-disable-next-line no-await-in-loop
    const entry = await deps.store.read(chargeKey(reference));
    if (!entry) return undefined;
    const record = openCharge(deps.sealer, entry);
    if (!mayStep(record)) return undefined;
    // oxlint-disable-next-line no-await-in-loop
    const advanced = await advanceEntry(deps, entry, record, event);
    if (advanced !== 'lost') return advanced;
  }
}

/** One step of exactly this entry. `lost`: somebody else has changed it, and the effect is theirs. */
export async function advanceEntry(
  deps: AdvanceDeps,
  entry: Entry,
  record: ChargeRecord,
  event: ChargeEvent,
): Promise<Advanced | undefined | 'lost'> {
  const stepped = step(record.intent, event, deps.now());
  if (!stepped) return undefined;
  const next = { ...record, intent: stepped.next };
  await remember(deps, record, next);
  if (!(await writeCharge(deps, entry, next))) return 'lost';
  deps.audit?.stored(next);
  // Again: whoever concluded it a moment ago may have taken it off after our first.
  await remember(deps, record, next).catch(() => undefined);
  await forget(deps, record, next);
  return { record: next, effect: stepped.effect };
}

/** Counted by the limits before it is open again, and no more once it is concluded. */
async function remember(deps: AdvanceDeps, before: ChargeRecord, next: ChargeRecord): Promise<void> {
  if (!counts(before) && counts(next)) await deps.limits.count(limitedOf(next));
}

/** What is not taken off now is found to have ended when it is next asked about. */
async function forget(deps: AdvanceDeps, before: ChargeRecord, next: ChargeRecord): Promise<void> {
  if (counts(before) && !counts(next)) await deps.limits.release(limitedOf(next)).catch(() => undefined);
}

function counts({ intent }: ChargeRecord): boolean {
  return countsForLimits(intent.state);
}

/** Changes what stands beside the intent, and leaves its timer as it is. Undefined: no such charge, or `change` says no. */
export async function amendCharge(
  deps: AdvanceDeps,
  reference: string,
  change: (record: ChargeRecord) => ChargeRecord | undefined,
): Promise<ChargeRecord | undefined> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    const entry = await deps.store.read(chargeKey(reference));
    const next = entry && change(openCharge(deps.sealer, entry));
    if (!entry || !next) return undefined;
    // oxlint-disable-next-line no-await-in-loop
    if (await writeCharge(deps, entry, next)) return next;
  }
}

export async function writeCharge(deps: AdvanceDeps, entry: Entry, record: ChargeRecord): Promise<boolean> {
  const { audit } = deps;
  const kept = audit ? { ...record, auditedAt: Math.max(record.auditedAt ?? 0, audit.upTo(record)) } : record;
  const rest = keepUntilDue(kept.intent, deps.now(), deps.rememberMs);
  const options = audit && !isAudited(kept) ? soonAgain(rest) : rest;
  const written = { ...options, index: listsOfCharge(kept) };
  return (await deps.store.write(entry, sealCharge(deps.sealer, kept), written)) !== undefined;
}

function soonAgain({ delayMs = Infinity }: WriteOptions): WriteOptions {
  return { delayMs: Math.min(delayMs, auditWithinMs) };
}

export async function readCharge(
  deps: { store: Pick<Store, 'read'>; sealer: Sealer },
  reference: string,
): Promise<ChargeRecord | undefined> {
  const entry = await deps.store.read(chargeKey(reference));
  return entry && openCharge(deps.sealer, entry);
}
