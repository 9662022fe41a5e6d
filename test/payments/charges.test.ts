import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { chargeSavedCard } from '../../src/payments/charges.ts';
import { mockTheOutside } from '../support/mocks.ts';
import {
  accountId,
  baseUrl,
  cannedClient,
  charge,
  chargeData,
  chargePath,
  clientOf,
  envelope,
  fixedToken,
  inTime,
  reference,
  secrets,
} from './charging.ts';

mockTheOutside();

const { transactionId } = secrets;

function chargeAnswered(body: unknown, httpStatus = 200) {
  return chargeSavedCard(cannedClient(body, httpStatus), accountId, charge, inTime);
}

describe('chargeSavedCard', () => {
  it('sends the card, the order and nothing else: no saveCard, accountId or splitRequest inside', async () => {
    const order = {
      amount: '5000.50',
      currency: 'NGN',
      customerEmail: charge.customerEmail,
      orderReference: reference,
      customerId: 'CUST-1',
    };
    const reqheaders = { authorization: `Bearer ${secrets.accessToken}`, accountid: accountId };
    nock(baseUrl, { reqheaders })
      .post(chargePath, { tokenKey: charge.tokenKey, order })
      .reply(200, envelope('00', chargeData(true, false)));
    // A caller's extra fields are not sent.
    const wider = { ...charge, customerId: 'CUST-1', saveCard: true, accountId: 'x', splitRequest: {} };
    expect(await chargeSavedCard(clientOf(), accountId, wider, inTime)).toEqual({ kind: 'approved' });
  });

  it('is approved, pending, declined or rejected only by the table’s rows', async () => {
    expect(await chargeAnswered(envelope('00', chargeData(true, false)))).toEqual({ kind: 'approved' });
    expect(await chargeAnswered(envelope('00', chargeData(false, true, { transactionId })))).toEqual({
      kind: 'otp_required',
      transactionId,
      message: 'words of the bank',
    });
    expect(await chargeAnswered(envelope('00', chargeData(false, false)))).toEqual({
      kind: 'declined',
      bankMessage: 'words of the bank',
    });
    expect(await chargeAnswered(envelope('400', chargeData(false, false)))).toEqual({
      kind: 'rejected',
      reason: 'other',
      message: 'words of the bank',
    });
  });

  it.each([
    ['strings for booleans', envelope('00', chargeData('TRUE', 'False')), 'approved'],
    ['a list of one for data', envelope('00', [chargeData(true, false)]), 'approved'],
    ['a list of one for the whole', [envelope('00', chargeData(false, false))], 'declined'],
    ['a number for the code', envelope(400, chargeData(false, 'false')), 'rejected'],
    [
      'a number for the transaction id',
      envelope('00', chargeData('false', 'true', { transactionId: 17 })),
      'otp_required',
    ],
    ['an approval without data.otpRequired', envelope('00', chargeData(true, undefined)), 'approved'],
    ['a decline without data.otpRequired', envelope('00', chargeData(false, null)), 'declined'],
    [
      'a code to enter by its transaction id alone',
      envelope('00', chargeData(false, undefined, { transactionId })),
      'otp_required',
    ],
    ['a rejection without data.otpRequired', envelope('400', chargeData(false, undefined)), 'rejected'],
    [
      'N/A for the transaction id',
      envelope('00', chargeData(false, null, { transactionId: 'N/A' })),
      'declined',
    ],
    ['an empty message', envelope('00', chargeData(false, false, { message: '' })), 'declined'],
    [
      'an outer status of false, which the table does not have',
      { ...envelope('00', chargeData(true, false)), status: false },
      'approved',
    ],
  ])('reads %s', async (_what, body, kind) => {
    expect(await chargeAnswered(body)).toMatchObject({ kind });
  });

  it('takes a rejection from HTTP 400 too', async () => {
    const body = envelope('400', chargeData(false, false, { message: 'Invalid card token' }));
    expect(await chargeAnswered(body, 400)).toMatchObject({ kind: 'rejected', reason: 'invalid_token' });
  });

  it.each([
    ['approved and pending at once', envelope('00', chargeData(true, true, { transactionId }))],
    ['pending without a transaction id', envelope('00', chargeData(false, true))],
    ['pending with an empty transaction id', envelope('00', chargeData(false, true, { transactionId: '' }))],
    ['no data', envelope('00', null)],
    ['no data.status', envelope('00', chargeData(undefined, false))],
    ['data.otpRequired that cannot be read', envelope('00', chargeData(false, 'perhaps'))],
    ['a list for data.status', envelope('00', chargeData(['true'], false))],
    ['two objects for data', envelope('00', [chargeData(true, false), chargeData(false, false)])],
    ['1 for true', envelope('00', chargeData(1, 0))],
    ['the number 0 for code "00"', envelope(0, chargeData(true, false))],
    [
      'no code, only a good description',
      { description: 'Success', status: true, data: chargeData(true, false) },
    ],
    ['code "400" and approved', envelope('400', chargeData(true, false))],
    ['code "400" and pending', envelope('400', chargeData(false, true, { transactionId }))],
    ['code "400" without data', envelope('400', null)],
    ['code "404" as in the sandbox', envelope('404', chargeData(false, false))],
    ['code "01"', envelope('01', chargeData(false, false))],
    ['null', null],
    ['a text', 'approved'],
    [
      'an object whose members cannot be made text',
      envelope('00', chargeData({ toString: 1, valueOf: 1 }, false)),
    ],
  ])('leaves in doubt what the table does not have: %s', async (_what, body) => {
    expect(await chargeAnswered(body)).toMatchObject({ kind: 'unknown', cause: { kind: 'malformed' } });
  });

  it.each([
    ['HTTP 400 with code "00" and approved', 400, envelope('00', chargeData(true, false))],
    ['HTTP 400 with code "00" and declined', 400, envelope('00', chargeData(false, false))],
    ['HTTP 400 with code "400" and approved', 400, envelope('400', chargeData(true, false))],
    ['HTTP 404 with code "00" and approved', 404, envelope('00', chargeData(true, false))],
    ['HTTP 404', 404, { code: '404', description: 'Record not found' }],
  ])('leaves in doubt %s', async (_what, httpStatus, body) => {
    expect(await chargeAnswered(body, httpStatus)).toMatchObject({ kind: 'unknown', cause: { httpStatus } });
  });

  it('names the answer in its cause, without the service’s words', async () => {
    const answer = await chargeAnswered(envelope('<b>99 or so</b>', chargeData(true, 'perhaps')));
    expect(answer).toMatchObject({
      cause: {
        message:
          'The specification does not have this answer: HTTP 200, code b99orsob, data.status true, data.otpRequired missing.',
      },
    });
  });

  it.each([
    ['Invalid card token', 'invalid_token'],
    ["Email address doesn't match token key", 'email_mismatch'],
    ['Email address doesn’t match token key', 'email_mismatch'],
    ['An order already exists with this order reference', 'reference_exists'],
    ['AN ORDER ALREADY EXISTS WITH THIS ORDER REFERENCE.', 'reference_exists'],
    [
      'Card payment is not supported for this order. Please use a different payment method.',
      'card_not_supported',
    ],
    [
      'Card payment is not supported for this order. Please use a different payment method',
      'card_not_supported',
    ],
    ['Customer email is invalid', 'email_invalid'],
    ['An order already exists', 'other'],
    ['Not an invalid card token', 'other'],
    ['toString', 'other'],
    ['Amount is too small', 'other'],
  ])('rejected with "%s" is %s, in the service’s words', async (message, reason) => {
    const answer = await chargeAnswered(envelope('400', chargeData(false, false, { message })));
    expect(answer).toEqual({ kind: 'rejected', reason, message });
  });

  it('was not made if its body failed validation, and says in which words', async () => {
    const body = { code: '400', description: 'amount: must be a string with two decimal places' };
    expect(await chargeAnswered(body, 400)).toEqual({
      kind: 'not_made',
      failure: 'invalid_request',
      message: body.description,
    });
    nock(baseUrl).post(chargePath).reply(400, '<html>Bad Request</html>');
    expect(await chargeSavedCard(clientOf(), accountId, charge, inTime)).toMatchObject({
      kind: 'not_made',
      failure: 'invalid_request',
    });
  });

  it('has arrived before if HTTP 400 says so, whatever its body', async () => {
    const message = 'An order already exists with this order reference';
    for (const body of [{ code: '400', description: message }, { data: { message } }])
      expect(await chargeAnswered(body, 400)).toEqual({
        kind: 'rejected',
        reason: 'reference_exists',
        message,
      });
  });

  it('was not made after the second 401', async () => {
    nock(baseUrl).post(chargePath).twice().reply(401, {});
    const answer = await chargeSavedCard(clientOf(), accountId, charge, inTime);
    expect(answer).toMatchObject({ kind: 'not_made', failure: 'unauthorized' });
  });

  it('is in doubt if the repeat after a 401 is not answered', async () => {
    nock(baseUrl).post(chargePath).reply(401, {}).post(chargePath).reply(502, 'Bad Gateway');
    const answer = await chargeSavedCard(clientOf(), accountId, charge, inTime);
    expect(answer).toMatchObject({ kind: 'unknown', cause: { kind: 'server', httpStatus: 502 } });
  });

  it('is in doubt, and does not throw, after an unexpected error', async () => {
    const accessToken = { ...fixedToken(), current: () => Promise.reject(new RangeError('a bug')) };
    const answer = await chargeSavedCard(clientOf({}, accessToken), accountId, charge, inTime);
    expect(answer).toMatchObject({ kind: 'unknown', cause: { cause: { message: 'a bug' } } });
  });

  it.each([
    ['is not sent if its token came too late', 1_001, 0],
    ['is not repeated after a 401 if the new token came too late', 0, 1],
  ])('%s', async (_what, tokenAtMs, sent) => {
    let nowMs = 0;
    const at = (ms: number): Promise<string> => {
      nowMs = ms;
      return Promise.resolve('token');
    };
    const accessToken = { current: () => at(tokenAtMs), replace: () => at(1_001) };
    if (sent > 0) nock(baseUrl).post(chargePath).reply(401, {});
    const leave = { leaveBy: 1_000, now: () => nowMs };
    const client = clientOf({}, accessToken);
    expect(await chargeSavedCard(client, accountId, charge, leave)).toMatchObject({ kind: 'unknown' });
  });
});
