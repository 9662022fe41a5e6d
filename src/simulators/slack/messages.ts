import type { PageBlock, PageMessage, SharedFile } from '../protocol.ts';
import { botName, botUserId, slackbotId } from './directory.ts';
import type { Ids } from './ids.ts';

export type MessageMetadata = { event_type: string; event_payload: Record<string, unknown> };

/** A message's content, checked, with every block_id filled in. */
export type MessageContent = {
  text: string;
  blocks: PageBlock[];
  metadata?: MessageMetadata;
};

export type Message = MessageContent & {
  readonly ts: string;
  readonly channel: string;
  readonly threadTs?: string;
  readonly authorId: string;
  readonly authorName: string;
  /** Only this person sees it; the Web API doesn't know it. */
  readonly visibleTo?: string;
  editedTs?: string;
  files: readonly SharedFile[];
};

type Draft = MessageContent & {
  files?: readonly SharedFile[];
  channel: string;
  authorId: string;
  authorName: string;
  threadTs?: string | undefined;
  visibleTo?: string;
};

export function createMessages(ids: Ids) {
  const byChannel = new Map<string, Message[]>();
  const byTs = new Map<string, Message>();
  const byParent = new Map<string, Message[]>();

  /** Oldest first, ephemeral ones included. */
  function all(channelId: string): readonly Message[] {
    return byChannel.get(channelId) ?? [];
  }
  function replies(message: Message): readonly Message[] {
    return byParent.get(message.ts) ?? [];
  }
  /** Timestamps are unique in the whole workspace. */
  function at(channelId: string, ts: string): Message | undefined {
    const found = byTs.get(ts);
    return found?.channel === channelId ? found : undefined;
  }
  return {
    all,
    replies,
    post(draft: Draft) {
      const { threadTs, ...rest } = draft;
      const message: Message = {
        ...rest,
        ...(threadTs === undefined ? {} : { threadTs }),
        ts: ids.ts(),
        files: draft.files ?? [],
      };
      byTs.set(message.ts, message);
      append(byChannel, draft.channel, message);
      if (threadTs !== undefined) append(byParent, threadTs, message);
      return message;
    },
    /** A message as the Web API knows it: not an ephemeral one. */
    find(channelId: string, ts: string) {
      const found = at(channelId, ts);
      return found?.visibleTo === undefined ? found : undefined;
    },
    /** A message that this person can see and press, also an ephemeral one. */
    findFor(userId: string, channelId: string, ts: string) {
      const found = at(channelId, ts);
      return found === undefined || (found.visibleTo ?? userId) !== userId ? undefined : found;
    },
    edit(message: Message, content: MessageContent) {
      Object.assign(message, content);
      message.editedTs = ids.ts();
    },
    /** False if no message has it. */
    dropFile(id: string) {
      const holding = [...byTs.values()].find(({ files }) => files.some((file) => file.id === id));
      if (holding) holding.files = holding.files.filter((file) => file.id !== id);
      return holding !== undefined;
    },
    remove(message: Message) {
      byTs.delete(message.ts);
      drop(byChannel, message.channel, message);
      drop(byParent, message.threadTs ?? '', message);
    },
  };
}

function append(lists: Map<string, Message[]>, key: string, message: Message): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [message]);
  else list.push(message);
}

function drop(lists: Map<string, Message[]>, key: string, message: Message): void {
  lists.set(
    key,
    (lists.get(key) ?? []).filter((other) => other !== message),
  );
}

export function botDraft(channel: string, content: MessageContent): Draft {
  return { ...content, channel, authorId: botUserId, authorName: botName };
}

/** Slackbot's words to one person, in the channel where they are. */
export function slackbotDraft(channel: string, userId: string, text: string): Draft {
  return {
    text,
    blocks: [],
    channel,
    authorId: slackbotId,
    authorName: 'Slackbot',
    visibleTo: userId,
  };
}

export function toPageMessage(message: Message, replyCount: number): PageMessage {
  return {
    ts: message.ts,
    channel: message.channel,
    ...(message.threadTs === undefined ? {} : { threadTs: message.threadTs }),
    authorId: message.authorId,
    authorName: message.authorName,
    authorIsBot: message.authorId === botUserId || message.authorId === slackbotId,
    text: message.text,
    blocks: message.blocks,
    ephemeral: message.visibleTo !== undefined,
    edited: message.editedTs !== undefined,
    replyCount,
    ...(message.files.length === 0 ? {} : { files: message.files.map((file) => ({ ...file })) }),
  };
}
