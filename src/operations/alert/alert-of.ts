import { knownDecline, recordOf, type Alert, type Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { historyKey } from '../outbox/outbox.ts';
import type { Work } from '../outbox/outbox-work.ts';
import type { AlertPostDeps } from './alert-post.ts';

/** What is told of the event, but for its card and its route. */
export function alertOf(
  deps: Pick<AlertPostDeps, 'environment' | 'account' | 'canListCards' | 'declines'>,
  { entry, record }: Work,
  event: PaymentEvent,
  lookup: Lookup,
): Alert {
  const { environment, account, canListCards } = deps;
  const told = { ...provenReference(lookup), ...event, key: historyKey(entry.key, record) };
  const { receivedAtMs } = record;
  const alert: Alert = { event: told, lookup, environment, account, receivedAtMs, mayBeRepeat: false };
  const declined = knownDecline(alert, deps.declines);
  return { ...alert, ...(canListCards ? { canListCards } : {}), ...(declined ? { declined } : {}) };
}

/** The service's own record names the order, also where the event could not. */
function provenReference(lookup: Lookup): { orderReference?: string } {
  const found = recordOf(lookup)?.orderReference;
  return found === undefined ? {} : { orderReference: found };
}
