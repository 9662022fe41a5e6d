import { createHash } from 'node:crypto';
import { chargeReference, chargeReferencePrefix, type OrderReference } from '../domain/order-reference.ts';

/** The one reference of a dialogue, or of whatever else a text names, on every replica and after every crash. */
export function referenceOf(text: string): OrderReference {
  return chargeReference(text, (hashed) => createHash('sha256').update(hashed).digest());
}

/** The id of a request for what has no reference of its own: `apr-` and 26 base32 characters, the same for the same text. */
export function approvalId(text: string): string {
  return `apr-${referenceOf(text).slice(chargeReferencePrefix.length)}`;
}
