import { ServiceFailure } from '../../domain/failure.ts';
import type { Caller, ModalDefinition, Press, Pressed, Submission, ViewAnswer } from '../../slack/command.ts';
import { serviceFailureMessage } from '../../slack/words/error-message.ts';
import { lookUpWords } from '../../slack/words/evidence.ts';
import { answerMessage, lookingUpModal, noAnswerModal, transactionModal } from './answer-message.ts';
import { chooseModalId, noReferenceMessage, readChooseModal } from './choose-modal.ts';
import { lookupActions, wordsOfView } from './lookup-actions.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { wordsModal } from '../../slack/kit/modals.ts';
import { isChannel, lookUp, parseQuestion, type LookupDeps, type Question } from './look-up.ts';
import { mayReveal } from './reveal.ts';

/** The answer in a modal: opened from a list of charges, and asked for anew. */
export function answerPresses(deps: LookupDeps): Press[] {
  return [
    { actionId: lookupActions.open, press: (pressed) => openAnswer(deps, pressed) },
    { actionId: lookupActions.again, press: (pressed) => askAgain(deps, pressed) },
  ];
}

/** The form in which one of several references is chosen; the answer takes its place. */
export function chooseModalOf(deps: LookupDeps): ModalDefinition {
  return {
    callbackId: chooseModalId,
    effect: 'none',
    submit: (submission) => Promise.resolve(chosen(deps, submission)),
  };
}

function chosen(deps: LookupDeps, submission: Submission): ViewAnswer {
  const read = readChooseModal(submission);
  if (!read) return { kind: 'update', modal: wordsModal('Nothing chosen', noReferenceMessage()) };
  const { reference, channelId } = read;
  const { viewId, caller } = submission;
  return {
    kind: 'update',
    modal: lookingUpModal(reference, { ...deps, channelId }),
    async carryOn() {
      const shown = await answerTo(deps, { reference }, { caller, channelId });
      await deps.showEnd({ viewId, userId: caller.userId }, shown);
    },
  };
}

async function openAnswer(deps: LookupDeps, { value, caller, openModal }: Pressed): Promise<void> {
  const question = parseQuestion(lookUpWords(value));
  if (!question.ok) return;
  const channelId = isChannel(caller.channelId) ? caller.channelId : undefined;
  const viewId = await openModal(lookingUpModal(question.value.reference, { ...deps, channelId }));
  await deps.showEnd(
    { viewId, userId: caller.userId },
    await answerTo(deps, question.value, { caller, channelId }),
  );
}

async function askAgain(deps: LookupDeps, { value, caller, view, updateModal }: Pressed): Promise<void> {
  const question = parseQuestion(lookUpWords(value));
  if (!question.ok || !view) return;
  const channelId = isChannel(view.privateMetadata) ? view.privateMetadata : undefined;
  await updateModal(lookingUpModal(question.value.reference, { ...deps, channelId }));
  const { modal } = await answerTo(deps, question.value, { caller, channelId });
  await updateModal(modal);
}

/** A service that gives no answer is told where the answer would stand, so that the modal does not ask for ever. */
async function answerTo(
  deps: LookupDeps,
  question: Question,
  { caller, channelId }: { caller: Caller; channelId: string | undefined },
): Promise<{ modal: Modal; message: SlackMessage }> {
  try {
    const may = mayReveal(deps, caller);
    const view = await lookUp(deps, question);
    const shown = transactionModal(view, channelId, { share: true, reveal: await may });
    // Closed meanwhile, it is told as a direct message: nothing more is read in that.
    return { modal: shown, message: answerMessage(view, { share: false, reveal: false }) };
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    const { reference } = question;
    const asked = { reference, words: wordsOfView(question) };
    return {
      modal: noAnswerModal(error, asked, { ...deps, channelId }),
      message: serviceFailureMessage(error, { reference, moneyMayHaveMoved: false }),
    };
  }
}
