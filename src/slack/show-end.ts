import type { WebClient } from '@slack/web-api';
import type { Log } from '../log.ts';
import type { Modal, SlackMessage } from './kit/message.ts';
import { updateModal } from './kit/modals.ts';
import { createReply } from './reply.ts';

/**
 * Puts what became of it into the modal, or tells the person by direct message when they have closed it or
 * Slack does not show it; without a message something else tells them. Never throws.
 */
export type ShowEnd = (
  to: { viewId: string; userId: string },
  shown: { modal: Modal; message?: SlackMessage },
) => Promise<void>;

export function createShowEnd({ client, log }: { client: WebClient; log: Log }): ShowEnd {
  return async function showEnd({ viewId, userId }, { modal, message }) {
    const result = await updateModal(client, { viewId, modal }, log);
    if (result === 'shown' || !message) return;
    const reply = createReply({ caller: { userId }, respond: undefined, replaces: 'nothing' }, client, log);
    await reply(message);
  };
}
