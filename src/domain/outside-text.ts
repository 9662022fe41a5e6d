import { holdsCardNumber } from './card.ts';

/**
 * Characters that no reader sees but that reorder, hide or split what is read: controls, zero-width and
 * bidi characters, fillers, tags and half characters. U+FE0F stays: it only asks for an emoji's colours.
 */
const invisible = /(?!\uFE0F)[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?!\s)\p{Cc}|\p{Cs}/gu;

/** Runs that can hold an address; each is searched once, so that a long text costs no more than its length. */
const addressRuns = /[^\s<>()[\],;:"]+/gu;

/** Printable ASCII in words, without an @: nothing in it is hidden or an address. Most texts are so. */
const plain = /^[!-?A-~]+(?: [!-?A-~]+)*$/;

let segmenter: Intl.Segmenter | undefined;

/** The characters as people see them. Its tables take 10 ms to load, so not before a text has to be cut. */
export function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

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
  if (text.length <= max && plain.test(text) && !holdsCardNumber(text)) return text;
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
  const start = graphemes(text.slice(0, index * 2 + 2)).containing(index)?.index ?? 0;
  if (start > 0) return start;
  // One character of many marks fills the whole room: then a code point must do.
  const low = text.charCodeAt(index);
  return low >= 0xdc00 && low <= 0xdfff ? Math.max(0, index - 1) : index;
}

/** Empty, or what services write where they have nothing to say. */
export function saysNothing(text: string): boolean {
  return text === '' || /^\s*n\/a\s*$/i.test(text);
}

/**
 * An e-mail as a channel may see it: first letter of the name and the whole domain, "j***@example.com".
 * The number of stars is fixed, so that the length tells nothing.
 */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  if (at <= 0) return '***';
  const [first = ''] = email;
  return `${first}***@${email.slice(at + 1)}`;
}

/** Two addresses masked side by side: where the second could be taken for the first, it is called another. */
export function maskedApart(first: string, second: string): [string, string] {
  const [one, other] = [maskEmail(oneLine(first)), maskEmail(oneLine(second))];
  // Letters of other alphabets may look the same.
  const looksAlike = one.toLowerCase() === other.toLowerCase() || !plain.test(`${one}${other}`);
  return first !== second && looksAlike ? [one, `another ${other}`] : [one, other];
}

/** A telephone number as a message may show it: its last four digits, "***4567". */
export function maskPhone(phone: string): string {
  const digits = phone.replace(/\D/g, '');
  return digits.length > 4 ? `***${digits.slice(-4)}` : '***';
}
