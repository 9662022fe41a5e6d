import type { ViewOutput } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import type { Log } from '../../log.ts';
import type { OpenModal } from '../command.ts';
import type { Modal, SlackMessage } from '../kit/message.ts';
import { finishedModal, loadingModal, ModalRefused, updateModal, messageModal } from '../kit/modals.ts';
import type { Acknowledgement, Reply } from '../reply.ts';

/** One person's view of one request, updated in order. */
export type Screen = {
  openModal: OpenModal;
  reply: Reply;
  /** Acknowledges now, before slow work. */
  acknowledge: () => void;
  /** Replaces the modal that holds the pressed button. */
  updateModal: (modal: Modal) => Promise<void>;
  /** Opens a loading form unless something is shown; the next answer replaces it. */
  openLoading: () => void;
  /** Shows progress, unless something is shown already. False: no more progress messages are needed. */
  sayMeanwhile: (message: SlackMessage) => Promise<boolean>;
  /** Above the modal that holds the pressed button; without one, or if Slack refuses, as a message. */
  sayProblem: (title: string, message: SlackMessage) => Promise<void>;
  /** An extra message that replaces nothing; no message for a button in a modal. */
  sayBeside: (message: SlackMessage) => Promise<void>;
  /** Ends a loading form. */
  done: () => Promise<void>;
};

/** The ways to reach the person. */
type Ways = {
  client: WebClient;
  log: Log;
  /** The request's name: the title of a message that is shown in place of a loading form. */
  label: string;
  openModal: OpenModal;
  reply: Reply;
  /** A reply that replaces no message; default `reply`. */
  beside?: Reply;
  /** For a request that is not acknowledged yet. */
  acknowledgement?: Acknowledgement;
  /** The modal that holds the pressed button. */
  view?: ViewOutput | undefined;
};

export function createScreen(ways: Ways): Screen {
  const { client, log, label, view } = ways;
  let hasSpoken = false;
  /** The progress message or loading form being shown; resolves to the loading form's view id. */
  let meanwhile: Promise<string | undefined> = Promise.resolve(undefined);

  /** Ends progress. The first caller gets the loading form's view id, to replace the form. */
  async function speak(): Promise<string | undefined> {
    hasSpoken = true;
    const waiting = await meanwhile;
    meanwhile = Promise.resolve(undefined);
    return waiting;
  }
  const update = (viewId: string, modal: Modal) => updateModal(client, { viewId, modal }, log);

  const acknowledge = (): void => void ways.acknowledgement?.alone();

  async function openModal(modal: Modal): Promise<string> {
    acknowledge();
    const waiting = await speak();
    if (waiting === undefined) return await ways.openModal(modal);
    if ((await update(waiting, modal)) === 'not_shown') throw new ModalRefused('not_shown');
    return waiting;
  }
  async function reply(message: SlackMessage, inDirect?: SlackMessage): Promise<void> {
    const waiting = await speak();
    if (waiting !== undefined && (await update(waiting, messageModal(label, message))) === 'shown') return;
    await ways.reply(message, inDirect);
  }
  return {
    openModal,
    reply,
    acknowledge,
    async updateModal(modal) {
      const viewId = (await speak()) ?? view?.id;
      if (viewId !== undefined) await update(viewId, modal);
    },
    openLoading() {
      if (hasSpoken) return;
      hasSpoken = true;
      acknowledge();
      // If Slack refuses, opening the form itself will report the refusal.
      meanwhile = ways.openModal(loadingModal()).catch(() => undefined);
    },
    async sayMeanwhile(message) {
      // In a modal no progress is needed: the result appears in the modal.
      if (hasSpoken || view) return false;
      meanwhile = ways.reply(message).then(() => undefined);
      await meanwhile;
      return true;
    },
    async sayProblem(title, message) {
      const waiting = await speak();
      const modal = messageModal(title, message);
      if (waiting !== undefined && (await update(waiting, modal)) === 'shown') return;
      if (view && waiting === undefined) {
        const isShown = await ways.openModal(modal).then(
          () => true,
          () => false,
        );
        if (isShown) return;
      }
      await ways.reply(message);
    },
    async sayBeside(message) {
      if (!view) await (ways.beside ?? ways.reply)(message);
    },
    async done() {
      acknowledge();
      const waiting = await speak();
      if (waiting !== undefined) await update(waiting, finishedModal());
    },
  };
}
