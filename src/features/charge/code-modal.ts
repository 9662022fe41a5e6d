import type { Button } from '@slack/types';
import type { ChargeSeen, Resend } from '../../domain/charge.ts';
import { z } from 'zod';
import type { FormErrors, ViewValues } from '../../slack/command.ts';
import {
  type Run,
  actions,
  button,
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
import { alertNewsOf, notMineBlocks } from './charge-words.ts';
import { codec } from '../../slack/kit/form.ts';
import { customerWord, quoted } from '../../slack/words/payment-words.ts';
import { cut, outsideText } from '../../slack/kit/text.ts';
import { codeLength, customerTried, isCodeOpen, otpLimits, readCode } from '../../domain/otp.ts';
import { counted } from '../../domain/wording.ts';
import { amountWord, chargeHeadline, agentSinceMs, labelled, plain } from '../../slack/words/charge-facts.ts';
import type { Modal, ViewBlock } from '../../slack/kit/message.ts';
import { type ShownAccount, accountFoot } from '../../slack/words/account-foot.ts';

/** The modal's viewer, and the time. */
export type Viewer = { nowMs: number; viewerId: string };

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

/** The metadata of the code modal: the charge's reference, and the id of this try's field. */
const codeMetadata = codec(
  z.object({ reference: z.string().min(1), field: z.string().regex(new RegExp(`^${codeField}_\\d$`)) }),
);

/**
 * The modal of a charge that waits for a code. The agent gets the field; others see the agent's name and a button to
 * take over. The code is never shown: each try has a new field, so Slack can't fill in a refused code.
 */
export function otpModal(charge: ChargeSeen, account: ShownAccount, { nowMs, viewerId }: Viewer): Modal {
  const { reference, otp, resends, bankWords } = charge;
  const isAgent = viewerId === charge.agent;
  const isOpen = otp !== undefined && isCodeOpen(otp, nowMs);
  const mayEnter = isOpen && isAgent && agentTypes(charge);
  const news = [...alertNewsOf(charge), ...notMineBlocks(charge)];
  const hasNewer = otp?.lastCode !== undefined || resends.length > 0 || news.length > 0;
  const field = `${codeField}_${otp?.triesLeft ?? 0}`;
  const blocks: ViewBlock[] = [
    ...(isOpen ? lastCodeBlocks(charge) : []),
    chargeHeadline(charge).block,
    ...news,
    richText(codeLine(charge), ...(isAgent ? [] : [agentSince(charge)])),
    // Quote the bank's request only as long as there is nothing newer to say.
    ...(hasNewer ? [] : quoted('The bank says:', bankWords)),
    ...(mayEnter ? [codeInput(field)] : []),
    ...(!isOpen ? tooLateBlocks : isAgent ? customerBlocks(charge) : takeOverBlocks(charge)),
    ...resendBlocks(charge, account, mayEnter),
    accountFoot(account),
  ];
  return modal({
    callbackId: otpModalId,
    title: 'Enter code',
    blocks,
    privateMetadata: codeMetadata.write({ reference, field }),
    ...(mayEnter ? { submit: 'Send code' } : {}),
  });
}

const tooLateBlocks = [
  richText(plain('Too late for a code. The bot checks the charge and tells its agent.')),
];

function codeInput(id: string): ViewBlock {
  return textInput({
    id,
    label: 'Code from the bank',
    hint: 'Type it while the customer is on the phone. Never ask for it in writing.',
    minLength: codeLength.least,
    maxLength: longestTyped,
    focus: true,
  });
}

function lastCodeBlocks({ otp, bankWords }: ChargeSeen): ViewBlock[] {
  const theirs = outsideText(bankWords ?? '', longestBankWords);
  const said = {
    refused: theirs === '' ? 'Wrong code.' : `Wrong code. Bank: “${theirs}”.`,
    time_over: `Too late, says the bank: “${theirs}”. The bot is checking.`,
    unanswered: 'The last code got no answer; the bot keeps checking. It may have cost a try.',
  };
  return otp?.lastCode ? [noticeLine('warning', said[otp.lastCode])] : [];
}

/** "2 of 3 tries left · until 14:32". An absolute time, so that the text stays true. */
export function triesAndTime({ otp }: ChargeSeen): Run[] {
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
    if (!customer) return triesAndTime(charge);
    const said =
      customerTried(charge) &&
      otp?.lastCode &&
      { refused: 'Wrong code', unanswered: 'No answer to the last code', time_over: 'Too late' }[
        otp.lastCode
      ];
    const made = rich`Link made for the customer, ${moment(customer.at, '{time}')}`;
    return [...(said ? [words(said)] : made), words(' · '), ...triesAndTime(charge)];
  }
  return customer && state.kind === 'confirming' && heard.includes('paid')
    ? [words('Code accepted, confirming')]
    : [];
}

export function agentTypes({ customer, codeEntry }: ChargeSeen): boolean {
  return customer === undefined && codeEntry !== 'customer';
}

/** For the agent: buttons to let the customer type the code on their page, and to take that back. */
function customerBlocks(charge: ChargeSeen): ViewBlock[] {
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

export function agentSince(charge: ChargeSeen): Run[] {
  return labelled('Agent', person(charge.agent), ', since ', moment(agentSinceMs(charge), '{time}'));
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

function takeOverBlocks(charge: ChargeSeen): ViewBlock[] {
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
function resendBlocks(
  { reference, resends }: ChargeSeen,
  account: ShownAccount,
  mayAsk: boolean,
): ViewBlock[] {
  if (account.environment === 'sandbox') {
    return mayAsk ? [richText(plain('The sandbox can’t send another code.'))] : [];
  }
  const last = resends.at(-1);
  const text = 'Resend code (no extra time)';
  return [
    ...(last ? [richText(labelled('Another code', resendWords[last.answer ?? 'none']))] : []),
    ...(mayAsk ? [actions(button({ actionId: otpActions.resend, text, value: reference }))] : []),
  ];
}

/** The result of the last request for another code. */
const resendWords: Record<NonNullable<Resend['answer']> | 'none', string> = {
  none: 'no answer yet.',
  resent: 'on its way.',
  refused: 'refused. The earlier code still counts.',
  not_made: 'not sent. The earlier code still counts.',
  unknown: 'it may or may not arrive.',
};

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
  | FormErrors
  /** The metadata is not that of a code modal. */
  | { kind: 'not_ours' };

/** Reads the submitted code, without blanks and hyphens. Errors never quote the code. */
export function readOtpModal(submitted: { values: ViewValues; privateMetadata: string }): ReadOtp {
  const read = codeMetadata.read(submitted.privateMetadata);
  if (!read) return { kind: 'not_ours' };
  const { reference, field } = read;
  const code = readCode(submitted.values[field] ?? '');
  return code === undefined
    ? { kind: 'errors', errors: { [field]: noCode } }
    : { kind: 'read', reference, code, triesLeft: Number(field.slice(codeField.length + 1)) };
}

const noCode = `A code has ${codeLength.least} to ${codeLength.most} letters or digits. Type it as the bank sent it.`;

/** The reference of the charge in a code modal; undefined if it is another modal. */
export function readOtpReference(privateMetadata: string): string | undefined {
  return codeMetadata.read(privateMetadata)?.reference;
}
