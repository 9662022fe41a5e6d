import type { Policy } from '../config/policy.ts';
import type { ChannelUse } from '../features/alerts/alert-rules-message.ts';
import type { PartHealth } from '../domain/part-health.ts';
import { createLookAtChannel } from '../messages/look-at-channel.ts';
import { wait, type SlackClients } from '../slack/workspace.ts';
import type { Outside } from './outside.ts';

/** A channel of the policy file, and what there names it: `channels.alerts`, `rule no-funds`, `daily_summary`. */
export type NamedChannel = { channel: string; namedBy: readonly string[] };

type UnreachableChannel = NamedChannel & { slackError: string; fix: string };

export type Channels = {
  /** Begins to look, and returns at once. */
  start: () => void;
  /** Resolves when the look under way is over. */
  stop: () => Promise<void>;
  health: () => PartHealth;
};

/** Slack lets one ask about fifty times a minute: more channels than that are looked at with a pause after each. */
const mostAtOnce = 40;
const paceMs = 1_500;
/** While Slack is away it is asked this often; that condemns no channel. */
const awayMs = 5_000;

/**
 * Looks after the start whether the bot can post in each channel of the policy file, names in the log those where it
 * cannot, and tells them by health. Only those are looked at again, until it can: while all is well nothing is asked. Each
 * replica looks for itself: nothing is stored.
 */
export function createChannels({ config, log }: Outside, clients: SlackClients): Channels {
  // The client that waits least: stopping waits for a look that is under way.
  const look = createLookAtChannel(clients.interactive);
  const stopping = new AbortController();
  const { signal } = stopping;
  const unreachable = new Map<string, UnreachableChannel>();
  const toldUnchecked = new Set<string>();
  let running = Promise.resolve();

  /** True: there is nothing left to be found out about it. */
  async function settle(named: NamedChannel): Promise<boolean> {
    const { channel, namedBy } = named;
    const reach = await look(channel);
    if (reach.kind === 'away') {
      log('debug', 'the channel is looked at later', { channel, slackError: reach.slackError });
      await wait(reach.retryAfterMs ?? awayMs, signal);
      return false;
    }
    const before = unreachable.get(channel);
    unreachable.delete(channel);
    if (reach.kind === 'reachable') {
      if (before) log('info', `The bot can post in ${channel} again`, { channel });
      return true;
    }
    const { slackError, fix } = reach;
    if (reach.kind === 'unchecked') {
      const words = `Whether the bot can post in all channels of payops.yml could not be checked: ${slackError}`;
      if (!toldUnchecked.has(slackError)) log('info', words, { slackError, fix });
      toldUnchecked.add(slackError);
      return true;
    }
    unreachable.set(channel, { ...named, slackError, fix });
    const words = `The bot cannot post in ${channel}, which ${namedBy.join(', ')} of payops.yml names: ${slackError}`;
    if (before?.slackError !== slackError) log('warn', words, { channel, slackError, fix });
    return false;
  }

  async function lookUntilAllIsWell(): Promise<void> {
    const open = new Set(namedChannels(config.policy));
    while (open.size > 0 && !signal.aborted) {
      for (const named of open) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other, for Slack's limit
        if (await settle(named)) open.delete(named);
        // oxlint-disable-next-line no-await-in-loop
        if (open.size > mostAtOnce) await wait(paceMs, signal);
        if (signal.aborted) return;
      }
      const isAllKnown = open.size > 0 && unreachable.size === open.size;
      // oxlint-disable-next-line no-await-in-loop
      if (isAllKnown) await wait(config.channelCheckSeconds * 1_000, signal);
    }
  }

  return {
    start() {
      running = lookUntilAllIsWell();
    },
    async stop() {
      stopping.abort();
      await running;
    },
    health: () => judge([...unreachable.values()]),
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
