import { dayMs, type Span } from './span.ts';

/** One day of a time zone: its date, like `2026-11-21`, and its end (UTC ms, exclusive). */
export type LocalDay = { date: string; endsAtMs: number };

/** Formats dates like `2026-11-21`, which sort by time. */
export function localDates(timeZone: string): Intl.DateTimeFormat {
  // Canada writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
}

/** Longer than any local day, also when the clocks or the date line change. */
const longestDayMs = 2 * dayMs;

/**
 * Returns a function that gives the local day of a moment. A day ends where the date changes, which is not always
 * 00:00: if summer time begins at midnight, the next day begins at 01:00.
 */
export function localDays(timeZone: string): (atMs: number) => LocalDay {
  const format = localDates(timeZone);
  return (atMs) => {
    const date = format.format(atMs);
    return { date, endsAtMs: firstMs(atMs, atMs + longestDayMs, (ms) => format.format(ms) > date) };
  };
}

/** The first moment after `beforeMs`, and at most `lastMs`, from which on `isReached` holds. */
function firstMs(beforeMs: number, lastMs: number, isReached: (ms: number) => boolean): number {
  let [before, at] = [beforeMs, lastMs];
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if (isReached(middle)) at = middle;
    else before = middle;
  }
  return at;
}

/** The date of the last day that ended before `atMs`. */
export function dayBefore(timeZone: string, atMs: number): string {
  const dayOf = localDays(timeZone);
  const today = dayNamed(timeZone, dayOf(atMs).date);
  return dayOf((today?.fromMs ?? atMs) - 1).date;
}

/** 1 January 2100, UTC. The search covers no later day. */
const lastMs = 4_102_444_800_000;

/** The local day with a date like `2026-11-21`; undefined if there is no such day. */
export function dayNamed(timeZone: string, date: string): Span | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined;
  const format = localDates(timeZone);
  const fromMs = firstMs(-1, lastMs, (ms) => format.format(ms) >= date);
  if (format.format(fromMs) !== date) return undefined;
  return { fromMs, untilMs: firstMs(fromMs, lastMs, (ms) => format.format(ms) > date) };
}
