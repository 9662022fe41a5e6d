import type { Button, ContextBlock } from '@slack/types';
import { actions, context, headline, modal, plainText, richText, type Run } from './blocks.ts';
import type { HomeBlock, Modal, SlackMessage } from './message.ts';

/** What is said of one thing, written once for every place it is shown in. */
export type Note = {
  /** Symbol and words of where it stands; in bold. */
  state: string;
  /** A channel by its id, named right after the state. */
  channel?: string;
  /** What follows in the first line: how much, whose, which reference. Outside text that was cleaned. */
  about?: readonly string[];
  /** Lines, which stand together until a block comes between them, and blocks. Lines without words are left out. */
  body?: readonly (readonly Run[] | HomeBlock)[];
  buttons?: readonly Button[];
  foot?: ContextBlock;
};

export function noteMessage(note: Note): SlackMessage {
  const { state, channel, about = [], body = [], buttons = [], foot } = note;
  const { text, block } = headline(state, about, channel);
  const row = buttons.length === 0 ? [] : [actions(...buttons)];
  return { text, blocks: [block, ...blocksOf(body), ...row, ...(foot ? [foot] : [])] };
}

/** The same as a window; nothing is submitted in it. */
export function noteModal(
  note: Note,
  window: { callbackId: string; title: string; privateMetadata?: string },
): Modal {
  return modal({ ...window, blocks: noteMessage(note).blocks });
}

function blocksOf(body: NonNullable<Note['body']>): HomeBlock[] {
  const blocks: HomeBlock[] = [];
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

function isLine(part: readonly Run[] | HomeBlock): part is readonly Run[] {
  return Array.isArray(part);
}

/** What a message says of itself, so that it can be posted, found again, and known for a possible repeat. */
export type AboutMessage = { key: string; mayBeRepeat: boolean };

/** A message that the bot keeps right in its place. `eventType` says what it is about. */
export function posted(message: SlackMessage, eventType: string, about: AboutMessage): SlackMessage {
  const { text, blocks } = message;
  return {
    text,
    blocks: [...blocks, ...repeatMark(about.mayBeRepeat)],
    metadata: { event_type: eventType, event_payload: { key: about.key } },
  };
}

/** An answer of Slack was lost, and the channel's history could not be read. */
export function repeatMark(mayBeRepeat: boolean): ContextBlock[] {
  return mayBeRepeat ? [context(plainText('May be a repeat: Slack didn’t confirm an earlier post.'))] : [];
}
