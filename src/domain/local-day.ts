import type { Span } from './span.ts';

/** One day of a time zone: its date, like `2026-11-21`, and the moment the next one begins (UTC ms). */
export type LocalDay = { date: string; endsAtMs: number };

/** Dates like `2026-11-21`: later ones compare as greater. */
export function localDates(timeZone: string): Intl.DateTimeFormat {
  // Canada writes a date like ISO does.
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
}

/** No local day is longer, whatever summer time or a moved date line does to it. */
const longestDayMs = 48 * 3_600_000;

/**
 * The day that a moment belongs to, by the wall clock of that zone. A day ends where the date changes, which is not
 * always at 00:00: where summer time begins at midnight the next day begins at 01:00.
 */
export function localDays(timeZone: string): (atMs: number) => LocalDay {
  const format = localDates(timeZone);
  return (atMs) => {
    const date = format.format(atMs);
    let before = atMs;
    let after = atMs + longestDayMs;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (format.format(middle) > date) after = middle;
      else before = middle;
    }
    return { date, endsAtMs: after };
  };
}

/** The date of the last day that is over at that moment. */
export function dayBefore(timeZone: string, atMs: number): string {
  const dayOf = localDays(timeZone);
  const today = dayNamed(timeZone, dayOf(atMs).date);
  return dayOf((today?.fromMs ?? atMs) - 1).date;
}

/** After any day that somebody asks for. */
const lastMs = 4_102_444_800_000;

/** The day of that date, like `2026-11-21`, by the wall clock of the zone; undefined: there is no such day. */
export function dayNamed(timeZone: string, date: string): Span | undefined {
  const format = localDates(timeZone);
  function first(isBeyond: (text: string) => boolean): number {
    let before = -1;
    let at = lastMs;
    while (at - before > 1) {
      const middle = Math.floor((before + at) / 2);
      if (isBeyond(format.format(middle))) at = middle;
      else before = middle;
    }
    return at;
  }
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return undefined;
  const fromMs = first((text) => text >= date);
  return format.format(fromMs) === date ? { fromMs, untilMs: first((text) => text > date) } : undefined;
}
