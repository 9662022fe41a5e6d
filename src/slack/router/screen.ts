import type { ViewOutput } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import type { Log } from '../../log.ts';
import type { OpenModal } from '../command.ts';
import type { Modal, SlackMessage } from '../kit/message.ts';
import { finishedModal, loadingModal, ModalRefused, updateModal, wordsModal } from '../kit/modals.ts';
import type { Acknowledgement, Reply } from '../reply.ts';

/** What one person sees of one thing that they asked, each in its turn. */
export type Screen = {
  openModal: OpenModal;
  reply: Reply;
  /** Slack need not wait any longer: what follows takes its time. */
  letGo: () => void;
  /** Puts another modal in the place of the one that was pressed in. */
  updateModal: (modal: Modal) => Promise<void>;
  /** Opens a form that waits, unless something is shown by now: what is opened or told next takes its place. */
  openLoading: () => void;
  /** Says that it goes on, unless something is shown by now. False: nothing more need be said. */
  sayMeanwhile: (message: SlackMessage) => Promise<boolean>;
  /** On top of the modal that was pressed in, where the person looks; else, or when Slack opens none, as a message. */
  sayProblem: (title: string, message: SlackMessage) => Promise<void>;
  /** Beside everything else: takes the place of nothing. Not in a modal. */
  sayBeside: (message: SlackMessage) => Promise<void>;
  /** A form that waits says so no longer. */
  done: () => Promise<void>;
};

/** How the person can be reached. */
type Ways = {
  client: WebClient;
  log: Log;
  /** Names what was asked, as the title of words that take the place of a form. */
  label: string;
  openModal: OpenModal;
  reply: Reply;
  /** Takes the place of nothing; `reply` when absent. */
  beside?: Reply;
  /** Of a request that is not acknowledged yet. */
  acknowledgement?: Acknowledgement;
  /** The modal that was pressed in. */
  view?: ViewOutput | undefined;
};

export function createScreen(ways: Ways): Screen {
  const { client, log, label, view } = ways;
  let hasSpoken = false;
  /** What is being said meanwhile; gives the view id of a form that waits. */
  let meanwhile: Promise<string | undefined> = Promise.resolve(undefined);

  /** The form that waits, for the first who asks for it. */
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
    if (waiting !== undefined && (await update(waiting, wordsModal(label, message))) === 'shown') return;
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
      // Refused, the form itself is opened once more when it is ready, and that refusal is told.
      meanwhile = ways.openModal(loadingModal()).catch(() => undefined);
    },
    async sayMeanwhile(message) {
      // In a modal the person looks at what they pressed in; what becomes of it stands there.
      if (hasSpoken || view) return false;
      meanwhile = ways.reply(message).then(() => undefined);
      await meanwhile;
      return true;
    },
    async sayProblem(title, message) {
      const waiting = await speak();
      const modal = wordsModal(title, message);
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
