import type { PageBlock, PageMessage, WorkspaceState } from '../protocol.ts';
import { botUserId } from './cast.ts';
import { canSee } from './directory.ts';
import { type MessageMetadata, type SharedFile, toPageMessage } from './messages.ts';
import { toPageView } from './views.ts';
import type { World } from './world.ts';

/** The workspace as one person sees it. Throws for somebody who is not in it. */
export function workspaceState(world: World, userId: string): WorkspaceState {
  const user = world.directory.user(userId);
  if (user === undefined) throw new Error(`There is no person ${userId} in this workspace.`);
  const channels = world.directory.channels.filter((channel) => canSee(channel, userId) && !channel.archived);
  const home = world.views.home(userId);
  return {
    user,
    users: [...world.directory.users],
    channels: channels.map((channel) => ({
      id: channel.id,
      name: channel.name,
      kind: channel.kind === 'dm' ? 'dm' : 'channel',
      topic: channel.topic,
      botIsMember: channel.botIsMember,
      ...(channel.kind === 'dm' && world.app.messagesReadOnly ? { readOnly: true } : {}),
    })),
    messages: Object.fromEntries(
      channels.map((channel) => [channel.id, messagesFor(world, channel.id, userId)]),
    ),
    views: world.views.stack(userId).map(toPageView),
    ...(home === undefined ? {} : { home: toPageView(home) }),
    slashCommands: world.app.slashCommands.map(({ command, description, usageHint }) => ({
      command,
      description,
      usageHint,
    })),
    globalShortcuts: shortcuts(world, 'global'),
    messageShortcuts: shortcuts(world, 'message'),
  };
}

function messagesFor(world: World, channelId: string, userId: string): PageMessage[] {
  return world.messages
    .all(channelId)
    .filter((message) => (message.visibleTo ?? userId) === userId)
    .map((message) =>
      toPageMessage(
        message,
        world.messages.replies(message).filter((reply) => (reply.visibleTo ?? userId) === userId).length,
      ),
    );
}

function shortcuts(world: World, kind: 'global' | 'message'): { callbackId: string; name: string }[] {
  return world.app.shortcuts
    .filter((one) => one.kind === kind)
    .map(({ callbackId, name }) => ({ callbackId, name }));
}

/** A message of the bot that everybody in the channel sees. */
export type BotPost = {
  ts: string;
  channel: string;
  text: string;
  blocks: PageBlock[];
  attachments: { color?: string; blocks: PageBlock[] }[];
  edited: boolean;
  threadTs?: string;
  metadata?: MessageMetadata;
  files?: readonly SharedFile[];
};

/** Of one channel, or of all; oldest first. */
export function botPosts(world: World, channelId?: string): BotPost[] {
  if (channelId === undefined)
    return world.directory.channels
      .flatMap(({ id }) => botPosts(world, id))
      .toSorted((one, other) => Number(one.ts) - Number(other.ts));
  return world.messages
    .all(channelId)
    .filter((one) => one.authorId === botUserId && one.visibleTo === undefined && !one.deleted)
    .map(({ ts, channel, text, blocks, attachments, editedTs, threadTs, metadata, files }) => ({
      ts,
      channel,
      text,
      blocks,
      attachments,
      edited: editedTs !== undefined,
      ...(threadTs === undefined ? {} : { threadTs }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(files.length === 0 ? {} : { files }),
    }));
}
