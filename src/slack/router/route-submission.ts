import type { AckFn, ViewClosedAction, ViewResponseAction, ViewSubmitAction } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import { withDeadline } from '../../deadline.ts';
import { cardNumberRefusal } from '../../domain/card-number.ts';
import { newErrorId } from '../../log.ts';
import { refuse, type AnswerDeps } from '../answer.ts';
import { callerOf, isStranger, strangerMessage } from '../people/asker.ts';
import type { Caller, Command, CommandSet, Effect, ModalDefinition, ViewAnswer } from '../command.ts';
import { cardNumberMessage } from '../words/error-message.ts';
import { errorReply } from '../words/error-reply.ts';
import type { Modal } from '../kit/message.ts';
import { finishedModal, lateErrorsModal, noAnswerYetModal, updateModal, wordsModal } from '../kit/modals.ts';
import { noteRefused, ofAnotherWorkspace, recordAsked, type RecordDeps } from '../record-asked.ts';
import { createReply } from '../reply.ts';
import { blocksWithCardNumber, viewValues } from '../kit/view-values.ts';
import type { Identity } from '../workspace.ts';

export type SubmissionDeps = RecordDeps &
  Pick<AnswerDeps, 'mayRun'> & {
    client: WebClient;
    commands: CommandSet;
    /** Undefined while Slack has not said who the bot is. */
    identity: () => Identity | undefined;
    /** How long the guards and the form's own reader may take together, of Slack's three seconds. */
    submitMs: number;
  };

type Result = 'answered' | 'unreadable' | 'refused' | 'failed';

type Decided = { result: Result; answer: ViewAnswer; reason?: string };

type Submitted = { caller: Caller; body: ViewSubmitAction; command: Command; modal: ModalDefinition };

/**
 * Answers a submitted modal within Slack's three seconds, whatever hangs behind it, and then carries on.
 * Guards in their order: a card number, the workspace, the permission. Never throws. One audit line each.
 */
export async function routeSubmission(
  ack: AckFn<ViewResponseAction>,
  body: ViewSubmitAction,
  deps: SubmissionDeps,
): Promise<void> {
  const caller = callerOf(body, 'modal');
  // Looked at before anything else can keep, echo or log what was typed.
  const withCardNumber = blocksWithCardNumber(body.view.state);
  if (withCardNumber.length > 0) {
    deps.log('warn', 'A card number was typed and refused', { userId: caller.userId });
    noteRefused(deps, { what: 'form', caller, reason: 'a card number was typed' });
    return ack(cardNumberAnswer(body, withCardNumber));
  }
  if (isStranger(caller, deps.identity())) {
    noteRefused(deps, { what: 'form', caller, reason: ofAnotherWorkspace });
    return ack(updateTo(wordsModal('Not allowed', strangerMessage())));
  }
  const found = deps.commands.modal(body.view.callback_id);
  // A modal of an older version of the bot, or one that has nothing to submit.
  if (!found) return ack();
  await answerSubmission(ack, { caller, body, ...found }, deps);
}

/** Slack takes errors for input blocks alone, and would refuse the whole answer with any other. */
function cardNumberAnswer({ view }: ViewSubmitAction, blockIds: readonly string[]): ViewResponseAction {
  const inputs = blockIds.filter((blockId) =>
    view.blocks.some((block) => block.type === 'input' && block.block_id === blockId),
  );
  if (inputs.length === 0) return updateTo(wordsModal('Not accepted', cardNumberMessage()));
  const errors = Object.fromEntries(inputs.map((blockId) => [blockId, cardNumberRefusal]));
  return { response_action: 'errors', errors };
}

async function answerSubmission(
  ack: AckFn<ViewResponseAction>,
  submitted: Submitted,
  deps: SubmissionDeps,
): Promise<void> {
  const startedAt = deps.now();
  function audit(result: Result | 'late', reason?: string, message?: string): void {
    const { command, caller, modal, body } = submitted;
    recordAsked(deps, {
      what: 'form',
      caller,
      command,
      part: modal.callbackId,
      reference: modal.about?.(body.view.private_metadata),
      result,
      reason,
      startedAtMs: startedAt,
      ...(message === undefined ? {} : { message }),
    });
  }
  const deciding = decide(submitted, deps);
  const inTime = await withDeadline(deps.submitMs, () => deciding).catch(() => undefined);
  const isAnswered = await tellSlack(ack, inTime?.answer ?? noAnswerYet(submitted.modal), deps);
  audit(inTime?.result ?? 'late', inTime?.reason);
  const decided = inTime ?? (await deciding);
  if (!inTime) audit(decided.result, decided.reason, 'A form was answered after its time');
  if (!inTime || !isAnswered) {
    const late = { viewId: submitted.body.view.id, modal: lateModal(decided.answer) };
    await updateModal(deps.client, late, deps.log);
  }
  await carryOn(decided.answer, submitted, deps);
}

/** Slack's three seconds are nearly over. */
function noAnswerYet({ effect = 'money', ifNoAnswer }: ModalDefinition): ViewAnswer {
  return update(noAnswerYetModal(ifNoAnswer ?? nextByEffect[effect]));
}

const nextByEffect: Record<Effect, string> = {
  none: 'If none comes, type the command again: nothing was charged or changed.',
  access: 'If none comes, look whether it was changed before you send it again.',
  money: 'If none comes, look at /pay doubt before you charge again.',
};

/** Never rejects: what goes wrong is the answer. */
async function decide(submitted: Submitted, deps: SubmissionDeps): Promise<Decided> {
  const { caller, command, modal, body } = submitted;
  let hasBegun = false;
  try {
    // Asked again: it may have been taken away since the modal was opened.
    const { permissions } = modal;
    const label = body.view.submit?.text ?? body.view.title.text;
    const refusal = await refuse(caller, command, deps.mayRun, { permissions, label });
    if (refusal) {
      const { message, reason } = refusal;
      return { result: 'refused', answer: update(wordsModal('Not allowed', message)), reason };
    }
    hasBegun = true;
    const { id: viewId, private_metadata: privateMetadata, state } = body.view;
    const answer = await modal.submit({ caller, viewId, privateMetadata, values: viewValues(state) });
    return { result: answer.kind === 'errors' ? 'unreadable' : 'answered', answer };
  } catch (error) {
    const { message, reason } = errorReply(error, { ...doing(submitted), hasBegun }, deps.log);
    return { result: 'failed', answer: update(wordsModal('Something went wrong', message)), reason };
  }
}

/** What submitting this modal may do, which can be more than what its verb does by itself. */
function doing({ caller, command, modal }: Submitted): { caller: Caller; command: Command } {
  return { caller, command: { ...command, effect: modal.effect ?? 'money' } };
}

/** False when Slack could not be told: a socket that closed meanwhile. What was begun must go on all the same. */
async function tellSlack(
  ack: AckFn<ViewResponseAction>,
  answer: ViewAnswer,
  { log }: SubmissionDeps,
): Promise<boolean> {
  try {
    await (answer.kind === 'close' ? ack() : ack(toSlack(answer)));
    return true;
  } catch (error) {
    log('warn', 'Slack could not be told the answer to a form', {}, error);
    return false;
  }
}

function toSlack(answer: Exclude<ViewAnswer, { kind: 'close' }>): ViewResponseAction {
  return answer.kind === 'errors'
    ? { response_action: 'errors', errors: answer.errors }
    : updateTo(answer.modal);
}

function update(modal: Modal): ViewAnswer {
  return { kind: 'update', modal };
}

function updateTo(view: Modal): ViewResponseAction {
  return { response_action: 'update', view };
}

/** What Slack was not told in its three seconds goes to the screen by the modal's id, if it is still open. */
function lateModal(answer: ViewAnswer): Modal {
  switch (answer.kind) {
    case 'errors':
      return lateErrorsModal(answer.errors);
    case 'update':
      return answer.modal;
    case 'close':
      return finishedModal();
  }
}

async function carryOn(answer: ViewAnswer, submitted: Submitted, deps: SubmissionDeps): Promise<void> {
  if (answer.kind === 'errors' || !answer.carryOn) return;
  try {
    await answer.carryOn();
  } catch (error) {
    const { message } = errorReply(error, { ...doing(submitted), hasBegun: true }, deps.log);
    // The modal may be closed by now, so the person is told where it stays.
    const { userId } = submitted.caller;
    const tell = createReply(
      { caller: { userId }, respond: undefined, replaces: 'nothing' },
      deps.client,
      deps.log,
    );
    await tell(message);
  }
}

/**
 * A modal was closed, and Slack takes no answer. Who may not submit it any more is told nothing of it either: what
 * follows from closing it is about what they had in front of them. Never throws.
 */
export async function routeClosing(
  body: ViewClosedAction,
  deps: Pick<SubmissionDeps, 'commands' | 'identity' | 'log' | 'mayRun'>,
): Promise<void> {
  const caller = callerOf(body, 'modal');
  if (isStranger(caller, deps.identity())) return;
  const found = deps.commands.modal(body.view.callback_id);
  if (!found?.modal.closed) return;
  const { id: viewId, private_metadata: privateMetadata } = body.view;
  try {
    if (await refuse(caller, found.command, deps.mayRun, found.modal)) return;
    await found.modal.closed({ caller, viewId, privateMetadata });
  } catch (error) {
    const about = { errorId: newErrorId(), verb: found.command.verb, userId: caller.userId };
    deps.log('error', 'A closed modal could not be followed up', about, error);
  }
}
