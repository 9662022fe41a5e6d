import { countsForLimits } from '../../domain/charge-limits.ts';
import { chargeReferencePrefix } from '../../domain/charge-reference.ts';
import { parseOrderReference } from '../../domain/order-reference.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Entry, Store } from '../../store/store.ts';
import type { BotCharge } from '../alert/alert-claims.ts';
import { chargeKey, openCharge } from './charge-record.ts';
import type { ChargeStanding } from './limit-day.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** Whether the limits count the charge, as it is stored; one that was never stored has ended. */
export async function chargeStanding(
  { store, sealer }: { store: Pick<Store, 'read'>; sealer: Sealer },
  reference: string,
): Promise<ChargeStanding> {
  const entry = await store.read(chargeKey(reference));
  return entry ? standingOf(sealer, entry) : 'ended';
}

function standingOf(sealer: Sealer, entry: Entry): ChargeStanding {
  try {
    const { state } = openCharge(sealer, entry).intent;
    if (state.kind === 'approved') return 'final';
    return countsForLimits(state) ? 'counts' : 'ended';
  } catch {
    // Sealed with a key that is gone: nobody knows what it moved.
    return 'counts';
  }
}

/** See `AlertCardsDeps.hasEnded`. */
export async function hasEnded(
  deps: Parameters<typeof chargeStanding>[0],
  reference: string,
): Promise<boolean | undefined> {
  const entry = await deps.store.read(chargeKey(reference));
  return entry && standingOf(deps.sealer, entry) === 'ended';
}

/** What the bot charged under this reference; undefined: nothing, or it is forgotten. */
export async function chargeOf(
  { store, sealer }: { store: Pick<Store, 'read'>; sealer: Sealer },
  reference: string,
): Promise<BotCharge | undefined> {
  // Outside text of any length must not shape a key.
  if (!reference.startsWith(chargeReferencePrefix) || !parseOrderReference(reference).ok) return undefined;
  const entry = await store.read(chargeKey(reference));
  if (!entry) return undefined;
  const { card, terms } = openCharge(sealer, entry);
  return { card, ...withoutUndefined({ alert: terms.alert }) };
}
