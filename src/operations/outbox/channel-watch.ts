import type { ChannelReach } from '../../domain/channel-reach.ts';
import { growingDelayMs } from '../../domain/growing-delay.ts';
import type { Log } from '../../log.ts';

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

/** Slack lets one ask about fifty times a minute. */
const mostAtOnce = 40;
const minuteMs = 60_000;
const firstRetryMs = 2_000;
const longestRetryMs = 10 * minuteMs;

/**
 * Looks once, one after the other, whether the bot can post in each channel of the policy file, and names in the log
 * those where it cannot. Only those are looked at again, until it can: while all is well nothing is asked. An outage
 * is waited out, longer each time, and condemns no channel. Each replica looks for itself: nothing is stored.
 */
export function createChannelWatch(deps: ChannelWatchDeps): ChannelWatch {
  const { channels, look, recheckMs, wait, log } = deps;
  const stopping = new AbortController();
  const unreachable = new Map<string, UnreachableChannel>();
  /** What is to be looked at, in its order. */
  const open = new Map(channels.map((named) => [named.channel, named]));
  const toldUnchecked = new Set<string>();
  let running = Promise.resolve();

  async function lookAtSome(): Promise<Extract<ChannelReach, { kind: 'away' }> | undefined> {
    for (const named of [...open.values()].slice(0, mostAtOnce)) {
      if (stopping.signal.aborted) return undefined;
      // oxlint-disable-next-line no-await-in-loop -- one after the other, for Slack's limit
      const reach = await look(named.channel);
      if (reach.kind === 'away') return reach;
      note(named, reach);
    }
    return undefined;
  }

  function note(named: NamedChannel, reach: Exclude<ChannelReach, { kind: 'away' }>): void {
    const { channel } = named;
    open.delete(channel);
    const before = unreachable.get(channel);
    if (reach.kind === 'unreachable') {
      const { slackError, fix } = reach;
      // Behind those that nobody has looked at yet.
      open.set(channel, named);
      unreachable.set(channel, { ...named, slackError, fix });
      if (before?.slackError !== slackError) tellUnreachable(named, reach);
      return;
    }
    unreachable.delete(channel);
    if (reach.kind === 'unchecked') tellUnchecked(reach);
    else if (before) log('info', `The bot can post in ${channel} again`, { channel });
  }

  function tellUnreachable({ channel, namedBy }: NamedChannel, { slackError, fix }: ToTell): void {
    const words = `The bot cannot post in ${channel}, which ${namedBy.join(', ')} of payops.yml names: ${slackError}`;
    log('warn', words, { channel, slackError, fix });
  }

  function tellUnchecked({ slackError, fix }: ToTell): void {
    if (toldUnchecked.has(slackError)) return;
    toldUnchecked.add(slackError);
    const words = `Whether the bot can post in all channels of payops.yml could not be checked: ${slackError}`;
    log('info', words, { slackError, fix });
  }

  async function lookUntilAllIsWell(): Promise<void> {
    for (let failures = 0; open.size > 0 && !stopping.signal.aborted;) {
      // oxlint-disable-next-line no-await-in-loop
      const away = await lookAtSome();
      if (away) log('debug', 'the channels are looked at later', { slackError: away.slackError });
      failures = away ? failures + 1 : 0;
      // oxlint-disable-next-line no-await-in-loop
      if (open.size > 0) await wait(away ? retryDelayMs(away, failures) : restMs(), stopping.signal);
    }
  }

  function restMs(): number {
    const isAllSeen = [...open.keys()].every((channel) => unreachable.has(channel));
    return isAllSeen ? recheckMs : minuteMs;
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

type ToTell = { slackError: string; fix: string };

function retryDelayMs({ retryAfterMs = 0 }: { retryAfterMs?: number }, failures: number): number {
  return Math.max(retryAfterMs, growingDelayMs(firstRetryMs, failures - 1, longestRetryMs));
}
