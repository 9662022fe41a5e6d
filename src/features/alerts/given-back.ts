import type { Account } from '../../account.ts';
import type { Lookup } from '../../domain/alert.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import { parseOrderReference } from '../../domain/order-reference.ts';
import { hasChannel } from '../../messages/message-record.ts';
import type { AlertCases } from './alert-cases.ts';
import { alertMessages, recordOfOrder } from './alert.ts';
import type { AlertRecovery } from './alert-recovery.ts';
import { resolvedBy } from './event-case.ts';

/** Tells the charge or link with this reference. False: there is none. */
export type GivenBackNeeds = {
  tellCharge: (reference: string, refund: { key: string; found: Lookup['kind'] }) => Promise<boolean>;
  tellLink: (reference: string, lookup: Lookup) => Promise<boolean>;
};

/** One payment resolves few alerts. */
const mostResolved = { max: 20, newestFirst: true };

/**
 * Tells of a refund where people look for the payment: in the threads of its order's alert and of the alerts it resolved, on
 * the bot's own charge, and on its payment link. The returned function is idempotent and throws StoreUnavailable; it returns
 * false if there is no such place, and the refund needs a message of its own.
 */
export function createGivenBack(
  { store }: Pick<Account, 'store'>,
  { cases, applyOrCreate, firstAlert }: Pick<AlertCases, 'cases' | 'applyOrCreate' | 'firstAlert'>,
  { unsignedOf }: Pick<AlertRecovery, 'unsignedOf'>,
  { tellCharge, tellLink }: GivenBackNeeds,
) {
  async function alertsOfPayment(reference: string): Promise<ReadonlySet<string>> {
    const own = orderEventKey('payment_failed', reference);
    const [resolved, unsigned] = await Promise.all([
      cases.list(resolvedBy(reference), mostResolved),
      unsignedOf(reference),
    ]);
    const proven = unsigned.filter(({ id, isProven }) => isProven && id.startsWith('payment_failed'));
    return new Set([own, await firstAlert(own), ...[...resolved, ...proven].map(({ id }) => id)]);
  }

  /** False for an alert that only a storm's digest shows. */
  async function hasThread(id: string): Promise<boolean> {
    const messages = await alertMessages(store, id);
    return messages.some(({ record }) => hasChannel(record) && !record.digest);
  }

  return async function tellGivenBack(event: PaymentEvent, lookup: Lookup): Promise<boolean> {
    const { kind, key, orderReference = '' } = event;
    const reference = parseOrderReference(orderReference);
    if (kind !== 'payment_given_back' || !reference.ok) return false;
    const found = lookup.kind;
    const money = recordOfOrder(lookup) && 'money' in lookup && lookup.money ? { money: lookup.money } : {};
    let isTold = false;
    for (const id of await alertsOfPayment(reference.value)) {
      if (!(await hasThread(id))) continue;
      await applyOrCreate(id, { kind: 'given_back', key, reference: reference.value, found, ...money });
      isTold = true;
    }
    const [byCharge, byLink] = await Promise.all([
      tellCharge(reference.value, { key, found }),
      tellLink(reference.value, lookup),
    ]);
    return isTold || byCharge || byLink;
  };
}
