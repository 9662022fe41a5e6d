import { maskNumbers } from './card.ts';
import { formatMoney, type Money } from './money.ts';
import type { OrderReference } from './order-reference.ts';

/** What a status means. `not_paid` is final; `given_back`: it was paid, and no more; an unknown status is none of them. */
export type TransactionOutcome = 'paid' | 'not_paid' | 'given_back' | 'unknown';

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
  /** What stands in the place of an amount that could not be read, as it is. */
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
  /** Further records under the same reference. */
  others?: readonly Transaction[];
};

/** Of one record, by its status alone. Spec: Transaction status. */
function statusMeans({ status, outcome }: Pick<Transaction, 'status' | 'outcome'>): TransactionOutcome {
  return outcome ?? (status === 'SUCCESS' ? 'paid' : 'unknown');
}

/**
 * Why a record concludes nothing whatever its status is; undefined: its status counts. Money that left is no payment, and
 * of several records under one reference none is believed unless all say the same.
 */
function doubtAbout(transaction: Transaction): string | undefined {
  const { entryType, others = [] } = transaction;
  const all = [transaction, ...others];
  if (all.some((other) => !saysTheSame(transaction, other))) {
    return `${all.length} records of this reference differ: ${all.map(shownRecord).join('; ')}`;
  }
  // Money that goes back may well be a debit.
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

/** What a charge that failed was to take: what its record says, or, where that is nothing, the order's own amount. */
export function moneyToTake(transaction: Transaction): Money | undefined {
  const { amountMinor = 0, orderAmountMinor = 0, currency, orderCurrency } = transaction;
  const taken = amountMinor > 0;
  const minor = taken ? amountMinor : orderAmountMinor;
  const named = taken ? (currency ?? orderCurrency) : (orderCurrency ?? currency);
  return minor > 0 && named !== undefined ? { minor, currency: named } : undefined;
}

/** Who says what the amount should be: the person, the bot's own charge or link, the signed event, or the order itself. */
type AmountSource = 'person' | 'charge' | 'link' | 'event' | 'order';

/** What the charge should have been. With or without an amount, the order's own, as the service tells it, is held against the one taken. */
export type ExpectedCharge = {
  reference: OrderReference;
  amount?: { minor: number; currency?: string; source: Exclude<AmountSource, 'order'> };
};

/**
 * One of the three parts of the rule, with what was wanted and what was found, ready to be shown. `how`: what was compared
 * of an amount that holds, where a setting says that.
 */
export type Check = {
  part: 'status' | 'reference' | 'amount';
  holds: boolean;
  statement: string;
  how?: string;
  /** Of a status: the record concludes nothing whatever its status is, and `statement` says why. */
  isDoubted?: true;
};

export type Evidence = { status: Check; reference: Check; amount: Check };

/**
 * The verdict on one look-up. Only `confirmed` may ever be called paid; `not_confirmed` is not "failed":
 * an unknown status proves nothing either way. `not_paid`: the very order asked for, with a status that is
 * final by the settings, such as one that was cancelled. `given_back`: the very order, paid and refunded or reversed
 * since, by the settings too.
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
 * Says "paid" only when all three hold: the status means paid (SUCCESS, unless settings say another), the reference is the charged one, the amount
 * (and the currency, where both are known) is the charged one and the order's. Anything missing or
 * unreadable does not hold, and neither does an amount of zero. The one rule for every part of the bot: what
 * settings say of statuses and amounts is in the transaction already, as `readTransaction` put it there.
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
  const { status = 'missing' } = transaction;
  const outcome = outcomeOf(transaction);
  const doubt = doubtAbout(transaction);
  if (doubt !== undefined) return { part: 'status', holds: false, statement: doubt, isDoubted: true };
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
 * The order's own amount is always held against the one taken, whoever else names one: an event may name
 * what was taken, with the service's fee, and a person what the record just showed them.
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
