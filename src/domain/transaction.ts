import { maskNumbers } from './card.ts';
import { formatMoney, type Money } from './money.ts';
import type { OrderReference } from './order-reference.ts';

/**
 * The meaning of a status. `not_paid` is final. `given_back`: paid, then returned to the customer. `unknown`: any other
 * status.
 */
export type TransactionOutcome = 'paid' | 'not_paid' | 'given_back' | 'unknown';

/**
 * The service's transaction record, read loosely: any field may be missing or have an unknown value, as only `confirm`
 * is strict. Amounts are minor units, undefined unless exact.
 *
 * Spec: Transaction record.
 */
export type Transaction = {
  id?: string;
  status?: string;
  /** The status's meaning by the account's settings; absent: by the specification. */
  outcome?: TransactionOutcome;
  /**
   * The amount that the customer paid, without the service's fee. `compared`: present if settings say how to compute
   * it; `how` shows the computation, and `takenMinor` is the record's own `amount`.
   */
  amountMinor?: number;
  compared?: { how: string; takenMinor?: number };
  /** The original text of an amount that can't be read. */
  unreadAmount?: string;
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
  /** Further records with the same reference. */
  others?: readonly Transaction[];
};

/** One record's outcome, by its status alone. Spec: Transaction status. */
function statusMeans({ status, outcome }: Pick<Transaction, 'status' | 'outcome'>): TransactionOutcome {
  return outcome ?? (status === 'SUCCESS' ? 'paid' : 'unknown');
}

/**
 * Why a record proves nothing even with a paid status; undefined: its status counts. Outgoing money is no payment.
 * Several records of one reference count only if all agree.
 */
function doubtAbout(transaction: Transaction): string | undefined {
  const { entryType, others = [] } = transaction;
  const all = [transaction, ...others];
  if (all.some((other) => !saysTheSame(transaction, other))) {
    return `${all.length} records of this reference differ: ${all.map(shownRecord).join('; ')}`;
  }
  // A record of returned money may be a debit.
  const isDebit = entryType === 'DEBIT' && statusMeans(transaction) !== 'given_back';
  return isDebit ? 'The record is a DEBIT, which is no payment' : undefined;
}

function saysTheSame(one: Transaction, other: Transaction): boolean {
  return (
    statusMeans(one) === statusMeans(other) &&
    one.amountMinor === other.amountMinor &&
    one.currency === other.currency &&
    one.entryType === other.entryType
  );
}

function shownRecord(transaction: Transaction): string {
  const { status = 'no status', entryType } = transaction;
  const money = moneyOf(transaction);
  return [status, money ? formatMoney(money) : 'no amount', entryType].filter(Boolean).join(' ');
}

function outcomeOf(transaction: Transaction): TransactionOutcome {
  return doubtAbout(transaction) === undefined ? statusMeans(transaction) : 'unknown';
}

/** The amount that a failed charge should have taken: the record's amount, else the order's. */
export function moneyToTake(transaction: Transaction): Money | undefined {
  const { amountMinor = 0, orderAmountMinor = 0, currency, orderCurrency } = transaction;
  const taken = amountMinor > 0;
  const minor = taken ? amountMinor : orderAmountMinor;
  const named = taken ? (currency ?? orderCurrency) : (orderCurrency ?? currency);
  return minor > 0 && named !== undefined ? { minor, currency: named } : undefined;
}

/** Where the expected amount comes from: the person, the bot's charge or link, the signed event, or the order. */
type AmountSource = 'person' | 'charge' | 'link' | 'event' | 'order';

/** The charge that is expected. The order's own amount is always compared with the one taken, besides `amount`. */
export type ExpectedCharge = {
  reference: OrderReference;
  amount?: { minor: number; currency?: string; source: Exclude<AmountSource, 'order'> };
};

/**
 * One of the rule's three parts, with the expected and the found value for display. `how`: which amounts were compared,
 * if settings say so.
 */
export type Check = {
  part: 'status' | 'reference' | 'amount';
  holds: boolean;
  statement: string;
  how?: string;
  /** For a status: the record proves nothing, regardless of its status; `statement` says why. */
  isDoubted?: true;
};

export type Evidence = { status: Check; reference: Check; amount: Check };

/**
 * The verdict of a look-up. Only `confirmed` may be called paid. `not_confirmed` doesn't mean failed: an unknown status
 * proves nothing. `not_paid`: the order has a status that the settings call final, like cancelled. `given_back`: the
 * order was paid, and then refunded or reversed, also by the settings.
 */
export type Confirmation =
  | { kind: 'confirmed'; transaction: Transaction; money: Money; evidence: Evidence }
  | {
      kind: 'not_confirmed' | 'not_paid' | 'given_back';
      transaction: Transaction;
      money: Money | undefined;
      evidence: Evidence;
    }
  | { kind: 'not_found' };

/**
 * `confirmed` only if all three hold: the status means paid (SUCCESS, unless settings differ), the reference is the
 * charged one, and the amount (and currency, if known) is both the expected one and the order's. Missing or unreadable
 * values and zero amounts don't hold. The whole bot uses this one rule; `readTransaction` has already applied the
 * settings.
 *
 * Spec: Transactions ("A charge is successful only when all hold").
 */
export function confirm(expected: ExpectedCharge, transaction: Transaction | undefined): Confirmation {
  if (!transaction) return { kind: 'not_found' };
  const money = moneyOf(transaction);
  const evidence: Evidence = {
    status: checkStatus(transaction),
    reference: checkReference(expected, transaction),
    amount: checkAmount(expected, transaction, money),
  };
  const holds = evidence.status.holds && evidence.reference.holds && evidence.amount.holds;
  if (holds && money) return { kind: 'confirmed', transaction, money, evidence };
  const outcome = outcomeOf(transaction);
  const isOver = (outcome === 'not_paid' || outcome === 'given_back') && evidence.reference.holds;
  return { kind: isOver ? outcome : 'not_confirmed', transaction, money, evidence };
}

function moneyOf(transaction: Transaction): Money | undefined {
  const minor = transaction.amountMinor;
  const currency = transaction.currency ?? transaction.orderCurrency;
  return minor === undefined || currency === undefined ? undefined : { minor, currency };
}

function checkStatus(transaction: Transaction): Check {
  const doubt = doubtAbout(transaction);
  if (doubt !== undefined) return { part: 'status', holds: false, statement: doubt, isDoubted: true };
  const { status = 'missing' } = transaction;
  const outcome = statusMeans(transaction);
  return { part: 'status', holds: outcome === 'paid', statement: `Status is ${status}${meaning[outcome]}` };
}

const meaning: Record<TransactionOutcome, string> = {
  paid: '',
  not_paid: ', which is final: not paid',
  given_back: ': it was paid and given back',
  unknown: ', which does not mean paid',
};

function checkReference(expected: ExpectedCharge, transaction: Transaction): Check {
  const found = transaction.orderReference;
  const holds = found === expected.reference;
  const statement = holds
    ? 'Reference is the one asked for'
    : `The record’s reference is ${found ?? 'missing'}, not ${maskNumbers(expected.reference)}`;
  return { part: 'reference', holds, statement };
}

const sourceWords: Record<AmountSource, string> = {
  person: 'the amount you gave',
  charge: 'the amount charged',
  link: 'the link’s amount',
  event: 'the event’s amount',
  order: 'the order’s amount',
};

type Wanted = { minor: number; currency?: string | undefined; source: AmountSource };

/**
 * Compares the expected amount and the order's own amount with the record's. The order's, too, because the expected
 * amount isn't independent: an event may include the service's fee, and a person may type the amount that was just
 * shown.
 */
function checkAmount(expected: ExpectedCharge, transaction: Transaction, money: Money | undefined): Check {
  if (!money) return amountCheck(false, whyNoMoney(transaction));
  const { compared } = transaction;
  const found = compared ? `${formatMoney(money)} (${compared.how})` : formatMoney(money);
  if (money.minor === 0) return amountCheck(false, `Amount ${found}: nothing was taken`);
  const { orderAmountMinor, orderCurrency } = transaction;
  if (orderCurrency !== undefined && orderCurrency !== money.currency) {
    return amountCheck(false, `Amount ${found} is not in the order’s currency, ${orderCurrency}`);
  }
  if (compared?.takenMinor !== undefined && compared.takenMinor < money.minor) {
    const taken = formatMoney({ ...money, minor: compared.takenMinor });
    return amountCheck(false, `Amount ${found}, but only ${taken} was taken`);
  }
  const wanted: Wanted[] = expected.amount ? [expected.amount] : [];
  if (orderAmountMinor !== undefined) wanted.push({ minor: orderAmountMinor, source: 'order' });
  if (wanted.length === 0) {
    return amountCheck(
      false,
      `${found} was taken; give the amount to check it: the record has no order amount`,
    );
  }
  const differing = wanted.filter(({ minor, currency = money.currency, source }) => {
    // An event may have the amount with the service's fee: the record's own one, from which `money` is computed.
    const isTaken = source === 'event' && minor === compared?.takenMinor;
    return currency !== money.currency || (minor !== money.minor && !isTaken);
  });
  if (differing.length === 0) {
    const words = wanted.map(({ source }) => sourceWords[source]);
    const holding = amountCheck(true, `Amount ${found} equals ${words.join(' and ')}`);
    return compared ? { ...holding, how: compared.how } : holding;
  }
  const byAmount = Map.groupBy(differing, ({ minor, currency = money.currency }) =>
    formatMoney({ minor, currency }),
  );
  const words = [...byAmount].map(([amount, from]) => {
    return `${from.map(({ source }) => sourceWords[source]).join(' and ')}, ${amount}`;
  });
  return amountCheck(false, `Amount ${found} differs from ${words.join(', and from ')}`);
}

function whyNoMoney({ amountMinor, unreadAmount, currency }: Transaction): string {
  if (unreadAmount !== undefined) return `The record’s amount can’t be read: it says “${unreadAmount}”`;
  if (amountMinor === undefined) return 'The record has no amount';
  return currency === undefined
    ? 'The record has an amount without a currency'
    : 'The record’s currency can’t be read';
}

function amountCheck(holds: boolean, statement: string): Check {
  return { part: 'amount', holds, statement };
}
