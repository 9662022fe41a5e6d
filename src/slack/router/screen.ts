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
  /** Acknowledges now: what follows is slow. */
  letGo: () => void;
  /** Replaces the modal that was pressed in. */
  updateModal: (modal: Modal) => Promise<void>;
  /** Opens a loading form unless something is shown; the next answer replaces it. */
  openLoading: () => void;
  /** Shows progress, unless something is shown already. False: no more progress messages are needed. */
  sayMeanwhile: (message: SlackMessage) => Promise<boolean>;
  /** On top of the modal that was pressed in; else, or if Slack refuses, as a message. */
  sayProblem: (title: string, message: SlackMessage) => Promise<void>;
  /** An extra message that replaces nothing. Not in a modal. */
  sayBeside: (message: SlackMessage) => Promise<void>;
  /** Ends a loading form. */
  done: () => Promise<void>;
};

/** The ways to reach the person. */
type Ways = {
  client: WebClient;
  log: Log;
  /** Names the request, as the title of words that replace a form. */
  label: string;
  openModal: OpenModal;
  reply: Reply;
  /** Replaces nothing; default `reply`. */
  beside?: Reply;
  /** Of a request not acknowledged yet. */
  acknowledgement?: Acknowledgement;
  /** The modal that was pressed in. */
  view?: ViewOutput | undefined;
};

export function createScreen(ways: Ways): Screen {
  const { client, log, label, view } = ways;
  let hasSpoken = false;
  /** The progress under way; gives a loading form's view id. */
  let meanwhile: Promise<string | undefined> = Promise.resolve(undefined);

  /** Gives the loading form to the first caller. */
  async function speak(): Promise<string | undefined> {
    hasSpoken = true;
    const waiting = await meanwhile;
    meanwhile = Promise.resolve(undefined);
    return waiting;
  }
  const update = (viewId: string, modal: Modal) => updateModal(client, { viewId, modal }, log);

  const letGo = (): void => void ways.acknowledgement?.alone();

  async function openModal(modal: Modal): Promise<string> {
    letGo();
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
    letGo,
    async updateModal(modal) {
      const viewId = (await speak()) ?? view?.id;
      if (viewId !== undefined) await update(viewId, modal);
    },
    openLoading() {
      if (hasSpoken) return;
      hasSpoken = true;
      letGo();
      // If refused, opening the form itself shows that refusal.
      meanwhile = ways.openModal(loadingModal()).catch(() => undefined);
    },
    async sayMeanwhile(message) {
      // In a modal the person watches that modal, and the result appears there.
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
      letGo();
      const waiting = await speak();
      if (waiting !== undefined) await update(waiting, finishedModal());
    },
  };
}
