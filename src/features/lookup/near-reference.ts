import type { OrderReference } from '../../domain/order-reference.ts';

/** About as many references as a person looks up in an hour or two. */
const mostOfPerson = 20;
const mostPeople = 1_000;
/** In a shorter reference every letter counts. */
const shortest = 4;

/** References that people found lately. Kept in this process only: losing them costs only a hint. */
export function createFoundLately() {
  const found = new Map<string, readonly OrderReference[]>();
  return {
    add(userId: string, reference: OrderReference): void {
      const others = (found.get(userId) ?? []).filter((one) => one !== reference);
      if (found.size >= mostPeople && !found.has(userId)) found.clear();
      found.set(userId, [reference, ...others].slice(0, mostOfPerson));
    },
    /** The newest reference that this person found and that is near, but not equal. */
    near: (userId: string, reference: OrderReference): OrderReference | undefined =>
      (found.get(userId) ?? []).find((one) => one !== reference && isNear(one, reference)),
  };
}

/** Whether two references differ only by case, or by one letter added, missing, changed or swapped with its neighbour. */
export function isNear(one: string, other: string): boolean {
  const [long = [], short = []] = [one, other]
    .map((text) => Array.from(text.toLowerCase()))
    .toSorted((a, b) => b.length - a.length);
  if (short.length < shortest || long.length - short.length > 1) return false;
  const at = long.findIndex((letter, index) => letter !== short[index]);
  if (at === -1) return true;
  if (long.length > short.length) return rest(long, at + 1) === rest(short, at);
  const isSwapped = long[at] === short[at + 1] && long[at + 1] === short[at];
  return (
    rest(long, at + 1) === rest(short, at + 1) || (isSwapped && rest(long, at + 2) === rest(short, at + 2))
  );
}

function rest(letters: readonly string[], from: number): string {
  return letters.slice(from).join('');
}
