import type { RichTextBlock, ActionsBlock, Button, ContextBlock } from '@slack/types';
import type { ChargeSeen, Conclusion, Refusal, Resend } from '../../domain/charge.ts';
import { z } from 'zod';
import type { ViewValues } from '../../slack/command.ts';
import {
  type Run,
  actions,
  bold,
  button,
  code,
  confirmDialog,
  modal,
  moment,
  noticeLine,
  person,
  rich,
  richText,
  textInput,
  words,
} from '../../slack/kit/blocks.ts';
import { codec } from '../../slack/kit/form.ts';
import {
  customerWord,
  proofButton,
  provenBy,
  quoted,
  referenceWord,
  typedReference,
} from '../../slack/words/evidence.ts';
import { cut, outsideText } from '../../slack/kit/text.ts';
import { codeLength, customerTried, isCodeOpen, otpLimits, readCode } from '../../domain/otp.ts';
import { counted } from '../../domain/wording.ts';
import {
  amountWord,
  chargeHeadline,
  inHandSince,
  labelled,
  modalFacts,
  plain,
} from '../../slack/words/charge-facts.ts';
import { alertNewsBlocks } from '../../slack/words/alert-news.ts';
import { declineNext, nextAfterDecline } from '../../slack/words/next-steps.ts';
import { isConcluded, isInDoubt, wordsOfTold, outcomeWords } from '../../slack/words/state-words.ts';
import { nextSteps, reasonAfter } from '../../domain/decline-reason.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { type ChargePlace, messageFoot, placeFoot } from '../../slack/words/charge-place.ts';
import { type Note, noteModal } from '../../slack/kit/note.ts';

// Words for each state: what it means, what happens next or what to do, for modals, messages and lists.

/** All blocks of a state. A correction comes first. */
export function stateBlocks(charge: ChargeSeen): RichTextBlock[] {
  return [
    ...correction(charge),
    ...notMine(charge),
    ...theirWords(charge),
    ...(mayDeliver(charge) ? [richText(...stateLines(charge))] : []),
    ...alertNews(charge),
  ];
}

/**
 * False for a payment on which nothing may be delivered: a second one for the same order, or one that its customer did
 * not ask for.
 */
function mayDeliver({ state, alertNews: news, notMineAt }: ChargeSeen): boolean {
  return state.kind !== 'approved' || (news === undefined && notMineAt === undefined);
}

export function alertNews({ alertNews: news, state }: ChargeSeen): RichTextBlock[] {
  return alertNewsBlocks(news, state.kind === 'approved');
}

/** If an earlier conclusion was wrong, the new one begins with the correction. */
export function correction({ corrects }: ChargeSeen): RichTextBlock[] {
  if (corrects === undefined) return [];
  return [richText(labelled('Correction', `earlier you were told “${wordsOfTold[corrects]}”.`))];
}

/** The message's foot. Only a charge proven by status, reference and amount gets the proof. */
export function chargeFoot({ state, proof }: ChargeSeen, place: ChargePlace): ContextBlock {
  return state.kind === 'approved'
    ? messageFoot(place, state.concludedAt, provenBy(proof?.status, proof?.compared))
    : placeFoot(place);
}

const longestWhy = 300;

/** The words of bank or service with their author; under review, what differs. */
function theirWords({ state, bankWords, otp }: ChargeSeen): RichTextBlock[] {
  if (!isConcluded(state)) return [];
  switch (state.kind) {
    case 'declined':
      return quoted(state.from === 'record' ? 'Gateway:' : 'The bank says:', state.why ?? bankWords);
    case 'given_back':
      return quoted('The service says:', state.why);
    case 'rejected':
      return rejectionWords[state.reason ?? 'other'].theirs ? quoted('The service says:', state.why) : [];
    case 'wrong_codes':
      return otp?.isClosed ? quoted('The service says:', bankWords) : [];
    case 'review':
      return state.why === undefined ? [] : [richText(plain(`${outsideText(state.why, longestWhy)}.`))];
    default:
      return [];
  }
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
        plain('It never reached the service, so nothing was charged.'),
        labelled('Next', 'you can charge it again.'),
      ];
    case 'wrong_codes':
      return [plain('No money moved.', ...pendingUntil(charge)), ...declineNext({ reason: 'wrong_code' })];
    case 'expired':
      return [
        charge.otp !== undefined && charge.otp.answerLost !== true
          ? plain('No code was accepted in time. No money moved.')
          : plain(
              'No payment found after a lost answer. Safe to charge again; the bot checks once more tomorrow and tells you if it was paid.',
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
  const reason = theirWords(charge).length > 0 ? '' : ' The bank gave no reason.';
  const said = plain(`No money taken.${reason}`);
  const why = 'why' in state ? (state.why ?? bankWords) : bankWords;
  return nextTry ? [said, ...nextAfterDecline(why, nextTry)] : [said];
}

function rejected({ reason = 'other', why: theirs }: Conclusion): Run[][] {
  const { why, fix, theirs: isQuoted } = rejectionWords[reason];
  const isSaid = isQuoted && theirs !== undefined;
  return [plain(isSaid ? 'No money moved.' : `${why} No money moved.`), labelled('Next', fix)];
}

/** What not to do comes first, because a mistake here costs money. */
export const reviewLines: Run[][] = [
  labelled('Do not charge again, and don’t deliver', 'money may have moved.'),
  labelled('Next', 'ask the payments service.'),
];

/**
 * Why the service refused a charge, and the fix. `again`: the label of the button that helps. `theirs`: the service's
 * own words say more, so show them.
 */
type RejectionWords = { why: string; fix: string; again?: string; theirs?: true };

const correct = 'Correct and try again';
const operators = 'tell the people who run this bot; trying again won’t help.';

/**
 * The words for each reason.
 *
 * Spec: Errors (saved-card charge rejections; HTTP status responses).
 */
const rejectionWords: Record<Refusal['reason'], RejectionWords> = {
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
    theirs: true,
  },
  other: {
    why: 'The service refused it.',
    fix: 'correct what the service names, or ask the service.',
    again: correct,
    theirs: true,
  },
};

/** The buttons of a charge's message, by its state; none if there is nothing left to do. */
export function messageButtons(charge: ChargeSeen): ActionsBlock[] {
  const { reference, state, nextTry } = charge;
  switch (state.kind) {
    case 'otp':
      return [actions(...codeButtons(charge))];
    case 'confirming':
    case 'review':
      return [actions(checkButton(reference))];
    case 'declined':
      return nextTry?.kind === 'save_again' ? [actions(chargeButton('link', 'Payment link', reference))] : [];
    default:
      return [];
  }
}

/** The buttons of a charge's modal. From here a new charge can be begun with the old one's terms. */
export function modalButtons(charge: ChargeSeen, { environment }: ChargePlace): ActionsBlock[] {
  // The modal already has the field for the code.
  if (charge.state.kind === 'otp') return [];
  if (charge.state.kind === 'approved') {
    // No proof if people must first find out whether to give the money back.
    const proof = mayDeliver(charge)
      ? proofButton(environment, charge.reference, charge.terms.money.minor)
      : [];
    return proof.length === 0 ? [] : [actions(...proof)];
  }
  const again = againWords(charge);
  if (again === 'none') return [];
  return again === undefined
    ? messageButtons(charge)
    : [actions(chargeButton('another', again, charge.reference))];
}

/** The label of the button for a new charge; `none`: no such button, nor any other. */
function againWords({ state, bankWords, nextTry }: ChargeSeen): string | undefined {
  switch (state.kind) {
    case 'rejected':
      return rejectionWords[state.reason ?? 'other'].again;
    case 'abandoned':
    case 'wrong_codes':
    case 'expired':
      return 'Charge again';
    case 'declined': {
      const { kind } = nextSteps[reasonAfter(state.why ?? bankWords, nextTry)];
      if (kind === 'do_not_retry') return 'none';
      if (kind === 'another_card') return 'Choose another card';
      return nextTry?.kind === 'allowed' ? 'Charge again' : undefined;
    }
    default:
      return undefined;
  }
}

export function checkButton(reference: string): Button {
  return chargeButton('checkNow', 'Look up', reference);
}

export function showButton(reference: string): Button {
  return chargeButton('show', 'Show it', reference);
}

function chargeButton(action: keyof typeof chargeActions, text: string, reference: string): Button {
  return button({ actionId: chargeActions[action], text, value: reference });
}

/**
 * Action ids. The values are the charge's reference; `change` and `more` have none, because their modal has the terms.
 */
export const chargeActions = {
  checkNow: 'charge_check',
  another: 'charge_another',
  /** Opens the form of `/pay link`: the customer pays with the link, and saves the card again. */
  link: 'charge_link',
  change: 'charge_change',
  /** Shows the form's other fields. */
  more: 'charge_more',
  show: 'charge_show',
  /** The typeahead of saved cards; its block has the same id. */
  card: 'charge_card',
} as const;

/** The modal's viewer, and the time. */
type Viewer = { nowMs: number; viewerId: string };

/** This modal has nothing to submit. */
const chargeStateModalId = 'charge_state';

/** A charge's modal, in any state: while the charge continues, and when it is opened again. */
export function chargeStateModal(charge: ChargeSeen, place: ChargePlace, viewer: Viewer): Modal {
  if (charge.state.kind === 'otp') return otpModal(charge, place, viewer);
  const blocks: ModalBlock[] = [
    chargeHeadline(charge).block,
    ...stateBlocks(charge),
    ...modalButtons(charge, place),
    ...(charge.state.kind === 'review' ? [] : modalFacts(charge)),
    chargeFoot(charge, place),
  ];
  return modal({ callbackId: chargeStateModalId, title: 'Charge', blocks });
}

/**
 * Shown if the store failed while the charge was written. Never says that nothing was charged: if the charge was
 * stored, it is sent once, and the agent is told the outcome.
 */
export function unsureChargeModal(reference: string, place: ChargePlace): Modal {
  const note: Note = {
    state: `❔ ${outcomeWords.doubt}`,
    about: [referenceWord(reference)],
    body: [
      plain('The bot’s storage stopped answering. Money may still move, once, within a minute.'),
      labelled('Next', 'do not charge again. Look at this charge in a minute.'),
    ],
    buttons: [showButton(reference)],
    foot: placeFoot(place),
  };
  return noteModal(note, { callbackId: 'charge_unsure', title: 'Charge' });
}

/** Shown if the bot has no charge with this reference, or no longer. Undefined: the modal names no reference. */
export function unknownCharge(reference: string | undefined, place: ChargePlace): Note {
  const named = reference === undefined ? '' : typedReference(reference);
  const next: Run[] =
    named === ''
      ? [code('/pay otp'), words(' lists your open codes.')]
      : [code(`/pay lookup "${named}"`), words(' asks the payments service.')];
  return {
    state: 'No such charge here',
    about: [named],
    body: [plain('It wasn’t made with this bot, or too long ago.'), labelled('Next', ...next)],
    foot: placeFoot(place),
  };
}

export function unknownChargeModal(reference: string | undefined, place: ChargePlace): Modal {
  const window = { callbackId: 'charge_unknown', title: 'No such charge' };
  return noteModal(unknownCharge(reference, place), window);
}

// The modal for the bank's code, and its reader.

/** Action ids. The values are the charge's reference. */
export const otpActions = {
  enterCode: 'otp_enter',
  resend: 'otp_resend',
  takeOver: 'otp_take_over',
  makeLink: 'otp_make_link',
  takeBack: 'otp_take_back',
} as const;

export const otpModalId = 'otp';

const codeField = 'otp_code';
/** Long enough for blanks and hyphens between the digits. */
const longestTyped = 20;
const longestBankWords = 500;
const longestNamed = 100;

/** The modal's metadata: the charge's reference, and the id of this try's field. */
const about = codec(
  z.object({ reference: z.string().min(1), field: z.string().regex(new RegExp(`^${codeField}_\\d$`)) }),
);

/**
 * The modal of a charge that waits for a code. The agent gets the field; others see the agent's name and a button to
 * take over. The code is never shown: each try has a new field, so Slack can't fill in a refused code.
 */
function otpModal(charge: ChargeSeen, place: ChargePlace, { nowMs, viewerId }: Viewer): Modal {
  const { reference, otp, resends, bankWords } = charge;
  const isAgent = viewerId === charge.agent;
  const isOpen = otp !== undefined && isCodeOpen(otp, nowMs);
  const holder = isOpen && isAgent;
  const mayEnter = holder && agentTypes(charge);
  const news = [...alertNews(charge), ...notMine(charge)];
  const saysMore = otp?.lastCode !== undefined || resends.length > 0 || news.length > 0;
  const field = `${codeField}_${otp?.triesLeft ?? 0}`;
  const blocks: ModalBlock[] = [
    ...(isOpen ? lastCode(charge) : []),
    chargeHeadline(charge).block,
    ...news,
    richText(codeLine(charge), ...(isAgent ? [] : [inHand(charge)])),
    // Quote the bank's request only as long as there is nothing newer to say.
    ...(saysMore ? [] : quoted('The bank says:', bankWords)),
    ...(mayEnter ? [codeInput(field)] : []),
    ...(holder ? customerTyping(charge) : []),
    ...(isOpen && !isAgent ? takingOver(charge) : []),
    ...(isOpen
      ? []
      : [richText(plain('Too late for a code. The bot checks the charge and tells its agent.'))]),
    ...resending(charge, place, mayEnter),
    placeFoot(place),
  ];
  return modal({
    callbackId: otpModalId,
    title: 'Enter code',
    blocks,
    privateMetadata: about.write({ reference, field }),
    ...(mayEnter ? { submit: 'Send code' } : {}),
  });
}

function codeInput(id: string): ModalBlock {
  return textInput({
    id,
    label: 'Code from the bank',
    hint: 'Type it while the customer is on the phone. Never ask for it in writing.',
    minLength: codeLength.least,
    maxLength: longestTyped,
    focus: true,
  });
}

function lastCode({ otp, bankWords }: ChargeSeen): ModalBlock[] {
  switch (otp?.lastCode) {
    case undefined:
      return [];
    case 'refused': {
      const theirs = outsideText(bankWords ?? '', longestBankWords);
      return [noticeLine('warning', theirs === '' ? 'Wrong code.' : `Wrong code. Bank: “${theirs}”.`)];
    }
    case 'time_over': {
      const theirs = outsideText(bankWords ?? '', longestBankWords);
      return [noticeLine('warning', `Too late, says the bank: “${theirs}”. The bot is checking.`)];
    }
    case 'unanswered':
      return [
        noticeLine('warning', 'The last code got no answer; the bot keeps checking. It may have cost a try.'),
      ];
  }
}

/** "2 of 3 tries left · until 14:32": with absolute times, so that it stays true. */
export function standing({ otp }: ChargeSeen): Run[] {
  if (!otp) return [words('Tries and time left aren’t known.')];
  if (otp.lastCode === 'time_over')
    return [words('Too late for a code · settled by '), moment(otp.until, '{time}')];
  const tries = `${otp.triesLeft} of ${counted(otpLimits.submissions, 'try', 'tries')} left`;
  return [words(`${tries} · until `), moment(otp.until, '{time}')];
}

/** The code's state. While the customer types it, also the result of their last try. */
export function codeLine(charge: ChargeSeen): Run[] {
  const { customer, otp, state, heard } = charge;
  if (state.kind === 'otp') {
    if (!customer) return standing(charge);
    const said =
      customerTried(charge) &&
      otp?.lastCode &&
      { refused: 'Wrong code', unanswered: 'No answer to the last code', time_over: 'Too late' }[
        otp.lastCode
      ];
    const made = rich`Link made for the customer, ${moment(customer.at, '{time}')}`;
    return [...(said ? [words(said)] : made), words(' · '), ...standing(charge)];
  }
  return customer && state.kind === 'confirming' && heard.includes('paid')
    ? [words('Code accepted, confirming')]
    : [];
}

/** Whether the agent, not the customer, types the code. */
export function agentTypes({ customer, codeEntry }: ChargeSeen): boolean {
  return customer === undefined && codeEntry !== 'customer';
}

/** Buttons to hand the code to the customer's page, and to take it back. */
function customerTyping(charge: ChargeSeen): ModalBlock[] {
  const { reference, customer, codeEntry } = charge;
  if (codeEntry === undefined) return [];
  if (!customer) {
    const why = codeEntry === 'customer' ? [richText(plain('Only the customer types the code.'))] : [];
    return [...why, actions(makeLinkButton(reference))];
  }
  return [
    richText(plain('Only the customer can type it now, so tries aren’t wasted.')),
    actions(
      button({ actionId: otpActions.takeBack, text: 'Take it back', value: reference }),
      makeLinkButton(reference, 'New link'),
    ),
  ];
}

function makeLinkButton(reference: string, text = 'Let the customer type it'): Button {
  return button({ actionId: otpActions.makeLink, text, value: reference });
}

/** Says that the customer pressed *I did not ask for this*; shown as long as money may have moved. */
export function notMine({ notMineAt, state }: ChargeSeen): RichTextBlock[] {
  const isPaid = state.kind === 'approved';
  if (notMineAt === undefined || (isConcluded(state) && !isPaid && state.kind !== 'review')) return [];
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

/** The agent, and since when. */
export function inHand(charge: ChargeSeen): Run[] {
  return labelled('Agent', person(charge.agent), ', since ', moment(inHandSince(charge), '{time}'));
}

export function takeOverButton(charge: ChargeSeen): Button {
  const { terms, reference } = charge;
  const about = `${amountWord(terms.money)}, ${cut(customerWord(terms.customerEmail), longestNamed)}`;
  const confirm = confirmDialog({
    title: 'Take over this charge?',
    text: agentTypes(charge)
      ? `You’ll enter the code of ${about}; its agent no longer can.`
      : `You’ll see to the code of ${about}; its agent no longer can.`,
    confirm: 'Take over',
    deny: 'Leave it',
  });
  return button({ actionId: otpActions.takeOver, text: 'Take over', value: reference, confirm });
}

function takingOver(charge: ChargeSeen): ModalBlock[] {
  return [
    richText(
      agentTypes(charge)
        ? plain('Only ', person(charge.agent), ' can enter the code, so tries aren’t wasted.')
        : plain(`Only the customer can type it${charge.customer ? ' now' : ''}, so tries aren’t wasted.`),
    ),
    actions(takeOverButton(charge)),
  ];
}

/** The button to send another code. The sandbox can't. Spec: Versioning (sandbox); resend-otp. */
function resending({ reference, resends }: ChargeSeen, place: ChargePlace, mayAsk: boolean): ModalBlock[] {
  if (place.environment === 'sandbox') {
    return mayAsk ? [richText(plain('The sandbox can’t send another code.'))] : [];
  }
  const last = resends.at(-1);
  const text = 'Resend code (no extra time)';
  return [
    ...(last ? [richText(labelled('Another code', resendWords(last.answer)))] : []),
    ...(mayAsk ? [actions(button({ actionId: otpActions.resend, text, value: reference }))] : []),
  ];
}

/** The result of the last request for another code. `not_made`: the bank was not asked. */
function resendWords(answer: Resend['answer']): string {
  switch (answer) {
    case undefined:
      return 'no answer yet.';
    case 'resent':
      return 'on its way.';
    case 'refused':
      return 'refused. The earlier code still counts.';
    case 'not_made':
      return 'not sent. The earlier code still counts.';
    case 'unknown':
      return 'it may or may not arrive.';
  }
}

/** A message's buttons to enter the code: the agent's field, or the customer's link. */
export function codeButtons(charge: ChargeSeen): Button[] {
  const { reference, customer, codeEntry } = charge;
  const enter = { actionId: otpActions.enterCode, value: reference };
  if (customer) return [button({ ...enter, text: 'Show it' })];
  return [
    ...(agentTypes(charge) ? [button({ ...enter, text: 'Enter code', style: 'primary' })] : []),
    ...(codeEntry === undefined ? [] : [makeLinkButton(reference)]),
  ];
}

type ReadOtp =
  /** `code` is a secret: use it for a single call. */
  | { kind: 'read'; reference: string; code: string; triesLeft: number }
  | { kind: 'errors'; errors: Record<string, string> }
  /** The metadata is not of `otpModal`. */
  | { kind: 'not_ours' };

/** Reads the submitted code, without blanks and hyphens. Problems never repeat it. */
export function readOtpModal(submitted: { values: ViewValues; privateMetadata: string }): ReadOtp {
  const read = about.read(submitted.privateMetadata);
  if (!read) return { kind: 'not_ours' };
  const { reference, field } = read;
  const code = readCode(submitted.values[field] ?? '');
  return code === undefined
    ? { kind: 'errors', errors: { [field]: noCode } }
    : { kind: 'read', reference, code, triesLeft: Number(field.slice(codeField.length + 1)) };
}

const noCode = `A code has ${codeLength.least} to ${codeLength.most} letters or digits. Type it as the bank sent it.`;

/** The reference of a closed modal's charge; undefined if it is not a modal of `otpModal`. */
export function readOtpReference(privateMetadata: string): string | undefined {
  return about.read(privateMetadata)?.reference;
}
