import type { Button } from '@slack/types';
import { z } from 'zod';
import type { ChargeSeen, Resend } from '../../domain/charge.ts';
import { counted } from '../../domain/wording.ts';
import type { ViewValues } from '../../slack/command.ts';
import {
  type Run,
  actions,
  button,
  confirmDialog,
  modal,
  moment,
  noticeLine,
  person,
  richText,
  textInput,
  words,
} from '../../slack/kit/blocks.ts';
import { codec } from '../../slack/kit/form.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { cut, outsideText, visible } from '../../slack/kit/text.ts';
import { amountWord, chargeHeadline, inHandSince, labelled, plain } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, moneyTitle, placeFoot } from '../../slack/words/charge-place.ts';
import { customerWord, quoted } from '../../slack/words/evidence.ts';
import { otpLimits } from './machine.ts';

// The window for the bank's code, what stands in it, and what is read from it.

/** Each carries the charge's reference. */
export const otpActions = {
  enterCode: 'otp_enter',
  resend: 'otp_resend',
  takeOver: 'otp_take_over',
} as const;

export const otpModalId = 'otp';

const codeField = 'otp_code';
const shortestCode = 4;
const longestCode = 10;
/** Room for blanks and hyphens between the digits. */
const longestTyped = 20;
const longestBankWords = 500;
const longestNamed = 100;

/** Which charge, and the field of this try. */
const about = codec(
  z.object({ reference: z.string().min(1), field: z.string().regex(new RegExp(`^${codeField}_\\d$`)) }),
);

/**
 * A charge that waits for a code: for its agent a field, for everybody else its agent and a way to
 * take it over. Shows no code, and keeps none: each try has a field of its own, so that Slack does not put a
 * refused code back into it.
 */
export function otpModal(
  charge: ChargeSeen,
  place: ChargePlace,
  { nowMs, viewerId }: { nowMs: number; viewerId: string },
): Modal {
  const { reference, otp, resends, bankWords } = charge;
  const isAgent = viewerId === charge.agent;
  const isOpen = isCodeOpen(charge, nowMs);
  const mayEnter = isOpen && isAgent;
  const hasTried = otp?.lastCode !== undefined || resends.length > 0;
  const field = `${codeField}_${otp?.triesLeft ?? 0}`;
  const blocks: ModalBlock[] = [
    ...(isOpen ? lastCode(charge) : []),
    chargeHeadline(charge).block,
    richText(standing(charge), ...(isAgent ? [] : [inHand(charge)])),
    // What the bank asks for is read once: from then on there is more to say.
    ...(hasTried ? [] : quoted('The bank says:', bankWords)),
    ...(mayEnter ? [codeInput(field), richText(plain('Only while you talk to the customer.'))] : []),
    ...(isOpen && !isAgent ? takingOver(charge) : []),
    ...(isOpen
      ? []
      : [richText(plain('Too late for a code. The bot checks the charge and tells its agent.'))]),
    ...resending(charge, place, mayEnter),
    placeFoot(place),
  ];
  return modal({
    callbackId: otpModalId,
    title: moneyTitle('Enter code', place),
    blocks,
    privateMetadata: about.write({ reference, field }),
    ...(mayEnter ? { submit: 'Send code' } : {}),
  });
}

/** Whether a code that is typed now can still reach the bank. */
function isCodeOpen({ otp }: ChargeSeen, nowMs: number): boolean {
  return otp !== undefined && otp.triesLeft > 0 && nowMs <= otp.until - otpLimits.marginMs;
}

function codeInput(id: string): ModalBlock {
  return textInput({
    id,
    label: 'Code from the bank',
    minLength: shortestCode,
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
    case 'unanswered': {
      const left = counted(otp.triesLeft, 'try', 'tries');
      return [
        noticeLine(
          'warning',
          `The last code got no answer and no payment shows. It may have cost a try: ${left} left.`,
        ),
      ];
    }
  }
}

/** "2 of 3 tries left · until 14:32": nothing that is out of date a minute later. */
export function standing({ otp }: ChargeSeen): Run[] {
  if (!otp) return [words('Tries and time left aren’t known.')];
  const tries = `${otp.triesLeft} of ${counted(otpLimits.submissions, 'try', 'tries')} left`;
  return [words(`${tries} · until `), moment(otp.until, '{time}')];
}

/** Who enters the code, and since when. */
export function inHand(charge: ChargeSeen): Run[] {
  return labelled('Agent', person(charge.agent), ', since ', moment(inHandSince(charge), '{time}'));
}

function takingOver({ terms, reference, agent }: ChargeSeen): ModalBlock[] {
  const customer = cut(customerWord(terms.customerEmail), longestNamed);
  const confirm = confirmDialog({
    title: 'Take over this charge?',
    text: `You’ll enter the code of ${amountWord(terms.money)}, ${customer}; its agent no longer can.`,
    confirm: 'Take over',
    deny: 'Leave it',
  });
  return [
    richText(plain('Only ', person(agent), ' can enter the code, so tries aren’t wasted.')),
    actions(button({ actionId: otpActions.takeOver, text: 'Take over', value: reference, confirm })),
  ];
}

/** The sandbox has no other code to send. Spec: Versioning (sandbox); resend-otp. */
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

/** What came of the last wish for another code; `not_made`: nothing was asked of the bank. */
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

export function enterCodeButton(reference: string): Button {
  return button({ actionId: otpActions.enterCode, text: 'Enter code', value: reference, style: 'primary' });
}

type ReadOtp =
  /** `code` is a secret: for one call, and for nothing else. */
  | { kind: 'read'; reference: string; code: string; triesLeft: number }
  | { kind: 'errors'; errors: Record<string, string> }
  /** Not what `otpModal` made. */
  | { kind: 'not_ours' };

/** The typed code without blanks and hyphens. What is wrong with it is told without repeating it. */
export function readOtpModal(submitted: { values: ViewValues; privateMetadata: string }): ReadOtp {
  const read = about.read(submitted.privateMetadata);
  if (!read) return { kind: 'not_ours' };
  const { reference, field } = read;
  const code = visible(submitted.values[field] ?? '')
    .normalize('NFKC')
    .replace(/[\s\p{Pd}−]/gu, '');
  const problem = codeProblem(code);
  return problem === undefined
    ? { kind: 'read', reference, code, triesLeft: Number(field.slice(codeField.length + 1)) }
    : { kind: 'errors', errors: { [field]: problem } };
}

function codeProblem(code: string): string | undefined {
  if (code === '') return 'Type the code that the bank sent to the customer.';
  if (!/^\d+$/.test(code)) return 'A code is digits only. Type it as the customer reads it out.';
  const fits = code.length >= shortestCode && code.length <= longestCode;
  return fits
    ? undefined
    : `A code has ${shortestCode} to ${longestCode} digits. Check it with the customer.`;
}

/** Which charge a closed modal was about; undefined for what `otpModal` did not make. */
export function readOtpReference(privateMetadata: string): string | undefined {
  return about.read(privateMetadata)?.reference;
}
