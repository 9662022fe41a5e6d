import type { Policy } from '../config/policy.ts';
import type { PartHealth } from '../http/health.ts';
import {
  createChannelWatch,
  type ChannelWatch,
  type NamedChannel,
  type UnreachableChannel,
} from '../messages/channel-watch.ts';
import type { ChannelUse } from '../features/alerts/routes/channel-uses.ts';
import { createLookAtChannel } from '../messages/look-at-channel.ts';
import { wait, type SlackClients } from '../slack/workspace.ts';
import type { Outside } from './outside.ts';

export type Channels = Pick<ChannelWatch, 'start' | 'stop'> & { health: () => PartHealth };

/** Whether the bot can post where the policy file says, looked up in Slack after the start and told by health. */
export function createChannels({ config, log }: Outside, clients: SlackClients): Channels {
  const watch = createChannelWatch({
    channels: namedChannels(config.policy),
    // The client that waits least: stopping waits for a look that is under way.
    look: createLookAtChannel(clients.interactive),
    recheckMs: config.channelCheckSeconds * 1_000,
    wait,
    log,
  });
  return {
    start: () => watch.start(),
    stop: () => watch.stop(),
    health: () => judge(watch.unreachable()),
  };
}

/** Every channel of the policy file, once, with all that names it. */
export function namedChannels({
  channels,
  routes = [],
  daily_summary: summaries = [],
  approvals,
}: Policy): NamedChannel[] {
  const named = [
    ...Object.entries(channels).flatMap(([name, channel]) =>
      channel === undefined ? [] : [[channel, `channels.${name}`] as const],
    ),
    ...routes.flatMap(({ name, to }) => to.map((channel) => [channel, `rule ${name}`] as const)),
    ...summaries.map(({ channel }) => [channel, 'daily_summary'] as const),
    ...(approvals ? [[approvals.channel, 'approvals'] as const] : []),
  ];
  const byChannel = Map.groupBy(named, ([channel]) => channel);
  return Array.from(byChannel, ([channel, all]) => ({ channel, namedBy: all.map(([, name]) => name) }));
}

/** What the file tells a channel besides alerts. */
export function channelUses(
  { channels, daily_summary: summaries = [], approvals }: Policy,
  channel: string,
): ChannelUse[] {
  return [
    ...summaries
      .filter((one) => one.channel === channel)
      .map(({ at, tz }): ChannelUse => ({ kind: 'daily_summary', atMinute: at, timeZone: tz })),
    ...(channels.ops === channel ? [{ kind: 'ops' } as const] : []),
    ...(channels.desk === channel ? [{ kind: 'desk' } as const] : []),
    ...(approvals?.channel === channel ? [{ kind: 'approvals' } as const] : []),
  ];
}

const mostShown = 5;

function judge(unreachable: readonly UnreachableChannel[]): PartHealth {
  if (unreachable.length === 0) return { state: 'ok' };
  const shown = unreachable.slice(0, mostShown);
  const rest = unreachable.length - shown.length;
  const names = shown.map(
    ({ channel, namedBy, slackError }) => `${channel} (${namedBy.join(', ')}): ${slackError}`,
  );
  return {
    state: 'degraded',
    detail: `no post arrives in ${names.join('; ')}${rest > 0 ? `; and ${rest} more, which the log names` : ''}`,
    fix: shown.map(({ fix }) => fix).join(' '),
  };
}
