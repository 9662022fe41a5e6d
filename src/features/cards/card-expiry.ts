const dayMs = 86_400_000;

/**
 * When a saved card has surely expired (UTC ms): the end of its month, and a day for the time zones. Undefined where the
 * text does not say. Spec: not shown; month and year in either order are read, and a whole date by its month.
 */
export function cardExpiresAtMs(text: string): number | undefined {
  const yearFirst = /^\s*(20\d\d)\s*[-/.]?\s*(\d\d?)([-/.]\d\d?(T.*)?)?\s*$/.exec(text);
  const monthFirst = /^\s*(\d\d?)\s*[-/.]?\s*((?:20)?\d\d)\s*$/.exec(text);
  for (const [year, month] of [
    [yearFirst?.[1], yearFirst?.[2]],
    [monthFirst?.[2], monthFirst?.[1]],
  ].map((parts) => parts.map(Number))) {
    if (year === undefined || month === undefined || !(month >= 1 && month <= 12)) continue;
    // Months are counted from 0: this is the first day of the next.
    return Date.UTC(year < 100 ? 2000 + year : year, month, 1) + dayMs;
  }
  return undefined;
}
