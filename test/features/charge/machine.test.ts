import { describe, expect, it } from 'vitest';
import { findingOf, replay, step, workAt } from '../../../src/features/charge/machine.ts';
import type { Transaction } from '../../../src/domain/transaction.ts';
import {
  abandoned,
  asRead,
  declined,
  hour,
  minute,
  money,
  otpRequired,
  paid,
  reference,
  second,
  start,
  story,
  untilConcluded,
} from '../../tapes/charge-story.ts';

// What tapes and mutants don't check: exact times, and the right verdict.

const pending = { ...paid, status: 'PENDING' };
const failed = { ...paid, status: 'FAILED' };
const refunded = { ...paid, status: 'REFUNDED' };
const submitOtp = { kind: 'otp_submitted', by: 'U1' } as const;
const wrong = { kind: 'wrong', why: 'Invalid OTP' } as const;

function lost() {
  const charge = story();
  charge.answered({ kind: 'unknown' });
  return charge;
}

/** A charge that was called approved, but not proven by a look-up for a day. */
function underReview() {
  const charge = story();
  charge.answered({ kind: 'approved' });
  charge.found(pending);
  untilConcluded(charge, pending);
  charge.on({ kind: 'told', what: 'review' });
  return charge;
}

function atOtp(wrongCodes = 0) {
  const charge = story();
  charge.answered(otpRequired);
  charge.on({ kind: 'told', what: 'otp' });
  for (let left = wrongCodes; left > 0; left -= 1) {
    charge.on(submitOtp);
    charge.otpAnswered(wrong);
  }
  return charge;
}

describe('a charge', () => {
  it('is an intent with a timer and a deadline before it is sent', () => {
    const charge = story();
    expect(charge.now()).toMatchObject({ state: { kind: 'charging' }, dueAt: start + 30 * second });
    expect(charge.effect()).toEqual({
      kind: 'charge',
      reference,
      send: 1,
      leaveBy: start + 25 * second,
    });
    expect(charge.on({ kind: 'submitted', reference, money, by: 'U2' })).toBe(false);
  });

  it('ignores every other event before the intent', () => {
    expect(step(undefined, { kind: 'due' }, start)).toBeUndefined();
    expect(step(undefined, { kind: 'payment_success' }, start)).toBeUndefined();
  });

  it('that is declined is told with the bank’s words', () => {
    const charge = story();
    charge.answered({ kind: 'declined', why: 'Insufficient funds' });
    expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Insufficient funds' });
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'declined' });
  });

  it('that is rejected at its only send is over: the bank was not asked', () => {
    const charge = story();
    charge.answered({ kind: 'rejected', reason: 'invalid_token' });
    charge.on({ kind: 'told', what: 'rejected' });
    expect(charge.now().state).toMatchObject({ kind: 'rejected', reason: 'invalid_token' });
    expect(charge.now().dueAt).toBeUndefined();
  });

  it('that exists according to a late answer is not sent again', () => {
    const charge = story();
    charge.due();
    charge.answered({ kind: 'already_exists' }, 1);
    charge.found('not_found');
    expect(charge.now()).toMatchObject({ state: { kind: 'confirming' }, sends: [start] });
  });

  it('whose resend is refused is rejected a minute later, and looked up a day later', () => {
    const charge = lost();
    charge.found('not_found');
    charge.answered({ kind: 'rejected', reason: 'invalid_token' });
    charge.found('not_found');
    expect(charge.now().state.kind).toBe('confirming');
    charge.after(minute + second).due();
    charge.found('not_found');
    expect(charge.now().state).toMatchObject({ kind: 'rejected', reason: 'invalid_token' });
    charge.on({ kind: 'told', what: 'rejected' });
    expect(charge.now().dueAt).toBe(charge.now().at - 1 + 24 * hour);
  });

  it('that never arrived is concluded as not sent, a minute after the last send at the earliest', () => {
    const charge = abandoned();
    expect(charge.now().state.kind).toBe('abandoned');
    expect(charge.now().sends).toHaveLength(3);
    expect(charge.now().at).toBeGreaterThanOrEqual((charge.now().sends.at(-1) ?? 0) + minute);
  });

  it('with `sendsOnce` is sent once, and concluded as not sent after a minute', () => {
    const charge = story({ sendsOnce: true });
    charge.answered({ kind: 'unknown' });
    charge.found('not_found');
    expect(charge.now().state.kind).toBe('confirming');
    untilConcluded(charge, 'not_found');
    expect(charge.now().state.kind).toBe('abandoned');
    expect(charge.now().sends).toEqual([start]);
    expect(charge.now().at).toBeGreaterThanOrEqual(start + minute);
    expect(replay(charge.now().history)?.state).toEqual(charge.now().state);
  });
});

describe('proof', () => {
  it.each<[what: string, record: Transaction]>([
    ['another amount', { ...paid, amountMinor: 1_249_999 }],
    ['another currency', { ...paid, currency: 'USD' }],
    ['another reference', { ...paid, orderReference: 'another' }],
    ['no readable amount', { status: 'SUCCESS', orderReference: reference, currency: 'NGN' }],
    ['a final status, though it was called approved', failed],
  ])('with %s leads to review', (_what, record) => {
    const charge = story();
    charge.answered({ kind: 'approved' });
    charge.found(record);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'review' });
  });

  it('is looked for after a second, then at growing intervals, for a day', () => {
    const charge = story();
    charge.answered({ kind: 'approved' });
    const waits: number[] = [];
    while (charge.now().state.kind === 'confirming') {
      charge.found(pending);
      waits.push((charge.now().dueAt ?? charge.now().at) - charge.now().at);
      if (charge.now().state.kind === 'confirming') charge.due();
    }
    expect(charge.now().state.kind).toBe('review');
    expect(waits[0]).toBe(second);
    expect(Math.max(...waits)).toBe(5 * minute);
    expect(charge.now().at - start).toBeGreaterThan(24 * hour - 1);
  });

  it.each([
    ['the service', true],
    ['the bot', false],
  ])(
    'is looked for longer if %s was away for two days, until enough look-ups are answered',
    (_who, isAsked) => {
      const charge = story();
      charge.answered({ kind: 'approved' });
      charge.found(pending);
      if (!isAsked) charge.after(48 * hour);
      do {
        charge.due();
        charge.found('failed');
      } while (charge.now().at < start + 48 * hour);
      charge.due();
      charge.found(pending);
      expect(charge.now().state.kind).toBe('confirming');
      const backAt = charge.now().at;
      untilConcluded(charge, pending);
      expect(charge.now().state.kind).toBe('review');
      expect((charge.now().at - backAt) / hour).toBeGreaterThan(11);
      expect((charge.now().at - backAt) / hour).toBeLessThan(13);
      expect(replay(charge.now().history)).toMatchObject({ state: charge.now().state });
      expect(charge.now().history.length).toBeLessThan(30);
    },
  );

  it('is final: nothing changes an approved charge', () => {
    const charge = story();
    charge.answered({ kind: 'approved' });
    charge.found(paid);
    charge.on({ kind: 'told', what: 'approved' });
    expect(charge.now().dueAt).toBeUndefined();
    expect(charge.on({ kind: 'payment_failed' })).toBe(false);
    expect(charge.on({ kind: 'due' })).toBe(false);
    expect(charge.found('not_found')).toBe(false);
    expect(charge.answered({ kind: 'declined', why: 'late' })).toBe(false);
  });

  it.each([
    ['given back', refunded, paid, 'approved'],
    ['paid', paid, refunded, 'given_back'],
  ])(
    'that says %s, asked for before a proof of the opposite was known, leads to a new look-up',
    (_, old, found, kind) => {
      const charge = lost();
      const askedAt = charge.now().at;
      charge.due();
      charge.found(found);
      charge.on({ kind: 'looked_up', askedAt, finding: findingOf({ reference, money }, asRead(old)) });
      expect(charge.now().state.kind).toBe(kind);
      expect(charge.effect()).toEqual({ kind: 'look_up', reference, askedAt: charge.now().at });
      expect(charge.found(found)).toBe(true);
      expect(charge.now().state.kind).toBe(kind);
      charge.on({ kind: 'payment_given_back' });
      charge.found(old);
      expect(charge.now().state.kind).not.toBe(kind);
      expect(replay(charge.now().history)).toMatchObject({ state: charge.now().state });
    },
  );

  it('whose look-up for an event of money given back is lost, is looked up again, also once it is told', () => {
    const charge = lost();
    charge.found(paid);
    charge.on({ kind: 'payment_given_back' });
    charge.on({ kind: 'told', what: 'approved' });
    charge.due();
    expect(charge.effect()).toMatchObject({ kind: 'look_up' });
    charge.found(paid);
    expect(charge.now().dueAt).toBeUndefined();
  });

  it('has only the verdict and the status of the record', () => {
    const found = { ...paid, id: 'secret', customerEmail: 'a@example.com' };
    expect(findingOf({ reference, money }, found)).toEqual({ kind: 'paid', status: 'SUCCESS' });
    expect(findingOf({ reference, money }, undefined)).toEqual({ kind: 'not_found' });
  });

  it('of a failure needs a final status, of the same reference', () => {
    const open = { kind: 'pending', status: 'FAILED' };
    expect(findingOf({ reference, money }, failed)).toEqual(open);
    expect(findingOf({ reference, money }, asRead(failed))).toEqual({ ...open, kind: 'final_not_paid' });
    const other = { ...failed, orderReference: 'another' };
    expect(findingOf({ reference, money }, asRead(other))).toEqual(open);
  });
});

describe('a charge whose answer was lost', () => {
  it('is declined at once by a failure event and a final status', () => {
    const charge = lost();
    charge.on({ kind: 'payment_failed', why: 'Insufficient funds' });
    charge.found(failed);
    expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Insufficient funds' });
  });

  it.each([pending, 'not_found'] as const)(
    'is declined 16 minutes later without a final status (%o)',
    (record) => {
      const charge = lost();
      charge.on({ kind: 'payment_failed', why: 'Insufficient funds' });
      charge.found(record);
      untilConcluded(charge, record);
      expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Insufficient funds' });
      expect(charge.now().at).toBeGreaterThanOrEqual(start + 16 * minute);
      expect(charge.now().sends).toHaveLength(1);
    },
  );

  it('is expired 16 minutes later if its record shows no payment, as it may have needed a code', () => {
    const charge = lost();
    charge.found(pending);
    untilConcluded(charge, pending);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'expired' });
    expect(charge.now().at - start).toBeGreaterThanOrEqual(16 * minute);
    expect(charge.now().at - start).toBeLessThan(17 * minute);
  });

  it('is expired, not declined, if it fails because the time for a code is over', () => {
    const charge = lost();
    charge.found(pending);
    charge.after(15 * minute).on({ kind: 'payment_failed' });
    untilConcluded(charge, failed);
    expect(charge.now().state.kind).toBe('expired');
  });

  it('is declined by its own late answer, after a look-up without success', () => {
    const charge = lost();
    charge.found(pending);
    charge.answered({ kind: 'declined', why: 'Do not honour' });
    charge.found(pending);
    expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Do not honour' });
  });
});

describe('a conclusion', () => {
  it('is looked up again after a day, and a late success corrects it', () => {
    const charge = declined();
    expect(charge.now().dueAt).toBe(start + 1 + 24 * hour);
    charge.due();
    expect(charge.now().state.kind).toBe('declined');
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'approved' });
  });

  it('stays, and is finished, if the late look-up shows no success', () => {
    const charge = declined();
    charge.due();
    charge.found('failed');
    expect(charge.now().dueAt).toBeDefined();
    charge.due();
    charge.found(failed);
    expect(charge.now()).toMatchObject({ state: { kind: 'declined' } });
    expect(charge.now().dueAt).toBeUndefined();
  });

  it('of review is looked up at growing intervals, at most a week, as long as it is remembered', () => {
    const charge = underReview();
    const { at } = charge.now();
    const waits: number[] = [];
    while (workAt(charge.now(), 60 * 24 * hour) !== undefined) {
      const before = charge.now().at;
      charge.due();
      waits.push(Math.round((charge.now().at - before) / hour));
      charge.found(pending);
    }
    expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, ...Array<number>(7).fill(168)]);
    expect((charge.now().at - at) / hour).toBeGreaterThan(45 * 24);
    expect(charge.now().state.kind).toBe('review');
  });

  it('of review is corrected by proof, and by a final status unless it was called paid', () => {
    const proven = underReview();
    proven.due();
    proven.found(paid);
    expect(proven.effect()).toMatchObject({ kind: 'tell', what: 'approved' });
    const ended = lost();
    ended.answered({ kind: 'already_exists' });
    ended.found('not_found');
    untilConcluded(ended, 'not_found');
    expect(ended.now().state.kind).toBe('review');
    ended.on({ kind: 'told', what: 'review' });
    ended.due();
    ended.found(asRead(failed));
    expect(ended.effect()).toMatchObject({ kind: 'tell', what: 'expired' });
    const called = underReview();
    called.due();
    called.found(asRead(failed));
    expect(called.now().state.kind).toBe('review');
  });

  it('of "not sent" is in doubt again if the service turns out to have the charge', () => {
    const charge = abandoned();
    charge.on({ kind: 'told', what: 'abandoned' });
    charge.due();
    charge.found(pending);
    expect(charge.now().state.kind).toBe('confirming');
  });

  it('of "not sent" is corrected if the service turns out to have the charge', () => {
    const charge = abandoned();
    charge.on({ kind: 'told', what: 'abandoned' });
    charge.on({ kind: 'payment_failed', why: 'Insufficient funds' });
    charge.found(failed);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'declined' });
  });
});

describe('an OTP', () => {
  it('can be entered until 15 minutes after its send, and the request is repeated until it is recorded', () => {
    const charge = story();
    charge.after(20 * second).answered(otpRequired);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'otp' });
    expect(charge.now().otp).toMatchObject({ tries: 0, until: start + 15 * minute });
    charge.due();
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'otp' });
    charge.on({ kind: 'told', what: 'otp' });
    expect(charge.now().dueAt).toBe(start + 15 * minute);
  });

  it('that was wrong three times leads to look-ups when the bank’s time is over, and a day later', () => {
    const charge = atOtp(3);
    charge.found(pending);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'wrong_codes' });
    charge.on({ kind: 'told', what: 'wrong_codes' });
    expect(charge.now().dueAt).toBe(start + 16 * minute);
    charge.due();
    charge.found(pending);
    expect(charge.now().state.kind).toBe('wrong_codes');
    expect(charge.now().dueAt).toBeGreaterThan(start + 24 * hour);
    charge.due();
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'approved' });
  });

  it('is over if the service says too many attempts', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'too_many' });
    charge.found(pending);
    expect(charge.now().state.kind).toBe('wrong_codes');
  });

  it('that came too late for the bank leads to a look-up while the form stays open', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'wrong', why: 'The payment has exceeded the time allowed', isOver: true });
    const over = charge.now();
    expect(over.state.kind).toBe('otp');
    expect((over.dueAt ?? Infinity) - over.at).toBeLessThan(minute);
    charge.due();
    charge.found(pending);
    expect(charge.now().state.kind).toBe('otp');
    charge.due();
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'approved' });
  });

  it('whose answer is lost can be entered again if the look-up shows nothing', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'unknown' });
    charge.found('not_found');
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'otp' });
    expect(charge.now().otp?.tries).toBe(1);
  });

  it('whose answer is lost leads to look-ups while the form stays open, after seconds and then minutes', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'unknown' });
    const lostAt = charge.now().at;
    charge.found('not_found');
    const looks: number[] = [];
    while (charge.now().state.kind === 'otp') {
      charge.due();
      if (charge.now().state.kind !== 'otp') break;
      looks.push(Math.round((charge.now().at - lostAt) / second));
      charge.found(looks.length % 2 === 0 ? 'failed' : pending);
    }
    expect(looks).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 257, 514, 814]);
    expect(charge.now().history.length).toBeLessThan(30);
  });

  it('whose answer is lost has each look-up in its history that changed its state', () => {
    const charge = atOtp();
    charge.on({ kind: 'told', what: 'otp' });
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'unknown' });
    charge.after(second).due();
    charge.found(pending);
    expect(charge.now().state.kind).toBe('otp');
    charge.due();
    // Asked while a code could be entered, and answered when its time was over.
    charge.after(16 * minute).found(pending);
    expect(charge.now().state.kind).toBe('otp');
    expect(replay(charge.now().history)?.state).toEqual(charge.now().state);
  });

  it.each([2, 3])('is replayed to the same state if one look-up was counted %s times', (times) => {
    const charge = story();
    charge.answered({ kind: 'approved' });
    charge.found(pending);
    charge.due();
    for (let counted = 0; counted < times; counted += 1) charge.found(pending);
    charge.due();
    charge.found(pending);
    const { history, ...now } = charge.now();
    expect(replay(history)).toMatchObject(now);
  });

  it('whose answer is lost is paid as soon as a look-up shows it, even while the form is open', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.due();
    charge.found(pending);
    charge.due();
    expect(charge.now().state.kind).toBe('otp');
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'approved' });
  });

  it('that is refused after one with a lost answer is not called wrong before a look-up', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'unknown' });
    charge.found(pending);
    charge.after(20 * second).on(submitOtp);
    charge.otpAnswered(wrong);
    expect(charge.effect()).toMatchObject({ kind: 'look_up' });
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'approved' });
  });

  it('stays open while a failure event is looked up, and is over with a final status', () => {
    const charge = atOtp(1);
    charge.on({ kind: 'payment_failed', why: 'Insufficient funds' });
    charge.found(pending);
    expect(charge.now().state.kind).toBe('otp');
    charge.on({ kind: 'payment_failed' });
    charge.found(failed);
    expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Insufficient funds' });
  });

  it('is not submitted in the last five seconds of its time, and must be sent before them', () => {
    const charge = atOtp();
    charge.after(15 * minute - 6 * second).on(submitOtp);
    expect(charge.effect()).toMatchObject({ leaveBy: start + 15 * minute - 5 * second });
    charge.after(2 * second).otpAnswered(wrong);
    expect(charge.now().state.kind).toBe('confirming');
  });
});
