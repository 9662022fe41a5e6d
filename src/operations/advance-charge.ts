import { step } from '../domain/charge.ts';
import { countsForLimits } from '../domain/charge-limits.ts';
import type { ChargeEvent, Effect } from '../domain/charge-state.ts';
import type { Entry, Store } from '../store/store.ts';
import {
  chargeKey,
  isOpen,
  keepUntilDue,
  limitedOf,
  openCharge,
  sealCharge,
  type ChargeRecord,
} from './charge-record.ts';
import type { LimitClaims } from './limit-claims.ts';
import type { OpenCharges } from './open-charges.ts';
import type { Sealer } from './outbox.ts';

export type AdvanceDeps = {
  store: Pick<Store, 'read' | 'write'>;
  sealer: Sealer;
  openCharges: Pick<OpenCharges, 'add' | 'drop'>;
  limits: Pick<LimitClaims, 'count' | 'release'>;
  rememberMs: number;
  now: () => number;
};

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
  // Again: whoever concluded it a moment ago may have taken it off after our first.
  await remember(deps, record, next).catch(() => undefined);
  await forget(deps, record, next);
  return { record: next, effect: stepped.effect };
}

/** On the list of open charges, and counted by the limits, before it is open again; off them once it is concluded. */
async function remember(deps: AdvanceDeps, before: ChargeRecord, next: ChargeRecord): Promise<void> {
  if (!isOpen(before) && isOpen(next)) await deps.openCharges.add(next.intent.reference);
  if (!counts(before) && counts(next)) await deps.limits.count(limitedOf(next));
}

/** What is not taken off now is found to have ended when it is next asked about. */
async function forget(deps: AdvanceDeps, before: ChargeRecord, next: ChargeRecord): Promise<void> {
  if (isOpen(before) && !isOpen(next)) await takeOff(deps, next.intent.reference).catch(() => undefined);
  if (counts(before) && !counts(next)) await deps.limits.release(limitedOf(next)).catch(() => undefined);
}

function counts({ intent }: ChargeRecord): boolean {
  return countsForLimits(intent.state);
}

/** Looked at again afterwards: an event may have opened it meanwhile. */
async function takeOff(deps: AdvanceDeps, reference: string): Promise<void> {
  await deps.openCharges.drop([reference]);
  const record = await readCharge(deps, reference);
  if (record && isOpen(record)) await deps.openCharges.add(reference);
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
  const options = keepUntilDue(record.intent, deps.now(), deps.rememberMs);
  return (await deps.store.write(entry, sealCharge(deps.sealer, record), options)) !== undefined;
}

export async function readCharge(
  deps: { store: Pick<Store, 'read'>; sealer: Sealer },
  reference: string,
): Promise<ChargeRecord | undefined> {
  const entry = await deps.store.read(chargeKey(reference));
  return entry && openCharge(deps.sealer, entry);
}
