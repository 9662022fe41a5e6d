import { createHmac, randomBytes } from 'node:crypto';

/** A page, or undefined when the cursor is not one this service returned for this list. */
export type Page<T> = { results: T[]; cursor: string } | undefined;

export type Pager = <T>(
  list: { name: string; items: readonly T[]; idOf: (item: T) => string },
  limit: number,
  cursor: string | undefined,
) => Page<T>;

/**
 * Pages by "after this element", so that an element added meanwhile neither repeats nor hides another.
 * Cursors are signed: one made up by a caller is refused, as the spec allows only returned ones.
 *
 * Spec: Limits (pagination).
 */
export function createPager(): Pager {
  const key = randomBytes(16);
  const sign = (text: string): string =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, 16);

  function cursorOf(name: string, id: string): string {
    const text = Buffer.from(`${name}:${id}`).toString('base64url');
    return `${text}.${sign(text)}`;
  }

  function idBehind(name: string, cursor: string): string | undefined {
    const [text = '', signature] = cursor.split('.');
    if (signature !== sign(text)) return undefined;
    const plain = Buffer.from(text, 'base64url').toString();
    return plain.startsWith(`${name}:`) ? plain.slice(name.length + 1) : undefined;
  }

  return ({ name, items, idOf }, limit, cursor) => {
    let start = 0;
    if (cursor !== undefined && cursor !== '') {
      const after = idBehind(name, cursor);
      if (after === undefined) return undefined;
      start = items.findIndex((item) => idOf(item) === after) + 1;
    }
    const results = items.slice(start, start + limit);
    const last = results.at(-1);
    const more = start + limit < items.length;
    return { results, cursor: more && last !== undefined ? cursorOf(name, idOf(last)) : '' };
  };
}
