import type { ActionsBlock } from '@slack/types';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import {
  type Run,
  actions,
  button,
  code,
  codeLines,
  confirmDialog,
  headline,
  modal,
  noticeLine,
  person,
  richText,
  textInput,
  words,
} from '../../slack/kit/blocks.ts';
import type { HomeBlock, Modal, ModalBlock, SlackMessage } from '../../slack/kit/message.ts';
import { amountWord, chargeHeadline, labelled, modalFacts, plain } from '../../slack/words/charge-facts.ts';
import { type ChargePlace, moneyTitle, placeFoot, placeTitle } from '../../slack/words/charge-place.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import type { ViewValues } from '../../slack/command.ts';
import { customerWord, quoted, referenceWord, typedReference } from '../../slack/words/evidence.ts';
import { cut, outsideText, visible } from '../../slack/kit/text.ts';
import { counted } from '../../domain/counted.ts';
import { outcomeWords } from '../../domain/outcome.ts';
import { chargeActions, modalButtons, showButton } from './charge-buttons.ts';
import { inHand, isCodeOpen, lastResend, standing, stateBlocks } from './state-lines.ts';

/** Nothing is submitted in it. */
const chargeStateModalId = 'charge_state';

/** The modal of a charge, whatever has become of it: what is shown while it goes on, and when it is opened again. */
export function chargeStateModal(charge: ChargeSeen, place: ChargePlace, options: OtpModalOptions): Modal {
  if (charge.state.kind === 'otp') return otpModal(charge, place, options);
  const blocks: ModalBlock[] = [
    chargeHeadline(charge).block,
    ...stateBlocks(charge),
    ...savingLink(charge),
    ...modalButtons(charge),
    ...(charge.state.kind === 'review' ? [] : modalFacts(charge)),
    placeFoot(place),
  ];
  return modal({ callbackId: chargeStateModalId, title: moneyTitle('Charge', place), blocks });
}

/** To be copied: the customer gets it from the agent. */
function savingLink({ state, savingLink }: ChargeSeen): ModalBlock[] {
  if (savingLink === undefined || state.kind !== 'declined') return [];
  return [codeLines([savingLink])];
}

export const otpModalId = 'otp';

/** `notice`: what the last press came to, in place of what came of the last code. */
type OtpModalOptions = { nowMs: number; viewerId: string; notice?: string };

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
function otpModal(charge: ChargeSeen, place: ChargePlace, options: OtpModalOptions): Modal {
  const isAgent = options.viewerId === charge.agent;
  const isOpen = isCodeOpen(charge, options.nowMs);
  const field = fieldOf(charge);
  const mayEnter = isOpen && isAgent;
  const blocks: ModalBlock[] = [
    ...(options.notice === undefined ? [] : [noticeLine('warning', options.notice)]),
    ...(isOpen && options.notice === undefined ? lastCode(charge) : []),
    chargeHeadline(charge).block,
    richText(standing(charge), ...(isAgent ? [] : [inHand(charge)])),
    // What the bank asks for is read once: from then on there is more to say.
    ...(hasTried(charge) ? [] : quoted('The bank says:', charge.bankWords)),
    ...(isOpen ? entering(charge, field, isAgent) : [richText(plain(closedWords))]),
    ...resending(charge, place, { mayAsk: mayEnter, isTold: options.notice !== undefined }),
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
function resending(
  charge: ChargeSeen,
  place: ChargePlace,
  { mayAsk, isTold }: { mayAsk: boolean; isTold: boolean },
): ModalBlock[] {
  if (place.environment === 'sandbox') {
    return mayAsk ? [richText(plain('The sandbox can’t send another code.'))] : [];
  }
  const lines = isTold ? [] : lastResend(charge);
  const told = lines.length === 0 ? [] : [richText(...lines)];
  return mayAsk ? [...told, resendButton(charge)] : told;
}

function resendButton({ reference }: ChargeSeen): ActionsBlock {
  const text = 'Resend code (no extra time)';
  return actions(button({ actionId: chargeActions.resend, text, value: reference }));
}

type ReadOtp =
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

/**
 * The store stopped answering while the charge was being written. Never says that nothing was charged: if it
 * is there it will be, once, and the agent is told.
 */
export function unsureChargeModal(reference: string, place: ChargePlace): Modal {
  return modal({
    callbackId: 'charge_unsure',
    title: moneyTitle('Charge', place),
    blocks: [
      headline(`❔ ${outcomeWords.doubt}`, [referenceWord(reference)]).block,
      richText(
        plain('The bot’s storage stopped answering. Money may still move, once, within a minute.'),
        labelled('Next', 'do not charge again. Look at this charge in a minute.'),
      ),
      actions(showButton(reference)),
      placeFoot(place),
    ],
  });
}

/** No charge of that reference was begun from here, or it is forgotten by now. Undefined: the window names none. */
export function unknownChargeMessage(reference: string | undefined, place: ChargePlace): SlackMessage {
  return parts(reference, place);
}

export function unknownChargeModal(reference: string | undefined, place: ChargePlace): Modal {
  const { blocks } = parts(reference, place);
  return modal({ callbackId: 'charge_unknown', title: placeTitle('No such charge', place), blocks });
}

function parts(reference: string | undefined, place: ChargePlace): { text: string; blocks: HomeBlock[] } {
  const named = reference === undefined ? '' : typedReference(reference);
  const { text, block } = headline('No such charge here', [named]);
  const next: Run[] =
    named === ''
      ? [code('/pay otp'), words(' lists your open codes.')]
      : [code(`/pay lookup "${named}"`), words(' asks the payments service.')];
  return {
    text,
    blocks: [
      block,
      richText(plain('It wasn’t made with this bot, or too long ago.'), labelled('Next', ...next)),
      placeFoot(place),
    ],
  };
}
