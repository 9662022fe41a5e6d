import type { Account } from '../../account.ts';
import {
  chargeReferencePrefix,
  parseOrderReference,
  type OrderReference,
} from '../../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import {
  defineCommand,
  wholeValue,
  type Command,
  type Conversation,
  type Pressed,
  type Submission,
  type ViewAnswer,
} from '../../slack/command.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { withOtherAccounts } from '../../slack/words/account-foot.ts';
import type { ChargeOperations } from './charge-operations.ts';
import { homeCharges, openCodes, pendingCodesMessage } from './charge-list.ts';
import { type ChargeViews, unknownCharge, unknownChargeModal } from './charge-modal.ts';
import { otpActions, otpModalId, readOtpModal, readOtpReference } from './code-modal.ts';

type Wanted = { reference?: OrderReference };

/** Makes the link to the customer's code page, and the modal that shows it once. */
export type CustomerLink = {
  make: (reference: string) => Promise<{ secret: string; link: string }>;
  modal: (charge: ChargeSeen, secret: string) => Modal;
};

/**
 * `/pay otp [reference]`: opens the field for the bank's code again, as after the modal was closed. The typed code is
 * passed on in memory, and never stored.
 */
export function otpCommand(
  { shownAccount, now }: Account,
  operations: ChargeOperations,
  views: ChargeViews,
  customerLink: CustomerLink,
): Command {
  async function openMine(conversation: Conversation): Promise<SlackMessage | undefined> {
    const charges = await operations.waitingFor(conversation.caller.userId);
    const [only] = charges;
    if (only === undefined) {
      const others = await operations.waitingForOthers(conversation.caller.userId);
      const message = pendingCodesMessage([], shownAccount, { nowMs: now(), others });
      return others.length === 0 ? withOtherAccounts(message, shownAccount) : message;
    }
    if (charges.length > 1) return pendingCodesMessage(charges, shownAccount, { nowMs: now() });
    await views.open(only, conversation);
    return undefined;
  }

  /** Opens a charge in any state: if it needs no code, the modal says so, with the outcome. */
  async function openOne(
    reference: OrderReference,
    conversation: Conversation,
  ): Promise<SlackMessage | undefined> {
    const charge = await operations.find(reference);
    if (!charge) return withOtherAccounts(noteMessage(unknownCharge(reference, shownAccount)), shownAccount);
    await views.open(charge, conversation);
    return undefined;
  }

  /**
   * Submits one try. If `operations.submitCode` throws StoreUnavailable, the code was not sent; it is sent only by `carryOn`.
   */
  async function enterCode(submission: Submission): Promise<ViewAnswer> {
    const read = readOtpModal(submission);
    if (read.kind === 'errors') return read;
    if (read.kind === 'not_ours')
      return { kind: 'update', modal: unknownChargeModal(undefined, shownAccount) };
    const { kind: _read, ...typed } = read;
    const result = await operations.submitCode({ ...typed, by: submission.caller.userId });
    return result
      ? views.showAndCarryOn(result.charge, submission, result.carryOn)
      : { kind: 'update', modal: unknownChargeModal(read.reference, shownAccount) };
  }

  /** Asks for another code; time and tries stay. */
  async function resend(pressed: Pressed): Promise<void> {
    const { caller, value } = pressed;
    const result = await operations.resendCode({ reference: value, by: caller.userId });
    await views.show(pressed, result?.charge);
    await result?.carryOn?.();
  }

  /** Makes this person the agent, whose modal gets the field for the code. */
  async function takeOver(pressed: Pressed): Promise<void> {
    const { caller, value, view } = pressed;
    const charge = await operations.takeOver({ reference: value, by: caller.userId });
    if (charge && !view) return await views.open(charge, pressed);
    await views.show(pressed, charge);
  }

  /** Shows the link only to the person who made it; the charge stores its hash. */
  async function makeLink(pressed: Pressed): Promise<void> {
    const { caller, value: reference } = pressed;
    const { secret, link } = await customerLink.make(reference);
    const { isMade, charge } = await operations.letCustomerType({ reference, by: caller.userId, link });
    if (!charge) return await views.sayUnknown(pressed);
    if (!isMade) return await views.open(charge, pressed);
    await pressed.openModal(customerLink.modal(charge, secret));
  }

  async function takeBack(pressed: Pressed): Promise<void> {
    const { caller, value } = pressed;
    await views.show(pressed, await operations.takeBack({ reference: value, by: caller.userId }));
  }

  return defineCommand<Wanted>({
    verb: 'otp',
    usage: '[reference]',
    summary: 'Enter code',
    examples: ['otp', 'otp pay-mfrggzdfmztwq2lknnwg23tpob'],
    permission: 'otp',
    menu: { actionId: 'menu.otp', text: 'Enter a code', opens: 'message' },
    opensForm: true,
    open: async ({ userId }) => openCodes(await operations.waitingFor(userId)),
    effect: 'none',
    parse: parseWanted,
    modals: [{ callbackId: otpModalId, effect: 'money', about: readOtpReference, submit: enterCode }],
    presses: [
      { actionId: otpActions.enterCode, about: wholeValue, opensForm: true, press: views.openNamed },
      { actionId: otpActions.resend, about: wholeValue, press: resend },
      { actionId: otpActions.takeOver, about: wholeValue, press: takeOver },
      { actionId: otpActions.makeLink, about: wholeValue, opensForm: true, press: makeLink },
      { actionId: otpActions.takeBack, about: wholeValue, press: takeBack },
    ],
    isUrgent: true,
    home: async ({ userId }) =>
      homeCharges('Waiting for a code', await operations.waitingFor(userId), shownAccount, now()),
    run: ({ reference }, conversation) =>
      reference === undefined ? openMine(conversation) : openOne(reference, conversation),
  });
}

function parseWanted([first, ...rest]: readonly string[]): Parsed<Wanted> {
  if (first === undefined) return parsed({});
  // Don't repeat the words: they may contain a code, which doesn't belong in a command.
  if (rest.length > 0) return problem('Give one reference. The code goes into a form.');
  const reference = parseOrderReference(first);
  if (!reference.ok) return reference;
  if (!reference.value.startsWith(chargeReferencePrefix)) {
    const form = 'The code goes into a form, never into a command.';
    return problem(`A charge’s reference begins with ${chargeReferencePrefix}. ${form}`);
  }
  return parsed({ reference: reference.value });
}
