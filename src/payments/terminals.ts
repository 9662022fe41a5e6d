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

/** One terminal as the list told it; times are the service's own text. */
export type Terminal = { [Field in (typeof terminalFields)[number]]?: string };

/**
 * One page of the merchant's terminals, the first without a cursor. Throws ServiceFailure when the service gave no
 * usable answer.
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
 * Reads one page of a list, bare as the specification shows the accounts or under `data` as it shows the terminals.
 * An empty, null, missing or blank cursor is none. A page without `results` is no page: a list must not seem shorter
 * than it is because an answer was broken.
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
 * One page of a list of the payments service. `cursor` is the service's own word for the next page and is passed
 * back as it came; absent: the list ends here.
 *
 * Spec: Limits (pagination).
 */
export type PageAnswer<Item> =
  | { kind: 'page'; items: readonly Item[]; cursor?: string }
  /** The service does not know this cursor (any more): only a list read from its beginning goes on. */
  | { kind: 'cursor_refused' };

/** Reads one page; without a cursor the first. Throws ServiceFailure when the service gave no usable answer. */
export type ReadPage<Item> = (cursor?: string) => Promise<PageAnswer<Item>>;

/** Spec: Limits (page size). */
const largestPage = 50;

export function pageQuery(cursor: string | undefined): { limit: number; cursor?: string } {
  return { limit: largestPage, ...(cursor === undefined ? {} : { cursor }) };
}

/** Whether each of the words, lower-case, stands in one of its fields. */
export function terminalMatches(terminal: Terminal, words: readonly string[]): boolean {
  const { createdAt: _created, updatedAt: _updated, ...named } = terminal;
  const text = Object.values(named).join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
