import type { ChargeSeen, Resend } from '../../domain/charge.ts';
import {
  chargeReferencePrefix,
  parseOrderReference,
  type OrderReference,
} from '../../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import { unknownCharge, unknownChargeModal } from './charge-screens.ts';
import { otpActions, otpModalId, readOtpModal, readOtpReference } from './otp-form.ts';
import { chargeKey, type ChargeRecord } from './charge-record.ts';
import { otpLimits, otpStanding } from './machine.ts';
import { type ChargeDeps, advanceCharge, amendCharge, runCharge, see, showProgress } from './run-charge.ts';
import { homeCharges, openCodes, pendingCodesMessage } from './charge-list.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import {
  defineCommand,
  itself,
  type Caller,
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
        submit: (submission) => enterCode(deps, submission),
      },
    ],
    presses: [
      {
        actionId: otpActions.enterCode,
        about: itself,
        opensForm: true,
        press: (pressed) => openNamed(deps, pressed),
      },
      { actionId: otpActions.resend, about: itself, press: (pressed) => pressResend(deps, pressed) },
      { actionId: otpActions.takeOver, about: itself, press: (pressed) => pressTakeOver(deps, pressed) },
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
async function enterCode(deps: ShowDeps, submission: Submission): Promise<ViewAnswer> {
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

/** Another code; it gives neither time nor tries. */
async function pressResend(deps: ShowDeps, pressed: Pressed): Promise<void> {
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
async function pressTakeOver(deps: ShowDeps, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const charge = await deps.desk.takeOver({ reference: value, by: caller.userId });
  await (charge ? showCharge(deps, pressed, charge) : sayUnknown(deps, pressed));
}

async function waiting(deps: ShowDeps, { userId }: Caller): Promise<HomeBlock[]> {
  return homeCharges('Waiting for a code', await deps.desk.waitingFor(userId), deps, deps.now());
}

// What the window's buttons do to the charge.

type CodeResult =
  /** The try is counted; `carryOn` sends the code, which nothing else keeps. */
  | { kind: 'checking'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** Somebody else has it in hand: only they may enter a code, or whoever takes it over. */
  | { kind: 'not_yours'; charge: ChargeSeen }
  /** No code is asked for now: one is being checked, the time is over, it is settled. */
  | { kind: 'not_open'; charge: ChargeSeen }
  | { kind: 'unknown_charge' };

type ResendResult =
  | { kind: 'asked'; charge: ChargeSeen; carryOn: () => Promise<void> }
  /** Somebody else’s, no code is asked for now, or another was asked for less than half a minute ago. */
  | { kind: 'not_asked'; charge: ChargeSeen }
  | { kind: 'unknown_charge' };

type Request = { reference: string; by: string };

/** A bank needs a moment to send a code, and people press twice. */
const resendAgainMs = 30_000;
/** As long as a charge may take to leave. */
const leaveMs = 25_000;

/**
 * A code a person typed, held in memory for one call and kept nowhere else. The try is counted before the code leaves, by
 * whoever wins the swap. `triesLeft`: as the modal showed it, so that a repeated delivery of one submit costs one try.
 */
export async function submitCode(
  deps: ChargeDeps,
  { reference, by, code, triesLeft }: Request & { code: string; triesLeft: number },
): Promise<CodeResult> {
  const advanced = await advanceCharge(
    deps,
    reference,
    { kind: 'otp_submitted', by },
    ({ agent, intent: { otp } }) => {
      if (agent !== by || !otp || otpLimits.submissions - otp.tries !== triesLeft) return false;
      // Throws when its key is gone: before the try is counted, not after.
      deps.sealer.open(chargeKey(reference), otp.sealedTransactionId);
      return true;
    },
  );
  if (!advanced) return await notTaken(deps, { reference, by });
  return {
    kind: 'checking',
    charge: await see(deps, advanced.record),
    carryOn: () => runCharge(deps, advanced, code),
  };
}

async function notTaken(
  deps: ChargeDeps,
  { reference, by }: Request,
): Promise<{ kind: 'not_yours' | 'not_open'; charge: ChargeSeen } | { kind: 'unknown_charge' }> {
  const record = await deps.charges.read(reference);
  if (!record) return { kind: 'unknown_charge' };
  const kind = record.agent !== by && record.intent.state.kind === 'otp' ? 'not_yours' : 'not_open';
  return { kind, charge: await see(deps, record) };
}

/**
 * Asks the bank for another code, which gives neither time nor tries. The wish is on record before it leaves, so that two
 * clicks are one.
 */
export async function resendCode(deps: ChargeDeps, { reference, by }: Request): Promise<ResendResult> {
  const at = deps.now();
  const asked = await amendCharge(deps, reference, (record) => {
    const mayAsk = record.agent === by && openUntil(record, at) !== undefined && againAt(record) <= at;
    return mayAsk ? { ...record, resends: [...record.resends, { at, by }] } : undefined;
  });
  if (asked) {
    const id = `${reference}:resend:${at}`;
    deps.note?.({ id, atMs: at, who: by, what: 'step', reference, result: 'code_asked_again' });
    return { kind: 'asked', charge: await see(deps, asked), carryOn: () => askForAnother(deps, asked, at) };
  }
  const record = await deps.charges.read(reference);
  return record ? { kind: 'not_asked', charge: await see(deps, record) } : { kind: 'unknown_charge' };
}

/** Until when something about this code may leave; undefined when no code is asked for. */
function openUntil({ intent }: ChargeRecord, nowMs: number): number | undefined {
  const standing = intent.state.kind === 'otp' && intent.otp && otpStanding(intent.otp, nowMs);
  return standing && standing.kind === 'open' ? standing.leaveBy : undefined;
}

function againAt({ resends }: ChargeRecord): number {
  return (resends.at(-1)?.at ?? -Infinity) + resendAgainMs;
}

/** Spec: resend-otp. It changes neither the time nor the tries, so the machine need not hear of it. */
async function askForAnother(deps: ChargeDeps, record: ChargeRecord, at: number): Promise<void> {
  const { reference, otp } = record.intent;
  if (!otp) return;
  const transactionId = deps.sealer.open(chargeKey(reference), otp.sealedTransactionId);
  const leaveBy = Math.min(at + leaveMs, openUntil(record, at) ?? at);
  const { kind: answer } = await deps.resendOtp(transactionId, { leaveBy, now: deps.now });
  deps.log('info', 'another code asked for', { orderReference: reference, result: answer });
  const answered = await amendCharge(deps, reference, (current) => ({
    ...current,
    resends: current.resends.map((resend): Resend => (resend.at === at ? { ...resend, answer } : resend)),
  }));
  if (answered) await showProgress(deps, answered);
}

/**
 * From now on this person enters the code and is told; everybody sees it. What is settled stays whose it was. Undefined: no
 * such charge.
 */
export async function takeOver(
  deps: ChargeDeps,
  { reference, by }: Request,
): Promise<ChargeSeen | undefined> {
  const at = deps.now();
  const taken = await amendCharge(deps, reference, (record) => {
    if (record.agent === by || 'concludedAt' in record.intent.state) return undefined;
    return { ...record, agent: by, handOvers: [...record.handOvers, { at, from: record.agent, to: by }] };
  });
  const record = taken ?? (await deps.charges.read(reference));
  if (!record) return undefined;
  const from = taken?.handOvers.at(-1)?.from;
  if (taken && from !== undefined) {
    deps.log('info', 'charge taken over', { orderReference: reference, userId: by });
    const id = `${reference}:taken_over:${at}`;
    const change = { before: from, after: by, result: 'taken_over' };
    deps.note?.({ id, atMs: at, who: by, what: 'step', reference, ...change });
    await deps.tell.note(reference, `handed_over:${at}`, { kind: 'handed_over', from, to: by, at });
    await showProgress(deps, taken);
  }
  return await see(deps, record);
}
