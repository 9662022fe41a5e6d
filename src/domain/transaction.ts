import type { Money } from './money.ts';

/** What a status means. `not_paid` is final; an unknown status is neither. */
export type TransactionOutcome = 'paid' | 'not_paid' | 'unknown';

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
  /** What the account's settings say that status means; absent: what the specification says. */
  outcome?: TransactionOutcome;
  /** What the customer was asked for; `compared` says where it stands, if not in the service's `amount`. */
  amountMinor?: number;
  compared?: { how: string; takenMinor?: number };
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

/** Spec: Transaction status. */
export function outcomeOf({ status, outcome }: Pick<Transaction, 'status' | 'outcome'>): TransactionOutcome {
  return outcome ?? (status === 'SUCCESS' ? 'paid' : 'unknown');
}

/** What a charge that failed was to take: what its record says, or, where that is nothing, the order's own amount. */
export function moneyToTake(transaction: Transaction): Money | undefined {
  const { amountMinor = 0, orderAmountMinor = 0, currency, orderCurrency } = transaction;
  const taken = amountMinor > 0;
  const minor = taken ? amountMinor : orderAmountMinor;
  const named = taken ? (currency ?? orderCurrency) : (orderCurrency ?? currency);
  return minor > 0 && named !== undefined ? { minor, currency: named } : undefined;
}
