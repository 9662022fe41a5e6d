import { ServiceFailure } from '../domain/failure.ts';
import type { PageAnswer } from '../domain/service-page.ts';
import { asObject, asObjects, looseText } from './wire.ts';

type Page = { results: unknown; cursor: unknown };

/**
 * Reads one page of a list from where its `results` and `cursor` stand. An empty, null, missing or blank cursor is
 * none. A page without `results` is no page: a list must not seem shorter than it is because an answer was broken.
 *
 * Spec: Limits (pagination).
 */
export function readPageAnswer<Item>(
  answer: { data?: unknown; response: Response },
  cursor: string | undefined,
  read: { page: (body: unknown) => Page | undefined; item: (record: unknown) => Item },
): PageAnswer<Item> {
  const { status } = answer.response;
  if (status === 404 && cursor === undefined) return { kind: 'page', items: [] };
  if ((status === 400 || status === 404) && cursor !== undefined) return { kind: 'cursor_refused' };
  const page = answer.response.ok ? read.page(answer.data) : undefined;
  if (!page || typeof page.results !== 'object' || page.results === null) {
    throw new ServiceFailure('malformed', 'A page of the list was answered without its results.', {
      httpStatus: status,
    });
  }
  const next = looseText.parse(page.cursor);
  const items = asObjects(page.results).map(read.item);
  return { kind: 'page', items, ...(next === undefined || next.trim() === '' ? {} : { cursor: next }) };
}

/** The account list's page, which has no envelope. */
export function barePage(body: unknown): Page | undefined {
  const page = asObject(body);
  return page && { results: page['results'], cursor: page['cursor'] };
}

/** The terminal list's page, which stands under `data`, with code "00". */
export function envelopedPage(body: unknown): Page | undefined {
  const envelope = asObject(body);
  return looseText.parse(envelope?.['code']) === '00' ? barePage(envelope?.['data']) : undefined;
}
