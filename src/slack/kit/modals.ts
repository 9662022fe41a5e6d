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

/** `onTop`: pressed in a modal, which stays below. */
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

type WaitingForm = { offer: (modal: Modal) => 'said' | 'new'; acknowledged: Promise<void> };
const waitingForms = new WeakMap<WebClient, Map<string, WaitingForm>>();

/**
 * Register a submitted form that waits for its acknowledgement. Meanwhile `updateModal` first offers each update to be
 * that acknowledgement, and otherwise sends it after the acknowledgement, so Slack gets them in order. An update equal to
 * the acknowledgement (`said`) counts as shown. Returns the function to call once the form is acknowledged.
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
    if (form.offer(to.modal) === 'said') return 'shown';
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

/** Nothing to submit: no press or form comes back. */
const wordsModalId = 'payops_words';

function saidModal(title: string, ...lines: readonly Run[][]): Modal {
  return modal({ callbackId: wordsModalId, title, blocks: [richText(...lines)] });
}

/** A message as a modal. */
export function messageModal(title: string, { text, blocks }: SlackMessage): Modal {
  if (blocks.length === 0) return saidModal(title, rich`${text}`);
  return modal({ callbackId: wordsModalId, title, blocks });
}

/** Opens while a slow form loads: its trigger lives three seconds. */
export function loadingModal(): Modal {
  return saidModal('One moment', rich`⏳ Loading …`);
}

/** Slack's three seconds for a form are nearly over. `next`: where to look then. */
export function noAnswerYetModal(next: string): Modal {
  const said = rich`⏳ The bot is still working on it. The answer follows here: don’t send it again.`;
  return saidModal('No answer yet', said, rich`${next}`);
}

/** Answers a form that is no longer open: its fields can't show errors. */
export function lateErrorsModal(errors: Readonly<Record<string, string>>): Modal {
  const lines = Object.values(errors).map((error) => rich`${error}`);
  return saidModal('Fix the form', ...lines, rich`Nothing was used. Type the command again to correct it.`);
}

/** For a modal that only the person can still close. */
export function finishedModal(): Modal {
  return saidModal('Done', rich`The bot is done with this form. You can close it.`);
}
