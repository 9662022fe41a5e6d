import type { Approval, ApprovalShown } from '../../domain/approval.ts';
import type { ApprovalDesk, DecideResult } from '../../domain/approval-desk.ts';
import { readRequestValue } from './approval-actions.ts';
import {
  approvedBeforeMessage,
  askAnewMessage,
  decidedMessage,
  notYoursMessage,
  otherTermsMessage,
  overMessage,
  ownRequestMessage,
  unknownApprovalMessage,
} from './approval-answers.ts';
import { readRefuseModal, refuseFields, refuseModal } from './approval-modals.ts';
import type { Caller, MayRun, Pressed, Submission, ViewAnswer } from '../../slack/command.ts';
import { refusalMessage } from '../../slack/words/error-message.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { wordsModal } from '../../slack/kit/modals.ts';

/** What is pressed and shown works with this. */
export type ApprovalScreens = ChargePlace & {
  approvals: ApprovalDesk;
  mayRun: MayRun;
  /** The form that asks for the same again, as it was. */
  formAgain: (shown: Exclude<ApprovalShown, { kind: 'redrive' }>) => Promise<Modal>;
  now: () => number;
};

/** Decides by what stood above the button: with other terms in the store nothing is approved. */
export async function approve({ approvals }: ApprovalScreens, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const seen = readRequestValue(value);
  if (!seen) return await tell(pressed, unknownApprovalMessage(value));
  const result = await approvals.approve({ ...seen, by: caller.userId });
  await tell(pressed, answerOf(result, { id: seen.id, userId: caller.userId }));
}

/** The form asks why; who cannot refuse it any more is told so before they type. */
export async function openRefusal(deps: ApprovalScreens, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const seen = readRequestValue(value);
  const approval = seen && (await deps.approvals.find(seen.id));
  if (!seen || !approval) return await tell(pressed, unknownApprovalMessage(seen?.id ?? ''));
  const no = notToDecide(approval, caller.userId, deps.now());
  if (no) return await tell(pressed, no);
  await pressed.openModal(refuseModal(approval, deps));
}

function notToDecide(approval: Approval, userId: string, nowMs: number): SlackMessage | undefined {
  const { state, by, expiresAtMs } = approval;
  if (state.kind !== 'waiting') return overMessage(approval, userId);
  if (expiresAtMs <= nowMs) {
    return overMessage({ ...approval, state: { kind: 'expired', atMs: expiresAtMs } }, userId);
  }
  return by === userId ? ownRequestMessage(approval) : undefined;
}

/** The reason is read beside its fields; whether it can still be refused is the store's to say. */
export async function refuseRequest(
  { approvals }: ApprovalScreens,
  { caller, values, privateMetadata }: Submission,
): Promise<ViewAnswer> {
  const reason = readRefuseModal(values);
  if (!reason.ok) return { kind: 'errors', errors: { [refuseFields.words]: reason.problem } };
  const seen = readRequestValue(privateMetadata);
  if (!seen) return words(unknownApprovalMessage(''));
  const { userId } = caller;
  const result = await approvals.refuse({ id: seen.id, by: userId, reason: reason.value });
  return words(answerOf(result, { id: seen.id, userId }));
}

function words(message: SlackMessage): ViewAnswer {
  return { kind: 'update', modal: wordsModal('Approval', message) };
}

/** Only by whoever asked. */
export async function withdraw({ approvals }: ApprovalScreens, pressed: Pressed): Promise<void> {
  const { caller, value: id } = pressed;
  const { userId } = caller;
  const approval = await approvals.find(id);
  if (!approval) return await tell(pressed, unknownApprovalMessage(id));
  if (approval.by !== userId) return await tell(pressed, notYoursMessage(approval));
  await tell(pressed, answerOf(await approvals.withdraw({ id, by: userId }), { id, userId }));
}

/**
 * The form as it was, in a window of its own: what is asked again is a new request, under a new reference, and is read
 * back before it is sent.
 */
export async function askAgain(deps: ApprovalScreens, pressed: Pressed): Promise<void> {
  const { caller, value: id, openModal } = pressed;
  const approval = await deps.approvals.find(id);
  if (!approval) return await tell(pressed, unknownApprovalMessage(id));
  if (approval.by !== caller.userId) return await tell(pressed, notYoursMessage(approval));
  const { shown } = approval;
  const refusal = await whyNotAgain(deps, shown, caller);
  if (refusal) return await tell(pressed, refusal);
  if (shown.kind === 'redrive') return await tell(pressed, askAnewMessage('/pay undelivered'));
  await openModal(await deps.formAgain(shown));
}

/** The form is another verb's: its permission is asked for, and here, where it would be opened. */
async function whyNotAgain(
  { mayRun }: ApprovalScreens,
  { kind }: ApprovalShown,
  caller: Caller,
): Promise<SlackMessage | undefined> {
  if (kind === 'redrive') return undefined;
  const permission = kind === 'charge' ? 'charge' : 'card-email';
  const permit = await mayRun(permission, caller);
  return permit.kind === 'allowed' ? undefined : refusalMessage({ ...permit, what: `/pay ${permission}` });
}

/** Every end of a press but an approval's own is said in full: who decided and when, or why not by this person. */
function answerOf(result: DecideResult, { id, userId }: { id: string; userId: string }): SlackMessage {
  switch (result.kind) {
    case 'decided':
      return decidedMessage(result.approval);
    case 'over':
      return overMessage(result.approval, userId);
    case 'own_request':
      return ownRequestMessage(result.approval);
    case 'approved_before':
      return approvedBeforeMessage(result.approval);
    case 'other_terms':
      return otherTermsMessage(result.approval);
    case 'unknown_approval':
      return unknownApprovalMessage(id);
  }
}

/** In the window it was pressed in, else to the person alone. */
async function tell({ view, updateModal, reply }: Pressed, message: SlackMessage): Promise<void> {
  await (view ? updateModal(wordsModal('Approval', message)) : reply(message));
}
