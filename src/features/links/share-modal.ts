import type { InputBlock } from '@slack/types';
import type { PaymentLink } from '../../domain/payment-link.ts';
import { modal, plainText, richText } from '../../slack/kit/blocks.ts';
import { plain } from '../../slack/words/charge-facts.ts';
import { placeFoot, placeTitle, type ChargePlace } from '../../slack/words/charge-place.ts';
import type { ViewValues } from '../../slack/command.ts';
import type { Modal } from '../../slack/kit/message.ts';
import { shareModalId } from './link-actions.ts';
import { linkHeadline } from './link-message.ts';

export const shareField = 'link_share_channel';

/** Asks for the channel that gets a card of this link as well. */
export function shareModal(link: PaymentLink, place: ChargePlace): Modal {
  return modal({
    callbackId: shareModalId,
    title: placeTitle('Share a link', place),
    blocks: [
      linkHeadline(link).block,
      richText(plain('Everybody in the channel sees the link, the amount and the masked e-mail.')),
      channelInput(),
      placeFoot(place),
    ],
    submit: 'Share it',
    privateMetadata: link.reference,
  });
}

function channelInput(): InputBlock {
  return {
    type: 'input',
    block_id: shareField,
    label: plainText('Channel'),
    element: {
      type: 'conversations_select',
      action_id: shareField,
      default_to_current_conversation: true,
      filter: { include: ['public', 'private'], exclude_bot_users: true },
    },
  };
}

export function readShareModal(values: ViewValues): string | undefined {
  return values[shareField];
}

export const cannotPostProblem =
  'The bot cannot post there. Invite it to the channel first, or choose another.';
