import { failureOfAnswer } from './failures.ts';
import { asObject, asObjects, looseText } from './wire.ts';

/**
 * Reads one page of a list: bare, as the specification shows accounts, or under `data`, as it shows terminals. An
 * empty, null, missing or blank cursor ends the list. A page without `results` is invalid: a broken answer must not
 * shorten a list.
 *
 * Spec: Limits (pagination); GET {base_url}/v1/accounts; GET {base_url}/v1/accounts/terminals.
 */
export function readPageAnswer<Item>(
  answer: { data?: unknown; error?: unknown; response: Response },
  cursor: string | undefined,
  readItem: (record: unknown) => Item,
): PageAnswer<Item> {
  const { status, ok } = answer.response;
  if (status === 404 && cursor === undefined) return { kind: 'page', items: [] };
  if ([400, 404, 422].includes(status) && cursor !== undefined) return { kind: 'cursor_refused' };
  const body = asObject(answer.data);
  const code = looseText.parse(body?.['code']);
  const { results, cursor: nextCursor } =
    (body?.['results'] === undefined ? asObject(body?.['data']) : body) ?? {};
  const isPage =
    ok && (code === undefined || code === '00') && typeof results === 'object' && results !== null;
  if (!isPage) throw failureOfAnswer(answer, 'A page of the list was answered without its results.');
  const next = looseText.parse(nextCursor);
  const items = asObjects(results).map(readItem);
  return { kind: 'page', items, ...(next === undefined || next.trim() === '' ? {} : { cursor: next }) };
}

/**
 * One page of a list. `cursor` is the service's own and is sent back unchanged; absent on the last page.
 *
 * Spec: Limits (pagination).
 */
export type PageAnswer<Item> =
  | { kind: 'page'; items: readonly Item[]; cursor?: string }
  /** The service does not know the cursor (any more): start from the first page. */
  | { kind: 'cursor_refused' };

/** Reads one page; without a cursor the first. Throws ServiceFailure if the service gave no usable answer. */
export type ReadPage<Item> = (cursor?: string) => Promise<PageAnswer<Item>>;

/** Spec: Limits (page size). */
const largestPage = 50;

export function pageQuery(cursor: string | undefined): { limit: number; cursor?: string } {
  return { limit: largestPage, ...(cursor === undefined ? {} : { cursor }) };
}
