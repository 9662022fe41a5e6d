import type { WebClient } from '@slack/web-api';
import type { Log } from '../../log.ts';
import { modal, rich, richText, type Run } from './blocks.ts';
import type { OpenModal } from '../command.ts';
import { withNewIds } from './field-ids.ts';
import type { Modal, SlackMessage } from './message.ts';
import { fixFor, readSlackError, slackErrorWord } from '../slack-error.ts';

/** Slack did not open a modal, or did not say that it had. */
export class ModalRefused extends Error {
  readonly slackError: string;

  constructor(slackError: string, options?: ErrorOptions) {
    super(`Slack opened no modal: ${slackError}`, options);
    this.name = 'ModalRefused';
    this.slackError = slackError;
  }

  /** The three seconds were over, or another modal was opened for the same press. */
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

/** `onTop`: the person pressed in a modal, and that one stays below. */
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
 * While a submitted form's request waits: what would take the form's place is offered as its answer first, and takes its
 * place only after that was given. What the answer says already (`said`) is shown by it, so that it keeps nothing newer
 * waiting. Gives what ends it: once the answer is given.
 */
export function holdForm(client: WebClient, viewId: string, offer: WaitingForm['offer']): () => void {
  const { promise: acknowledged, resolve } = Promise.withResolvers<void>();
  const all = waitingForms.get(client) ?? new Map<string, WaitingForm>();
  const form = { offer, acknowledged };
  waitingForms.set(client, all.set(viewId, form));
  return () => {
    // The same form may have been brought a second time.
    if (all.get(viewId) === form) all.delete(viewId);
    resolve();
  };
}

/**
 * Puts another modal in the place of the one of that view id. Never throws: a modal may be closed at any
 * time, so nothing that must be known may be told by this alone.
 */
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

/** No press and no form comes back from it: it has nothing to submit. */
const wordsModalId = 'payops_words';

function saidModal(title: string, ...lines: readonly Run[][]): Modal {
  return modal({ callbackId: wordsModalId, title, blocks: [richText(...lines)] });
}

/** The words of a message as a modal. */
export function wordsModal(title: string, { text, blocks }: SlackMessage): Modal {
  if (blocks.length === 0) return saidModal(title, rich`${text}`);
  return modal({ callbackId: wordsModalId, title, blocks });
}

/** A form that is not ready within a moment: its trigger lives three seconds, and what it shows may take longer. */
export function loadingModal(): Modal {
  return saidModal('One moment', rich`⏳ Loading …`);
}

/** Slack's three seconds for a submitted form are nearly over. Says what is not known; `next` is where to look then. */
export function noAnswerYetModal(next: string): Modal {
  const said = rich`⏳ The bot is still working on it. The answer follows here: don’t send it again.`;
  return saidModal('No answer yet', said, rich`${next}`);
}

/** The answer to a form that is no longer on the screen: its fields can show nothing. */
export function lateErrorsModal(errors: Readonly<Record<string, string>>): Modal {
  const lines = Object.values(errors).map((error) => rich`${error}`);
  return saidModal('Fix the form', ...lines, rich`Nothing was used. Type the command again to correct it.`);
}

/** A modal that should have closed; only the person can close it by now. */
export function finishedModal(): Modal {
  return saidModal('Done', rich`The bot is done with this form. You can close it.`);
}
