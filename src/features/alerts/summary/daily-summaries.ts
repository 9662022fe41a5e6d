import type { Account } from '../../../account.ts';
import { Cron } from 'croner';
import { z } from 'zod';

import type { SummarySpan } from './daily-summary.ts';
import type { Log } from '../../../log.ts';
import { findMessageRecord, messageKey } from '../../../messages/message-record.ts';
import { type MessagesDeps, createMessages } from '../../../messages/messages.ts';
import { openBody } from '../../../messages/views.ts';
import type { Entry } from '../../../store/store.ts';

/** When a channel is told of its day, by a wall clock. */
export type SummaryTime = {
  channel: string;
  /** The first such time after that one, UTC ms. */
  next: (afterMs: number) => number;
  /** The local day, like `2026-11-21`. */
  dateOf: (atMs: number) => string;
};

export type DailySummariesDeps = MessagesDeps & { times: readonly SummaryTime[]; log: Log };

export const dailySummaryPrefix = 'daily-summary:';
/** Never asleep for longer, so that a time that was changed holds soon. */
const longestSleepMs = 300_000;
const armEveryMs = 60_000;
const mostDaysMs = 7 * 86_400_000;
/** Holds more than one time, whatever summer time does to a day. */
const twoDaysMs = 2 * 86_400_000;

/** A summary is stored so long after its time: by then all that it counts is stored, whichever replica's clock timed it. */
const settleMs = 45_000;

/** Until when the channel was told; see `SummarySpan`. */
const timerRecord = z.object({ toldUntilMs: z.number() });

/**
 * Stores a summary for each channel and day as something to post, once on all replicas and over crashes: its key is
 * the channel and the local date. It tells what came since the one before it. After days without a bot there is one, and it tells of all of them, 7 at most.
 */
export function createDailySummaries(deps: DailySummariesDeps) {
  const { store, times, now, log } = deps;
  let timer: NodeJS.Timeout | undefined;

  async function arm(): Promise<void> {
    try {
      await Promise.all(
        times.map((time) => {
          const toldUntilMs = lastTime(time, now() - twoDaysMs, now()) ?? now();
          const value = JSON.stringify({ toldUntilMs });
          return store.create(`${dailySummaryPrefix}${time.channel}`, value, { delayMs: 0 });
        }),
      );
    } catch (error) {
      log('debug', 'the daily summaries are not on record yet', {}, error);
    }
  }

  return {
    /** Sees to it, now and every minute, that each channel's timer is in the store. */
    start(): void {
      if (times.length === 0) return;
      void arm();
      timer = setInterval(() => void arm(), armEveryMs);
      timer.unref();
    },
    stop(): void {
      clearInterval(timer);
    },
    work: (entry: Entry): Promise<void> => work(deps, entry),
  };
}

async function work(deps: DailySummariesDeps, entry: Entry): Promise<void> {
  const { store, now } = deps;
  const channel = entry.key.slice(dailySummaryPrefix.length);
  const time = deps.times.find((one) => one.channel === channel);
  if (!time) {
    // No longer asked for. A replica that still has it in its settings puts it back.
    await store.write(entry, entry.value, { ttlMs: armEveryMs });
    return;
  }
  const nowMs = now();
  const settledMs = nowMs - settleMs;
  const before = timerRecord.parse(JSON.parse(entry.value)).toldUntilMs;
  const dueMs = lastTime(time, Math.max(before, nowMs - mostDaysMs), settledMs);
  const toldUntilMs = dueMs === undefined ? before : await tellDay(deps, time, before, dueMs);
  const delayMs = Math.min(Math.max(0, time.next(settledMs) + settleMs - now()), longestSleepMs);
  await store.write(entry, JSON.stringify({ toldUntilMs }), { delayMs });
}

/** The last of its times after the one and not after the other. */
function lastTime({ next }: SummaryTime, afterMs: number, untilMs: number): number | undefined {
  let last: number | undefined;
  for (let atMs = next(afterMs); atMs <= untilMs; atMs = next(atMs)) last = atMs;
  return last;
}

/**
 * Until when the channel is told by now. A summary of that date that is there already is this very one, from before
 * a crash, or one of before the time was changed: what it tells it tells, and the rest is tomorrow's.
 */
async function tellDay(
  deps: DailySummariesDeps,
  { channel, dateOf }: SummaryTime,
  toldUntilMs: number,
  untilMs: number,
): Promise<number> {
  const key = messageKey('daily_summary', `${channel}/${dateOf(untilMs)}`);
  const fromMs = Math.max(toldUntilMs, untilMs - mostDaysMs);
  const body = { fromMs, untilMs };
  // Behind the channel's alerts, so that these are told when it is made.
  await createMessages(deps).post(key, { kind: 'daily_summary', channel, body });
  const record = await findMessageRecord(deps.store, key);
  if (!record) return untilMs;
  return (openBody('daily_summary', deps.sealer, { entry: { key }, record }) as SummarySpan).untilMs;
}

type Written = NonNullable<Account['settings']['policy']['daily_summary']>[number];

/** When the channels of `daily_summary` are told: by the wall clock of each, through summer time and back. */
export function summaryTimes({ policy }: Pick<Account['settings'], 'policy'>): SummaryTime[] {
  return (policy.daily_summary ?? []).map(summaryTime);
}

export function summaryTime({ channel, at, tz }: Written): SummaryTime {
  // It never runs anything: the store's timer wakes the bot, and this only says when.
  const clock = new Cron(`${at % 60} ${Math.floor(at / 60)} * * *`, { timezone: tz, paused: true });
  // Canada writes a date like ISO does.
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: tz, dateStyle: 'short' });
  return {
    channel,
    next(afterMs) {
      const next = clock.nextRun(new Date(afterMs));
      if (!next) throw new Error('A time of every day has no next.');
      return next.getTime();
    },
    dateOf: (atMs) => date.format(atMs),
  };
}
