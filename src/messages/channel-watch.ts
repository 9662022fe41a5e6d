import type { ChannelReach } from './channel-reach.ts';
import type { Log } from '../log.ts';

/** A channel of the policy file, and what there names it: `channels.alerts`, `rule no-funds`, `daily_summary`. */
export type NamedChannel = { channel: string; namedBy: readonly string[] };

export type UnreachableChannel = NamedChannel & { slackError: string; fix: string };

export type ChannelWatchDeps = {
  /** Each channel once. */
  channels: readonly NamedChannel[];
  /** Never throws. */
  look: (channel: string) => Promise<ChannelReach>;
  /** How long until the channels that cannot be reached are looked at again. */
  recheckMs: number;
  /** Waits that long, or less when the signal aborts; never rejects. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
  log: Log;
};

export type ChannelWatch = {
  /** Begins to look, and returns at once. */
  start(): void;
  /** Resolves when the look under way is over. */
  stop(): Promise<void>;
  /** As far as was looked by now. */
  unreachable(): readonly UnreachableChannel[];
};

/** Slack lets one ask about fifty times a minute: more channels than that are looked at with a pause after each. */
const mostAtOnce = 40;
const paceMs = 1_500;
/** While Slack is away it is asked this often; that condemns no channel. */
const awayMs = 5_000;

/**
 * Looks whether the bot can post in each channel of the policy file, and names in the log those where it cannot. Only
 * those are looked at again, until it can: while all is well nothing is asked. Each replica looks for itself: nothing is
 * stored.
 */
export function createChannelWatch(deps: ChannelWatchDeps): ChannelWatch {
  const { channels, look, recheckMs, wait, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const unreachable = new Map<string, UnreachableChannel>();
  const toldUnchecked = new Set<string>();
  let running = Promise.resolve();

  /** True: there is nothing left to be found out about it. */
  async function settle(named: NamedChannel): Promise<boolean> {
    const { channel } = named;
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
      if (toldUnchecked.has(slackError)) return true;
      toldUnchecked.add(slackError);
      const words = `Whether the bot can post in all channels of payops.yml could not be checked: ${slackError}`;
      log('info', words, { slackError, fix });
      return true;
    }
    unreachable.set(channel, { ...named, slackError, fix });
    if (before?.slackError === slackError) return false;
    const words = `The bot cannot post in ${channel}, which ${named.namedBy.join(', ')} of payops.yml names: ${slackError}`;
    log('warn', words, { channel, slackError, fix });
    return false;
  }

  async function lookUntilAllIsWell(): Promise<void> {
    const open = new Set(channels);
    while (open.size > 0 && !signal.aborted) {
      for (const named of open) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other, for Slack's limit
        if (await settle(named)) open.delete(named);
        // oxlint-disable-next-line no-await-in-loop
        if (open.size > mostAtOnce) await wait(paceMs, signal);
        if (signal.aborted) return;
      }
      // oxlint-disable-next-line no-await-in-loop
      if (open.size > 0 && unreachable.size === open.size) await wait(recheckMs, signal);
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
    unreachable: () => [...unreachable.values()],
  };
}
