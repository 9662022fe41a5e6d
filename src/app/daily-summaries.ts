import { Cron } from 'croner';
import type { Config } from '../config/config.ts';
import type { SummaryTime } from '../features/alerts/summary/daily-summaries.ts';

type Written = NonNullable<Config['policy']['daily_summary']>[number];

/** When the channels of `daily_summary` are told: by the wall clock of each, through summer time and back. */
export function summaryTimes({ policy }: Pick<Config, 'policy'>): SummaryTime[] {
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
