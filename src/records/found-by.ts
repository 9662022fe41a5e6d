import { domainToASCII } from 'node:url';
import { StoreUnavailable } from '../domain/failure.ts';
import { visible } from '../domain/outside-text.ts';
import { newErrorId, type Log } from '../log.ts';
import type { Index } from '../store/store.ts';
import type { Fingerprint } from './fingerprint.ts';

/** What a person knows of a payment: the customer's e-mail, or the card's last four digits together with the amount. */
export type FoundBy = {
  customerEmail?: string | undefined;
  lastFour?: string | undefined;
  amountMinor?: number | undefined;
};

/**
 * An e-mail address in a form for comparing: without differences in case, spaces and invisible characters, and with its
 * domain in ASCII.
 */
export function normalEmail(email: string): string {
  const text = visible(email.normalize('NFKC')).replaceAll(/\s+/gu, '').toLowerCase();
  const at = text.lastIndexOf('@');
  if (at < 0) return text;
  const domain = text.slice(at + 1).replace(/\.$/, '');
  return `${text.slice(0, at)}@${domainToASCII(domain) || domain}`;
}

/**
 * The lists under which `/pay find` will find a record. Their names contain a keyed hash, never the address. Empty if
 * there is neither an e-mail nor a card with an amount. If the hash's key is lost, logs that and returns none: the record must be stored
 * all the same. Throws StoreUnavailable.
 */
export async function searchLists(
  { fingerprint, log }: { fingerprint: Fingerprint; log: Log },
  known: FoundBy,
): Promise<string[]> {
  try {
    return await namesOf(fingerprint, known);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    log('error', 'a record cannot be listed for /pay find', { errorId: newErrorId() }, error);
    return [];
  }
}

/**
 * The list in which to search; the e-mail's if both are known. Throws RangeError if neither is, and what `fingerprint`
 * throws.
 */
export async function searchList(fingerprint: Fingerprint, known: FoundBy): Promise<string> {
  const [list] = await namesOf(fingerprint, known);
  if (list === undefined) throw new RangeError('Neither an e-mail nor a card with an amount is given.');
  return list;
}

export function isSearchList(text: string): boolean {
  return new RegExp(`^${foundPrefix}[\\da-f]{32}$`).test(text);
}

function namesOf(fingerprint: Fingerprint, known: FoundBy): Promise<string[]> {
  return Promise.all(termsOf(known).map(async (term) => `${foundPrefix}${await fingerprint(term)}`));
}

/** An index with these lists; the record is sorted by `placeMs` in each. */
export function indexAt(lists: readonly string[], placeMs: number): Index {
  return Object.fromEntries(lists.map((list) => [list, placeMs]));
}

/**
 * The list of all charges and payment links of the bot's own, sorted by the time of their outcome, or of their start
 * while they have none.
 */
export const ownPaymentsList = 'own-payments';

const foundPrefix = 'found-by:';

function termsOf({ customerEmail = '', lastFour, amountMinor }: FoundBy): string[] {
  const email = normalEmail(customerEmail);
  // Token keys are hashed with the same key. None begins with a zero character, so no term equals a token key.
  return [
    ...(email === '' ? [] : [`\0find\0email\0${email}`]),
    ...(lastFour === undefined || amountMinor === undefined
      ? []
      : [`\0find\0card\0${lastFour}\0${amountMinor}`]),
  ];
}
