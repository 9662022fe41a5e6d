import type { PaymentEvent } from '../domain/payment-event.ts';
import type { ChargeEvent } from '../domain/charge-state.ts';
import type { Entry } from '../store/store.ts';
import { advanceEntry, writeCharge } from './advance-charge.ts';
import { openCharge } from './charge-record.ts';
import { handleCharge, runCharge, type RunDeps } from './run-charge.ts';

/** So many charges at most are being settled by one process; the others stay due, and alerts are not held up. */
export type Room = { taken: number; readonly size: number };

const noRoomMs = 500;

/**
 * A charge the store gave out as due: its timer, or a crash. The step is stored here; what follows from it
 * goes on in the background, because a bank may take its time and the worker has alerts to deliver.
 */
export async function recoverCharge(deps: RunDeps, room: Room, entry: Entry): Promise<void> {
  if (room.taken >= room.size) {
    await deps.store.write(entry, entry.value, { delayMs: noRoomMs });
    return;
  }
  const record = openCharge(deps.sealer, entry);
  const advanced = await advanceEntry(deps, entry, record, { kind: 'due' });
  if (advanced === 'lost') return;
  if (!advanced) {
    // Nothing to do now: not given out again before its time.
    await writeCharge(deps, entry, record);
    return;
  }
  room.taken += 1;
  deps.inBackground(
    runCharge(deps, advanced).finally(() => {
      room.taken -= 1;
    }),
  );
}

/** A signed event decides nothing: it makes the charge of its reference be looked up now. Spec: Events. */
export function triggerCharge(deps: RunDeps, event: PaymentEvent): void {
  const { orderReference, reason, kind } = event;
  if (orderReference === undefined) return;
  const said: ChargeEvent =
    kind === 'payment_success'
      ? { kind: 'payment_success' }
      : { kind: 'payment_failed', ...(reason === undefined ? {} : { why: reason }) };
  deps.inBackground(handleCharge(deps, orderReference, said));
}
