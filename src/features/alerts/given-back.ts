import type { Account } from '../../account.ts';
import type { Lookup } from '../../domain/alert.ts';
import { orderEventKey, type PaymentEvent } from '../../domain/payment-event.ts';
import { parseOrderReference } from '../../domain/order-reference.ts';
import { isMessage } from '../../messages/message-record.ts';
import type { AlertCards } from './alert-cards.ts';
import { alertMessages } from './alert-record.ts';
import type { AlertRecovery } from './alert-recovery.ts';
import { resolvedBy } from './event-case.ts';

/** What it needs of charges and links: each is told of one of its own, and false says that it has none. */
export type GivenBackNeeds = {
  chargeHears: (reference: string, said: { key: string; found: Lookup['kind'] }) => Promise<boolean>;
  linkHears: (reference: string, lookup: Lookup) => Promise<boolean>;
};

/** A customer’s one payment resolves few alerts. */
const mostResolved = { max: 20, newestFirst: true };

/**
 * Tells that money was given back where people look for that payment: in the threads of the alerts that it failed for or
 * resolved, on the bot’s own charge, on its payment link. `tells` is false where there is no such place: then the event
 * has a message of its own. Again is the same as once. Throws StoreUnavailable.
 */
export function createGivenBack(
  { store }: Pick<Account, 'store'>,
  { cases, hear, firstAlert }: Pick<AlertCards, 'cases' | 'hear' | 'firstAlert'>,
  { unsignedOf }: Pick<AlertRecovery, 'unsignedOf'>,
  { chargeHears, linkHears }: GivenBackNeeds,
) {
  async function alertsOf(reference: string): Promise<ReadonlySet<string>> {
    const own = orderEventKey('payment_failed', reference);
    const [resolved, unsigned] = await Promise.all([
      cases.list(resolvedBy(reference), mostResolved),
      unsignedOf(reference),
    ]);
    const proven = unsigned.filter(({ id, isProven }) => isProven && id.startsWith('payment_failed'));
    return new Set([own, await firstAlert(own), ...[...resolved, ...proven].map(({ id }) => id)]);
  }

  /** An alert that a storm's digest tells has none. */
  async function hasThread(id: string): Promise<boolean> {
    const messages = await alertMessages(store, id);
    return messages.some(({ record }) => isMessage(record) && !record.digest);
  }

  return async function tells(event: PaymentEvent, lookup: Lookup): Promise<boolean> {
    const { kind, key, orderReference = '' } = event;
    const reference = parseOrderReference(orderReference);
    if (kind !== 'payment_given_back' || !reference.ok) return false;
    const found = lookup.kind;
    const money = 'money' in lookup && lookup.money ? { money: lookup.money } : {};
    let isTold = false;
    for (const id of await alertsOf(reference.value)) {
      if (!(await hasThread(id))) continue;
      await hear(id, { kind: 'given_back', key, reference: reference.value, found, ...money });
      isTold = true;
    }
    const [byCharge, byLink] = await Promise.all([
      chargeHears(reference.value, { key, found }),
      linkHears(reference.value, lookup),
    ]);
    return isTold || byCharge || byLink;
  };
}
