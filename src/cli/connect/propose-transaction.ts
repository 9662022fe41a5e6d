import { type JsonObject, plainLeavesOf, valueAt } from '../../domain/json.ts';
import { minorFromWire, wireFromMinor } from '../../domain/money.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { outsideText } from '../../domain/outside-text.ts';
import { confirm, type Confirmation } from '../../domain/transaction.ts';
import { transactionIn, type TransactionReading } from '../../payments/lookups.ts';
import { looseText } from '../../payments/wire.ts';
import type { Changes } from './draft.ts';

/** A payment that the person knows. `minor`: the order's amount, without a fee on top. */
export type KnownPayment = { reference: OrderReference; minor: number };

type TransactionProposal =
  /** `changes`: empty if the current settings fit. */
  { kind: 'fits'; changes: Changes } | { kind: 'none'; why: string };

/** Statuses that can't mean *paid*, even for a payment that the person calls paid. */
const unpaidWords =
  /fail|declin|pend|cancel|revers|refund|abandon|expired|void|created|processing|initiat|progress|charge.?back|reject|await|disput|^un/i;

/** The fewest changes of settings with which the bot's own rule (`confirm`) confirms the known payment. */
export function proposeTransaction(
  records: readonly JsonObject[],
  known: KnownPayment,
  current: TransactionReading,
): TransactionProposal {
  const [record] = records;
  if (!record) return { kind: 'none', why: 'The service knows no such reference on this account.' };
  const confirmed = (reading: TransactionReading): Confirmation => confirmWith(records, known, reading);
  if (confirmed(current).kind === 'confirmed') return { kind: 'fits', changes: {} };
  const status = looseText.parse(record['status']);
  if (status === undefined) {
    return { kind: 'none', why: 'The record has no status where the specification has it, at /status.' };
  }
  if (outsideText(status, 40) !== status) return { kind: 'none', why: 'Its status is no plain word.' };
  const isPaidStatus = current.paymentsPaidStatuses.includes(status);
  if (!isPaidStatus && (unpaidWords.test(status) || status.includes(','))) {
    return { kind: 'none', why: `Its status is ${status}. Is it paid? Another reference may be.` };
  }
  const withStatus = {
    ...current,
    paymentsPaidStatuses: isPaidStatus ? current.paymentsPaidStatuses : [status],
    paymentsFinalStatuses: current.paymentsFinalStatuses?.filter((each) => each !== status),
  };
  const places = amountPlaces(record, current);
  const found = places.find((place) => confirmed({ ...withStatus, ...place }).kind === 'confirmed');
  if (!found)
    return { kind: 'none', why: whyNothingFits(record, known, confirmed({ ...withStatus, ...places[0] })) };
  const wasFinal = current.paymentsFinalStatuses?.includes(status) === true;
  return {
    kind: 'fits',
    changes: {
      ...(isPaidStatus ? {} : { PAYMENTS_PAID_STATUSES: status }),
      ...(wasFinal ? { PAYMENTS_FINAL_STATUSES: withStatus.paymentsFinalStatuses?.join(',') ?? '' } : {}),
      ...changed('PAYMENTS_AMOUNT_POINTER', current.paymentsAmountPointer, found.paymentsAmountPointer),
      ...changed('PAYMENTS_FEE_POINTER', current.paymentsFeePointer ?? '', found.paymentsFeePointer ?? ''),
    },
  };
}

function confirmWith(
  records: readonly JsonObject[],
  known: KnownPayment,
  reading: TransactionReading,
): Confirmation {
  const { reference, minor } = known;
  return confirm(
    { reference, amount: { minor, source: 'person' } },
    transactionIn(records, reference, reading),
  );
}

function changed(name: string, before: string, after: string): Changes {
  return before === after ? {} : { [name]: after };
}

/** Where the amount is, and a fee to subtract from it. */
type Place = Pick<TransactionReading, 'paymentsAmountPointer' | 'paymentsFeePointer'>;

const amountField = '/amount';
const orderField = '/onlineCheckoutAmount';

function place(at: string, fee?: string): Place {
  return { paymentsAmountPointer: at, paymentsFeePointer: fee };
}

/** All places to try, the likeliest first. */
function amountPlaces(record: JsonObject, current: Place): Place[] {
  const amounts = plainLeavesOf(record).flatMap(([at, value]) =>
    minorFromWire(value) === undefined ? [] : [at],
  );
  const fees = amounts.filter((at) => /fee|charge|commission|cost|levy|vat|tax/i.test(at));
  const others = amounts.filter((at) => at !== amountField && at !== orderField && !fees.includes(at));
  const [named = [], unnamed = []] = [true, false].map((isNamed) =>
    others.filter((at) => /amount|paid|gross|total/i.test(at) === isNamed),
  );
  const lessFee = (at: string): Place[] => fees.map((fee) => place(at, fee));
  return [
    current,
    ...[amountField, ...named].map((at) => place(at)),
    ...[amountField, ...named].flatMap(lessFee),
    // Try the ordered amount late: it may differ from the amount taken.
    place(orderField),
    ...unnamed.map((at) => place(at)),
  ];
}

function whyNothingFits(record: JsonObject, { minor }: KnownPayment, confirmation: Confirmation): string {
  const leaves = plainLeavesOf(record);
  const inHundredths = leaves.find(([, value]) => value === minor || value === String(minor));
  if (inHundredths) {
    return `${outsideText(inHundredths[0], 80)} tells the amount in hundredths. The specification has two decimals, and no setting changes that.`;
  }
  if (confirmation.kind !== 'not_found' && !confirmation.evidence.reference.holds) {
    return 'The record’s onlineCheckoutOrderReference is not the reference you gave, and no setting changes where it stands.';
  }
  const equal = leaves.find(([, value]) => minorFromWire(value) === minor);
  const ordered = minorFromWire(valueAt(record, orderField));
  if (equal && ordered !== undefined && ordered !== minor) {
    return `${wireFromMinor(minor)} stands at ${outsideText(equal[0], 80)}, but its order was for ${wireFromMinor(ordered)}. Give the order’s amount, without a fee on top.`;
  }
  const decimals = leaves.flatMap(([at, value]) =>
    /^\d{1,12}\.\d{1,2}$/.test(String(value)) ? [`${outsideText(at, 80)} ${String(value)}`] : [],
  );
  const amounts = decimals.length === 0 ? 'none' : decimals.join(', ');
  return `No field, and no field less a fee, is ${wireFromMinor(minor)} and agrees with the order. Amounts of the record: ${amounts}.`;
}
