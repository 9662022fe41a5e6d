import { graphemes, oneLine, visible } from '../../domain/outside-text.ts';

export { cut, oneLine, outsideText, visible } from '../../domain/outside-text.ts';

/** Escapes the three characters that Slack interprets. */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Undoes Slack's escaping. */
export function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/**
 * Outside text as one line for a message's `text` or a mrkdwn object: no live mention, link or date, at most `max` after
 * escaping, no cut entity. Bold and strike-through still work: use plain_text or rich_text to avoid them.
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

/** A date token for mrkdwn in each reader's local time. `fallback`: for readers without tokens. `msUtc` is UTC ms. */
export function slackTime(msUtc: number, fallback: string): string {
  return `<!date^${Math.floor(msUtc / 1000)}^{date_short_pretty} {time}|${escapeMrkdwn(fallback)}>`;
}

/** "2026-09-14 13:37 UTC": the fallback for Slack's date tokens. */
export function utcTime(msUtc: number): string {
  return `${new Date(msUtc).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
