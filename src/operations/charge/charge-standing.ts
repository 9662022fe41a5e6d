import { countsForLimits } from '../../domain/charge-limits.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Store } from '../../store/store.ts';
import { chargeKey, openCharge } from './charge-record.ts';
import type { ChargeStanding } from './limit-day.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** Whether the limits count the charge, as it is stored; one that was never stored has ended. */
export async function chargeStanding(
  { store, sealer }: { store: Pick<Store, 'read'>; sealer: Sealer },
  reference: string,
): Promise<ChargeStanding> {
  const entry = await store.read(chargeKey(reference));
  if (!entry) return 'ended';
  try {
    const { state } = openCharge(sealer, entry).intent;
    if (state.kind === 'approved') return 'final';
    return countsForLimits(state) ? 'counts' : 'ended';
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    // Sealed with a key that is gone: nobody knows what it moved.
    return 'counts';
  }
}
