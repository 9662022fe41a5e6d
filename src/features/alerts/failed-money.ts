import { recordOfOrder, type Lookup } from '../../domain/alert.ts';
import type { Money } from '../../domain/money.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { moneyToTake } from '../../domain/transaction.ts';
import type { FoundAlert } from './alert-cards.ts';

/**
 * What was to be paid by the charge that failed: by the service's own record, else by the signed event; looked up
 * where nobody has done so yet. Undefined where neither says it; `unchecked` when the service could not be asked.
 */
export async function moneyOfFailure(
  lookUp: (event: PaymentEvent) => Promise<Lookup>,
  alert: FoundAlert,
): Promise<Money | 'unchecked' | undefined> {
  const known = knownMoney(alert);
  if (known) return known;
  const lookup = await lookUp(alert.event);
  return lookup.kind === 'unchecked' ? 'unchecked' : moneyOfRecord(lookup);
}

/** The same by what is known already. */
export function knownMoney({ event, evidence }: FoundAlert): Money | undefined {
  const recorded = evidence && !event.isErased ? moneyOfRecord(evidence.lookup) : undefined;
  if (recorded) return recorded;
  const { amountMinor: minor, currency } = event;
  return minor === undefined || currency === undefined ? undefined : { minor, currency };
}

function moneyOfRecord(lookup: Lookup): Money | undefined {
  const record = recordOfOrder(lookup);
  return record && moneyToTake(record);
}
