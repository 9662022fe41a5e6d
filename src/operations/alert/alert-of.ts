import { recordOf, type Alert, type Lookup } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { historyKey } from '../outbox/outbox.ts';
import type { Work } from '../outbox/outbox-work.ts';
import type { AlertPostDeps } from './alert-post.ts';

/** What is told of the event, but for its card and its route. */
export function alertOf(
  { environment, account, canListCards }: Pick<AlertPostDeps, 'environment' | 'account' | 'canListCards'>,
  { entry, record }: Work,
  event: PaymentEvent,
  lookup: Lookup,
): Alert {
  const told = { ...provenReference(lookup), ...event, key: historyKey(entry.key, record) };
  const { receivedAtMs } = record;
  const alert: Alert = { event: told, lookup, environment, account, receivedAtMs, mayBeRepeat: false };
  return canListCards ? { ...alert, canListCards } : alert;
}

/** The service's own record names the order, also where the event could not. */
function provenReference(lookup: Lookup): { orderReference?: string } {
  const found = recordOf(lookup)?.orderReference;
  return found === undefined ? {} : { orderReference: found };
}
