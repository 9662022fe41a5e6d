import { orderEventKey } from '../../src/domain/event-key.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import type { Random } from '../chaos/random.ts';
import { canaries, type World } from './world.ts';

const customers = [
  { id: 'cust-1', email: 'ann@shop.example' },
  { id: 'cust-2', email: 'ben@quiet.example' },
  { id: 'cust-3', email: 'cat@other.example' },
] as const;
type Customer = (typeof customers)[number];
const amounts = [1_250_000, 80_000] as const;
const reasons = ['Insufficient funds', 'Do not honour', ''] as const;

/** A charge that failed, as its event tells it, and mostly as the service has it. */
export function newFailure(world: World): PaymentEvent {
  const { random, records, sent } = world;
  const reference = `ORDER-${sent.size + 1}`;
  const customer = random.pick(customers);
  const money = { amountMinor: random.pick(amounts), currency: random.chance(0.15) ? 'USD' : 'NGN' };
  const reason = random.pick(reasons);
  if (random.chance(0.85)) {
    records.set(reference, {
      ...recordOf(reference, 'FAILED', customer, money),
      gatewayMessage: 'Pick up card',
    });
  }
  return {
    kind: 'payment_failed',
    key: orderEventKey('payment_failed', reference),
    orderReference: reference,
    transactionId: `${canaries.transaction}-${reference}`,
    ...(reason === '' ? {} : { reason }),
    ...named(random, customer),
    ...(random.chance(0.8) ? money : {}),
  };
}

/** A payment of the order that failed, or of another by the same customer. */
export function newPayment(world: World, failed: PaymentEvent): PaymentEvent {
  const { random, sent } = world;
  const reference = random.chance(0.5) ? (failed.orderReference ?? '') : `PAID-${sent.size + 1}`;
  const customer = customers.find((one) => isOf(failed, one)) ?? random.pick(customers);
  const money = moneyFor(world, failed);
  keepRecord(world, recordOf(reference, 'SUCCESS', customer, money));
  return {
    kind: 'payment_success',
    key: orderEventKey('payment_success', reference),
    orderReference: reference,
    transactionId: `${canaries.transaction}-${reference}`,
    ...named(random, customer),
    ...(random.chance(0.8) ? money : {}),
    ...savingOf(random, reference, customer),
  };
}

function isOf({ customerId, customerEmail }: PaymentEvent, { id, email }: Customer): boolean {
  return id === customerId || email === customerEmail;
}

/** Mostly what failed. */
function moneyFor(
  { random, records }: World,
  failed: PaymentEvent,
): { amountMinor: number; currency: string } {
  const before = records.get(failed.orderReference ?? '');
  const { amountMinor = before?.amountMinor, currency = before?.currency } = failed;
  const isSame = amountMinor !== undefined && random.chance(0.8);
  return { amountMinor: isSame ? amountMinor : random.pick(amounts), currency: currency ?? 'NGN' };
}

/** Mostly it is there at once; else later, or never. */
function keepRecord({ random, records, lateRecords }: World, record: Transaction): void {
  const when = random.below(10);
  const { orderReference = '' } = record;
  if (when < 7) records.set(orderReference, record);
  else if (when < 9) lateRecords.set(orderReference, record);
}

function savingOf(
  random: Random,
  reference: string,
  { email }: Customer,
): Pick<PaymentEvent, 'savedCard' | 'cardSaved'> {
  const saving = random.below(10);
  if (saving === 1) return { cardSaved: { kind: 'no_token' } };
  const tokenKey = `${canaries.token}-${reference}`;
  return saving === 0 ? { savedCard: { tokenKey, cardType: 'Visa', customerEmail: email } } : {};
}

function named(random: Random, { id, email }: Customer): Pick<PaymentEvent, 'customerId' | 'customerEmail'> {
  const says = random.below(10);
  if (says < 1) return {};
  return { ...(says < 9 ? { customerId: id } : {}), ...(says > 4 ? { customerEmail: email } : {}) };
}

function recordOf(
  reference: string,
  status: string,
  { email }: Customer,
  money: { amountMinor: number; currency: string },
): Transaction {
  return {
    id: `${canaries.transaction}-${reference}`,
    status,
    orderReference: reference,
    customerEmail: email,
    ...money,
  };
}
