import { holdsCardNumber } from './card.ts';
import { longestOrderReference, parseOrderReference, type OrderReference } from './order-reference.ts';

/** More are too many to choose from. */
const mostCandidates = 10;
/** Longer than any message; the rest is not searched. */
const longestSearched = 40_000;

/** A reference that the bot generated; no other text looks like it. */
const generated = /(?<![\p{L}\p{N}-])pay-[a-z2-7]{26}(?![\p{L}\p{N}-])/gu;
/** Text in quotes or backticks is taken as it is, with its spaces. */
const quoted = /[“"„«`]([^“”"„«»`\n]{1,100})[”"“»`]/gu;
/** “Reference: INV”, “order no. = 17”, “order #17”: the text after such a word and a sign. */
const labelled =
  /(?<![\p{L}\p{N}])(?:order\s*|payment\s*)?(?:reference|ref|order|invoice|payment)(?:\s*(?:no\.?|number))?\s*[:#=]\s*([^\s,;“"`]{1,100})/giu;
/** “invoice 2041”: without a sign only a number of three characters or more; a shorter number is a quantity. */
const numbered =
  /(?<![\p{L}\p{N}])(?:reference|ref|order|invoice)(?:\s(?:no\.?|number))?\s{1,3}(\d[^\s,;“"`]{2,99})/giu;
/** The service's own order id is no reference. */
const orderIds = /order\s*id:?\s+\S+/giu;
/** A longer word is no reference, and trimming it would be slow. */
const longestToken = 200;
const tokens = /[^\s,;=|()[\]{}<>“”"„«»`…]+/gu;

/** Punctuation around a word. */
const edges = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * The likely order references of a message, each once, most certain first, at most ten: the bot's own, quoted ones, those
 * after a word like *Reference*, then anything that looks like one. A look-up proves them, so a wrong guess costs only a
 * choice. Never part of a card number.
 *
 * Spec: Limits (orderReference: up to 50 characters, of any kind).
 */
export function candidateReferences(texts: readonly string[]): OrderReference[] {
  const searched = texts.map((text) => text.slice(0, longestSearched).replace(orderIds, ' '));
  const holdsCard = texts.some(holdsCardNumber);
  const found = new Map<string, OrderReference>();
  for (const kind of [generatedIn, quotedIn, labelledIn, lookalikesIn]) {
    for (const candidate of searched.flatMap(kind)) {
      const reference = parseOrderReference(candidate);
      if (reference.ok && !isOfCard(reference.value, holdsCard)) found.set(reference.value, reference.value);
    }
  }
  return [...found.values()].slice(0, mostCandidates);
}

function generatedIn(text: string): string[] {
  return Array.from(text.matchAll(generated), ([reference]) => reference);
}

function quotedIn(text: string): string[] {
  return Array.from(text.matchAll(quoted), ([, inside = '']) => inside.trim()).filter(
    (inside) => /\p{N}/u.test(inside) && inside.split(/\s+/u).length <= 4 && !isNoReference(inside),
  );
}

function labelledIn(text: string): string[] {
  return [labelled, numbered]
    .flatMap((pattern) => Array.from(text.matchAll(pattern), ([, word = '']) => word.replace(edges, '')))
    .filter((word) => word.length > 1 && (/^\d+$/u.test(word) || !isNoReference(word)));
}

function lookalikesIn(text: string): string[] {
  return Array.from(text.matchAll(tokens), ([token]) => token)
    .filter((token) => token.length <= longestToken && !/^\+\d|[@:]./u.test(token))
    .map((token) => token.replace(edges, ''))
    .filter((word) => looksLikeReference(word));
}

/** A word of letters and digits, or a number of six digits or more. */
function looksLikeReference(word: string): boolean {
  if (word.length < 4 || word.length > longestOrderReference || isNoReference(word)) return false;
  if (/^\d+$/u.test(word)) return word.length >= 6;
  return /\p{N}/u.test(word) && (/\p{L}/u.test(word) || /\d[-_/]\d/u.test(word));
}

/** Amounts, dates, times, phone numbers, quantities and addresses are no references. */
const notReferences = [
  /^(?:NGN|USD|EUR|GBP|GHS|KES|ZAR|[₦$€£])?\s*\d[\d,]*(?:\.\d{1,2})?(?:\s*[A-Z]{3}|%)?$/u,
  /^[A-Z]{3}\s*\d[\d,]*[.,]\d{2,3}$/u,
  /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:T[\d:.]+Z?)?$/u,
  /^\d{1,3}(?:[.:]\d{1,3})+(?:[ap]m)?$/iu,
  /^\+\d/u,
  /^\d+(?:st|nd|rd|th|ms|s|sec|min|mins|h|hr|hrs|d|am|pm|k|m|kb|mb|gb|px|x)$/iu,
  /^www\.|:\/\/|@/iu,
];

function isNoReference(word: string): boolean {
  return !/^\d{6,}$/u.test(word) && notReferences.some((pattern) => pattern.test(word));
}

/** Beside a card number, a word with more than four digits may be a part of that number. */
function isOfCard(candidate: string, besideCard: boolean): boolean {
  if (holdsCardNumber(candidate)) return true;
  return besideCard && !candidate.startsWith('pay-') && candidate.replaceAll(/\D/gu, '').length > 4;
}
