import type { PaymentsClient } from './client.ts';
import { failureOfAnswer } from './failures.ts';
import { asObject, asObjects, looseText, textsOf } from './wire.ts';

/** Spec: Terminal record. */
const terminalFields = [
  'terminalId',
  'serialNumber',
  'accountId',
  'parentAccountId',
  'merchantName',
  'terminalLabel',
  'createdAt',
  'updatedAt',
] as const;

/** A terminal as listed; times are the service's own text. */
export type Terminal = { [Field in (typeof terminalFields)[number]]?: string };

/**
 * One page of the merchant's terminals; without a cursor the first. Throws ServiceFailure if the service gave no usable
 * answer.
 *
 * Spec: GET {base_url}/v1/accounts/terminals.
 */
export async function listTerminals(
  client: PaymentsClient,
  accountId: string,
  cursor?: string,
): Promise<PageAnswer<Terminal>> {
  const answer = await client.GET('/v1/accounts/terminals', {
    params: { header: { accountId }, query: pageQuery(cursor) },
  });
  return readPageAnswer(answer, cursor, (record) => textsOf(record, terminalFields));
}

/**
 * Reads one page of a list: bare, as the specification shows accounts, or under `data`, as it shows terminals. An empty,
 * null, missing or blank cursor ends the list. A page without `results` is invalid: a broken answer must not shorten a
 * list.
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
  const { results, cursor: told } = (body?.['results'] === undefined ? asObject(body?.['data']) : body) ?? {};
  const isPage =
    ok && (code === undefined || code === '00') && typeof results === 'object' && results !== null;
  if (!isPage) throw failureOfAnswer(answer, 'A page of the list was answered without its results.');
  const next = looseText.parse(told);
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

/** Whether each lower-case word is in one of the terminal's fields. */
export function terminalMatches(terminal: Terminal, words: readonly string[]): boolean {
  const { createdAt: _created, updatedAt: _updated, ...named } = terminal;
  const text = Object.values(named).join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
