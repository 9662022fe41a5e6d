import { hash } from 'node:crypto';
import { chargeReference, chargeReferencePrefix, type OrderReference } from '../domain/order-reference.ts';

/**
 * Derives an order reference from a text, like a modal's id. The same text gives the same reference on every replica
 * and after every crash.
 */
export function derivedReference(text: string): OrderReference {
  return chargeReference(text, (input) => hash('sha256', input, 'buffer'));
}

/**
 * The id of an approval request that has no order reference: `apr-` and 26 base32 characters, the same for the same
 * text.
 */
export function approvalId(text: string): string {
  return `apr-${derivedReference(text).slice(chargeReferencePrefix.length)}`;
}
