import type {
  StoredChargeAnswer,
  ChargeEvent,
  ChargeIntent,
  Effect,
} from '../../src/features/charge/machine.ts';
import type { Told } from '../../src/domain/charge.ts';
import { checkEnd } from './end-invariants.ts';
import type { Found, ServiceRecord } from './model-service.ts';
import { checkStep, type WrittenStep } from './step-invariants.ts';
import type { Clock } from './tape.ts';
import { demand } from './violation.ts';

/** Two minutes for the last send, 25 s for it to leave, and a second for steps that share a millisecond. */
const latestLeaveMs = 146_000;
const otpWindowMs = 15 * 60_000;
/** Replicas' clocks differ from the true one by this much at most. */
export const largestSkewMs = 2_000;

type OtpLeave = { giveUpAt: number; answered: boolean };

/**
 * Sees everything that happens on a tape from outside, with the true clock, and throws a Violation as soon
 * as one of the invariants no longer holds.
 */
export type Watch = {
  written: (step: WrittenStep) => void;
  chargeLeaves: (effect: Extract<Effect, { kind: 'charge' }>) => void;
  otpLeaves: (effect: Extract<Effect, { kind: 'submit_otp' }>, record: ServiceRecord | undefined) => OtpLeave;
  /** An answer's handling came to its end without a crash. */
  chargeAnswerHandled: (answer: StoredChargeAnswer) => void;
  lookedUp: (found: Found) => void;
  says: (what: Told, key: string) => void;
  givesValue: (key: string) => void;
  ends: (intent: ChargeIntent | undefined, records: ReadonlyMap<string, ServiceRecord>) => void;
};

export function createWatch(clock: Clock, submitted: Extract<ChargeEvent, { kind: 'submitted' }>): Watch {
  const { reference, money } = submitted;
  const sends = new Set<number>();
  const otps: OtpLeave[] = [];
  const keys = new Set<string>();
  const said: Told[] = [];
  let createdAt: number | undefined;
  let isProven = false;
  let sawDifference = false;
  let values = 0;
  let otpRequired = false;

  function once(key: string): boolean {
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  }

  return {
    written(step) {
      const { before, next } = step;
      createdAt ??= clock.time;
      checkStep(step);
      demand(next.state.kind !== 'approved' || isProven, 'approved only after proof');
      if (before?.state.kind !== 'otp_checking' || next.state.kind !== 'otp') return;
      demand(otps.at(-1)?.answered, 'entry opens again by the answer to the OTP under way, not to another');
    },
    chargeLeaves(effect) {
      demand(effect.reference === reference, 'one reference per intent');
      demand(!sends.has(effect.send), 'one POST per send, however many clicks and replicas');
      sends.add(effect.send);
      demand(sends.size <= 3, 'at most 3 sends');
      demand(createdAt !== undefined, 'nothing leaves before the intent is stored');
      const latest = (createdAt ?? 0) + latestLeaveMs + 2 * largestSkewMs;
      demand(clock.time <= latest, 'no charge leaves minutes after the click');
    },
    otpLeaves(effect, record) {
      demand(effect.sealedTransactionId === `sealed:${reference}`, 'the OTP goes with its own charge');
      demand(clock.time <= (record?.createdAt ?? 0) + otpWindowMs, 'no OTP after 15 minutes');
      const isPending = otps.some(
        ({ answered, giveUpAt }) => !answered && clock.time < giveUpAt - 2 * largestSkewMs,
      );
      demand(!isPending, 'nobody submits an OTP while another is unanswered');
      const leave = { giveUpAt: effect.giveUpAt, answered: false };
      otps.push(leave);
      demand(otps.length <= 3, 'at most 3 OTP submissions');
      return leave;
    },
    chargeAnswerHandled(answer) {
      if (answer.kind === 'otp_required') otpRequired = true;
    },
    lookedUp(found) {
      if (found === 'failed' || found.transaction?.status !== 'SUCCESS') return;
      const { orderReference, amountMinor, currency } = found.transaction;
      const isRight = amountMinor === money.minor && currency === money.currency;
      if (isRight && orderReference === reference) isProven = true;
      else sawDifference = true;
    },
    says(what, key) {
      if (!once(key)) return;
      demand(!said.includes(what), 'told once');
      demand(what !== 'approved', 'paid is said only where value is given');
      said.push(what);
    },
    givesValue(key) {
      demand(isProven, 'value only after proof');
      if (!once(key)) return;
      values += 1;
      said.push('approved');
      demand(values === 1, 'value at most once');
    },
    ends(intent, records) {
      if (!intent) return demand(records.size === 0, 'nothing is charged without a stored intent');
      const record = records.get(reference);
      checkEnd({ intent, record, records: records.size, said, values, sawDifference, otpRequired });
    },
  };
}
