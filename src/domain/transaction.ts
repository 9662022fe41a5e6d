/**
 * A transaction as the service told it, read loosely: every field may be missing or of an unknown value,
 * because only the judgement (`confirm`) may be strict. Amounts are minor units; undefined when the
 * service's text was not an exact amount.
 *
 * Spec: Transaction record.
 */
export type Transaction = {
  id?: string;
  status?: string;
  amountMinor?: number;
  currency?: string;
  source?: string;
  type?: string;
  gatewayMessage?: string;
  entryType?: string;
  orderId?: string;
  orderReference?: string;
  orderAmountMinor?: number;
  orderCurrency?: string;
  customerEmail?: string;
  paymentMethod?: string;
};
