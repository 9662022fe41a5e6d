import type { PaymentEvent } from '../../domain/payment-event.ts';
import { chargeReferencePrefix } from '../../domain/charge-reference.ts';
import type { ChargeEvent } from '../../domain/charge-state.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { newErrorId } from '../../log.ts';
import type { Entry } from '../../store/store.ts';
import { advanceCharge, advanceEntry, writeCharge } from './advance-charge.ts';
import { isAudited, openCharge, type ChargeRecord } from './charge-record.ts';
import { runCharge, type RunDeps } from './run-charge.ts';

/** So many charges at most are being settled by one process; the others stay due, and alerts are not held up. */
export type Room = {
  taken: number;
  readonly size: number;
  /** When the next place is likely free for a charge that is turned away now. */
  nextPlaceAtMs?: number;
  /** How long a place was taken lately. */
  usualMs?: number;
};

const firstUsualMs = 1_000;
/** A charge is never turned away for longer, so that a service that is back is used soon. */
const longestNoRoomMs = 30_000;

/**
 * A charge the store gave out as due: its timer, or a crash. The step is stored here; what follows from it
 * goes on in the background, because a bank may take its time and the worker has alerts to deliver.
 */
export async function recoverCharge(deps: RunDeps, room: Room, entry: Entry): Promise<void> {
  if (room.taken >= room.size) {
    await deps.store.write(entry, entry.value, { delayMs: nextPlaceMs(room, deps.now()) });
    return;
  }
  const record = openCharge(deps.sealer, entry);
  if (await isForAuditAlone(deps, record)) {
    await writeCharge(deps, entry, record);
    return;
  }
  const advanced = await advanceEntry(deps, entry, record, { kind: 'due' });
  if (advanced === 'lost') return;
  if (!advanced) {
    // Nothing to do now: not given out again before its time.
    await writeCharge(deps, entry, record);
    return;
  }
  room.taken += 1;
  const sinceMs = deps.now();
  deps.inBackground(
    runCharge(deps, advanced).finally(() => {
      room.taken -= 1;
      room.usualMs = ((room.usualMs ?? firstUsualMs) * 7 + (deps.now() - sinceMs)) / 8;
    }),
  );
}

/** Steps that the audit may lack are written down first; a charge that was given out for those before its time has no other work. */
async function isForAuditAlone(deps: RunDeps, record: ChargeRecord): Promise<boolean> {
  if (!deps.audit || isAudited(record)) return false;
  await deps.audit.catchUp(record);
  const { dueAt } = record.intent;
  return dueAt === undefined || dueAt > deps.now();
}

/** Those that are turned away come back one after the other, as places get free: none loses its turn, and alerts go on. */
function nextPlaceMs(room: Room, nowMs: number): number {
  const placeMs = (room.usualMs ?? firstUsualMs) / room.size;
  const atMs = Math.min(Math.max(room.nextPlaceAtMs ?? 0, nowMs) + placeMs, nowMs + longestNoRoomMs);
  room.nextPlaceAtMs = atMs;
  return Math.max(0, atMs - nowMs);
}

/**
 * A signed event decides nothing: it makes the charge of its reference be looked up now, and one whose reference is
 * not signed does nothing else. On record when it resolves, so that the event may be called received; the look-up goes
 * on in the background. Throws StoreUnavailable alone.
 *
 * Spec: Events.
 */
export async function triggerCharge(deps: RunDeps, event: PaymentEvent): Promise<void> {
  const orderReference = event.orderReference ?? event.referenceHint;
  // Whatever else is paid there is no charge of ours, and most events are of that.
  if (!orderReference?.startsWith(chargeReferencePrefix)) return;
  const said = saidBy(event);
  try {
    const advanced = await advanceCharge(deps, orderReference, said);
    if (advanced) deps.inBackground(runCharge(deps, advanced));
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    // Sealed with a key that is not here: no reason to refuse the sender for ever.
    const errorId = newErrorId();
    deps.log('error', 'an event’s charge cannot be opened', { errorId, orderReference }, error);
  }
}

function saidBy({ kind, orderReference, reason }: PaymentEvent): ChargeEvent {
  if (orderReference === undefined) return { kind: 'look_up_asked', by: 'payments' };
  if (kind === 'payment_success') return { kind };
  return { kind, ...(reason === undefined ? {} : { why: reason }) };
}
