import type { WebClient } from '@slack/web-api';
import { bold, richText, words } from './blocks.ts';
import type { Modal, ModalBlock } from './message.ts';
import { isAboutMessage, readSlackError } from './slack-error.ts';

/** Workspaces that have refused an alert box and taken the same words without one. */
const withoutBoxes = new WeakSet<WebClient>();

/** The modal as this workspace takes it, as far as that is known: for what is answered and not sent. */
export function fitting(client: WebClient, modal: Modal): Modal {
  return withoutBoxes.has(client) ? withoutAlerts(modal) : modal;
}

/**
 * Sends a modal, and once more with its alert boxes as plain lines when Slack objects to it: Slack rolls alert
 * boxes out in phases, and nobody must be kept from charging by a coloured box. Throws what Slack then says.
 */
export async function sendFitting<T>(
  client: WebClient,
  modal: Modal,
  send: (modal: Modal) => Promise<T>,
): Promise<T> {
  const fit = fitting(client, modal);
  try {
    return await send(fit);
  } catch (error) {
    const problem = readSlackError(error);
    const hasBoxes = fit.blocks.some(({ type }) => type === 'alert');
    if (!hasBoxes || problem.kind !== 'refused' || !isAboutMessage(problem.slackError)) throw error;
    const sent = await send(withoutAlerts(modal));
    withoutBoxes.add(client);
    return sent;
  }
}

function withoutAlerts(modal: Modal): Modal {
  return { ...modal, blocks: modal.blocks.map(plainLine) };
}

function plainLine(block: ModalBlock): ModalBlock {
  if (block.type !== 'alert') return block;
  const symbol = block.level === 'info' || block.level === 'success' ? 'ℹ️' : '⚠️';
  return richText([bold(`${symbol} `), words(block.text.text)]);
}
