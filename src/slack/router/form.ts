import { setTimeout as sleep } from 'node:timers/promises';
import type { AckFn, ViewOutput, ViewResponseAction, ViewSubmitAction } from '@slack/bolt';
import { answer, once, type BotRequest, type SlackSide } from '../answer.ts';
import {
  permissionsOf,
  type Caller,
  type Effect,
  type Found,
  type ModalDefinition,
  type ViewAnswer,
} from '../command.ts';
import { errorReply } from '../words/error-message.ts';
import { fieldName, withNewIds } from '../kit/field-ids.ts';
import type { Modal } from '../kit/message.ts';
import {
  holdForm,
  lateErrorsModal,
  finishedModal,
  noAnswerYetModal,
  updateModal,
  messageModal,
} from '../kit/modals.ts';
import { inAccount } from '../own-account.ts';
import { createReply } from '../reply.ts';
import { unsentFields, viewValues } from './payload.ts';
import type { Screen } from './screen.ts';

type Submitted = Found<ModalDefinition> & { caller: Caller; body: ViewSubmitAction };

/**
 * Answers a submitted form within Slack's three seconds, then runs its `carryOn`. Guards, error messages and audit entry are
 * a typed command's.
 */
export async function answerForm(
  ack: AckFn<ViewResponseAction>,
  submitted: Submitted,
  side: SlackSide,
): Promise<void> {
  const { account, command, caller, part: modal, body } = submitted;
  const { id: viewId, private_metadata: privateMetadata } = body.view;
  const form = createFormScreen(ack, submitted, side);
  const { verb, merchant } = command;
  const request: BotRequest = {
    what: 'form',
    who: caller,
    account,
    label: body.view.submit?.text ?? body.view.title.text,
    permission: [modal.permissions ?? permissionsOf(command)],
    about: { verb, merchant, part: modal.callbackId, reference: modal.about?.(privateMetadata) },
    effect: effectOf(modal),
    opensForm: false,
    // A second delivery gets no acknowledgement: an empty one would close the modal of the first.
    repeat: once(body.trigger_id),
    async run() {
      const first = (blockId: string) => side.claimOnce(`unsent:${viewId}:${blockId}`);
      const errors = await unsentFields(body.view, first);
      const submission = { caller, viewId, privateMetadata, values: viewValues(body.view) };
      const answer = errors ? ({ kind: 'errors', errors } as const) : await modal.submit(submission);
      await form.show(answer);
      return { result: answer.kind === 'errors' ? 'unreadable' : 'answered' };
    },
    screen: form.screen,
  };
  await answer(request, { ...side, patienceMs: side.submitMs });
  await form.ended();
}

/** The modal's own effect, not its command's. */
function effectOf({ effect = 'money' }: ModalDefinition): Effect {
  return effect;
}

const nextByEffect: Record<Effect, string> = {
  none: 'If none comes, type the command again: nothing was charged or changed.',
  access: 'If none comes, look whether it was changed before you send it again.',
  money: 'If none comes, look at /pay doubt before you charge again.',
};

type FormScreen = {
  screen: Screen;
  show: (answer: ViewAnswer) => Promise<void>;
  /** Resolves when the form's `carryOn` has ended. */
  ended: () => Promise<void>;
};

function createFormScreen(ack: AckFn<ViewResponseAction>, submitted: Submitted, side: SlackSide): FormScreen {
  const { client, log, resultMs } = side;
  const { caller, part, body, account } = submitted;
  const viewId = body.view.id;
  let isOpen = true;
  let carryingOn: Promise<void> = Promise.resolve();
  // `hurry` acknowledges the open form at once; `release` lets updates go that wait for the acknowledgement.
  let hurry: (() => void) | undefined;
  let release: (() => void) | undefined;

  /** Shows the answer in the acknowledgement if the form is open; else by an update of the modal. */
  async function tell(answer: ViewAnswer): Promise<void> {
    if (isOpen) {
      isOpen = false;
      try {
        return await (answer.kind === 'close' ? ack() : ack(toViewResponse(answer, body.view.blocks)));
      } catch (error) {
        // The connection closed; the work goes on without an acknowledgement.
        log('warn', 'Slack could not be told the answer to a form', {}, error);
      } finally {
        release?.();
      }
    }
    await updateModal(client, { viewId, modal: lateModal(answer) }, log);
  }

  async function carryOn(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const moneyMayHaveMoved = effectOf(part) === 'money';
      const doing = { who: caller, verb: submitted.command.verb, moneyMayHaveMoved };
      const { message } = errorReply(error, doing, log);
      // The modal may be closed, so send a direct message.
      await createReply({ userId: caller.userId }, client, log)(message);
    }
  }

  /**
   * Waits for a quick result, to show it in the acknowledgement: a separate update could reach Slack before the
   * acknowledgement. The update is sent too, because only Slack's answer to it says whether the modal was closed.
   */
  async function tellResult(waiting: Modal, work: () => Promise<void>): Promise<void> {
    const stop = new AbortController();
    hurry = () => stop.abort();
    let modal = waiting;
    release = holdForm(client, viewId, (offered) => {
      if (JSON.stringify(offered) === JSON.stringify(modal)) return 'same';
      modal = offered;
      stop.abort();
      return 'newer';
    });
    begin(work);
    void carryingOn.then(() => sleep(lastUpdateMs)).then(() => stop.abort());
    await sleep(resultMs, undefined, { signal: stop.signal }).catch(() => undefined);
    await tell({ kind: 'update', modal });
  }

  function begin(work: () => Promise<void>): void {
    carryingOn = inAccount(account.merchant, () => carryOn(work));
  }

  async function show(answer: ViewAnswer): Promise<void> {
    if (answer.kind !== 'update' || !answer.carryOn) return await tell(answer);
    if (isOpen) return await tellResult(answer.modal, answer.carryOn);
    await tell(answer);
    begin(answer.carryOn);
  }

  const sayProblem = (title: string, message: Parameters<typeof messageModal>[1]): Promise<void> =>
    tell({ kind: 'update', modal: messageModal(title, message) });
  return {
    show,
    ended: () => carryingOn,
    screen: {
      acknowledge: () => undefined,
      openLoading: () => undefined,
      done: () => Promise.resolve(),
      async openModal(modal) {
        await tell({ kind: 'update', modal });
        return viewId;
      },
      updateModal: (modal) => tell({ kind: 'update', modal }),
      reply: (message) => sayProblem('Pay', message),
      sayBeside: (message) => sayProblem('Pay', message),
      sayProblem,
      async sayMeanwhile() {
        if (!isOpen) return false;
        if (hurry) {
          hurry();
          return true;
        }
        const { ifNoAnswer = nextByEffect[effectOf(part)] } = part;
        await tell({ kind: 'update', modal: noAnswerYetModal(ifNoAnswer) });
        return true;
      },
    },
  };
}

/** The work may end before its last update is sent, so wait this long for that update. */
const lastUpdateMs = 100;

/** `blocks`: the submitted view's, to name a field by its present block id. */
export function toViewResponse(
  answer: Exclude<ViewAnswer, { kind: 'close' }>,
  blocks: ViewOutput['blocks'],
): ViewResponseAction {
  if (answer.kind === 'update') return { response_action: 'update', view: withNewIds(answer.modal) };
  const errors = Object.entries(answer.errors).map(([name, words]) => {
    const block = blocks.find(({ block_id: id = '' }) => id === name || fieldName(id) === name);
    return [block?.block_id ?? name, words];
  });
  return { response_action: 'errors', errors: Object.fromEntries(errors) as Record<string, string> };
}

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
