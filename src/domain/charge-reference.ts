import type { OrderReference } from './order-reference.ts';

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
