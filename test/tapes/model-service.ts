import type {
  ChargeEvent,
  StoredChargeAnswer,
  StoredOtpAnswer,
} from '../../src/features/charge/charge-intent.ts';
import type { Money } from '../../src/domain/money.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { Violation } from './watch.ts';

/** The true time in UTC ms, which no replica sees. */
export type Clock = { time: number };

/** One choice out of `count`; 0, the harmless one, once the tape has ended. */
export type Draw = (count: number) => number;

export function readTape(tape: readonly number[]): { draw: Draw; isOver: () => boolean } {
  let position = 0;
  return {
    draw(count) {
      const value = tape[position];
      if (value === undefined) return 0;
      position += 1;
      return value % count;
    },
    isOver: () => position >= tape.length,
  };
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A call that arrives at the service. `right`: whether the code is the bank's. */
export type Call =
  | { kind: 'charge'; reference: string; money: Money }
  | { kind: 'look_up'; reference: string }
  | { kind: 'submit_otp'; reference: string; transactionId: string; right: boolean };

/** A look-up's answer: a record, or none. */
export type Found = { transaction: Transaction | undefined } | 'failed';
export type Answer = StoredChargeAnswer | Found | StoredOtpAnswer;

type Status = 'PENDING' | 'AWAITING_OTP' | 'SUCCESS' | 'FAILED' | 'REFUNDED';

export type ServiceRecord = {
  reference: string;
  status: Status;
  taken: Money;
  /** The reference in the record: a faulty service confuses them. */
  shownReference: string;
  createdAt: number;
  visibleFrom: number;
  submissions: number;
};

export type WebhookEvent = Extract<
  ChargeEvent,
  { kind: 'payment_success' | 'payment_failed' | 'payment_given_back' }
>;

export type ModelService = {
  answer: (call: Call) => Answer;
  /** Lets the service's own time limits pass: 15 minutes of OTP, and slow banks that decide. */
  tick: () => void;
  /** The bank decides a pending charge, reverses a decline, or returns the money. */
  decide: () => void;
  records: Map<string, ServiceRecord>;
  events: WebhookEvent[];
};

/** A bank decides within this time of the request, or never. */
const undecidedMs = 10 * hourMs;
const behaviours = [
  ...(['approve', 'approve', 'approve', 'approve', 'approve'] as const),
  ...(['otp', 'otp', 'otp', 'otp', 'otp', 'decline', 'decline'] as const),
  ...(['other_amount', 'other_reference', 'slow', 'slow'] as const),
];

/**
 * The payments service and its bank, as specified: a reference is charged at most once, an OTP has three tries and 15
 * minutes, declines, rejections, events. What the specification leaves open (slow banks, delayed look-ups, faults) is
 * drawn from the tape; after its end every draw is 0, and everything goes well.
 */
export function createModelService(deps: {
  draw: Draw;
  clock: Clock;
  neverDecides: boolean;
  /** Whether this card's bank wants an OTP for every charge. */
  asksForOtp: boolean;
}): ModelService {
  const { draw, clock } = deps;
  const records = new Map<string, ServiceRecord>();
  const events: WebhookEvent[] = [];

  function succeed(record: ServiceRecord): void {
    record.status = 'SUCCESS';
    events.push({ kind: 'payment_success' });
  }

  function fail(record: ServiceRecord): void {
    record.status = 'FAILED';
    events.push({ kind: 'payment_failed', why: 'Failed at the bank' });
  }

  function giveBack(record: ServiceRecord): void {
    record.status = 'REFUNDED';
    events.push({ kind: 'payment_given_back' });
  }

  function charge({ reference, money }: Extract<Call, { kind: 'charge' }>): StoredChargeAnswer {
    const door = draw(16);
    if (door === 15) return { kind: 'rejected', reason: 'rate_limited' };
    if (door === 14) return { kind: 'unknown' };
    if (records.has(reference)) return { kind: 'already_exists' };
    if (door === 13) return { kind: 'rejected', reason: 'invalid_token' };
    const record: ServiceRecord = {
      reference,
      status: 'PENDING',
      taken: money,
      shownReference: reference,
      createdAt: clock.time,
      visibleFrom: clock.time + ([0, 0, 0, 5_000, 40_000, 10 * minuteMs][draw(6)] ?? 0),
      submissions: 0,
    };
    records.set(reference, record);
    return atTheBank(record);
  }

  function atTheBank(record: ServiceRecord): StoredChargeAnswer {
    const { minor, currency } = record.taken;
    switch (deps.asksForOtp ? 'otp' : behaviours[draw(behaviours.length)]) {
      case 'otp':
        record.status = 'AWAITING_OTP';
        return draw(8) === 7
          ? { kind: 'unknown' }
          : { kind: 'otp_required', sealedTransactionId: `sealed:${record.reference}` };
      case 'decline':
        fail(record);
        return { kind: 'declined', why: 'Insufficient funds' };
      case 'other_amount':
        record.taken = draw(2) === 0 ? { minor: minor - 1, currency } : { minor, currency: 'USD' };
        break;
      case 'other_reference':
        record.shownReference = `${record.reference}-other`;
        break;
      case 'slow':
        return draw(2) === 0 ? { kind: 'unknown' } : { kind: 'approved' };
      default:
    }
    succeed(record);
    return { kind: 'approved' };
  }

  function lookUp(reference: string): Found {
    if (draw(12) === 11) return 'failed';
    const record = records.get(reference);
    if (!record || clock.time < record.visibleFrom) return { transaction: undefined };
    const { status, taken, shownReference: orderReference } = record;
    return {
      transaction: { status, orderReference, amountMinor: taken.minor, currency: taken.currency },
    };
  }

  function submitOtp(call: Extract<Call, { kind: 'submit_otp' }>): StoredOtpAnswer {
    const record = records.get(call.reference);
    if (!record || call.transactionId !== call.reference) throw new Violation('an OTP for no charge of ours');
    record.submissions += 1;
    if (record.submissions > 3) return { kind: 'too_many' };
    if (record.status !== 'AWAITING_OTP')
      return { kind: 'wrong', why: 'No OTP is expected', ...(draw(2) === 0 && { isOver: true }) };
    if (!call.right) {
      // Some services send an event for each wrong code, even if more may be entered.
      if (draw(3) === 2) events.push({ kind: 'payment_failed', why: 'Invalid OTP' });
      return { kind: 'wrong', why: 'Invalid OTP' };
    }
    const bank = draw(8);
    if (bank >= 6) record.status = 'PENDING';
    else succeed(record);
    return bank === 7 ? { kind: 'unknown' } : { kind: 'accepted' };
  }

  function tick(): void {
    for (const record of records.values()) {
      const ageMs = clock.time - record.createdAt;
      if (record.status === 'AWAITING_OTP' && ageMs > 15 * minuteMs) {
        if (draw(8) === 7) record.status = 'PENDING';
        else fail(record);
      }
      if (record.status === 'PENDING' && ageMs > undecidedMs && !deps.neverDecides) fail(record);
    }
  }

  function decide(): void {
    for (const record of records.values()) {
      const ageMs = clock.time - record.createdAt;
      if (ageMs > undecidedMs || (record.status === 'PENDING' && deps.neverDecides)) continue;
      if (record.status === 'PENDING') {
        if (draw(3) === 2) fail(record);
        else succeed(record);
      } else if (record.status === 'FAILED' && draw(3) === 2) succeed(record);
      else if (record.status === 'SUCCESS' && draw(3) === 2) giveBack(record);
    }
  }

  function answer(call: Call): Answer {
    tick();
    switch (call.kind) {
      case 'charge':
        return charge(call);
      case 'look_up':
        return lookUp(call.reference);
      case 'submit_otp':
        return submitOtp(call);
    }
  }

  return { answer, tick, decide, records, events };
}
