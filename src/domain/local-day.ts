/** One day of a time zone: its date, like `2026-11-21`, and the moment the next one begins (UTC ms). */
export type LocalDay = { date: string; endsAtMs: number };

/** No local day is longer, whatever summer time or a moved date line does to it. */
const longestDayMs = 48 * 3_600_000;

/**
 * The day that a moment belongs to, by the wall clock of that zone. A day ends where the date changes, which is not
 * always at 00:00: where summer time begins at midnight the next day begins at 01:00.
 */
export function localDays(timeZone: string): (atMs: number) => LocalDay {
  // Canada writes a date like ISO does, so that later dates compare as greater.
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  let last: (LocalDay & { fromMs: number }) | undefined;
  return (atMs) => {
    // Nearly always asked about the same day again.
    if (last && atMs >= last.fromMs && atMs < last.endsAtMs)
      return { date: last.date, endsAtMs: last.endsAtMs };
    const date = format.format(atMs);
    let before = atMs;
    let after = atMs + longestDayMs;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (format.format(middle) > date) after = middle;
      else before = middle;
    }
    last = { date, endsAtMs: after, fromMs: atMs };
    return { date, endsAtMs: after };
  };
}
