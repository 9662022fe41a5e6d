import type { OrderReference } from '../../domain/order-reference.ts';
import { nearestWord } from '../../domain/wording.ts';

/** About as many references as a person looks up in an hour or two. */
const mostOfPerson = 20;
const mostPeople = 1_000;
/** In a shorter reference every letter counts. */
const shortest = 4;

/**
 * The last references that each person found, for the hint on a mistyped one. In memory alone: losing them costs only
 * that hint.
 */
export function createFoundLately() {
  const found = new Map<string, readonly OrderReference[]>();
  return {
    add(userId: string, reference: OrderReference): void {
      const others = (found.get(userId) ?? []).filter((one) => one !== reference);
      if (found.size >= mostPeople && !found.has(userId)) found.clear();
      found.set(userId, [reference, ...others].slice(0, mostOfPerson));
    },
    /** The newest reference that this person found and that differs by case alone, or else by one typing error. */
    near(userId: string, reference: OrderReference): OrderReference | undefined {
      if (reference.length < shortest) return undefined;
      const others = (found.get(userId) ?? []).filter((one) => one !== reference && one.length >= shortest);
      return nearestWord(reference, others, 1);
    },
  };
}
