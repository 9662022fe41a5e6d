import { describe, expect, it } from 'vitest';
import {
  abandoned,
  hour,
  minute,
  otpRequired,
  paid,
  second,
  start,
  story,
  untilConcluded,
  type Story,
} from '../../tapes/charge-story.ts';

const submitOtp = { kind: 'otp_submitted', by: 'U1' } as const;
const wrong = { kind: 'wrong', why: 'Invalid OTP' } as const;

function atOtp() {
  const charge = story();
  charge.answered(otpRequired);
  charge.on({ kind: 'told', what: 'otp' });
  return charge;
}

function enterWrong(charge: Story, times: number): void {
  for (let left = times; left > 0; left--) {
    expect(charge.on(submitOtp)).toBe(true);
    charge.otpAnswered(wrong);
  }
}

describe('an OTP', () => {
  it('is asked for until 15 minutes after the send it answers, and asked for again until that is on record', () => {
    const charge = story();
    charge.after(20 * second).answered(otpRequired);
    expect(charge.effect()).toMatchObject({ kind: 'ask_for_otp', triesLeft: 3, until: start + 15 * minute });
    charge.due();
    expect(charge.effect()?.kind).toBe('ask_for_otp');
    charge.on({ kind: 'told', what: 'otp' });
    expect(charge.now().dueAt).toBe(start + 15 * minute);
  });

  it('is counted before it leaves', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    expect(charge.now().otp?.tries).toBe(1);
    expect(charge.effect()).toMatchObject({ kind: 'submit_otp', submission: 1 });
  });

  it('is not submitted while another is unanswered', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    expect(charge.on({ kind: 'otp_submitted', by: 'U2' })).toBe(false);
  });

  it('that is wrong three times ends the charge once a look-up shows no payment', () => {
    const charge = atOtp();
    enterWrong(charge, 3);
    expect(charge.now().state.kind).toBe('confirming');
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'wrong_codes' });
    expect(charge.on(submitOtp)).toBe(false);
  });

  it('that was wrong three times is no decline either, so the card is free', () => {
    const charge = atOtp();
    enterWrong(charge, 3);
    charge.found({ ...paid, status: 'FAILED' });
    expect(charge.now().state.kind).toBe('wrong_codes');
  });

  it('that was wrong three times is looked at when the bank’s time is over, and a day later', () => {
    const charge = atOtp();
    enterWrong(charge, 3);
    charge.found({ ...paid, status: 'PENDING' });
    charge.on({ kind: 'told', what: 'wrong_codes' });
    expect(charge.now().dueAt).toBe(start + 16 * minute);
    charge.due();
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('wrong_codes');
    expect(charge.now().dueAt).toBeGreaterThan(start + 24 * hour);
    charge.due();
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'give_value', corrects: 'wrong_codes' });
  });

  it('stays a doubt after three tries when the answer to one of them was lost', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'unknown' });
    charge.found('not_found');
    enterWrong(charge, 2);
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('confirming');
    untilConcluded(charge, { ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('expired');
  });

  it('stays open when an event says that the charge failed and no final status does', () => {
    const charge = atOtp();
    enterWrong(charge, 1);
    charge.on({ kind: 'payment_failed', why: 'Invalid OTP' });
    expect(charge.effect()?.kind).toBe('look_up');
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('otp');
    enterWrong(charge, 1);
    expect(charge.effect()).toMatchObject({ kind: 'ask_for_otp', triesLeft: 1 });
    untilConcluded(charge, { ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('expired');
  });

  it('stays open while such an event is looked up', () => {
    const charge = atOtp();
    charge.on({ kind: 'payment_failed' });
    charge.on(submitOtp);
    charge.found({ ...paid, status: 'FAILED' });
    expect(charge.now().state.kind).toBe('otp_checking');
  });

  it('is over at once when a status is known to be final', () => {
    const charge = atOtp();
    charge.on({ kind: 'payment_failed', why: 'Insufficient funds' });
    charge.found({ ...paid, status: 'FAILED' });
    expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Insufficient funds' });
  });

  it('is not submitted in the last five seconds of its time, and leaves before them', () => {
    const charge = atOtp();
    charge.after(15 * minute - 6 * second).on(submitOtp);
    expect(charge.effect()).toMatchObject({ leaveBy: start + 15 * minute - 5 * second });
    charge.after(2 * second).otpAnswered(wrong);
    expect(charge.now().state.kind).toBe('confirming');
  });

  it('that is accepted is looked up, and entry stays closed', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'accepted' });
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('confirming');
    charge.due();
    charge.found(paid);
    expect(charge.now().state.kind).toBe('approved');
  });

  it('whose answer is lost opens again when the look-up shows nothing', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'unknown' });
    charge.found('not_found');
    expect(charge.effect()).toMatchObject({ kind: 'ask_for_otp', triesLeft: 2 });
  });

  it('is over when the service says too many attempts', () => {
    const charge = atOtp();
    charge.on(submitOtp);
    charge.otpAnswered({ kind: 'too_many' });
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('wrong_codes');
  });

  it('expires only after the service has had time to ask the bank', () => {
    const charge = atOtp();
    charge.due();
    expect(charge.effect()?.kind).toBe('look_up');
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('confirming');
    untilConcluded(charge, { ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('expired');
    expect(charge.now().at).toBeGreaterThanOrEqual(start + 16 * minute);
  });

  it('that is asked for late, when the charge was called not sent, is asked for all the same', () => {
    const charge = abandoned();
    charge.answered(otpRequired, 3);
    expect(charge.now().state.kind).toBe('otp');
  });
});
