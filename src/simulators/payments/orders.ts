import { randomBytes, randomUUID } from 'node:crypto';
import { wireFromMinor } from '../../domain/money.ts';
import type { PaymentsOrder } from '../protocol.ts';
import { rightOtp } from './bank.ts';
import type { StoredCard } from './cards.ts';
import { type Answer, answered, type Call, enveloped, refusal, type Route, merchant } from './route.ts';
import type { World } from './world.ts';

const otpLifetimeMs = 15 * 60_000;
export const otpSubmissionLimit = 3;

/** A checkout order or a saved-card charge, found by the merchant's reference, which is unique. */
export type Order = {
  orderReference: string;
  /** The service's own id. Spec: Checkout order. */
  orderId: string;
  /** The record's id in a look-up. */
  transactionRecordId: string;
  accountId: string;
  amountMinor: number;
  /** What the bank took; absent until it did. */
  takenMinor?: number;
  currency: string;
  customerEmail: string;
  customerId?: string;
  cardAllowed: boolean;
  tokenizeCard: boolean;
  isSavedCardCharge: boolean;
  sandbox: boolean;
  state: PaymentsOrder['state'];
  /** The bank's or the service's own words for its state. */
  reason?: string;
  otp?: OpenOtp;
  pendingLookups: number;
  shortMinor: number;
  at: number;
};

/** The bank waits for the customer's code until `startedAt` + 15 minutes; a resend does not extend that. */
type OpenOtp = {
  transactionId: string;
  startedAt: number;
  submissions: number;
  /** How often the code was resent. */
  resends: number;
  /** The card to save when the payment completes. */
  card?: Pick<StoredCard, 'cardType' | 'cardPan' | 'tokenExpiryDate'>;
};

export type NewOrder = Pick<
  Order,
  'accountId' | 'amountMinor' | 'currency' | 'customerEmail' | 'orderReference'
> &
  Partial<Order>;

/** Makes up an order when it is requested; undefined: there is none. */
export type OrderFor = (orderReference: string) => (Pick<Order, 'amountMinor'> & Partial<Order>) | undefined;

export type Orders = ReturnType<typeof createOrders>;

export function createOrders(now: () => number, find: (orderReference: string) => NewOrder | undefined) {
  const byReference = new Map<string, Order>();
  const byOrderId = new Map<string, Order>();
  /** Orders that wait for a code: every call checks their deadlines, so it need not go through all orders. */
  const waiting = new Set<Order>();

  /** Takes the reference for good. Throws if it is taken: call `has` first, without an await between. */
  function add(order: NewOrder): Order {
    if (byReference.has(order.orderReference)) throw new Error('The order reference is taken.');
    const added: Order = {
      orderId: randomUUID(),
      transactionRecordId: `TXN-${randomBytes(8).toString('hex').toUpperCase()}`,
      cardAllowed: true,
      tokenizeCard: false,
      isSavedCardCharge: false,
      sandbox: false,
      state: 'created',
      pendingLookups: 0,
      shortMinor: 0,
      at: now(),
      ...order,
    };
    byReference.set(added.orderReference, added);
    byOrderId.set(added.orderId, added);
    return added;
  }

  const lastNumbers: Record<'ORDER' | 'SUB', number> = { ORDER: 2000, SUB: 3000 };

  function newReference(prefix: 'ORDER' | 'SUB'): string {
    do lastNumbers[prefix] += 1;
    while (byReference.has(`${prefix}-${lastNumbers[prefix]}`));
    return `${prefix}-${lastNumbers[prefix]}`;
  }

  return {
    has: (reference: string) => byReference.has(reference),
    add,
    byReference(reference: string): Order | undefined {
      const known = byReference.get(reference);
      const found = known === undefined ? find(reference) : undefined;
      return found === undefined ? known : add(found);
    },
    byOrderId: (orderId: string) => byOrderId.get(orderId),
    byTransactionId: (transactionId: string) =>
      [...byReference.values()].find((order) => order.otp?.transactionId === transactionId),
    /** Newest first. */
    all: () => [...byReference.values()].toReversed().toSorted((one, other) => other.at - one.at),
    newReference,
    /** The bank now waits for the customer's code. `card`: to save when the payment completes. */
    awaitOtp(order: Order, reason: string, card?: OpenOtp['card']) {
      const transactionId = `otp-${randomBytes(12).toString('hex')}`;
      order.otp = { transactionId, startedAt: now(), submissions: 0, resends: 0, ...(card ? { card } : {}) };
      order.state = 'awaiting_otp';
      order.reason = reason;
      waiting.add(order);
    },
    awaitingOtp() {
      for (const order of waiting) if (order.state !== 'awaiting_otp') waiting.delete(order);
      return [...waiting];
    },
  };
}

export function isOtpOverdue(order: Order, now: number): boolean {
  return (
    order.state === 'awaiting_otp' && order.otp !== undefined && now - order.otp.startedAt >= otpLifetimeMs
  );
}

export function panelOrder(order: Order, baseUrl: string): PaymentsOrder {
  const { orderReference, orderId, currency, customerEmail, customerId, state, reason } = order;
  return {
    orderReference,
    orderId,
    amount: wireFromMinor(order.amountMinor),
    currency,
    customerEmail,
    ...(customerId === undefined ? {} : { customerId }),
    state,
    ...(reason === undefined ? {} : { reason }),
    isSavedCardCharge: order.isSavedCardCharge,
    ...(order.otp && state === 'awaiting_otp' ? { otp: panelOtp(order.otp) } : {}),
    ...(order.isSavedCardCharge ? {} : { checkoutLink: checkoutLink(order, baseUrl) }),
    at: order.at,
  };
}

/** The code as the customer's phone shows it: every resend has the same one. */
function panelOtp({ startedAt, submissions, resends }: OpenOtp): NonNullable<PaymentsOrder['otp']> {
  return {
    code: rightOtp,
    resends,
    triesLeft: Math.max(0, otpSubmissionLimit - submissions),
    until: startedAt + otpLifetimeMs,
  };
}

export function checkoutLink(order: Order, baseUrl: string): string {
  return `${baseUrl}/checkout/${order.orderId}`;
}

type ToldTransaction = Record<string, string> & { status: string; amount: string };

/** Returns several to simulate a service with more than one record of a reference. */
export type TellTransaction = (record: ToldTransaction) => ToldTransaction | readonly ToldTransaction[];

/** Spec: Transactions. */
export const transactionRoute: Route = {
  ...merchant,
  method: 'GET',
  path: '/v1/transactions/accounts/single',
  label: 'Look up a transaction',
  answer: lookUp,
};

function lookUp(world: World, call: Call): Answer {
  const reference = call.query.get('orderReference');
  if (reference === null || reference === '') return refusal(400, 'orderReference is required');
  const order = world.orders.byReference(reference);
  if (!order || order.accountId !== call.accountId) {
    return answered(
      { code: '01', description: 'Transaction not found', data: null },
      `${reference} not found`,
    );
  }
  const record = world.tellTransaction(transactionRecord(order));
  if (order.state === 'paid' && order.pendingLookups > 0) order.pendingLookups -= 1;
  const records = [record].flat();
  return enveloped(record, `${reference} is ${records.map(({ status }) => status).join(' and ')}`);
}

/** Spec: Transaction record. Statuses other than SUCCESS: not shown; the playground says PENDING, FAILED and REFUNDED. */
function transactionRecord(order: Order): ToldTransaction {
  const amount = wireFromMinor(order.amountMinor);
  return {
    id: order.transactionRecordId,
    status: order.state === 'paid' && order.pendingLookups > 0 ? 'PENDING' : statuses[order.state],
    amount: wireFromMinor(order.takenMinor ?? order.amountMinor),
    source: order.isSavedCardCharge ? 'api' : 'web',
    type: 'online_checkout',
    gatewayMessage: order.reason ?? 'Waiting for the customer',
    onlineCheckoutOrderId: order.orderId,
    onlineCheckoutOrderReference: order.orderReference,
    onlineCheckoutCurrency: order.currency,
    onlineCheckoutCustomerEmail: order.customerEmail,
    onlineCheckoutAmount: amount,
    onlineCheckoutPaymentMethod: 'card_payment',
    currency: order.currency,
    entryType: 'CREDIT',
  };
}

const statuses: Record<Order['state'], string> = {
  created: 'PENDING',
  awaiting_otp: 'PENDING',
  paid: 'SUCCESS',
  declined: 'FAILED',
  failed: 'FAILED',
  given_back: 'REFUNDED',
};
