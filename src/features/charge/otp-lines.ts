// What is said of a charge that waits for a code.

import type { ChargeSeen, Resend } from '../../domain/charge-seen.ts';
import { otpLimits } from '../../domain/otp-rules.ts';
import { moment, person, words, type Run } from '../../slack/kit/blocks.ts';
import { counted } from '../../domain/counted.ts';
import { inHandSince, labelled } from '../../slack/words/charge-facts.ts';

/** Whether a code that is typed now can still reach the bank. */
export function isCodeOpen({ state, otp }: ChargeSeen, nowMs: number): boolean {
  return (
    state.kind === 'otp' && otp !== undefined && otp.triesLeft > 0 && nowMs <= otp.until - otpLimits.marginMs
  );
}

/** The bank's last words leave no try, whatever was counted here. They change what is said, never what is done. */
export function isOverByBank({ otp, bankWords = '' }: ChargeSeen): boolean {
  return otp?.lastCode === 'refused' && overWords.test(bankWords);
}

const overWords = /too many|time (?:allowed|limit)|timed?[ -]?out|expired/i;

function triesWords(triesLeft: number): string {
  return `${triesLeft} of ${counted(otpLimits.submissions, 'try', 'tries')} left`;
}

/** "2 of 3 tries left · until 14:32": nothing that is out of date a minute later. */
export function standing(charge: ChargeSeen): Run[] {
  const { otp } = charge;
  if (!otp) return [words('Tries and time left aren’t known.')];
  if (isOverByBank(charge)) return [words('Until '), moment(otp.until, '{time}')];
  return [words(`${triesWords(otp.triesLeft)} · until `), moment(otp.until, '{time}')];
}

/** The same with the minutes that are left, for what is looked at now. */
export function standingNow(charge: ChargeSeen, nowMs: number): Run[] {
  return charge.otp
    ? [...standing(charge), words(` (${minutesLeft(charge.otp.until - nowMs)})`)]
    : standing(charge);
}

function minutesLeft(leftMs: number): string {
  const minutes = Math.floor(leftMs / 60_000);
  if (leftMs <= 0) return 'time is up';
  return minutes < 1 ? 'less than a minute left' : `${counted(minutes, 'minute')} left`;
}

/** Who enters the code, and since when. */
export function inHand(charge: ChargeSeen): Run[] {
  return labelled('Agent', person(charge.agent), ', since ', moment(inHandSince(charge), '{time}'));
}

/** What came of the last wish for another code; `not_made` and `too_late`: nothing was asked of the bank. */
export function lastResend({ resends }: ChargeSeen): Run[][] {
  const last = resends.at(-1);
  return last ? [labelled('Another code', resendWords(last.answer))] : [];
}

export function resendWords(answer: Resend['answer']): string {
  switch (answer) {
    case undefined:
      return 'no answer yet.';
    case 'resent':
      return 'on its way.';
    case 'refused':
      return 'refused. The earlier code still counts.';
    case 'not_made':
      return 'not sent. The earlier code still counts.';
    case 'too_late':
      return 'too late, none was sent.';
    case 'unknown':
      return 'it may or may not arrive.';
  }
}
