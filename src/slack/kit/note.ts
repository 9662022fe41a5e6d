import type { Button, ContextBlock } from '@slack/types';
import { actions, context, headline, modal, plainText, richText, type Run } from './blocks.ts';
import type { MessageBlock, Modal, SlackMessage } from './message.ts';

/** A message about one thing, drawn the same on every surface. */
export type Note = {
  /** Symbol and state, in bold. */
  state: string;
  /** A channel id, named right after the state. */
  channel?: string;
  /** The rest of the first line: amount, customer, reference. Cleaned outside text. */
  about?: readonly string[];
  /** Lines and blocks; adjacent lines form one block. Empty lines are left out. */
  body?: readonly (readonly Run[] | MessageBlock)[];
  buttons?: readonly Button[];
  foot?: ContextBlock;
};

export function noteMessage(note: Note): SlackMessage {
  const { state, channel, about = [], body = [], buttons = [], foot } = note;
  const { text, block } = headline(state, about, channel);
  const row = buttons.length === 0 ? [] : [actions(...buttons)];
  return { text, blocks: [block, ...blocksOf(body), ...row, ...(foot ? [foot] : [])] };
}

/** The note as a modal, without anything to submit. */
export function noteModal(
  note: Note,
  window: { callbackId: string; title: string; privateMetadata?: string },
): Modal {
  return modal({ ...window, blocks: noteMessage(note).blocks });
}

function blocksOf(body: NonNullable<Note['body']>): MessageBlock[] {
  const blocks: MessageBlock[] = [];
  let lines: (readonly Run[])[] = [];
  function endLines(): void {
    if (lines.length > 0) blocks.push(richText(...lines));
    lines = [];
  }
  for (const part of body) {
    if (isLine(part)) {
      if (part.length > 0) lines.push(part);
    } else {
      endLines();
      blocks.push(part);
    }
  }
  endLines();
  return blocks;
}

function isLine(part: readonly Run[] | MessageBlock): part is readonly Run[] {
  return Array.isArray(part);
}

/** One attempt at a post. `key` finds it in the channel's history; `mayBeRepeat`: an earlier attempt may have arrived. */
export type PostAttempt = { key: string; mayBeRepeat: boolean };

/** Adds the metadata that finds the post again, and a mark if it may be a repeat. `eventType`: the kind of message. */
export function forPosting(message: SlackMessage, eventType: string, about: PostAttempt): SlackMessage {
  const { text, blocks } = message;
  return {
    text,
    blocks: [...blocks, ...repeatMark(about.mayBeRepeat)],
    metadata: { event_type: eventType, event_payload: { key: about.key } },
  };
}

/** Shown if an answer of Slack was lost and the channel's history was unreadable. */
export function repeatMark(mayBeRepeat: boolean): ContextBlock[] {
  return mayBeRepeat ? [context(plainText('May be a repeat: Slack didn’t confirm an earlier post.'))] : [];
}
