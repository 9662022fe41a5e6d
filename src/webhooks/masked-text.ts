import { holdsCardNumber } from '../domain/card-number.ts';
import { maskEmail } from '../domain/outside-text.ts';

/** Names, without case, underscores and dashes, under which nothing is ever shown. */
const hiddenNames =
  /^(?:.*(?:token|tokenkey|secret|password|apikey|cardnumber)|authorization|otp|pin|pan|cvv2?|cvc2?|transactionid|txnid)$/;

const hidden = '[hidden]';

/** One text of JSON, with the colon that makes it a key, one number, or one bracket. */
const piece = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/g;
/** `key=value` and `"key":value` where the text is no JSON, or only the beginning of it. */
const loosePair = /([\w-]+)(["']?\s*[:=]\s*["']?)([^\s"'&,;{}[\]]+)/g;
const email = /[^\s"'<>,;:=&@\\/()[\]{}|]+(?:@|%40)[\p{L}\p{N}.-]+\.[\p{L}\p{N}-]+/giu;
const digitRun = /\d(?:[ -]?\d){11,}/g;
/** Shorter ones would be struck out of half the text; where they stand they are hidden all the same. */
const shortestStruckOut = 6;

/**
 * At most the first two and last two characters of a secret, and none of a short one, so that two of them
 * can be told apart by whoever knows both.
 */
export function maskSecret(secret: string): string {
  return secret.length < 16 ? hidden : `${secret.slice(0, 2)}…${secret.slice(-2)}`;
}

/**
 * A function that shows a text of a delivery without what nobody may read off a screen: our secrets, the
 * values of `found` wherever they stand, what stands under a name like `tokenKey`, whole e-mail addresses and
 * card numbers. It reads JSON, form pairs and plain text, broken ones too.
 */
export function createMask(secrets: readonly string[], found: readonly string[]): (text: string) => string {
  const struckOut = new Map<string, string>();
  for (const value of found.filter((value) => value.length >= shortestStruckOut))
    struckOut.set(value, hidden);
  for (const secret of secrets.filter((secret) => secret !== '')) struckOut.set(secret, '[secret]');
  const longestFirst = [...struckOut].toSorted(([a], [b]) => b.length - a.length);
  const known = new Set(found);

  function strikeOut(text: string): string {
    return longestFirst.reduce(
      (clean, [value, sign]) =>
        clean.replaceAll(value, sign).replaceAll(JSON.stringify(value).slice(1, -1), sign),
      text,
    );
  }

  function maskValue(value: string): string {
    if (known.has(value)) return hidden;
    // A sender may put JSON into a text of JSON.
    if (/^\s*[{[]/.test(value)) return mask(value);
    return holdsCardNumber(value) ? '[card number hidden]' : maskEmails(strikeOut(value));
  }

  function maskQuoted(quoted: string, colon = ''): string {
    const value = unquote(quoted);
    const shown = maskValue(value);
    return shown === value ? `${quoted}${colon}` : `${JSON.stringify(shown)}${colon}`;
  }

  function mask(text: string): string {
    const within = createWhere();
    const masked = strikeOut(text).replaceAll(piece, (token: string, quoted?: string, colon?: string) => {
      if (within.bracket(token)) return token;
      if (quoted !== undefined && colon !== undefined) {
        within.name(unquote(quoted));
        return maskQuoted(quoted, colon);
      }
      if (within.isHidden()) return quoted === undefined ? hidden : JSON.stringify(hidden);
      if (quoted !== undefined) return maskQuoted(quoted);
      return known.has(token) || holdsCardNumber(token) ? hidden : token;
    });
    const paired = masked.replaceAll(loosePair, (pair: string, key: string, joint: string, value: string) =>
      isHiddenName(key) && value !== hidden ? `${key}${joint}${hidden}` : pair,
    );
    return maskEmails(paired).replaceAll(digitRun, (run) => (holdsCardNumber(run) ? hidden : run));
  }

  return mask;
}

/** Where in a text of JSON, read from its beginning: below which name. */
function createWhere() {
  let isHiddenHere = false;
  /** How many brackets are open below a hidden name. */
  let depth = 0;
  return {
    isHidden: () => isHiddenHere || depth > 0,
    name(name: string): void {
      isHiddenHere = isHiddenName(name);
    },
    /** False for what is none. */
    bracket(token: string): boolean {
      if (token === '{' || token === '[') {
        if (isHiddenHere || depth > 0) depth += 1;
        return true;
      }
      if (token !== '}' && token !== ']') return false;
      if (depth === 1) isHiddenHere = false;
      depth = Math.max(0, depth - 1);
      return true;
    },
  };
}

function isHiddenName(name: string): boolean {
  return hiddenNames.test(name.toLowerCase().replaceAll(/[_\s-]/g, ''));
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

function maskEmails(text: string): string {
  return text.replaceAll(email, (address) => maskEmail(address.replace('%40', '@')));
}

/** What a screen would swallow, or obey: controls, marks without a shape, and blanks that are none. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** The text with everything unseen in it made visible; `␊` is a line feed, `␍` a carriage return, `␉` a tab. */
export function visibleText(text: string): string {
  return text.replaceAll(unseen, (character) => {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x20) return String.fromCodePoint(0x2400 + point);
    return `⟨U+${point.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes as text; where they are not UTF-8, each byte as the character of its number, and `isText` says so. */
export function textOfBytes(bytes: Buffer): { text: string; isText: boolean } {
  try {
    return { text: utf8.decode(bytes), isText: true };
  } catch {
    return { text: bytes.toString('latin1'), isText: false };
  }
}

/** Its beginning and its end, and how much is left out between them. */
export function cutInTheMiddle(text: string, head: number, tail: number): string {
  const characters = Array.from(text);
  const left = characters.length - head - tail;
  if (left <= 0) return text;
  return `${characters.slice(0, head).join('')} …(${left} characters left out)… ${characters.slice(-tail).join('')}`;
}
