import { wireFromMinor } from '../../domain/money.ts';
import { answered, enveloped, refusal, type Answer, type Call, type Route } from './route.ts';
import type { Order } from './orders.ts';
import type { World } from './world.ts';

type ToldTransaction = Record<string, string> & { status: string; amount: string };

export type TellTransaction = (record: ToldTransaction) => ToldTransaction;

/** Spec: Transactions. */
export function transactionRoutes(world: World, tell: TellTransaction = (record) => record): Route[] {
  return [
    {
      method: 'GET',
      path: '/v1/transactions/accounts/single',
      label: 'Look up a transaction',
      access: 'merchant',
      from: 'bot',
      answer: (call) => lookUp(world, call, tell),
    },
  ];
}

function lookUp(world: World, call: Call, tell: TellTransaction): Answer {
  const reference = call.query.get('orderReference');
  if (reference === null || reference === '') return refusal(400, 'orderReference is required');
  world.stats.lookedUp(reference);
  const order = world.orders.byReference(reference);
  if (!order || order.accountId !== call.accountId) {
    return answered(
      { code: '01', description: 'Transaction not found', data: null },
      `${reference} not found`,
    );
  }
  const record = tell(transactionRecord(order));
  if (order.state === 'paid' && order.pendingLookups > 0) order.pendingLookups -= 1;
  return enveloped(record, `${reference} is ${record.status}`);
}

/** Spec: Transaction record. Statuses other than SUCCESS: not shown; the playground says PENDING and FAILED. */
function transactionRecord(order: Order): ToldTransaction {
  const amount = wireFromMinor(order.amountMinor);
  return {
    id: order.transactionRecordId,
    status: transactionStatus(order),
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

function transactionStatus(order: Order): 'SUCCESS' | 'PENDING' | 'FAILED' {
  switch (order.state) {
    case 'paid':
      return order.pendingLookups > 0 ? 'PENDING' : 'SUCCESS';
    case 'created':
    case 'awaiting_otp':
      return 'PENDING';
    case 'declined':
    case 'failed':
      return 'FAILED';
  }
}
