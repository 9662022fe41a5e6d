import {
  chargeReferencePrefix,
  parseOrderReference,
  type OrderReference,
} from '../../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import {
  chargeActions,
  otpModalId,
  readOtpModal,
  readOtpReference,
  unknownCharge,
  unknownChargeModal,
} from './charge-screens.ts';
import { homeCharges, openCodes, pendingCodesMessage } from './charge-list.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import {
  defineCommand,
  itself,
  type Caller,
  type Closed,
  type Command,
  type Conversation,
  type Pressed,
  type Submission,
  type ViewAnswer,
} from '../../slack/command.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import type { HomeBlock, SlackMessage } from '../../slack/kit/message.ts';
import {
  openCharge,
  openNamed,
  sayUnknown,
  showAndCarryOn,
  showCharge,
  type ShowDeps,
} from './charge-views.ts';

type Wanted = { reference?: OrderReference };

/**
 * `/pay otp [reference]`: the field for the bank's code, again after the modal was closed or the bot restarted.
 * The code itself passes through one call to the desk and is kept nowhere.
 */
export function otpCommand(deps: ShowDeps): Command {
  return defineCommand<Wanted>({
    verb: 'otp',
    usage: '[reference]',
    summary: 'Enter code',
    examples: ['otp', 'otp pay-mfrggzdfmztwq2lknnwg23tpob'],
    permission: 'otp',
    menu: { actionId: 'menu.otp', text: 'Enter a code', opens: 'message' },
    opensForm: true,
    open: async ({ userId }) => openCodes(await deps.desk.waitingFor(userId)),
    effect: 'none',
    parse: parseWanted,
    modals: [
      {
        callbackId: otpModalId,
        effect: 'money',
        about: readOtpReference,
        submit: (submission) => submitCode(deps, submission),
        closed: (closed) => remind(deps, closed),
      },
    ],
    presses: [
      {
        actionId: chargeActions.enterCode,
        about: itself,
        opensForm: true,
        press: (pressed) => openNamed(deps, pressed),
      },
      { actionId: chargeActions.resend, about: itself, press: (pressed) => resend(deps, pressed) },
      { actionId: chargeActions.takeOver, about: itself, press: (pressed) => takeOver(deps, pressed) },
    ],
    home: (caller) => waiting(deps, caller),
    run: ({ reference }, conversation) =>
      reference === undefined ? openMine(deps, conversation) : openOne(deps, reference, conversation),
  });
}

function parseWanted([first, ...rest]: readonly string[]): Parsed<Wanted> {
  if (first === undefined) return parsed({});
  // Nobody's code belongs in a command: what is no reference of ours is not repeated.
  if (rest.length > 0) return problem('Give one reference. The code is asked for in a form.');
  const reference = parseOrderReference(first);
  if (!reference.ok) return reference;
  if (!reference.value.startsWith(chargeReferencePrefix)) {
    const form = 'The code is asked for in a form: type /pay otp alone.';
    return problem(`A charge’s reference begins with ${chargeReferencePrefix}. ${form}`);
  }
  return parsed({ reference: reference.value });
}

async function openMine(deps: ShowDeps, conversation: Conversation): Promise<SlackMessage | undefined> {
  const charges = await deps.desk.waitingFor(conversation.caller.userId);
  const [only] = charges;
  if (only === undefined) return askedHereAlone(pendingCodesMessage([], deps, deps.now()), deps);
  if (charges.length > 1) return pendingCodesMessage(charges, deps, deps.now());
  await openCharge(deps, only, conversation);
  return undefined;
}

/** Whatever state it is in: the modal says when no code is wanted any more, and what became of it. */
async function openOne(
  deps: ShowDeps,
  reference: OrderReference,
  conversation: Conversation,
): Promise<SlackMessage | undefined> {
  const charge = await deps.desk.find(reference);
  if (!charge) return askedHereAlone(noteMessage(unknownCharge(reference, deps)), deps);
  await openCharge(deps, charge, conversation);
  return undefined;
}

/**
 * One try. A StoreUnavailable of `desk.submitCode` itself means that the code has not left; only `carryOn`,
 * which the desk made, still holds it, until it ran.
 */
async function submitCode(deps: ShowDeps, submission: Submission): Promise<ViewAnswer> {
  const read = readOtpModal(submission);
  if (read.kind === 'errors') return read;
  if (read.kind === 'not_ours') return { kind: 'update', modal: unknownChargeModal(undefined, deps) };
  const { reference, code, triesLeft } = read;
  const result = await deps.desk.submitCode({ reference, code, triesLeft, by: submission.caller.userId });
  switch (result.kind) {
    case 'checking':
      return showAndCarryOn(deps, result.charge, submission, result.carryOn);
    case 'not_yours':
    case 'not_open':
      return showAndCarryOn(deps, result.charge, submission);
    case 'unknown_charge':
      return { kind: 'update', modal: unknownChargeModal(reference, deps) };
  }
}

/** A closed modal asks nobody for a code: from now on a direct message does. */
async function remind({ desk }: ShowDeps, { caller, privateMetadata }: Closed): Promise<void> {
  const reference = readOtpReference(privateMetadata);
  if (reference !== undefined) await desk.remind({ reference, by: caller.userId });
}

/** Another code; it gives neither time nor tries. */
async function resend(deps: ShowDeps, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const result = await deps.desk.resendCode({ reference: value, by: caller.userId });
  switch (result.kind) {
    case 'asked':
      await showCharge(deps, pressed, result.charge);
      await result.carryOn();
      return await showCharge(deps, pressed, result.charge);
    case 'not_asked':
      return await showCharge(deps, pressed, result.charge);
    case 'unknown_charge':
      return await sayUnknown(deps, pressed);
  }
}

/** From now on this person enters the code; the modal has the field at once. */
async function takeOver(deps: ShowDeps, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const charge = await deps.desk.takeOver({ reference: value, by: caller.userId });
  await (charge ? showCharge(deps, pressed, charge) : sayUnknown(deps, pressed));
}

async function waiting(deps: ShowDeps, { userId }: Caller): Promise<HomeBlock[]> {
  return homeCharges('Waiting for a code', await deps.desk.waitingFor(userId), deps, deps.now());
}
