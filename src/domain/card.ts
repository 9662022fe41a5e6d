import { withoutUndefined } from './json.ts';

/**
 * A saved card as an event or a listing told it. `tokenKey` can charge the card: it is kept sealed, and
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
 * What may be shown of a saved card: enough for a person to tell it from the customer's other cards.
 * All absent for a card whose token key was pasted and that the ledger does not know.
 *
 * Spec: Saved card (tokenized card data); the format of cardPan: not shown, so only its last four digits are kept.
 */
export type CardFace = { cardType?: string; lastFour?: string };

/**
 * What may be shown of a saved card. Of the number never more than its last four digits, whether it came
 * masked, cut short or whole against the spec's promise; none when it does not end in four digits, because
 * wrong ones would make a person charge another card.
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
 * What became of the card that a first payment saved; of its token nothing is here, so it may be stored and shown.
 * `not_kept`: the bot remembers no cards, by its settings. `no_token`: the event says that it is a card-saving
 * payment and carries no token that can be used.
 *
 * Spec: Events, tokenizedCardData and rule 3.
 */
export type CardSaved = { kind: 'kept' | 'not_kept'; face: CardFace } | { kind: 'no_token' };

/** A saved card as it may be offered. `id` is a keyed hash: it names the card and charges nothing. */
export type KnownCard = { id: string; face: CardFace; customerEmail?: string };

/** The cards that the bot remembers; all of it throws StoreUnavailable. */
export type KnownCards = {
  /** Newest first. */
  search(typed: string, max: number): Promise<readonly KnownCard[]>;
  find(id: string): Promise<(KnownCard & { tokenKey: string }) | undefined>;
  /** The id that the card of this token has, known or not. */
  idOf(tokenKey: string): Promise<string>;
};

/** More cards of one customer than these nobody has. */
const mostOfCustomer = 20;

/** The remembered cards of exactly this address, newest first; none of an empty one. Throws StoreUnavailable. */
export async function cardsOfEmail(
  cards: Pick<KnownCards, 'search'> | undefined,
  email: string | undefined,
): Promise<readonly KnownCard[]> {
  const wanted = email?.trim().toLowerCase() ?? '';
  const found = wanted === '' ? [] : ((await cards?.search(wanted, mostOfCustomer)) ?? []);
  return found.filter(({ customerEmail }) => customerEmail?.trim().toLowerCase() === wanted);
}

/** A new e-mail for a saved card. `currentEmail` must be the one linked to it; `tokenKey` is a secret. */
export type EmailChange = { tokenKey: string; currentEmail: string; newEmail: string };

/** How long what was reviewed can be agreed to. */
export const draftKeepMs = 30 * 60_000;

/** What a copy brings along unseen: zero-width and bidi marks, soft hyphens, combining marks, controls. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}]|(?!\s)\p{Cc}/gu;

const uuid = /(?<![\p{L}\p{N}])[\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12}(?![\p{L}\p{N}])/giu;

/** How card numbers begin and how long they then are. Maestro alone may have 12 digits. */
const issued = [
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

/** A whole run of digits, and what parts it from the one before; `none` when that cannot stand inside a card number. */
type Group = { digits: string; joint: 'space' | '.' | '/' | 'none'; afterPlus: boolean };

const shortestCardNumber = 12;
const longestCardNumber = 19;
/** A number after a plus sign is a telephone number up to this length. */
const longestPhoneNumber = 15;

/**
 * Whether a card number stands in the text, written in one piece or in groups, glued to words, with expiry
 * or CVV behind it, with characters in it that nobody sees. Called before anything is kept, echoed or
 * logged, so it errs on the side of refusing.
 *
 * Accepted as the cost: of the purely numeric references that begin like a card and have a card's length
 * (16 digits from 4 or 51, say, or from a date like 261120, which Mastercard's newer numbers look like) one
 * in ten passes the check digit by accident and is refused; so is one in ten that is written in fours.
 * Accepted on the other side: a number in groups of no usual shape, of at most 15 digits after a plus sign,
 * or with more digits glued to it is not seen. Looser rules would refuse telephone numbers, and references
 * beside their amount.
 */
export function holdsCardNumber(text: string): boolean {
  if (isShortOfDigits(text)) return false;
  const groups = groupsIn(text.normalize('NFKC').replace(unseen, '').replace(uuid, 'uuid'));
  return groups.some((_, first) => startsCardNumber(groups, first));
}

/** Of plain ASCII that can be told at a glance, and most texts are that; elsewhere other characters may turn into digits. */
function isShortOfDigits(text: string): boolean {
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return false;
    if (code >= 0x30 && code <= 0x39) digits += 1;
  }
  return digits < shortestCardNumber;
}

/** Of 13 to 19 digits, in one piece or parted as people part them. A UUID is told apart first. */
const numberRun = new RegExp(
  String.raw`${uuid.source}|(?<!\d)\d(?:[\s\p{Pd}−_./]{0,3}\d){12,18}(?!\d)`,
  'giu',
);

/**
 * A typed text as it may be echoed or logged: of every run of 13 to 19 digits the last four are left, whether or not a
 * check digit holds, because people mistype card numbers. Any other text comes back as it is.
 */
export function maskNumbers(text: string): string {
  if (isShortOfDigits(text)) return text;
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
    return { digits, joint: jointOf(between), afterPlus: between.endsWith('+') };
  });
}

function jointOf(between: string): Group['joint'] {
  if (/^[\s\p{Pd}−_]+$/u.test(between)) return 'space';
  return between === '.' || between === '/' ? between : 'none';
}

/** Tries every stretch of groups from this one on; the separators of one stretch are all of a kind. */
function startsCardNumber(groups: readonly Group[], first: number): boolean {
  const shortest = groups[first]?.afterPlus ? longestPhoneNumber + 1 : shortestCardNumber;
  const joint = groups[first + 1]?.joint;
  let digits = '';
  const sizes: number[] = [];
  for (const group of groups.slice(first, first + longestCardNumber)) {
    if (sizes.length > 0 && (group.joint === 'none' || group.joint !== joint)) return false;
    digits += group.digits;
    sizes.push(group.digits.length);
    if (digits.length > longestCardNumber) return false;
    if (digits.length >= shortest && isCardNumber(digits) && isUsualShape(sizes)) return true;
  }
  return false;
}

/** As printed on cards, and as people part digits: one by one, in twos, threes or fours, a space forgotten here and there. */
function isUsualShape(sizes: readonly number[]): boolean {
  const [first = 0, ...rest] = sizes;
  if (rest.length === 0) return true;
  if (/^(?:4,6,[45]|6,13|8,8|4,3,3,3)$/.test(sizes.join())) return true;
  // Two groups of other sizes are a reference and an amount.
  if (rest.length === 1) return false;
  const last = rest.at(-1) ?? 0;
  const whole = sizes.slice(0, -1);
  if (first <= 3) return last <= first && whole.every((size) => size === first);
  return last <= 8 && whole.every((size) => size === 4 || size === 8);
}

function isCardNumber(digits: string): boolean {
  return issued.some((pattern) => pattern.test(digits)) && passesLuhn(digits);
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
