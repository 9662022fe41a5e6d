import type { RichTextBlock, ContextBlock } from '@slack/types';
import {
  type ChargeSeen,
  type Conclusion,
  type Refusal,
  isClosed,
  isConcluded,
} from '../../domain/charge.ts';
import { referenceOfEventKey } from '../../domain/payment-event.ts';
import { hasMovedNothing } from './charge-record.ts';
import { type Run, bold, moment, richText } from '../../slack/kit/blocks.ts';
import { provenBy, quoted } from '../../slack/words/payment-words.ts';
import { outsideText } from '../../slack/kit/text.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { alertNewsBlocks } from '../../slack/words/alert-news.ts';
import { declineNext, nextAfterDecline, takenLines } from '../../slack/words/next-steps.ts';
import { isInDoubt, agentNewsWords } from '../../slack/words/state-words.ts';
import { type ShownAccount, checkedFoot, accountFoot } from '../../slack/words/account-foot.ts';

// What a charge's state means, and what to do next, for modals and messages.

/** Everything that modals and messages say about a charge's state. A correction comes first. */
export function stateBlocks(charge: ChargeSeen): RichTextBlock[] {
  return [
    ...correction(charge),
    ...notMineBlocks(charge),
    ...quotedReason(charge),
    ...(mayDeliver(charge) ? [richText(...nextLines(charge))] : []),
    // The lines above say the same of a charge without money.
    ...(charge.taken ? [] : alertNewsOf(charge)),
  ];
}

/**
 * False for a payment on which nothing may be delivered: a second one for the same order, or one that its customer did
 * not ask for.
 */
export function mayDeliver({ state, alertNews: news, notMineAt }: ChargeSeen): boolean {
  return state.kind !== 'approved' || (news === undefined && notMineAt === undefined);
}

export function alertNewsOf({ alertNews: news, state }: ChargeSeen): RichTextBlock[] {
  const isOver = hasMovedNothing({ state }) || state.kind === 'given_back';
  return alertNewsBlocks(news, state.kind === 'approved' ? 'paid' : isOver ? 'none' : 'may_move');
}

/** If an earlier conclusion was wrong, the new one begins with the correction. */
export function correction({ corrects }: ChargeSeen): RichTextBlock[] {
  if (corrects === undefined) return [];
  return [richText(labelled('Correction', `earlier you were told “${agentNewsWords[corrects]}”.`))];
}

/** The last line. Only for an approved charge it has the proof: status, reference and amount. */
export function chargeFoot({ state, proof }: ChargeSeen, account: ShownAccount): ContextBlock {
  return state.kind === 'approved'
    ? checkedFoot(account, state.concludedAt, provenBy(proof?.status, proof?.compared))
    : accountFoot(account);
}

const longestWhy = 300;

/** The reason in the words of bank or service; under review, what the look-up found to differ. */
function quotedReason({ state, bankWords, otp }: ChargeSeen): RichTextBlock[] {
  if (!isConcluded(state)) return [];
  switch (state.kind) {
    case 'declined':
      return quoted(state.from === 'record' ? 'Gateway:' : 'The bank says:', state.why ?? bankWords);
    case 'given_back':
      return quoted('The service says:', state.why);
    case 'rejected':
      return rejectionWords[state.reason ?? 'other'].isQuoted ? quoted('The service says:', state.why) : [];
    case 'abandoned':
      return quoted('The service says:', state.why);
    case 'wrong_codes':
      return otp?.isClosed ? quoted('The service says:', bankWords) : [];
    case 'review':
      return state.why === undefined ? [] : [richText(plain(`${outsideText(state.why, longestWhy)}.`))];
    default:
      return [];
  }
}

function nextLines(charge: ChargeSeen): Run[][] {
  const { taken, terms, reference } = charge;
  const lines = stateLines(charge);
  const failed = referenceOfEventKey(terms.alert ?? '') ?? reference;
  // The first line says that no money moved; the others that it may be charged again.
  return taken ? [...lines.slice(0, 1), ...takenLines(taken, failed)] : lines;
}

function stateLines(charge: ChargeSeen): Run[][] {
  const { state, sends, heard } = charge;
  const again = 'The request was repeated; the customer can only be charged once.';
  switch (state.kind) {
    case 'charging':
      return [
        plain('Waiting for the bank. You may close this: the result comes as a direct message.'),
        ...(sends > 1 ? [plain(again)] : []),
      ];
    case 'confirming':
      if (heard.includes('paid')) {
        return [plain(bold('Don’t deliver yet.'), ' The bot is checking.')];
      }
      return isInDoubt(charge)
        ? [plain(bold('Money may have moved. Do not charge again.'), ' The bot keeps checking.')]
        : [plain('No code was accepted. The bot checks once more.')];
    case 'otp':
      return [plain('The bank wants the code it sent to the customer.')];
    case 'otp_checking':
      return [
        plain('The bank is checking the code. You may close this: the result comes as a direct message.'),
      ];
    case 'approved':
      return [plain('Deliver once for this reference.')];
    case 'declined':
      return declined(charge);
    case 'rejected':
      return rejected(state);
    case 'abandoned':
      return [
        plain('The service has no record of it, so nothing was charged.'),
        labelled('Next', 'you can charge it again.'),
      ];
    case 'wrong_codes':
      return [plain('No money moved.', ...pendingUntil(charge)), ...declineNext({ reason: 'wrong_code' })];
    case 'expired':
      return [
        charge.otp !== undefined && charge.otp.answerLost !== true
          ? plain('No code was accepted in time. No money moved.')
          : plain(
              `No payment found after a lost answer. ${charge.taken ? 'T' : 'Safe to charge again; t'}he bot checks once more tomorrow and tells you if it was paid.`,
            ),
        ...declineNext({ reason: 'code_expired' }),
      ];
    case 'given_back':
      return givenBackLines;
    case 'review':
      return reviewLines;
  }
}

const givenBackLines: Run[][] = [
  plain('It was paid, and the money went back to the customer.'),
  labelled('Next', 'don’t deliver. If you did already, tell your payments lead.'),
];

/**
 * Until when the bank may show the payment as pending: when the code's time is over, the service gives the charge up or
 * asks the bank.
 */
function pendingUntil({ otp }: ChargeSeen): (string | Run)[] {
  return otp ? [' The bank may list it as pending until ', moment(otp.until, '{time}'), '.'] : [];
}

function declined(charge: ChargeSeen): Run[][] {
  const { nextTry, state, bankWords } = charge;
  const reason = quotedReason(charge).length > 0 ? '' : ' The bank gave no reason.';
  const said = plain(`No money taken.${reason}`);
  const why = 'why' in state ? (state.why ?? bankWords) : bankWords;
  return nextTry ? [said, ...nextAfterDecline(why, nextTry)] : [said];
}

function rejected({ reason = 'other', why: theirWords }: Conclusion): Run[][] {
  const { why, fix, isQuoted } = rejectionWords[reason];
  const isSaid = isQuoted && theirWords !== undefined;
  return [plain(isSaid ? 'No money moved.' : `${why} No money moved.`), labelled('Next', fix)];
}

/** What not to do comes first, because a mistake here costs money. */
export const reviewLines: Run[][] = [
  labelled('Do not charge again, and don’t deliver', 'money may have moved.'),
  labelled('Next', 'ask the payments service.'),
];

/**
 * Why a charge was refused before the bank was asked, and the fix. `again`: the label of the button that helps. `isQuoted`: the
 * service's own words say more, so show them.
 */
type RejectionWords = { why: string; fix: string; again?: string; isQuoted?: true };

const correct = 'Correct and try again';
const operators = 'tell the people who run this bot; trying again won’t help.';

/**
 * The words for each reason.
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
    fix: 'leave the e-mail empty, or change the card’s own with /pay card-email.',
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
    isQuoted: true,
  },
  other: {
    why: 'The service refused it.',
    fix: 'correct what the service names, or ask the service.',
    again: correct,
    isQuoted: true,
  },
  alert_ended: {
    why: 'The alert was resolved meanwhile.',
    fix: 'look at the alert; charge only what is still owed.',
  },
};

// “Not mine”: the customer pressed *I did not ask for this* on the page for the code.

/** Empty once it is certain that no money moved. */
export function notMineBlocks({ notMineAt, state }: ChargeSeen): RichTextBlock[] {
  const isPaid = state.kind === 'approved';
  if (notMineAt === undefined || (isClosed({ state }) && !isPaid)) return [];
  return [
    richText(
      [bold(`🚨 ${notMineWords} · `), moment(notMineAt, '{time}')],
      ...(isPaid ? [notMineButPaid] : []),
    ),
  ];
}

export const notMineWords = 'Customer: “I did not ask for this”';

const notMineButPaid = labelled('Next', 'don’t deliver. Tell your payments lead.');

export function notMineLines(kind: ChargeSeen['state']['kind']): Run[][] {
  const before = 'stop, and find out who asked for this charge. Send no new link until you know.';
  return kind === 'approved'
    ? [plain('The charge is paid.'), notMineButPaid]
    : [plain('The customer’s link has ended.'), labelled('Next', before)];
}
