import type { EmailChange, EmailChangeAnswer } from '../domain/charge-answer.ts';
import type { JsonObject } from '../domain/json-pointer.ts';
import type { SavedCard } from '../domain/saved-card.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import type { PaymentsClient } from './client.ts';
import { askForEffect, only, rejectedFor, type Told } from './effect-answer.ts';
import { looseText } from './wire.ts';

/**
 * Changes the e-mail linked to a saved card, never the card. Charges with the old e-mail are rejected from
 * then on, so `unknown` has to be told: the change may have been made. Never throws.
 *
 * Spec: change the email of a saved card.
 */
export async function changeCardEmail(
  client: PaymentsClient,
  accountId: string,
  change: EmailChange,
): Promise<EmailChangeAnswer> {
  const { tokenKey, currentEmail: currentEmailAddress, newEmail: newEmailAddress } = change;
  return await askForEffect({
    call: () =>
      client.POST('/v1/checkout/tokenized-card-data', {
        params: { header: { accountId } },
        body: { tokenKey, currentEmailAddress, newEmailAddress },
      }),
    judge: judgeChange,
    secrets: [tokenKey],
  });
}

function judgeChange({ isOk, httpStatus, code, status, data, message }: Told): EmailChangeAnswer | undefined {
  if (httpStatus === 404 || (isOk && code === '404')) return { kind: 'no_such_card' };
  if (code === '400' && status === false) return rejectedFor(message);
  if (!isOk || code !== '00' || status === undefined) return undefined;
  return status
    ? { kind: 'changed', card: readCard(only(data?.['tokenizedCardData'])) }
    : { kind: 'not_linked', message };
}

function readCard(card: JsonObject | undefined): Omit<SavedCard, 'tokenKey'> | undefined {
  if (!card) return undefined;
  return withoutUndefined({
    cardType: looseText.parse(card['cardType']),
    tokenExpiryDate: looseText.parse(card['tokenExpiryDate']),
    cardPan: looseText.parse(card['cardPan']),
    customerEmail: looseText.parse(card['customerEmail']),
  });
}
