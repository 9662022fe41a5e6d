const dayMs = 86_400_000;

/** Making a format costs a thousand times what using it costs, and every message shows times. */
const formats = new Map<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>();

function part(at: Date, options: Intl.DateTimeFormatOptions): string {
  let format = formats.get(options);
  if (!format) formats.set(options, (format = new Intl.DateTimeFormat('en', options)));
  return format.format(at);
}

const long: Intl.DateTimeFormatOptions = { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' };
const medium: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'long', day: 'numeric' };
const short: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric' };

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

function pretty(at: Date, now: Date, otherwise: Intl.DateTimeFormatOptions): string {
  const days = Math.round((midnight(at) - midnight(now)) / dayMs);
  if (days === 0) return 'today';
  if (days === -1) return 'yesterday';
  if (days === 1) return 'tomorrow';
  return part(at, otherwise);
}

function ago(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ];
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) return words.format(Math.round(seconds / size), unit);
  }
  return words.format(seconds, 'second');
}

const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const clockWithSeconds: Intl.DateTimeFormatOptions = { ...clock, second: '2-digit' };
const exact: Intl.DateTimeFormatOptions = { ...long, ...clockWithSeconds };
const dayAndMonth: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };

const tokens: Record<string, (at: Date, now: Date) => string> = {
  date_num: (at) =>
    [at.getFullYear(), at.getMonth() + 1, at.getDate()]
      .map((number) => String(number).padStart(2, '0'))
      .join('-'),
  date: (at) => part(at, medium),
  date_short: (at) => part(at, short),
  date_long: (at) => part(at, long),
  date_pretty: (at, now) => pretty(at, now, medium),
  date_short_pretty: (at, now) => pretty(at, now, short),
  date_long_pretty: (at, now) => pretty(at, now, long),
  time: (at) => part(at, clock),
  time_secs: (at) => part(at, clockWithSeconds),
  ago: (at, now) => ago(at, now),
};

/** A Slack date format like `{date_short_pretty} at {time}` in the reader's own time zone; unknown tokens stay. */
export function formatDateToken(seconds: number, format: string, now: Date): string {
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return format;
  const text = format.replaceAll(/\{(\w+)\}/g, (whole, name: string) => tokens[name]?.(at, now) ?? whole);
  const startsWithWord = /^\{date\w*_pretty\}/.test(format);
  return startsWithWord ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** `14:05`, the reader's time. */
export function clockTime(ms: number): string {
  return part(new Date(ms), clock);
}

/** `14:05:09`. */
export function clockTimeWithSeconds(ms: number): string {
  return part(new Date(ms), clockWithSeconds);
}

/** `14:05` today, `yesterday 14:05`, else `12 Nov 14:05`. */
export function shortTime(ms: number, now: Date): string {
  const day = pretty(new Date(ms), now, dayAndMonth);
  return day === 'today' ? clockTime(ms) : `${day} ${clockTime(ms)}`;
}

/** Everything about a moment, for who points at a time. */
export function exactTime(ms: number): string {
  return part(new Date(ms), exact);
}

/** `Today`, `Yesterday` or the long date: the line between two days of a conversation. */
export function dayName(ms: number, now: Date): string {
  const name = pretty(new Date(ms), now, long);
  return name.charAt(0).toUpperCase() + name.slice(1);
}
