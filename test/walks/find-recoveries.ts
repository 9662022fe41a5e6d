import { confirm } from '../../src/domain/confirmation.ts';
import { parseOrderReference } from '../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { paymentPrefix } from '../../src/operations/alert/alert-recovery.ts';
import type { Tellings, Told } from './tellings.ts';
import type { World } from './world.ts';

type Payment = { event: PaymentEvent; receivedAtMs: number; isProven: boolean };

/** A proof is waited for as long as this, and a walk that took longer may have gone past it. */
const proofPatienceMs = 20 * 3_600_000;

/** Whatever a proven payment makes good is recovered, unless somebody closed it; and nothing else is. */
export async function findWrongRecoveries(world: World, { events }: Tellings): Promise<void> {
  const payments = await paymentsOf(world);
  for (const told of events.values()) {
    const { event, own, tellings } = told;
    if (event.kind !== 'payment_failed') continue;
    const state = world.cards.get(event.key)?.card.kind ?? 'open';
    const isTold = tellings.some(({ storm, messages }) => storm !== undefined || messages.length > 0);
    const makers = payments.filter((payment) => mayMakeGood(world, told, payment));
    if (state === 'recovered' && makers.length === 0)
      world.violate(`${event.key} is recovered by no payment`);
    const must = makers.filter((payment) => mustMakeGood(world, told, payment) && isInTime(world, payment));
    if (isTold && must.length > 0 && state !== 'recovered' && state !== 'closed')
      world.violate(
        `${event.key} is ${state}, though ${must[0]?.event.key} made it good; it came at ${own.receivedAtMs}`,
      );
  }
}

async function paymentsOf(world: World): Promise<Payment[]> {
  const payments: Payment[] = [];
  for (const { event, ackedAtMs } of world.sent.values()) {
    if (event.kind !== 'payment_success') continue;
    // oxlint-disable-next-line no-await-in-loop -- the store of a walk is at hand
    const entry = await world.store.read(paymentPrefix + event.key);
    if (!entry && ackedAtMs !== undefined)
      world.violate(`${event.key} is answered and held against no failure`);
    if (!entry) continue;
    const { receivedAtMs } = JSON.parse(world.sealer.open(entry.key, entry.value)) as Payment;
    payments.push({ event, receivedAtMs, isProven: isProven(world, event) });
  }
  return payments;
}

function isProven({ records }: World, { orderReference = '', amountMinor, currency }: PaymentEvent): boolean {
  const reference = parseOrderReference(orderReference);
  if (!reference.ok) return false;
  const amount =
    amountMinor === undefined
      ? {}
      : {
          amount: {
            minor: amountMinor,
            source: 'event' as const,
            ...(currency === undefined ? {} : { currency }),
          },
        };
  return confirm({ reference: reference.value, ...amount }, records.get(orderReference)).kind === 'confirmed';
}

function isInTime({ clock }: World, { receivedAtMs }: Payment): boolean {
  // Past its end a walk rests for a day and some hours.
  return clock.nowMs - receivedAtMs < proofPatienceMs + 28 * 3_600_000;
}

/** The same order; or the same customer by anything that anybody says, and the same amount. */
function mayMakeGood(world: World, { event: failed }: Told, { event }: Payment): boolean {
  if (event.orderReference === failed.orderReference) return true;
  return (
    namesOf(world, event).some((name) => namesOf(world, failed).includes(name)) &&
    isSameMoney(world, failed, event)
  );
}

/**
 * What both events say themselves, unless the payment's own order failed too: then it resolves that one, if it was told
 * by then. Under the failed reference, whenever it came. An old alert’s amount is forgotten.
 */
function mustMakeGood(
  world: World,
  { event: failed, own }: Told,
  { event, receivedAtMs, isProven: proven }: Payment,
): boolean {
  if (!proven) return false;
  if (event.orderReference === failed.orderReference) return true;
  if (hasFailed(world, event)) return false;
  const isNamed = ownNames(event).some((name) => ownNames(failed).includes(name));
  if (!isNamed || own.isErased || receivedAtMs < own.receivedAtMs) return false;
  return isMoneySteady(world, failed, event) && isSameMoney(world, failed, event);
}

function hasFailed({ sent }: World, { orderReference }: PaymentEvent): boolean {
  return [...sent.values()].some(
    ({ event }) => event.kind === 'payment_failed' && event.orderReference === orderReference,
  );
}

/** An order that was paid since has another record than when it failed. */
function isMoneySteady({ recordHistory }: World, failed: PaymentEvent, paid: PaymentEvent): boolean {
  const [record, ...since] = recordHistory.get(failed.orderReference ?? '') ?? [];
  const taken = recordHistory.get(paid.orderReference ?? '') ?? [];
  if (record?.status === 'SUCCESS' || since.length > 0 || taken.length > 1) return false;
  return record !== undefined || failed.amountMinor !== undefined;
}

function isSameMoney({ recordHistory }: World, failed: PaymentEvent, paid: PaymentEvent): boolean {
  const known = [failed, ...(recordHistory.get(failed.orderReference ?? '') ?? [])];
  const taken = recordHistory.get(paid.orderReference ?? '') ?? [];
  return known.some((one) =>
    taken.some(({ amountMinor, currency }) => one.amountMinor === amountMinor && one.currency === currency),
  );
}

function ownNames({ customerId, customerEmail }: PaymentEvent): string[] {
  return [customerId, customerEmail].filter((name) => name !== undefined);
}

function namesOf({ recordHistory }: World, event: PaymentEvent): string[] {
  const records = recordHistory.get(event.orderReference ?? '') ?? [];
  return [...ownNames(event), ...records.flatMap(({ customerEmail }) => customerEmail ?? [])];
}
