import { describe, expect, it } from 'vitest';
import { abandoned, minute, otpRequired, paid, second, start, story } from './charge-story.ts';

const submitOtp = { kind: 'otp_submitted', by: 'U1' } as const;
const wrong = { kind: 'wrong', why: 'Invalid OTP' } as const;

function atOtp() {
  const charge = story();
  charge.answered(otpRequired);
  charge.on({ kind: 'told', what: 'otp' });
  return charge;
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

  it('may be wrong three times; then only a look-up tells', () => {
    const charge = atOtp();
    for (let tries = 1; tries <= 3; tries++) {
      expect(charge.on(submitOtp)).toBe(true);
      charge.otpAnswered(wrong);
    }
    expect(charge.now().state.kind).toBe('confirming');
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.on(submitOtp)).toBe(false);
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
    expect(charge.now().state.kind).toBe('confirming');
  });

  it('expires only after the service has had time to ask the bank', () => {
    const charge = atOtp();
    charge.due();
    expect(charge.effect()?.kind).toBe('look_up');
    charge.found({ ...paid, status: 'FAILED' });
    expect(charge.now().state.kind).toBe('confirming');
    while (charge.now().state.kind === 'confirming') {
      charge.due();
      charge.found({ ...paid, status: 'FAILED' });
    }
    expect(charge.now().state.kind).toBe('expired');
    expect(charge.now().at).toBeGreaterThanOrEqual(start + 16 * minute);
  });

  it('that is asked for late, when the charge was called not sent, is asked for all the same', () => {
    const charge = abandoned();
    charge.answered(otpRequired, 3);
    expect(charge.now().state.kind).toBe('otp');
  });
});
