import type { PageAnswer } from '../domain/service-page.ts';
import { failureOfAnswer } from './failures.ts';
import { asObject, asObjects, looseText } from './wire.ts';

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
