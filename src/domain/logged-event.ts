import { domainOf, withLookUp } from './alert-route.ts';
import { recordOf, type Lookup } from './alert.ts';
import { listedEmail, listedText } from './listed-text.ts';
import type { PaymentEvent } from './payment-event.ts';
import { withoutUndefined } from './without-undefined.ts';

/**
 * What is told of an event for a week: as much as routing and summaries ask of it, and no address, transaction or
 * card. Where the event itself is silent, what its look-up says of that very order, as its rules saw it.
 */
export type LoggedEvent = Pick<
  PaymentEvent,
  'kind' | 'orderReference' | 'customerId' | 'amountMinor' | 'currency' | 'reason' | 'isSavedCardCharge'
> & {
  /** The event's key, the same for every repeat of it. */
  id: string;
  receivedAtMs: number;
  emailDomain?: string;
  /** It saved a card, or was to. */
  savesCard?: true;
  /** What its look-up proved; absent: it was told nowhere, and nobody looked it up. */
  lookup?: Lookup['kind'];
};

export function loggedEvent(event: PaymentEvent, receivedAtMs: number, lookup?: Lookup): LoggedEvent {
  const known = lookup ? withLookUp(event, lookup) : event;
  const { kind, customerId, amountMinor, currency, reason, isSavedCardCharge } = known;
  return {
    kind,
    id: event.key,
    receivedAtMs,
    ...withoutUndefined({
      orderReference: listedText(event.orderReference ?? recordOf(lookup)?.orderReference),
      customerId: listedText(customerId),
      amountMinor,
      currency,
      reason: listedText(reason),
      isSavedCardCharge,
      emailDomain: domainOf(listedEmail(known.customerEmail)),
      savesCard: event.cardSaved ? (true as const) : undefined,
      lookup: lookup?.kind,
    }),
  };
}

/** The event again, as far as rules ask: of the customer's address the domain alone is true, of a saved card that there is one. */
export function eventAsLogged({ id, emailDomain, savesCard, ...logged }: LoggedEvent): PaymentEvent {
  const { receivedAtMs: _when, lookup: _found, ...event } = logged;
  return {
    ...event,
    key: id,
    ...(emailDomain === undefined ? {} : { customerEmail: `@${emailDomain}` }),
    ...(savesCard ? { cardSaved: { kind: 'no_token' } } : {}),
  };
}
