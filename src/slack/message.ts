import type {
  ActionsBlock,
  AlertBlock,
  CardBlock,
  ContextActionsBlock,
  ContextBlock,
  DividerBlock,
  HeaderBlock,
  ImageBlock,
  InputBlock,
  MarkdownBlock,
  ModalView,
  RichTextBlock,
  SectionBlock,
  TableBlock,
} from '@slack/types';

/** The blocks an App Home may hold, and every other surface too. */
export type HomeBlock =
  | ActionsBlock
  | ContextBlock
  | DividerBlock
  | HeaderBlock
  | ImageBlock
  | RichTextBlock
  | SectionBlock;

/** The blocks a message may hold; Slack's own type allows all of them everywhere. */
export type MessageBlock = HomeBlock | CardBlock | ContextActionsBlock | MarkdownBlock | TableBlock;

/** The blocks a modal may hold: inputs and alerts stand nowhere else. */
export type ModalBlock = HomeBlock | AlertBlock | InputBlock;

export type Modal = Omit<ModalView, 'blocks'> & { blocks: ModalBlock[] };

/**
 * One message, ready for any way of sending it. `text` is the first line's sentence, escaped for mrkdwn:
 * what notifications show and screen readers read instead of the blocks.
 */
export type SlackMessage = {
  text: string;
  blocks: MessageBlock[];
  /** Kept by Slack with the message; never secret. The key finds an alert again after a crash. */
  metadata?: { event_type: string; event_payload: { key: string } };
};
