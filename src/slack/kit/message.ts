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
 * The blocks that every surface of every workspace takes. Newer kinds (table, alert, card, markdown) are rolled out in
 * phases, and Slack refuses a whole message or modal for one that a workspace does not know: none is sent.
 */
export type HomeBlock =
  | ActionsBlock
  | ContextBlock
  | DividerBlock
  | HeaderBlock
  | ImageBlock
  | RichTextBlock
  | SectionBlock;

/** The blocks a modal or the App Home may hold: inputs stand nowhere else. */
export type ModalBlock = HomeBlock | InputBlock;

export type Home = { blocks: ModalBlock[] };

export type Modal = Omit<ModalView, 'blocks'> & { blocks: ModalBlock[] };

/**
 * One message, ready for any way of sending it. `text` is the first line's sentence, escaped for mrkdwn:
 * what notifications show and screen readers read instead of the blocks.
 */
export type SlackMessage = {
  text: string;
  blocks: HomeBlock[];
  /** Kept by Slack with the message; never secret. The key finds an alert again after a crash. */
  metadata?: { event_type: string; event_payload: { key: string } };
};
