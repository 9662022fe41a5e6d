import type { PageUser } from '../protocol.ts';
import { appId, botId, botUserId, type Channel, teamDomain, teamId } from './cast.ts';
import type { Message } from './messages.ts';
import type { World } from './world.ts';

/** The parts that Slack's payloads have in common. */

/** Long retired by Slack yet still sent; no app should read it. */
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
  return channel.kind === 'private' ? 'privategroup' : channel.name;
}

export function messagePayload(
  message: Message,
  options: { replies: readonly Message[]; withMetadata: boolean },
): Record<string, unknown> {
  const isBot = message.authorId === botUserId;
  return {
    type: 'message',
    ts: message.ts,
    user: message.authorId,
    text: message.text,
    team: teamId,
    ...(isBot ? { bot_id: botId, app_id: appId } : {}),
    ...(message.blocks.length > 0 ? { blocks: message.blocks } : {}),
    ...(message.attachments.length > 0 ? { attachments: message.attachments } : {}),
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    ...repliesPayload(message, options.replies),
    ...(message.deleted ? { subtype: 'tombstone', hidden: true } : {}),
    ...(message.editedTs === undefined ? {} : { edited: { user: message.authorId, ts: message.editedTs } }),
    ...(options.withMetadata && message.metadata !== undefined ? { metadata: message.metadata } : {}),
  };
}

function repliesPayload(message: Message, replies: readonly Message[]): Record<string, unknown> {
  const last = replies.at(-1);
  if (last === undefined) return {};
  const users = [...new Set(replies.map((reply) => reply.authorId))];
  return {
    thread_ts: message.ts,
    reply_count: replies.length,
    reply_users_count: users.length,
    reply_users: users,
    latest_reply: last.ts,
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
