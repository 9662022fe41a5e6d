import type { Config } from '../config/config.ts';
import { maskNumbers } from '../domain/card.ts';
import type { OrderReference } from '../domain/order-reference.ts';
import type { Transaction, TransactionOutcome } from '../domain/transaction.ts';
import { type JsonObject, valueAt, withoutUndefined } from '../domain/json.ts';
import { formatMoney, minorFromWire } from '../domain/money.ts';
import { cut } from '../domain/outside-text.ts';
import type { PaymentsClient } from './client.ts';
import { failureOfAnswer } from './failures.ts';
import { asObject, asObjects, looseText } from './wire.ts';

/** The settings that say how to read a record. */
export type TransactionReading = Pick<
  Config,
  | 'paymentsPaidStatuses'
  | 'paymentsFinalStatuses'
  | 'paymentsGivenBackStatuses'
  | 'paymentsAmountPointer'
  | 'paymentsFeePointer'
>;

/**
 * The transaction of this merchant reference on this account, with any further record of the reference. Undefined if
 * the service has none (code "01" with null data, or HTTP 404). Throws ServiceFailure if it gave no usable answer.
 *
 * Spec: GET {base_url}/v1/transactions/accounts/single.
 */
export async function findTransaction(
  client: PaymentsClient,
  accountId: string,
  reference: OrderReference,
  reading: TransactionReading,
): Promise<Transaction | undefined> {
  return transactionIn(
    await rawRecords(client, accountId, { orderReference: reference }),
    reference,
    reading,
  );
}

/**
 * The transaction among the service's records for a reference; undefined without records. If none has the reference,
 * the first: `confirm` says then that its reference differs.
 */
export function transactionIn(
  records: readonly JsonObject[],
  reference: OrderReference,
  reading: TransactionReading,
): Transaction | undefined {
  const all = records.map((one) => readTransaction(one, reading));
  const [found, ...others] = all.filter((candidate) => candidate.orderReference === reference);
  return found ? { ...found, ...(others.length > 0 && { others }) } : all[0];
}

/** Like `findTransaction`, by the service's own id, in the query parameter that a setting names. Spec: not shown. */
export async function findTransactionById(
  client: PaymentsClient,
  accountId: string,
  { parameter, id }: { parameter: string; id: string },
  reading: TransactionReading,
): Promise<Transaction | undefined> {
  const records = await rawRecords(client, accountId, { [parameter]: id });
  return records.map((one) => readTransaction(one, reading)).find((candidate) => candidate.id === id);
}

/** The service's records, unchanged: never put them in Slack, a log or the store. Empty: the service has none. */
export async function rawRecords(
  client: PaymentsClient,
  accountId: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly JsonObject[]> {
  const answer = await client.GET('/v1/transactions/accounts/single', {
    params: { header: { accountId }, query: { orderReference: '' } },
    querySerializer: () => new URLSearchParams(query).toString(),
  });
  if (answer.response.status === 404) return [];
  const envelope = asObject(answer.data);
  const code = looseText.parse(envelope?.['code']);
  if (code === '01') return [];
  const records = asObjects(envelope?.['data']);
  if (code === '00' && records.length > 0) return records;
  throw failureOfAnswer(answer, 'The look-up was answered without code "00" and its record.');
}

function readTransaction(record: JsonObject, reading: TransactionReading): Transaction {
  const text = (field: string): string | undefined => looseText.parse(record[field]);
  const status = text('status');
  return withoutUndefined({
    id: text('id'),
    status,
    outcome: outcomeByReading(status, reading),
    ...amountOf(record, reading, text('currency') ?? ''),
    currency: text('currency'),
    source: text('source'),
    type: text('type'),
    gatewayMessage: text('gatewayMessage'),
    entryType: text('entryType'),
    orderId: text('onlineCheckoutOrderId'),
    orderReference: text('onlineCheckoutOrderReference'),
    orderAmountMinor: minorFromWire(record['onlineCheckoutAmount']),
    orderCurrency: text('onlineCheckoutCurrency'),
    customerEmail: text('onlineCheckoutCustomerEmail'),
    paymentMethod: text('onlineCheckoutPaymentMethod'),
  });
}

function outcomeByReading(
  status: string | undefined,
  {
    paymentsPaidStatuses: paid,
    paymentsFinalStatuses: final = [],
    paymentsGivenBackStatuses: givenBack = [],
  }: TransactionReading,
): TransactionOutcome {
  if (status === undefined) return 'unknown';
  if (paid.includes(status)) return 'paid';
  if (givenBack.includes(status)) return 'given_back';
  return final.includes(status) ? 'not_paid' : 'unknown';
}

const longestShown = 60;

/** The original text of an unreadable amount, without card numbers. */
function unreadAmount(value: unknown): Pick<Transaction, 'unreadAmount'> {
  return value === undefined || value === null ? {} : { unreadAmount: shownValue(value) };
}

function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return cut(maskNumbers(text), longestShown);
}

/**
 * The amount to compare with the charge: the one at the settings' pointer, less the fee at theirs (0 if absent). No
 * amount if one of them is unreadable, or the fee is larger.
 */
function amountOf(
  record: unknown,
  { paymentsAmountPointer: amountPointer, paymentsFeePointer: feePointer }: TransactionReading,
  currency: string,
): { amountMinor?: number | undefined } & Pick<Transaction, 'compared' | 'unreadAmount'> {
  const recordAmount = minorFromWire(valueAt(record, '/amount'));
  const whole = minorFromWire(valueAt(record, amountPointer));
  const feeFound = feePointer === undefined ? undefined : (valueAt(record, feePointer) ?? undefined);
  if (whole === undefined) return unreadAmount(valueAt(record, amountPointer));
  if (amountPointer === '/amount' && feeFound === undefined) return { amountMinor: whole };
  const fee = feeFound === undefined ? 0 : minorFromWire(feeFound);
  if (fee === undefined || fee > whole)
    return unreadAmount(`${formatMoney({ minor: whole, currency })} − ${shownValue(feeFound)} fee`);
  const how =
    feeFound === undefined
      ? amountPointer.slice(1)
      : `${formatMoney({ minor: whole, currency })} − ${formatMoney({ minor: fee, currency })} fee`;
  return {
    amountMinor: whole - fee,
    compared: { how, ...(recordAmount === undefined ? {} : { takenMinor: recordAmount }) },
  };
}
