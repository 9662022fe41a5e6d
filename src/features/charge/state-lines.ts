// What a state means, and what happens or is to be done next: the same in a modal, a direct message and a list.

import type { RichTextBlock } from '@slack/types';
import type { ChargeSeen, Resend } from '../../domain/charge-seen.ts';
import type { Conclusion, Refusal } from '../../domain/charge-state.ts';
import { type Run, moment, person, richText, words } from '../../slack/kit/blocks.ts';
import { quoted } from '../../slack/words/evidence.ts';
import { outsideText } from '../../slack/kit/text.ts';
import { counted } from '../../domain/counted.ts';
import { inHandSince, labelled, plain } from '../../slack/words/charge-facts.ts';
import { nextAfterDecline } from '../../slack/words/retry-lines.ts';
import { isConcluded, isInDoubt, wordsOfTold } from '../../slack/words/state-words.ts';
import { otpLimits } from '../../domain/otp-rules.ts';

/** All of it, a correction first. Nothing here may stand for a charge that waits for a code: see `otp-lines.ts`. */
export function stateBlocks(charge: ChargeSeen): RichTextBlock[] {
  return [...correction(charge), ...proof(charge), ...theirWords(charge), richText(...stateLines(charge))];
}

/** A conclusion told before no longer holds, so the new one begins with that. */
export function correction({ corrects, state }: ChargeSeen): RichTextBlock[] {
  if (corrects === undefined || !isConcluded(state) || corrects === state.kind) return [];
  return [
    richText(
      labelled('Correction', `earlier you were told “${wordsOfTold[corrects]}”. That no longer holds.`),
    ),
  ];
}

/** A charge is approved only on a look-up in which all three held. */
function proof({ state, proof: found }: ChargeSeen): RichTextBlock[] {
  if (state.kind !== 'approved') return [];
  const compared = found?.compared === undefined ? '' : ` (${found.compared})`;
  return [richText(plain(`✓ status ${found?.status ?? 'SUCCESS'}  ✓ reference  ✓ amount${compared}`))];
}

const longestWhy = 300;
/** Reasons that our own words tell whole. */
const saysItself: ReadonlySet<string> = new Set([
  'invalid_token',
  'email_mismatch',
  'email_invalid',
  'card_not_supported',
]);

/** Words that are not ours, with whose they are; of a review what differs. */
function theirWords({ state, bankWords }: ChargeSeen): RichTextBlock[] {
  if (!isConcluded(state)) return [];
  switch (state.kind) {
    case 'declined':
      return quoted('The bank says:', state.why ?? bankWords);
    case 'rejected':
      return saysItself.has(state.reason ?? 'other') ? [] : quoted('The service says:', state.why);
    case 'review':
      return state.why === undefined ? [] : [richText(plain(outsideText(state.why, longestWhy)))];
    default:
      return [];
  }
}

function stateLines(charge: ChargeSeen): Run[][] {
  const { state } = charge;
  switch (state.kind) {
    case 'charging':
      return charging(charge);
    case 'confirming':
      return confirming(charge);
    case 'otp':
      return [plain('The bank wants the code it sent to the customer.')];
    case 'otp_checking':
      return [
        plain('The bank is checking the code. You may close this: the result comes as a direct message.'),
      ];
    default:
      return concluded(charge, state);
  }
}

function charging({ sends }: ChargeSeen): Run[][] {
  const again = `Sent ${counted(sends, 'time')} under one reference: it can be charged only once.`;
  return [
    plain('Waiting for the bank. You may close this: the result comes as a direct message.'),
    ...(sends > 1 ? [plain(again)] : []),
  ];
}

function confirming(charge: ChargeSeen): Run[][] {
  if (charge.heard.includes('paid')) {
    return [plain('The service calls it approved. Give no value until a look-up proves it.')];
  }
  return isInDoubt(charge)
    ? [plain('Outcome unknown: money may have moved. Do not charge again. The bot keeps checking.')]
    : [plain('No code was accepted. The bot checks once more.')];
}

function concluded(charge: ChargeSeen, state: Conclusion): Run[][] {
  switch (state.kind) {
    case 'approved':
      return [plain('Give value once for this reference.')];
    case 'declined':
      return declined(charge);
    case 'rejected':
      return rejected(state);
    case 'abandoned':
      return [
        plain('It never reached the service, so nothing was charged.'),
        labelled('Next', 'you can charge it again.'),
      ];
    case 'wrong_codes':
      return [
        plain('No money moved.', ...pendingUntil(charge)),
        labelled('Next', 'check the customer’s phone, then charge again.'),
      ];
    case 'expired':
      return [
        isSureOfCodes(charge)
          ? plain('No code was accepted in time. No money moved.')
          : plain('An answer was lost; the service shows no payment. The bot looks again tomorrow.'),
        labelled('Next', 'charge again if the customer still wants it.'),
      ];
    case 'review':
      return reviewLines;
  }
}

function isSureOfCodes({ otp }: ChargeSeen): boolean {
  return otp !== undefined && otp.answerLost !== true;
}

/** The service gives a charge up, and asks the bank itself, once the time for its code is over. */
function pendingUntil({ otp }: ChargeSeen): (string | Run)[] {
  return otp ? [' The bank may list it as pending until ', moment(otp.until, '{time}'), '.'] : [];
}

function declined(charge: ChargeSeen): Run[][] {
  const { nextTry, state, bankWords } = charge;
  const reason = theirWords(charge).length > 0 ? '' : ' The bank gave no reason.';
  const said = plain(`No money taken.${reason}`);
  const why = 'why' in state ? (state.why ?? bankWords) : bankWords;
  return nextTry ? [said, ...nextAfterDecline(why, nextTry)] : [said];
}

function rejected({ reason = 'other', why: theirs }: Conclusion): Run[][] {
  const { why, fix } = rejectionWords[reason];
  const isSaid = theirs !== undefined && (reason === 'invalid_request' || reason === 'other');
  return [plain(isSaid ? 'No money moved.' : `${why} No money moved.`), labelled('Next', fix)];
}

/** Loud, because acting on it costs money: what not to do comes first. */
export const reviewLines: Run[][] = [
  labelled('Do not charge again, and give no value', 'money may have moved.'),
  labelled('Next', 'ask the payments service.'),
];

/** Whether a code that is typed now can still reach the bank. */
export function isCodeOpen({ state, otp }: ChargeSeen, nowMs: number): boolean {
  return (
    state.kind === 'otp' && otp !== undefined && otp.triesLeft > 0 && nowMs <= otp.until - otpLimits.marginMs
  );
}

/** The bank's last words leave no try, whatever was counted here. They change what is said, never what is done. */
function isOverByBank({ otp, bankWords = '' }: ChargeSeen): boolean {
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

/** Why the service refused the request before the bank saw it, and the fix; `again` names the button that helps. */
type RejectionWords = { why: string; fix: string; again?: string };

const correct = 'Correct and try again';
const operators = 'tell the people who run this bot; trying again won’t help.';

/**
 * Each reason has its own words and its own fix.
 *
 * Spec: Errors (saved-card charge rejections; HTTP status responses).
 */
export const rejectionWords: Record<Refusal['reason'], RejectionWords> = {
  invalid_token: {
    why: 'The service doesn’t know this card.',
    fix: 'choose another card, or let the customer save it again with a payment link.',
    again: 'Choose another card',
  },
  email_mismatch: {
    why: 'The card is saved with another e-mail.',
    fix: 'leave the e-mail empty, or change the card’s own.',
    again: correct,
  },
  email_invalid: {
    why: 'The service calls the e-mail invalid.',
    fix: 'use the e-mail the card is saved with.',
    again: correct,
  },
  card_not_supported: {
    why: 'Card payments aren’t switched on for this account.',
    fix: 'ask the payments service to switch them on.',
  },
  unauthorized: { why: 'The service refused the bot’s access token.', fix: operators },
  forbidden: { why: 'The service doesn’t let this account charge.', fix: operators },
  rate_limited: {
    why: 'The service’s call limit was reached.',
    fix: 'try again in a few minutes.',
    again: 'Try again',
  },
  invalid_request: {
    why: 'The service calls the request invalid.',
    fix: 'check amount and e-mail, or tell the people who run this bot.',
    again: correct,
  },
  other: {
    why: 'The service refused it.',
    fix: 'correct what the service names, or ask the service.',
    again: correct,
  },
};
