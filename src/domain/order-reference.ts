import { parsed, problem, type Parsed } from './parsed.ts';

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
