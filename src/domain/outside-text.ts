import { holdsCardNumber } from './card.ts';

/**
 * Invisible characters that reorder, hide or split text: controls, zero-width, bidi, fillers, tags, half characters. U+FE0F
 * stays: it only colours an emoji.
 */
const invisible = /(?!\uFE0F)[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?!\s)\p{Cc}|\p{Cs}/gu;

/** Runs that may hold an address. Each is searched once, so cost grows only with length. */
const addressRuns = /[^\s<>()[\],;:"]+/gu;

/** Printable ASCII words without an @: nothing hidden, no address. Most texts match. */
const plain = /^[!-?A-~]+(?: [!-?A-~]+)*$/;

let segmenter: Intl.Segmenter | undefined;

/** Characters as people see them. The tables take 10 ms to load, so wait until a text must be cut. */
export function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Removes invisible characters; keeps line breaks. For our own words with outside text in them. */
export function visible(text: string): string {
  return text.replace(invisible, '');
}

/**
 * Outside text as one visible line: it can't fake a line of ours, reverse the reading direction or hide letters. Not
 * escaped: for plain_text and rich_text.
 */
export function oneLine(text: string): string {
  return visible(text).replace(/\s+/gu, ' ').trim();
}

/**
 * Outside text fit for a channel: one line, no whole e-mail address, no possible card number, at most `max` long. For
 * plain_text and rich_text only, where it can't ping, link or format.
 */
export function outsideText(text: string, max: number): string {
  if (text.length <= max && plain.test(text) && !holdsCardNumber(text)) return text;
  const line = oneLine(text);
  if (holdsCardNumber(line)) return cut('[withheld: it looks like a card number]', max);
  return cut(
    line.replace(addressRuns, (run) => (/.@./u.test(run) ? maskEmail(run) : run)),
    max,
  );
}

/** The text, or its beginning and an ellipsis, at most `max` long; never splits a visible character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max < 1) return '';
  return `${text.slice(0, boundaryBefore(text, max - 1)).trimEnd()}…`;
}

/** The last boundary between characters at or before `index`. */
function boundaryBefore(text: string, index: number): number {
  const start = graphemes(text.slice(0, index * 2 + 2)).containing(index)?.index ?? 0;
  if (start > 0) return start;
  // One character with many marks fills all the room: split at a code point.
  const low = text.charCodeAt(index);
  return low >= 0xdc00 && low <= 0xdfff ? Math.max(0, index - 1) : index;
}

/** Empty, or a service's word for empty. */
export function saysNothing(text: string): boolean {
  return text === '' || /^\s*n\/a\s*$/i.test(text);
}

/** A masked e-mail for channels: first letter and whole domain, "j***@example.com". The stars don't show the length. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  if (at <= 0) return '***';
  const [first = ''] = email;
  return `${first}***@${email.slice(at + 1)}`;
}

/** Two masked addresses; if they look alike, the second is called another. */
export function maskedApart(first: string, second: string): [string, string] {
  const [one, other] = [maskEmail(oneLine(first)), maskEmail(oneLine(second))];
  // Other alphabets have look-alike letters.
  const looksAlike = one.toLowerCase() === other.toLowerCase() || !plain.test(`${one}${other}`);
  return first !== second && looksAlike ? [one, `another ${other}`] : [one, other];
}

/** A masked telephone number: its last four digits, "***4567". */
export function maskPhone(phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return digits.length > 4 ? `***${digits.slice(-4)}` : '***';
}
