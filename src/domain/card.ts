import { withoutUndefined } from './json.ts';

/**
 * A saved card from an event or a listing. The `tokenKey` is enough to charge the card, so it is stored sealed, and
 * never logged, shown or put into a Slack payload.
 *
 * Spec: Saved card (tokenized card data); the formats of expiry and pan: not shown.
 */
export type SavedCard = {
  tokenKey: string;
  cardType?: string;
  tokenExpiryDate?: string;
  cardPan?: string;
  customerEmail?: string;
};

/**
 * The parts of a saved card that may be shown, to tell it from the customer's other cards. Empty for a pasted token key
 * that the ledger doesn't know.
 *
 * Spec: Saved card (tokenized card data); the format of cardPan: not shown, so only its last four digits are kept.
 */
export type CardFace = { cardType?: string; lastFour?: string };

/**
 * The face of a card: its type, and at most the number's last four digits, even if the service sends the whole number
 * against the specification. No digits unless the number ends in four: wrong ones could make a person charge another
 * card.
 *
 * Spec: Saved card; the format of cardPan and the values of cardType: not shown.
 */
export function faceOf(card: SavedCard): CardFace {
  const cardType = card.cardType?.trim();
  return withoutUndefined({
    cardType: cardType && !holdsCardNumber(cardType) ? cardType : undefined,
    lastFour: card.cardPan === undefined ? undefined : lastFourOf(card.cardPan),
  });
}

function lastFourOf(cardPan: string): string | undefined {
  const plain = cardPan.normalize('NFKC').replace(/[\s\p{Pd}\p{Cf}._/]+/gu, '');
  return /\d{4}$/.exec(plain)?.[0];
}

/**
 * What happened to the card of a first payment; without its token, so it may be stored and shown. `not_kept`: the
 * settings keep no cards. `no_token`: the payment should have saved the card, but has no usable token.
 *
 * Spec: Events, tokenizedCardData and rule 3.
 */
export type CardSaved = { kind: 'kept' | 'not_kept'; face: CardFace } | { kind: 'no_token' };

/** A saved card that people can choose. `id` is a keyed hash, with which nobody can charge the card. */
export type KnownCard = { id: string; face: CardFace; customerEmail?: string };

/** The cards that the bot remembers. All methods throw StoreUnavailable. */
export type KnownCards = {
  /** Cards that match every typed word, newest first; without words the newest cards. */
  search(typed: string, max: number): Promise<readonly KnownCard[]>;
  find(id: string): Promise<(KnownCard & { tokenKey: string }) | undefined>;
  /** The id of the card with this token, also if the bot doesn't know the card. */
  idOf(tokenKey: string): Promise<string>;
};

/** At most this many of a customer's cards are read. */
const mostOfCustomer = 20;

/** The remembered cards of exactly this address, newest first; none for an empty one. Throws StoreUnavailable. */
export async function cardsOfEmail(
  cards: Pick<KnownCards, 'search'> | undefined,
  email: string | undefined,
): Promise<readonly KnownCard[]> {
  const wanted = email?.trim().toLowerCase() ?? '';
  const found = wanted === '' ? [] : ((await cards?.search(wanted, mostOfCustomer)) ?? []);
  return found.filter(({ customerEmail }) => customerEmail?.trim().toLowerCase() === wanted);
}

/**
 * A change of a saved card's e-mail. The service refuses it if `currentEmail` is not the card's. `tokenKey` is a
 * secret.
 */
export type EmailChange = { tokenKey: string; currentEmail: string; newEmail: string };

/** How long a draft under review, or a listing of cards, is kept: the button on it expires then. */
export const draftKeepMs = 30 * 60_000;

/** Invisible characters that copying adds: zero-width and bidi marks, soft hyphens, combining marks, controls. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}]|(?!\s)\p{Cc}/gu;

const uuid = /(?<![\p{L}\p{N}])[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}(?![\p{L}\p{N}])/giu;

/** How card numbers begin, and their lengths. Only Maestro may have 12 digits. */
const cardNumberPatterns = [
  /^(?=(?:\d{13}|\d{16}|\d{19})$)4/, // Visa
  /^(?=\d{16}$)(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, // Mastercard
  /^(?=\d{15}$)3[47]/, // American Express
  /^(?=\d{14}$)(?:30[0-59]|36|38|39)/, // Diners Club
  /^(?=\d{16,19}$)(?:6011|64[4-9]|65)/, // Discover; Verve's 6500 too
  /^(?=\d{16,19}$)62/, // UnionPay
  /^(?=\d{16,19}$)35(?:2[89]|[3-8])/, // JCB
  /^(?=(?:\d{16}|\d{18,19})$)(?:506[01]|507[89])/, // Verve
  /^(?=\d{12,19}$)(?:5018|5020|5038|5893|6304|6759|676[1-3])/, // Maestro
];

/** A run of digits and the separator before it. `other`: not a separator that card numbers have. */
type Group = { digits: string; separator: 'space' | '.' | '/' | 'other'; afterPlus: boolean };

const shortestCardNumber = 12;
const longestCardNumber = 19;
/** After a plus sign, up to this many digits count as a telephone number. */
const longestPhoneNumber = 15;

/**
 * Whether the text contains a card number: in one piece or in groups, glued to words, with expiry or CVV, or with
 * invisible characters. Called before a text is stored, echoed or logged, so in doubt the answer is yes.
 *
 * Known false positives: a numeric reference that begins like a card number and has its length (16 digits from 4 or 51,
 * or from a date like 261120, which looks like Mastercard) passes the check digit one time in ten; so does one written
 * in groups of four. Not detected: unusual groups, up to 15 digits after a plus sign, and numbers with more digits
 * glued on. Stricter rules would refuse telephone numbers, and references beside their amount.
 */
export function holdsCardNumber(text: string): boolean {
  if (hasTooFewDigits(text)) return false;
  const groups = groupsIn(text.normalize('NFKC').replace(unseen, '').replace(uuid, 'uuid'));
  return groups.some((_, first) => startsCardNumber(groups, first));
}

/**
 * Whether the text has too few digits for a card number. A quick first test for plain ASCII; other characters may be
 * digits, too, so for them the answer is no.
 */
function hasTooFewDigits(text: string): boolean {
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return false;
    if (code >= 0x30 && code <= 0x39) digits += 1;
  }
  return digits < shortestCardNumber;
}

/**
 * 13 to 19 digits, in one piece or in the groups that people use. UUIDs match first, so that their digits don't count.
 */
const numberRun = new RegExp(
  String.raw`${uuid.source}|(?<!\d)\d(?:[\s\p{Pd}−_./]{0,3}\d){12,18}(?!\d)`,
  'giu',
);

/**
 * Masks a typed text for echo and log. Of each run of 13 to 19 digits only the last four stay, also if the check digit
 * is wrong: people mistype card numbers. Other text is unchanged.
 */
export function maskNumbers(text: string): string {
  if (hasTooFewDigits(text)) return text;
  const plain = text.normalize('NFKC').replace(unseen, '');
  const masked = plain.replace(numberRun, (run) =>
    /\p{L}/u.test(run) || run.replace(/\D/gu, '').length === 32
      ? run
      : `•••• ${run.replace(/\D/gu, '').slice(-4)}`,
  );
  return masked === plain ? text : masked;
}

function groupsIn(text: string): Group[] {
  let end = 0;
  return Array.from(text.matchAll(/\d+/g), ({ 0: digits, index }) => {
    const between = text.slice(end, index);
    end = index + digits.length;
    return { digits, separator: separatorOf(between), afterPlus: between.endsWith('+') };
  });
}

function separatorOf(between: string): Group['separator'] {
  if (/^[\s\p{Pd}−_]+$/u.test(between)) return 'space';
  return between === '.' || between === '/' ? between : 'other';
}

/** Whether a card number begins at `first`: tries each sequence of groups with one kind of separator. */
function startsCardNumber(groups: readonly Group[], first: number): boolean {
  const shortest = groups[first]?.afterPlus ? longestPhoneNumber + 1 : shortestCardNumber;
  const separator = groups[first + 1]?.separator;
  let digits = '';
  const sizes: number[] = [];
  for (const group of groups.slice(first, first + longestCardNumber)) {
    if (sizes.length > 0 && (group.separator === 'other' || group.separator !== separator)) return false;
    digits += group.digits;
    sizes.push(group.digits.length);
    if (digits.length > longestCardNumber) return false;
    if (digits.length >= shortest && isCardNumber(digits) && isUsualShape(sizes)) return true;
  }
  return false;
}

/**
 * Whether the groups have sizes as printed on cards, or as people type them: one, two, three or four digits, perhaps
 * with a space missing.
 */
function isUsualShape(sizes: readonly number[]): boolean {
  const [first = 0, ...rest] = sizes;
  if (rest.length === 0) return true;
  if (/^(?:4,6,[45]|6,13|8,8|4,3,3,3)$/.test(sizes.join())) return true;
  // Two groups of other sizes are more likely a reference and an amount.
  if (rest.length === 1) return false;
  const last = rest.at(-1) ?? 0;
  const whole = sizes.slice(0, -1);
  if (first <= 3) return last <= first && whole.every((size) => size === first);
  return last <= 8 && whole.every((size) => size === 4 || size === 8);
}

function isCardNumber(digits: string): boolean {
  return cardNumberPatterns.some((pattern) => pattern.test(digits)) && passesLuhn(digits);
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
