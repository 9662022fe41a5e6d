import type { PaymentsClient } from './client.ts';
import { type PageAnswer, pageQuery, readPageAnswer } from './pages.ts';
import { textsOf } from './wire.ts';

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

/** Whether each lower-case word is in one of the terminal's fields. */
export function terminalMatches(terminal: Terminal, words: readonly string[]): boolean {
  const { createdAt: _created, updatedAt: _updated, ...named } = terminal;
  const text = Object.values(named).join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}
