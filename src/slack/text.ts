import { holdsCardNumber } from '../domain/card-number.ts';
import { maskEmail } from '../domain/mask.ts';

/**
 * Characters that no reader sees but that reorder, hide or split what is read: controls, zero-width and
 * bidi characters, fillers, tags and half characters. U+FE0F stays: it only asks for an emoji's colours.
 */
const invisible = /(?!\uFE0F)[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?!\s)\p{Cc}|\p{Cs}/gu;

/** Runs that can hold an address; each is searched once, so that a long text costs no more than its length. */
const addressRuns = /[^\s<>()[\],;:"]+/gu;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The text without invisible characters; line breaks stay. For our own words that hold outside ones. */
export function visible(text: string): string {
  return text.replace(invisible, '');
}

/**
 * Outside text as one line of visible characters, so that a customer, bank or merchant cannot fake a line
 * of ours, reverse the reading direction or hide letters. Not escaped: for plain_text and rich_text.
 */
export function oneLine(text: string): string {
  return visible(text).replace(/\s+/gu, ' ').trim();
}

/**
 * Outside text that may be shown to a channel: one line, no e-mail address in full, nothing that looks like
 * a card number, at most `max` long. For plain_text and rich_text only, where it cannot ping, link or format.
 */
export function outsideText(text: string, max: number): string {
  const line = oneLine(text);
  if (holdsCardNumber(line)) return cut('[withheld: it looks like a card number]', max);
  return cut(
    line.replace(addressRuns, (run) => (/.@./u.test(run) ? maskEmail(run) : run)),
    max,
  );
}

/** The text, or its beginning and an ellipsis, at most `max` long; never half a character as people see it. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max < 1) return '';
  return `${text.slice(0, boundaryBefore(text, max - 1)).trimEnd()}…`;
}

/** The last place at or before `index` that does not split a character. */
function boundaryBefore(text: string, index: number): number {
  const start = graphemes.segment(text.slice(0, index * 2 + 2)).containing(index)?.index ?? 0;
  if (start > 0) return start;
  // One character of many marks fills the whole room: then a code point must do.
  const low = text.charCodeAt(index);
  return low >= 0xdc00 && low <= 0xdfff ? Math.max(0, index - 1) : index;
}

/** The three characters that mean something to Slack, as text. */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
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
  for (const { segment } of graphemes.segment(line.slice(0, max))) {
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
