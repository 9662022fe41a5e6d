import type { Lookup } from '../domain/alert.ts';
import type { Money } from '../domain/money.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { FoundAlert } from './alert-cards.ts';

/**
 * What was to be paid by the charge that failed: by the service's own record, else by the signed event; looked up
 * where nobody has done so yet. Undefined where neither says it; `unchecked` when the service could not be asked.
 */
export async function moneyOfFailure(
  lookUp: (event: PaymentEvent) => Promise<Lookup>,
  { event, evidence }: FoundAlert,
): Promise<Money | 'unchecked' | undefined> {
  const known = evidence && !event.isErased ? moneyOfRecord(evidence.lookup) : undefined;
  if (known) return known;
  const { amountMinor: minor, currency } = event;
  if (minor !== undefined && currency !== undefined) return { minor, currency };
  const lookup = await lookUp(event);
  return lookup.kind === 'unchecked' ? 'unchecked' : moneyOfRecord(lookup);
}

function moneyOfRecord(lookup: Lookup): Money | undefined {
  return 'transaction' in lookup && lookup.evidence.reference.holds ? lookup.money : undefined;
}
