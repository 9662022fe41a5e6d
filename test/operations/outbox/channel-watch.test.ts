import { describe, expect, it } from 'vitest';
import type { ChannelReach } from '../../../src/domain/channel-reach.ts';
import { createChannelWatch, type NamedChannel } from '../../../src/operations/outbox/channel-watch.ts';

const recheckMs = 180_000;
const outside: ChannelReach = { kind: 'unreachable', slackError: 'not_in_channel', fix: 'Invite the bot.' };
const away: ChannelReach = { kind: 'away', slackError: 'unreachable' };

function named(...channels: string[]): NamedChannel[] {
  return channels.map((channel) => ({ channel, namedBy: [`rule of ${channel}`] }));
}

/** After every promise that can be settled by now. */
function done(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** A watch whose waits end when the test moves the clock. */
function openWatch(channels: NamedChannel[], said: Record<string, ChannelReach> = {}) {
  const looks: string[] = [];
  const lines: string[] = [];
  let nowMs = 0;
  let sleeper: { untilMs: number; rouse: () => void } | undefined;
  const watch = createChannelWatch({
    channels,
    recheckMs,
    look(channel) {
      looks.push(channel);
      return Promise.resolve(said[channel] ?? { kind: 'reachable' });
    },
    wait(ms, signal) {
      const slept = Promise.withResolvers<void>();
      sleeper = { untilMs: nowMs + ms, rouse: slept.resolve };
      signal.addEventListener('abort', () => slept.resolve());
      return slept.promise;
    },
    log: (level, message) => void lines.push(`${level}: ${message}`),
  });
  async function pass(ms: number): Promise<void> {
    const endsAtMs = nowMs + ms;
    while (sleeper && sleeper.untilMs <= endsAtMs) {
      nowMs = sleeper.untilMs;
      const { rouse } = sleeper;
      sleeper = undefined;
      rouse();
      // oxlint-disable-next-line no-await-in-loop
      await done();
    }
    nowMs = endsAtMs;
  }
  async function start(): Promise<void> {
    watch.start();
    await done();
  }
  /** What was looked at since the last time one asked. */
  const looked = (): string[] => looks.splice(0);
  const told = (): string[] => lines.splice(0).filter((line) => !line.startsWith('debug'));
  return { watch, said, start, pass, looked, told, isWaiting: () => sleeper !== undefined };
}

const hourMs = 3_600_000;

describe('createChannelWatch', () => {
  it('looks at each channel once and asks nothing more while all is well', async () => {
    const room = openWatch(named('C1', 'C2'));
    await room.start();
    await room.pass(24 * hourMs);
    expect(room.looked()).toEqual(['C1', 'C2']);
    expect(room.isWaiting()).toBe(false);
    expect(room.watch.unreachable()).toEqual([]);
    expect(room.told()).toEqual([]);
  });

  it('names one that cannot be reached once, looks at that one alone again, and says when it can be', async () => {
    const room = openWatch(named('C1', 'C2', 'C3'), { C2: outside });
    await room.start();
    expect(room.looked()).toEqual(['C1', 'C2', 'C3']);
    expect(room.told()).toEqual([
      'warn: The bot cannot post in C2, which rule of C2 of payops.yml names: not_in_channel',
    ]);
    await room.pass(recheckMs - 1);
    expect(room.looked()).toEqual([]);
    await room.pass(recheckMs);
    await room.pass(recheckMs);
    expect(room.looked()).toEqual(['C2', 'C2']);
    expect(room.told()).toEqual([]);
    expect(room.watch.unreachable()).toEqual([
      {
        channel: 'C2',
        namedBy: ['rule of C2'],
        slackError: 'not_in_channel',
        fix: 'Invite the bot.',
      },
    ]);
    room.said['C2'] = { kind: 'unreachable', slackError: 'is_archived', fix: 'Unarchive it.' };
    await room.pass(recheckMs);
    expect(room.told()).toEqual([expect.stringContaining('is_archived')]);
    room.said['C2'] = { kind: 'reachable' };
    await room.pass(recheckMs);
    expect(room.told()).toEqual(['info: The bot can post in C2 again']);
    expect(room.watch.unreachable()).toEqual([]);
    expect(room.isWaiting()).toBe(false);
  });

  it('waits an outage out, longer each time, condemns nothing for it, and then looks at the rest', async () => {
    const room = openWatch(named('C1', 'C2'), { C1: outside, C2: away });
    await room.start();
    expect(room.looked()).toEqual(['C1', 'C2']);
    const waits = [];
    for (let looks = 0; looks < 11; looks += 1) {
      let seconds = 0;
      for (; room.looked().length === 0; seconds += 2) {
        if (seconds > 3_600) throw new Error('It looks no more.');
        await room.pass(2_000);
      }
      waits.push(seconds);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
    expect(room.watch.unreachable().map(({ channel }) => channel)).toEqual(['C1']);
    room.said['C2'] = { kind: 'reachable' };
    await room.pass(hourMs);
    expect(room.told()).toEqual([expect.stringContaining('cannot post in C1')]);
    expect(room.looked()).toEqual(expect.arrayContaining(['C2']));
    await room.pass(recheckMs);
    expect(new Set(room.looked())).toEqual(new Set(['C1']));
  });

  it('waits as long as Slack asks for', async () => {
    const room = openWatch(named('C1'), { C1: { ...away, retryAfterMs: 30_000 } });
    await room.start();
    await room.pass(29_999);
    expect(room.looked()).toEqual(['C1']);
    await room.pass(30_000);
    expect(room.looked()).toEqual(['C1']);
  });

  it('says once, as no warning, what Slack does not let it look at, and asks no more', async () => {
    const unchecked: ChannelReach = { kind: 'unchecked', slackError: 'missing_scope', fix: 'Grant it.' };
    const room = openWatch(named('C1', 'C2'), { C1: unchecked, C2: unchecked });
    await room.start();
    await room.pass(24 * hourMs);
    expect(room.looked()).toEqual(['C1', 'C2']);
    expect(room.told()).toEqual([
      'info: Whether the bot can post in all channels of payops.yml could not be checked: missing_scope',
    ]);
    expect(room.watch.unreachable()).toEqual([]);
  });

  it('looks at no more than 40 within a minute, and at all of them in turn', async () => {
    const channels = Array.from({ length: 100 }, (_, index) => `C${index}`);
    const room = openWatch(named(...channels), Object.fromEntries(channels.map((one) => [one, outside])));
    await room.start();
    expect(room.looked()).toEqual(channels.slice(0, 40));
    await room.pass(60_000);
    expect(room.looked()).toEqual(channels.slice(40, 80));
    await room.pass(60_000);
    expect(room.looked().slice(0, 20)).toEqual(channels.slice(80));
    expect(room.watch.unreachable()).toHaveLength(100);
  });

  it('stops in the middle of a wait and looks no more', async () => {
    const room = openWatch(named('C1'), { C1: outside });
    await room.start();
    await room.watch.stop();
    await room.pass(hourMs);
    expect(room.looked()).toEqual(['C1']);
  });
});
