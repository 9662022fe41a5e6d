import type { ActionsBlock } from '@slack/types';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import {
  actions,
  noticeLine,
  button,
  confirmDialog,
  modal,
  person,
  richText,
  textInput,
  words,
} from '../../slack/kit/blocks.ts';
import type { ViewValues } from '../../slack/command.ts';
import { customerWord, quoted } from '../../slack/words/evidence.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { cut, outsideText, visible } from '../../slack/kit/text.ts';
import { chargeActions } from './charge-actions.ts';
import { counted } from '../../domain/counted.ts';
import { amountWord, chargeHeadline, plain } from '../../slack/words/charge-facts.ts';
import { moneyTitle, placeFoot, type ChargePlace } from '../../slack/words/charge-place.ts';
import { inHand, isCodeOpen, lastResend, standing } from './otp-lines.ts';

export const otpModalId = 'otp';

export type OtpModalOptions = { nowMs: number; viewerId: string };

const codeField = 'otp_code';
const shortestCode = 4;
const longestCode = 10;
/** Room for blanks and hyphens between the digits. */
const longestTyped = 20;
const longestBankWords = 500;
const longestNamed = 100;

/**
 * A charge that waits for a code: for its agent a field, for everybody else its agent and a way to
 * take it over. Shows no code, and keeps none: each try has a field of its own, so that Slack does not put a
 * refused code back into it.
 */
export function otpModal(charge: ChargeSeen, place: ChargePlace, options: OtpModalOptions): Modal {
  const isAgent = options.viewerId === charge.agent;
  const isOpen = isCodeOpen(charge, options.nowMs);
  const field = fieldOf(charge);
  const mayEnter = isOpen && isAgent;
  const blocks: ModalBlock[] = [
    ...(isOpen ? lastCode(charge) : []),
    chargeHeadline(charge).block,
    richText(standing(charge), ...(isAgent ? [] : [inHand(charge)])),
    // What the bank asks for is read once: from then on there is more to say.
    ...(hasTried(charge) ? [] : quoted('The bank says:', charge.bankWords)),
    ...(isOpen ? entering(charge, field, isAgent) : [richText(plain(closedWords))]),
    ...resending(charge, place, mayEnter),
    placeFoot(place),
  ];
  return modal({
    callbackId: otpModalId,
    title: moneyTitle('Enter code', place),
    blocks,
    privateMetadata: JSON.stringify({ reference: charge.reference, field }),
    ...(mayEnter ? { notifyOnClose: true, submit: 'Send code' } : {}),
  });
}

function entering(charge: ChargeSeen, field: string, isAgent: boolean): ModalBlock[] {
  return isAgent ? [codeInput(field), richText([words(caution)])] : takeOver(charge);
}

const caution = 'Only while you talk to the customer.';

const closedWords = 'Too late for a code. The bot checks the charge and tells its agent.';

function hasTried({ otp, resends }: ChargeSeen): boolean {
  return otp?.lastCode !== undefined || resends.length > 0;
}

function fieldOf({ otp }: ChargeSeen): string {
  return `${codeField}_${otp?.triesLeft ?? 0}`;
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

function lastCode(charge: ChargeSeen): ModalBlock[] {
  const { otp, bankWords } = charge;
  const left = otp && counted(otp.triesLeft, 'try', 'tries');
  switch (otp?.lastCode) {
    case undefined:
      return [];
    case 'refused': {
      const theirs = outsideText(bankWords ?? '', longestBankWords);
      return [noticeLine('warning', theirs === '' ? 'Wrong code.' : `Wrong code. Bank: “${theirs}”.`)];
    }
    case 'unanswered':
      return [
        noticeLine(
          'warning',
          `The last code got no answer and no payment shows. It may have cost a try: ${left} left.`,
        ),
      ];
  }
}

function takeOver(charge: ChargeSeen): ModalBlock[] {
  const { terms, reference } = charge;
  const customer = cut(customerWord(terms.customerEmail), longestNamed);
  const confirm = confirmDialog({
    title: 'Take over this charge?',
    text: `You’ll enter the code of ${amountWord(terms.money)}, ${customer}; its agent no longer can.`,
    confirm: 'Take over',
    deny: 'Leave it',
  });
  return [
    richText(plain('Only ', person(charge.agent), ' can enter the code, so tries aren’t wasted.')),
    actions(button({ actionId: chargeActions.takeOver, text: 'Take over', value: reference, confirm })),
  ];
}

/** The sandbox has no other code to send. Spec: Versioning (sandbox); resend-otp. */
function resending(charge: ChargeSeen, place: ChargePlace, mayAsk: boolean): ModalBlock[] {
  if (place.environment === 'sandbox') {
    return mayAsk ? [richText(plain('The sandbox can’t send another code.'))] : [];
  }
  const lines = lastResend(charge);
  const told = lines.length === 0 ? [] : [richText(...lines)];
  return mayAsk ? [...told, resendButton(charge)] : told;
}

function resendButton({ reference }: ChargeSeen): ActionsBlock {
  const text = 'Resend code (no extra time)';
  return actions(button({ actionId: chargeActions.resend, text, value: reference }));
}

export type ReadOtp =
  /** `code` is a secret: for one call, and for nothing else. */
  | { kind: 'read'; reference: string; code: string; triesLeft: number }
  | { kind: 'errors'; errors: Record<string, string> }
  /** Not what `otpModal` made. */
  | { kind: 'not_ours' };

/** The typed code without blanks and hyphens. What is wrong with it is told without repeating it. */
export function readOtpModal(submitted: { values: ViewValues; privateMetadata: string }): ReadOtp {
  const about = readMetadata(submitted.privateMetadata);
  if (!about) return { kind: 'not_ours' };
  const { reference, field } = about;
  const code = visible(submitted.values[field] ?? '')
    .normalize('NFKC')
    .replace(/[\s\p{Pd}−]/gu, '');
  const problem = codeProblem(code);
  return problem === undefined
    ? { kind: 'read', reference, code, triesLeft: Number(field.slice(codeField.length + 1)) }
    : { kind: 'errors', errors: { [field]: problem } };
}

/** One that `otpModal` makes, and not the name of something that every object has. */
function isField(name: string): boolean {
  return /^otp_code_\d$/.test(name);
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
  return readMetadata(privateMetadata)?.reference;
}

function readMetadata(text: string): { reference: string; field: string } | undefined {
  try {
    const read: unknown = JSON.parse(text);
    if (!isJsonObject(read)) return undefined;
    const { reference, field } = read;
    return typeof reference === 'string' && reference !== '' && typeof field === 'string' && isField(field)
      ? { reference, field }
      : undefined;
  } catch {
    return undefined;
  }
}
