import type {
  ActionsBlock,
  ContextBlock,
  DividerBlock,
  HeaderBlock,
  ImageBlock,
  InputBlock,
  ModalView,
  RichTextBlock,
  SectionBlock,
} from '@slack/types';

/**
 * Blocks that every workspace takes. Newer kinds (table, alert, card, markdown) roll out in phases, and Slack refuses a
 * whole message with an unknown one: send none.
 */
export type MessageBlock =
  | ActionsBlock
  | ContextBlock
  | DividerBlock
  | HeaderBlock
  | ImageBlock
  | RichTextBlock
  | SectionBlock;

/** Blocks of a view, which is a modal or the App Home: only views may have inputs. */
export type ViewBlock = MessageBlock | InputBlock;

export type Home = { blocks: ViewBlock[] };

export type Modal = Omit<ModalView, 'blocks'> & { blocks: ViewBlock[] };

/**
 * One message, ready to send. `text` is the first line's sentence, escaped for mrkdwn, for notifications and screen
 * readers.
 */
export type SlackMessage = {
  text: string;
  blocks: MessageBlock[];
  /** Stored by Slack with the message, so never secret. The bot finds a post again by it after a crash. */
  metadata?: { event_type: string; event_payload: { key: string } };
};
