/**
 * `now`, where every part that equals its counterpart in `before` is the very object that stood there. Each
 * news of the server is a whole state; what is drawn from a part that stayed the same need not be drawn again.
 * Elements of a list are told apart by their `id` or `ts`, else by their place.
 */
export function keepSame<T>(before: unknown, now: T): T {
  if (!isObject(before) || !isObject(now)) return now;
  if (Array.isArray(now)) return Array.isArray(before) ? sameList(before, now) : now;
  const earlier = new Map(Object.entries(before));
  let changed = earlier.size !== Object.keys(now).length;
  for (const [key, value] of Object.entries(now)) {
    const kept = keepSame(earlier.get(key), value);
    changed ||= !earlier.has(key) || kept !== earlier.get(key);
    Object.assign(now, { [key]: kept });
  }
  return changed ? now : (before as T);
}

function sameList<T extends unknown[]>(before: unknown[], now: T): T {
  const earlier = new Map(before.map((element, index) => [keyOf(element, index), element]));
  let changed = before.length !== now.length;
  for (const [index, element] of now.entries()) {
    const kept = keepSame(earlier.get(keyOf(element, index)), element);
    changed ||= kept !== before[index];
    now[index] = kept;
  }
  return changed ? now : (before as T);
}

function keyOf(element: unknown, index: number): unknown {
  if (!isObject(element)) return index;
  if ('ts' in element) return element.ts;
  return 'id' in element ? element.id : index;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
