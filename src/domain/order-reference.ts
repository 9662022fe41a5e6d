import { parsed, problem, type Parsed } from './wording.ts';

declare const orderReferenceBrand: unique symbol;

/**
 * The merchant's own reference of an order or charge: 1 to 50 characters, one charge at most for each.
 * Never the service's order id, which only looks alike.
 *
 * Spec: Limits (orderReference length), Checkout order.
 */
export type OrderReference = string & { readonly [orderReferenceBrand]: true };

export const longestOrderReference = 50;

/** Control, formatting and invisible characters: they come from a copy and paste, never from a merchant. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** Reads a reference a person typed or pasted, or an event brought. Characters are counted as people see them, not as UTF-16 units. */
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

/** Neither 0 nor 1 nor 8 nor 9, so that no character is taken for another when read aloud or copied by hand. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const length = 26;
const ours = new RegExp(`^pay-[${alphabet}]{${length}}$`);

/** Every reference that the bot gives to a charge begins with it, and no code of a bank does. */
export const chargeReferencePrefix = 'pay-';

/** Whether it is one of those: too long to be read in a sentence. */
export function isGeneratedReference(reference: string): boolean {
  return ours.test(reference);
}

/**
 * The one order reference of a submitted Slack view: `pay-` and 26 base32 characters of the hash of its id.
 * The same view gives the same reference on every replica and after every crash, so a double submit is the
 * same charge. `hash` must be a cryptographic one (SHA-256); throws RangeError when it gives under 17 bytes.
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
