import { z } from 'zod';
import { ServiceFailure } from '../domain/failure.ts';
import type { OrderReference } from '../domain/order-reference.ts';
import type { Transaction } from '../domain/transaction.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { PaymentsClient } from './client.ts';
import { asObject, asObjects, looseMinor, looseText } from './wire.ts';

const transactionRecord = z
  .object({
    id: looseText,
    status: looseText,
    amount: looseMinor,
    source: looseText,
    type: looseText,
    gatewayMessage: looseText,
    onlineCheckoutOrderId: looseText,
    onlineCheckoutOrderReference: looseText,
    onlineCheckoutCurrency: looseText,
    onlineCheckoutCustomerEmail: looseText,
    onlineCheckoutAmount: looseMinor,
    onlineCheckoutPaymentMethod: looseText,
    currency: looseText,
    entryType: looseText,
  })
  .partial();

/**
 * The transaction of a merchant's reference on this account, or undefined when the service knows none
 * (code "01" with null data, or HTTP 404). Throws ServiceFailure when it gave no usable answer.
 *
 * Spec: GET {base_url}/v1/transactions/accounts/single.
 */
export async function findTransaction(
  client: PaymentsClient,
  accountId: string,
  reference: OrderReference,
): Promise<Transaction | undefined> {
  const { data: answer, response } = await client.GET('/v1/transactions/accounts/single', {
    params: { header: { accountId }, query: { orderReference: reference } },
  });
  if (response.status === 404) return undefined;
  const envelope = asObject(answer);
  const code = looseText.parse(envelope?.['code']);
  if (code === '01') return undefined;
  const records = asObjects(envelope?.['data']).map(readTransaction);
  const record = records.find((candidate) => candidate.orderReference === reference) ?? records[0];
  if (code === '00' && record) return record;
  throw new ServiceFailure(
    'malformed',
    `The look-up was answered with code ${code === undefined ? 'missing' : readable(code)} and no record.`,
    { httpStatus: response.status },
  );
}

/** The code is outside text, and the message reaches the log and whoever may ask for the health. */
function readable(code: string): string {
  return code.replace(/[^A-Za-z0-9_-]/g, '').slice(0, 8) || 'unreadable';
}

function readTransaction(record: unknown): Transaction {
  const read = transactionRecord.parse(record);
  return withoutUndefined({
    id: read.id,
    status: read.status,
    amountMinor: read.amount,
    currency: read.currency,
    source: read.source,
    type: read.type,
    gatewayMessage: read.gatewayMessage,
    entryType: read.entryType,
    orderId: read.onlineCheckoutOrderId,
    orderReference: read.onlineCheckoutOrderReference,
    orderAmountMinor: read.onlineCheckoutAmount,
    orderCurrency: read.onlineCheckoutCurrency,
    customerEmail: read.onlineCheckoutCustomerEmail,
    paymentMethod: read.onlineCheckoutPaymentMethod,
  });
}
