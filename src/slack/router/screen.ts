import type { ViewOutput } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import type { Log } from '../../log.ts';
import type { OpenModal } from '../command.ts';
import type { Modal, ModalBlock, SlackMessage } from '../kit/message.ts';
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
  sayProblem: (title: string, message: SlackMessage, mayPush: boolean) => Promise<void>;
  /** Beside everything else: takes the place of nothing. */
  sayBeside: (message: SlackMessage) => Promise<void>;
  /** Takes back what was only said meanwhile. */
  done: () => Promise<void>;
};

/** How the person can be reached. */
export type Ways = {
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
  let takeBack: (() => Promise<void>) | undefined;

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
    if ((await update(waiting, modal)) === 'not_shown') throw new ModalRefused('unreachable', 'not_shown');
    return waiting;
  }
  async function reply(message: SlackMessage, inDirect?: SlackMessage): Promise<void> {
    const waiting = await speak();
    if (waiting !== undefined && (await update(waiting, wordsModal(label, message))) === 'shown') return;
    await ways.reply(message, inDirect);
  }
  async function sayInModal(message: SlackMessage): Promise<void> {
    takeBack = view && (await noteOn(client, view, message));
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
      if (hasSpoken) return false;
      meanwhile = (view ? sayInModal(message) : ways.reply(message)).then(() => undefined);
      await meanwhile;
      return true;
    },
    async sayProblem(title, message, mayPush) {
      const waiting = await speak();
      const modal = wordsModal(title, message);
      if (waiting !== undefined && (await update(waiting, modal)) === 'shown') return;
      if (view && mayPush && waiting === undefined) {
        const isShown = await ways.openModal(modal).then(
          () => true,
          () => false,
        );
        if (isShown) return;
      }
      await ways.reply(message);
    },
    sayBeside: async (message) => await (view ? sayInModal(message) : (ways.beside ?? ways.reply)(message)),
    async done() {
      letGo();
      const waiting = await speak();
      if (waiting !== undefined) await update(waiting, finishedModal());
      await takeBack?.();
    },
  };
}

/**
 * A line above the modal that was pressed in, as long as it is as it was when it was pressed. Gives what takes the line
 * back, which does nothing once the modal has changed.
 */
async function noteOn(
  client: WebClient,
  { id, hash, callback_id, title, submit, close, private_metadata, notify_on_close, ...rest }: ViewOutput,
  { blocks: note }: SlackMessage,
): Promise<(() => Promise<void>) | undefined> {
  const blocks = rest.blocks as ModalBlock[];
  const own: Modal = {
    type: 'modal',
    callback_id,
    title,
    blocks,
    private_metadata,
    notify_on_close,
    ...(submit ? { submit } : {}),
    ...(close ? { close } : {}),
  };
  try {
    const view = { ...own, blocks: [...note, ...blocks] };
    const shown = await client.views.update({ view_id: id, hash, view });
    const newHash = shown.view?.hash;
    return async () => {
      if (newHash === undefined) return;
      await client.views.update({ view_id: id, hash: newHash, view: own }).catch(() => undefined);
    };
  } catch {
    return undefined;
  }
}
