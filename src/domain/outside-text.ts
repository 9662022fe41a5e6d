import { holdsCardNumber } from './card.ts';

/**
 * Invisible characters that reorder, hide or split text: controls, zero-width and bidi characters, fillers, tags, lone
 * surrogates. U+FE0F is not among them: it only makes an emoji coloured.
 */
const invisible = /(?!\uFE0F)[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?!\s)\p{Cc}|\p{Cs}/gu;

/** Pieces that may contain an e-mail address. Each is searched once, so the cost grows linearly with the length. */
const addressRuns = /[^\s<>()[\],;:"]+/gu;

/** Printable ASCII words without an @: nothing in them is hidden or an e-mail address. Most texts match. */
const plain = /^[!-?A-~]+(?: [!-?A-~]+)*$/;

let segmenter: Intl.Segmenter | undefined;

/**
 * Splits text into characters as people see them. The tables take 10 ms to load, so they are loaded only when a text
 * must be cut.
 */
export function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Removes invisible characters, but keeps line breaks: for our own sentences with outside text in them. */
export function visible(text: string): string {
  return text.replace(invisible, '');
}

/**
 * Outside text as one visible line, so that it can't fake a line of ours, reverse the reading direction or hide
 * letters. It is not escaped: only for plain_text and rich_text blocks.
 */
export function oneLine(text: string): string {
  return visible(text).replace(/\s+/gu, ' ').trim();
}

/**
 * Outside text for a channel: one line, no whole e-mail address, no possible card number, at most `max` long. Only for
 * plain_text and rich_text blocks, where it can't ping, link or format.
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
  // A single character with many marks takes all the room, so split within it, at a code point.
  const low = text.charCodeAt(index);
  return low >= 0xdc00 && low <= 0xdfff ? Math.max(0, index - 1) : index;
}

/** Whether the text is blank, or a service's word for nothing ("N/A"). */
export function saysNothing(text: string): boolean {
  return /^(?:n\/a)?$/i.test(text.trim());
}

/**
 * A masked e-mail for channels: first letter and whole domain, "j***@example.com". The number of stars is constant, so
 * it doesn't show the length.
 */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  if (at <= 0) return '***';
  const [first = ''] = email;
  return `${first}***@${email.slice(at + 1)}`;
}

/** Masks two addresses. If they look the same afterwards, the second is called "another". */
export function maskedApart(first: string, second: string): [string, string] {
  const [one, other] = [maskEmail(oneLine(first)), maskEmail(oneLine(second))];
  // Letters of other alphabets may look the same.
  const looksAlike = one.toLowerCase() === other.toLowerCase() || !plain.test(`${one}${other}`);
  return first !== second && looksAlike ? [one, `another ${other}`] : [one, other];
}

/** A masked telephone number: its last four digits, "***4567". */
export function maskPhone(phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return digits.length > 4 ? `***${digits.slice(-4)}` : '***';
}
