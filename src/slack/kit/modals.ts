import type { WebClient } from '@slack/web-api';
import type { Log } from '../../log.ts';
import { modal, rich, richText, type Run } from './blocks.ts';
import type { OpenModal } from '../command.ts';
import { withNewIds } from './field-ids.ts';
import type { Modal, SlackMessage } from './message.ts';
import { fixFor, readSlackError, slackErrorWord } from '../slack-error.ts';

/** Slack did not open the modal, or did not answer. */
export class ModalRefused extends Error {
  readonly slackError: string;

  constructor(slackError: string, options?: ErrorOptions) {
    super(`Slack opened no modal: ${slackError}`, options);
    this.name = 'ModalRefused';
    this.slackError = slackError;
  }

  /** The three seconds were over, or another modal opened for the same press. */
  get isTooLate(): boolean {
    return tooLate.has(this.slackError);
  }
}

const tooLate = new Set([
  'expired_trigger_id',
  'exchanged_trigger_id',
  'trigger_expired',
  'trigger_exchanged',
]);

/** `onTop`: the button was in a modal, which stays below the new one. */
export function createOpenModal(client: WebClient, from: { triggerId: string; onTop: boolean }): OpenModal {
  return async function openModal(view) {
    const content = { trigger_id: from.triggerId, view };
    const shown = await client.views[from.onTop ? 'push' : 'open'](content).catch((error: unknown) => {
      throw new ModalRefused(slackErrorWord(readSlackError(error)), { cause: error });
    });
    if (shown.view?.id === undefined) throw new ModalRefused('no_usable_answer');
    return shown.view.id;
  };
}

type WaitingForm = { offer: (modal: Modal) => 'same' | 'newer'; acknowledged: Promise<void> };
const waitingForms = new WeakMap<WebClient, Map<string, WaitingForm>>();

/**
 * Registers a submitted form that waits for its acknowledgement. Until then `updateModal` offers each modal to the
 * acknowledgement. `same`: the acknowledgement shows this modal already, so the update counts as shown. `newer`: the
 * acknowledgement will show it, and the update is sent after it. Returns the function to call once the form is
 * acknowledged.
 */
export function holdForm(client: WebClient, viewId: string, offer: WaitingForm['offer']): () => void {
  const { promise: acknowledged, resolve } = Promise.withResolvers<void>();
  const all = waitingForms.get(client) ?? new Map<string, WaitingForm>();
  const form = { offer, acknowledged };
  waitingForms.set(client, all.set(viewId, form));
  return () => {
    // A second delivery of the form may have replaced it.
    if (all.get(viewId) === form) all.delete(viewId);
    resolve();
  };
}

/** Replaces the modal with that view id. Never throws: the modal may be closed, so don't put vital news here alone. */
export async function updateModal(
  client: WebClient,
  to: { viewId: string; modal: Modal },
  log: Log,
): Promise<'shown' | 'closed' | 'not_shown'> {
  const form = waitingForms.get(client)?.get(to.viewId);
  if (form) {
    if (form.offer(to.modal) === 'same') return 'shown';
    await form.acknowledged;
  }
  try {
    await client.views.update({ view_id: to.viewId, view: withNewIds(to.modal) });
    return 'shown';
  } catch (error) {
    const slackError = slackErrorWord(readSlackError(error));
    if (slackError === 'not_found') {
      log('debug', 'A modal was closed before it could be updated', { slackError });
      return 'closed';
    }
    log('warn', 'A modal could not be updated', { slackError, fix: fixFor(slackError) });
    return 'not_shown';
  }
}

/** No command has this id: these modals have nothing to submit. */
const messageModalId = 'payops_words';

function linesModal(title: string, ...lines: readonly Run[][]): Modal {
  return modal({ callbackId: messageModalId, title, blocks: [richText(...lines)] });
}

export function messageModal(title: string, { text, blocks }: SlackMessage): Modal {
  if (blocks.length === 0) return linesModal(title, rich`${text}`);
  return modal({ callbackId: messageModalId, title, blocks });
}

/** Opens while a slow form loads: its trigger lives three seconds. */
export function loadingModal(): Modal {
  return linesModal('One moment', rich`⏳ Loading …`);
}

/** Slack's three seconds for a form are nearly over. `next`: where to look if no answer comes. */
export function noAnswerYetModal(next: string): Modal {
  const said = rich`⏳ The bot is still working on it. The answer follows here: don’t send it again.`;
  return linesModal('No answer yet', said, rich`${next}`);
}

/** Field errors of a form that was already acknowledged, so its fields can't show them. */
export function lateErrorsModal(errors: Readonly<Record<string, string>>): Modal {
  const lines = Object.values(errors).map((error) => rich`${error}`);
  return linesModal('Fix the form', ...lines, rich`Nothing was used. Type the command again to correct it.`);
}

/** The bot is done with a modal that only the person can close. */
export function finishedModal(): Modal {
  return linesModal('Done', rich`The bot is done with this form. You can close it.`);
}
