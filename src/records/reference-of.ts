import { createHash } from 'node:crypto';
import { chargeReference } from '../domain/charge-reference.ts';
import type { OrderReference } from '../domain/order-reference.ts';

/** The one reference of a dialogue, or of whatever else a text names, on every replica and after every crash. */
export function referenceOf(text: string): OrderReference {
  return chargeReference(text, (hashed) => createHash('sha256').update(hashed).digest());
}
