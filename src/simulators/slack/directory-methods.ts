import { type ApiAnswer, granted, type Method, method, missingScope, refused, text } from './api-answer.ts';
import {
  type Account,
  appId,
  botId,
  botName,
  botUserId,
  canSee,
  type Channel,
  teamDomain,
  teamId,
} from './directory.ts';
import { tier2Pace, tier3Pace } from './rate-limits.ts';
import type { World } from './world.ts';

/** auth, conversations, users and user groups. */

export function directoryMethods(url: string): Record<string, Method> {
  return {
    'auth.test': method({}, {}, () =>
      granted({
        url: `${url}/`,
        team: teamDomain,
        user: botName.toLowerCase(),
        team_id: teamId,
        user_id: botUserId,
        bot_id: botId,
        app_id: appId,
        is_enterprise_install: false,
      }),
    ),
    'conversations.info': method(
      { pace: (world) => world.rateLimits.take('conversations.info', tier3Pace) },
      { channel: text },
      (world, given) =>
        withChannel(world, given.channel, 'read', (channel) => granted({ channel: conversation(channel) })),
    ),
    'conversations.members': method({}, { channel: text }, (world, given) =>
      withChannel(world, given.channel, 'read', (channel) => {
        const members = world.directory.users.filter(({ id }) => canSee(channel, id));
        return granted({ members: members.map(({ id }) => id), response_metadata: { next_cursor: '' } });
      }),
    ),
    'conversations.list': method(
      { pace: (world) => world.rateLimits.take('conversations.list', tier2Pace) },
      {},
      (world) => listChannels(world),
    ),
    'users.info': method({ scope: 'users:read' }, { user: text }, (world, given) => {
      const account = world.directory.account(given.user);
      return account === undefined ? refused('user_not_found') : granted({ user: member(account) });
    }),
    'usergroups.list': method(ofGroups('usergroups.list'), {}, (world) =>
      world.hasUserGroups
        ? granted({
            usergroups: world.directory.groups.map((group) => ({
              id: group.id,
              team_id: teamId,
              is_usergroup: true,
              name: group.name,
              handle: group.handle,
              date_delete: 0,
            })),
          })
        : refused('plan_upgrade_required'),
    ),
    'usergroups.users.list': method(
      ofGroups('usergroups.users.list'),
      { usergroup: text },
      (world, given) => {
        if (!world.hasUserGroups) return refused('plan_upgrade_required');
        const group = world.directory.groups.find((one) => one.id === given.usergroup);
        return group === undefined ? refused('no_such_subteam') : granted({ users: group.users });
      },
    ),
  };
}

const scopePrefix = { public: 'channels', private: 'groups', dm: 'im' } as const;

/** A channel that the bot may know of, with the scope that its kind needs. */
export function withChannel(
  world: World,
  id: string,
  right: 'read' | 'history',
  run: (channel: Channel) => ApiAnswer,
): ApiAnswer {
  const channel = world.directory.channel(id);
  const scope = `${scopePrefix[channel?.kind ?? 'public']}:${right}`;
  if (!world.app.scopes.has(scope)) return missingScope(world, scope);
  if (channel === undefined || (channel.kind === 'private' && !channel.botIsMember)) {
    return refused('channel_not_found');
  }
  return run(channel);
}

/** Public channels, and private ones that the bot is in; all in one page. */
function listChannels(world: World): ApiAnswer {
  const lacking = ['channels:read', 'groups:read'].find((scope) => !world.app.scopes.has(scope));
  if (lacking !== undefined) return missingScope(world, lacking);
  const seen = world.directory.channels.filter(
    ({ kind, archived, botIsMember }) =>
      !archived && (kind === 'public' || (kind === 'private' && botIsMember)),
  );
  return granted({ channels: seen.map(conversation), response_metadata: { next_cursor: '' } });
}

/** User groups exist on paid plans only; Slack allows about twenty calls a minute. */
function ofGroups(name: string): Pick<Method, 'scope' | 'pace'> {
  return { scope: 'usergroups:read', pace: (world) => world.rateLimits.take(name, tier2Pace) };
}

function conversation(channel: Channel): Record<string, unknown> {
  return {
    id: channel.id,
    ...(channel.owner === undefined ? { name: channel.name } : { user: channel.owner }),
    is_channel: channel.kind === 'public',
    is_group: channel.kind === 'private',
    is_im: channel.kind === 'dm',
    is_private: channel.kind !== 'public',
    is_archived: channel.archived,
    is_ext_shared: channel.isShared === true,
    is_member: channel.botIsMember,
    topic: { value: channel.topic },
  };
}

function member({ id, name, realName, kind }: Account): Record<string, unknown> {
  const told = { id, team_id: teamId, name, deleted: kind === 'deactivated', is_bot: kind === 'bot' };
  const profile = { display_name: realName, real_name: realName };
  // Slack says no more about a deactivated account.
  if (told.deleted) return { ...told, profile };
  return {
    ...told,
    real_name: realName,
    is_restricted: kind === 'guest' || kind === 'single_channel_guest',
    is_ultra_restricted: kind === 'single_channel_guest',
    profile,
  };
}
