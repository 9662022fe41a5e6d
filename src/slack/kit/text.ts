import { graphemes, oneLine, visible } from '../../domain/outside-text.ts';

export { cut, oneLine, outsideText, visible } from '../../domain/outside-text.ts';

/** The three characters that mean something to Slack, as text. */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** What Slack escaped, or was escaped for it, as it was. */
export function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/**
 * Outside text as one line for a message's `text` or a mrkdwn object: no live mention, link or date, at most
 * `max` long after escaping, no entity cut in half. It can still be bold or struck through: where that
 * matters use plain_text or rich_text.
 */
export function mrkdwnText(text: string, max: number): string {
  const line = oneLine(text);
  const whole = escapeMrkdwn(line);
  if (whole.length <= max) return whole;
  let escaped = '';
  for (const { segment } of graphemes(line.slice(0, max))) {
    const next = escaped + escapeMrkdwn(segment);
    if (next.length > max - 1) break;
    escaped = next;
  }
  return max < 1 ? '' : `${visible(escaped).trimEnd()}…`;
}

/**
 * A date token for mrkdwn: every reader sees their own local time, and the fallback where tokens are not
 * understood. `msUtc` is UTC milliseconds.
 */
export function slackTime(msUtc: number, fallback: string): string {
  return `<!date^${Math.floor(msUtc / 1000)}^{date_short_pretty} {time}|${escapeMrkdwn(fallback)}>`;
}

/** "2026-09-14 13:37 UTC": the fallback where Slack's date tokens do not work. */
export function utcTime(msUtc: number): string {
  return `${new Date(msUtc).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
