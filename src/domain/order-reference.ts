import { parsed, problem, type Parsed } from './wording.ts';

declare const orderReferenceBrand: unique symbol;

/**
 * The merchant's own reference of an order or charge: 1 to 50 characters, for at most one charge. Not the service's
 * order id, which looks similar.
 *
 * Spec: Limits (orderReference length), Checkout order.
 */
export type OrderReference = string & { readonly [orderReferenceBrand]: true };

export const longestOrderReference = 50;

/** Control and invisible characters: they come from copy and paste and are never part of a merchant's reference. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Reads a reference that was typed, pasted or sent in an event. The length is counted in code points. */
export function parseOrderReference(text: string): Parsed<OrderReference> {
  const trimmed = text.trim();
  const length = [...trimmed].length;
  if (length === 0) return problem('A reference is missing. It is the merchant’s own order reference.');
  if (invisible.test(trimmed) || !trimmed.isWellFormed()) {
    return problem('That reference holds invisible characters. Type it by hand, or paste it as plain text.');
  }
  if (length > longestOrderReference) {
    return problem(
      `That reference has ${length} characters; a reference has at most ${longestOrderReference}. Check for words pasted along with it.`,
    );
  }
  return parsed(trimmed as OrderReference);
}

/** Without 0, 1, 8 and 9, which people confuse with letters when they read aloud or copy. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const length = 26;
const generated = new RegExp(`^pay-[${alphabet}]{${length}}$`);

/** The prefix of every reference that the bot makes. */
export const chargeReferencePrefix = 'pay-';

/** Whether the bot made the reference. Screens don't put one in a sentence: it is 30 characters long. */
export function isGeneratedReference(reference: string): boolean {
  return generated.test(reference);
}

/**
 * The order reference for a submitted Slack view: `pay-` and 26 base32 characters of the hash of the view's id. The
 * same view gives the same reference on every replica and after every crash, so a double submit is one charge. `hash`
 * must be cryptographic (SHA-256). Throws RangeError for a hash below 17 bytes.
 *
 * Spec: Checkout order (orderReference: up to 50 characters, new for every charge).
 */
export function chargeReference(viewId: string, hash: (text: string) => Uint8Array): OrderReference {
  const digest = hash(viewId);
  if (digest.length * 8 < length * 5)
    throw new RangeError('A charge reference needs a hash of 17 bytes or more.');
  let text = chargeReferencePrefix;
  for (let index = 0; index < length; index++) text += alphabet.charAt(fiveBits(digest, index * 5));
  return text as OrderReference;
}

function fiveBits(bytes: Uint8Array, firstBit: number): number {
  const index = firstBit >> 3;
  const pair = ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
  return (pair >> (11 - (firstBit & 7))) & 31;
}
