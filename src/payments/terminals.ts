import { z } from 'zod';
import { largestPage, type PageAnswer } from '../domain/service-page.ts';
import type { Terminal } from '../domain/terminal.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { PaymentsClient } from './client.ts';
import { readPageAnswer } from './pages.ts';
import { looseText } from './wire.ts';

const terminalRecord = z
  .object({
    terminalId: looseText,
    serialNumber: looseText,
    accountId: looseText,
    parentAccountId: looseText,
    merchantName: looseText,
    terminalLabel: looseText,
    createdAt: looseText,
    updatedAt: looseText,
  })
  .partial();

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
    params: {
      header: { accountId },
      query: { limit: largestPage, ...(cursor === undefined ? {} : { cursor }) },
    },
  });
  return readPageAnswer(answer, cursor, (record): Terminal => withoutUndefined(terminalRecord.parse(record)));
}
