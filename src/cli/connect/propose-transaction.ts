import { type JsonObject, plainLeavesOf, valueAt } from '../../domain/json.ts';
import { minorFromWire, wireFromMinor } from '../../domain/money.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { outsideText } from '../../domain/outside-text.ts';
import { confirm, type Confirmation } from '../../domain/transaction.ts';
import { transactionIn, type TransactionReading } from '../../payments/lookups.ts';
import { looseText } from '../../payments/wire.ts';
import type { Changes } from './changes.ts';

/** A payment that the person knows. `minor`: the order's amount, without a fee on top. */
export type KnownPayment = { reference: OrderReference; minor: number };

type TransactionProposal =
  /** `changes` is empty if the present settings fit. */
  { kind: 'fits'; changes: Changes } | { kind: 'none'; why: string };

/** Statuses that can't mean *paid*, even for a payment that the person calls paid. */
const unpaidWords =
  /fail|declin|pend|cancel|revers|refund|abandon|expired|void|created|processing|initiat|progress|charge.?back|reject|await|disput|^un/i;

/** The fewest changes of settings with which the bot's own rule (`confirm`) confirms a payment known as paid. */
export function proposeTransaction(
  records: readonly JsonObject[],
  known: KnownPayment,
  ours: TransactionReading,
): TransactionProposal {
  const [record] = records;
  if (!record) return { kind: 'none', why: 'The service knows no such reference on this account.' };
  const confirmed = (reading: TransactionReading): Confirmation => judge(records, known, reading);
  if (confirmed(ours).kind === 'confirmed') return { kind: 'fits', changes: {} };
  const status = looseText.parse(record['status']);
  if (status === undefined) {
    return { kind: 'none', why: 'The record has no status where the specification has it, at /status.' };
  }
  if (outsideText(status, 40) !== status) return { kind: 'none', why: 'Its status is no plain word.' };
  const isNamed = ours.paymentsPaidStatuses.includes(status);
  if (!isNamed && (unpaidWords.test(status) || status.includes(','))) {
    return { kind: 'none', why: `Its status is ${status}. Is it paid? Another reference may be.` };
  }
  const base = {
    ...ours,
    paymentsPaidStatuses: isNamed ? ours.paymentsPaidStatuses : [status],
    paymentsFinalStatuses: ours.paymentsFinalStatuses?.filter((one) => one !== status),
  };
  const places = amountPlaces(record, ours);
  const found = places.find((place) => confirmed({ ...base, ...place }).kind === 'confirmed');
  if (!found) return { kind: 'none', why: whyNone(record, known, confirmed({ ...base, ...places[0] })) };
  const hadFinal = ours.paymentsFinalStatuses?.includes(status) === true;
  return {
    kind: 'fits',
    changes: {
      ...(isNamed ? {} : { PAYMENTS_PAID_STATUSES: status }),
      ...(hadFinal ? { PAYMENTS_FINAL_STATUSES: base.paymentsFinalStatuses?.join(',') ?? '' } : {}),
      ...changed('PAYMENTS_AMOUNT_POINTER', ours.paymentsAmountPointer, found.paymentsAmountPointer),
      ...changed('PAYMENTS_FEE_POINTER', ours.paymentsFeePointer ?? '', found.paymentsFeePointer ?? ''),
    },
  };
}

function judge(
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

type Place = Pick<TransactionReading, 'paymentsAmountPointer' | 'paymentsFeePointer'>;

const amountField = '/amount';
const orderField = '/onlineCheckoutAmount';

function place(at: string, fee?: string): Place {
  return { paymentsAmountPointer: at, paymentsFeePointer: fee };
}

function amountPlaces(record: JsonObject, ours: Place): Place[] {
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
    ours,
    ...[amountField, ...named].map((at) => place(at)),
    ...[amountField, ...named].flatMap(lessFee),
    // Try the ordered amount late: it may differ from the amount taken.
    place(orderField),
    ...unnamed.map((at) => place(at)),
    ...unnamed.flatMap(lessFee),
  ];
}

function whyNone(record: JsonObject, { minor }: KnownPayment, confirmation: Confirmation): string {
  const leaves = plainLeavesOf(record);
  const inHundredths = leaves.find(([, value]) => value === minor || value === String(minor));
  if (inHundredths) {
    return `${outsideText(inHundredths[0], 80)} tells the amount in hundredths. The specification has two decimals, and no setting changes that.`;
  }
  if (confirmation.kind !== 'not_found' && !confirmation.evidence.reference.holds) {
    return 'The record’s onlineCheckoutOrderReference is not the reference you gave, and no setting changes where it stands.';
  }
  const theirs = leaves.find(([, value]) => minorFromWire(value) === minor);
  const ordered = minorFromWire(valueAt(record, orderField));
  if (theirs && ordered !== undefined && ordered !== minor) {
    return `${wireFromMinor(minor)} stands at ${outsideText(theirs[0], 80)}, but its order was for ${wireFromMinor(ordered)}. Give the order’s amount, without a fee on top.`;
  }
  const told = leaves.flatMap(([at, value]) =>
    /^\d{1,12}\.\d{1,2}$/.test(String(value)) ? [`${outsideText(at, 80)} ${String(value)}`] : [],
  );
  const amounts = told.length === 0 ? 'none' : told.join(', ');
  return `No field, and no field less a fee, is ${wireFromMinor(minor)} and agrees with the order. Amounts of the record: ${amounts}.`;
}
