import type { PageUser, PageBlock, PageMessage, SharedFile, WorkspaceState } from '../protocol.ts';
import { appId, botId, botName, botUserId, canSee, type Channel, teamDomain, teamId } from './directory.ts';
import { readBack } from './read-back.ts';
import { type Message, type MessageMetadata, toPageMessage } from './messages.ts';
import { toPageView } from './views.ts';
import type { World } from './world.ts';

/** The common parts of Slack's payloads. */

/** Slack retired it but still sends it; no app should read it. */
const verificationToken = 'verification-token-unused';

export function commonPayload(user: PageUser): Record<string, unknown> {
  return {
    user: { id: user.id, username: user.name, name: user.name, team_id: teamId },
    team: { id: teamId, domain: teamDomain },
    enterprise: null,
    is_enterprise_install: false,
    api_app_id: appId,
    token: verificationToken,
  };
}

export function channelPayload(channel: Channel): { id: string; name: string } {
  return { id: channel.id, name: channelName(channel) };
}

function channelName(channel: Channel): string {
  if (channel.kind === 'dm') return 'directmessage';
  if (channel.people !== undefined) return channel.name;
  return channel.kind === 'private' ? 'privategroup' : channel.name;
}

export function messagePayload(message: Message, withMetadata: boolean): Record<string, unknown> {
  const isBot = message.authorId === botUserId;
  const { text, blocks } = readBack(message);
  return {
    type: 'message',
    ts: message.ts,
    user: message.authorId,
    text,
    team: teamId,
    ...(isBot ? { bot_id: botId, app_id: appId } : {}),
    ...(blocks.length > 0 ? { blocks } : {}),
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    ...(message.editedTs === undefined ? {} : { edited: { user: message.authorId, ts: message.editedTs } }),
    ...(withMetadata && message.metadata !== undefined ? { metadata: message.metadata } : {}),
  };
}

export function slashPayload(
  world: World,
  at: { user: PageUser; channel: Channel },
  typed: { command: string; text: string; responseUrl: string },
): Record<string, unknown> {
  return {
    token: verificationToken,
    team_id: teamId,
    team_domain: teamDomain,
    channel_id: at.channel.id,
    channel_name: channelName(at.channel),
    user_id: at.user.id,
    user_name: at.user.name,
    command: typed.command,
    text: typed.text,
    api_app_id: appId,
    is_enterprise_install: 'false',
    response_url: typed.responseUrl,
    trigger_id: world.triggers.issue({ userId: at.user.id, fromModal: false }),
  };
}

export function eventPayload(world: World, event: Record<string, unknown>): Record<string, unknown> {
  return {
    token: verificationToken,
    team_id: teamId,
    context_team_id: teamId,
    api_app_id: appId,
    event,
    type: 'event_callback',
    event_id: world.ids.id('Ev'),
    event_time: Math.floor(world.now() / 1000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: teamId,
        user_id: botUserId,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: false,
  };
}

/** The workspace as one person sees it. Throws for a person outside it. */
export function workspaceState(world: World, userId: string): WorkspaceState {
  const user = world.directory.user(userId);
  if (user === undefined) throw new Error(`There is no person ${userId} in this workspace.`);
  const channels = world.directory.channels.filter((channel) => canSee(channel, userId) && !channel.archived);
  const home = world.views.home(userId);
  return {
    app: { userId: botUserId, name: botName.toLowerCase() },
    user,
    users: [...world.directory.users],
    channels: channels.map((channel) => ({
      id: channel.id,
      name: channel.name,
      kind: channel.kind === 'dm' ? 'dm' : 'channel',
      topic: channel.topic,
      botIsMember: channel.botIsMember,
      ...(channel.kind === 'dm' && world.app.messagesTab !== 'on' ? { readOnly: true } : {}),
    })),
    messages: Object.fromEntries(
      channels.map((channel) => [channel.id, messagesFor(world, channel.id, userId)]),
    ),
    views: world.views.stack(userId).map(toPageView),
    ...(home === undefined ? {} : { home: toPageView(home) }),
    slashCommands: world.app.slashCommands,
    globalShortcuts: shortcuts(world, 'global'),
    messageShortcuts: shortcuts(world, 'message'),
  };
}

function messagesFor(world: World, channelId: string, userId: string): PageMessage[] {
  const isSeen = ({ visibleTo }: Message): boolean => (visibleTo ?? userId) === userId;
  return world.messages
    .all(channelId)
    .filter(isSeen)
    .map((message) => toPageMessage(message, world.messages.replies(message).filter(isSeen).length));
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
  edited: boolean;
  threadTs?: string;
  metadata?: MessageMetadata;
  files?: readonly SharedFile[];
};

/** The bot's posts in one channel, or in all; oldest first. */
export function botPosts(world: World, channelId?: string): BotPost[] {
  if (channelId === undefined)
    return world.directory.channels
      .flatMap(({ id }) => botPosts(world, id))
      .toSorted((one, other) => Number(one.ts) - Number(other.ts));
  return world.messages
    .all(channelId)
    .filter((one) => one.authorId === botUserId && one.visibleTo === undefined)
    .map(({ ts, channel, text, blocks, editedTs, threadTs, metadata, files }) => ({
      ts,
      channel,
      text,
      blocks,
      edited: editedTs !== undefined,
      ...(threadTs === undefined ? {} : { threadTs }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(files.length === 0 ? {} : { files }),
    }));
}
