import { knownDecline } from '../../domain/alert.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import type { Confirmation } from '../../domain/confirmation.ts';
import type { DeclineRule, KnownDecline } from '../../domain/decline-reason.ts';
import { orderEventKey } from '../../domain/event-key.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { FoundAlert } from './alert-cards.ts';

type FindDeclineDeps = {
  findAlert: (id: string) => Promise<FoundAlert | undefined>;
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  rule: DeclineRule;
};

/**
 * What the bot knows of a decline that a look-up does not contradict: its own charge's answer, else the signed event.
 * Undefined also while the store is away: the look-up is answered all the same.
 */
export async function findDecline(
  { findAlert, findCharge, rule }: FindDeclineDeps,
  reference: string,
  lookup: Confirmation,
): Promise<KnownDecline | undefined> {
  if (lookup.kind !== 'not_confirmed') return undefined;
  try {
    const charge = await findCharge(reference);
    if (charge?.state.kind === 'declined') {
      const event = {
        kind: 'payment_failed',
        key: '',
        ...reasonOf(charge.state.why ?? charge.bankWords),
      } as const;
      return knownDecline({ event, lookup, receivedAtMs: charge.state.concludedAt }, rule);
    }
    const alert = await findAlert(orderEventKey('payment_failed', reference));
    return alert && knownDecline({ ...alert, lookup }, rule);
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

function reasonOf(reason: string | undefined): { reason?: string } {
  return withoutUndefined({ reason });
}
