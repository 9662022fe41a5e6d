import type {
  ActionsBlock,
  CardBlock,
  ContextActionsBlock,
  ContextBlock,
  DividerBlock,
  HeaderBlock,
  ImageBlock,
  MarkdownBlock,
  RichTextBlock,
  SectionBlock,
  TableBlock,
} from '@slack/types';

/** The blocks a message may hold; a modal's are others, and Slack's own type allows all of them everywhere. */
export type MessageBlock =
  | ActionsBlock
  | CardBlock
  | ContextActionsBlock
  | ContextBlock
  | DividerBlock
  | HeaderBlock
  | ImageBlock
  | MarkdownBlock
  | RichTextBlock
  | SectionBlock
  | TableBlock;

/**
 * One message, ready for any way of sending it. `text` is the first line's sentence: what notifications
 * show and screen readers read instead of the blocks.
 */
export type SlackMessage = {
  text: string;
  blocks: MessageBlock[];
  /** Kept by Slack with the message; never secret. The key finds an alert again after a crash. */
  metadata?: { event_type: string; event_payload: { key: string } };
};
