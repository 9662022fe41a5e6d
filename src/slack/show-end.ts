import type { WebClient } from '@slack/web-api';
import type { Log } from '../log.ts';
import type { MerchantIds } from './merchant-ids.ts';
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

export function createShowEnd({
  client,
  log,
  ids,
}: {
  client: WebClient;
  log: Log;
  /** The ids of an account’s modals and messages. */
  ids?: MerchantIds | undefined;
}): ShowEnd {
  return async function showEnd({ viewId, userId }, made) {
    const modal = ids?.modal(made.modal) ?? made.modal;
    const result = await updateModal(client, { viewId, modal }, log);
    if (result === 'shown' || !made.message) return;
    const message = ids?.message(made.message) ?? made.message;
    const reply = createReply({ caller: { userId }, respond: undefined, replaces: 'nothing' }, client, log);
    await reply(message);
  };
}
