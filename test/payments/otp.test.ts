import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { resendOtp, submitOtp } from '../../src/payments/charges.ts';
import { mockTheOutside } from '../support/mocks.ts';
import {
  baseUrl,
  cannedClient,
  clientOf,
  envelope,
  inTime,
  otpPath,
  reference,
  resendPath,
  secrets,
  submission,
} from './charging.ts';

mockTheOutside();

const { transactionId } = secrets;

function otpAnswered(body: unknown, httpStatus = 200) {
  return submitOtp(cannedClient(body, httpStatus), submission, inTime);
}

function resendAnswered(body: unknown, httpStatus = 200) {
  return resendOtp(cannedClient(body, httpStatus), transactionId, inTime);
}

describe('submitOtp', () => {
  const accepted = envelope('00', { status: true, message: 'Approved by Financial Institution' });

  it('identifies a saved-card charge by the merchant’s reference, without Authorization and accountId', async () => {
    nock(baseUrl, { badheaders: ['authorization', 'accountid'] })
      .post(otpPath, { otp: secrets.otp, orderReference: reference, transactionId })
      .reply(200, accepted);
    expect(await submitOtp(clientOf(), submission, inTime)).toEqual({ kind: 'accepted' });
  });

  it.each([
    [
      'a refusal with the bank’s words',
      envelope('00', { status: false, message: 'Invalid OTP' }),
      200,
      { kind: 'wrong', bankMessage: 'Invalid OTP' },
    ],
    [
      'a refusal with any code',
      envelope('99', { status: 'false' }),
      200,
      { kind: 'wrong', bankMessage: undefined },
    ],
    [
      'a refusal under HTTP 400',
      envelope('400', { status: false, message: 'Invalid OTP' }),
      400,
      { kind: 'wrong', bankMessage: 'Invalid OTP' },
    ],
    [
      'too many tries',
      envelope('00', { status: false, message: 'TOO MANY OTP ATTEMPTS' }),
      200,
      { kind: 'too_many', bankMessage: 'TOO MANY OTP ATTEMPTS' },
    ],
    [
      'too many tries in other letters',
      envelope('400', [{ status: false, message: 'Too many OTP attempts.' }]),
      400,
      { kind: 'too_many', bankMessage: 'Too many OTP attempts.' },
    ],
    [
      'too many tries in other words',
      envelope('00', { status: false, message: 'Too many failed attempts, transaction cancelled' }),
      200,
      { kind: 'too_many', bankMessage: 'Too many failed attempts, transaction cancelled' },
    ],
    [
      'a validation failure',
      { code: '400', description: 'otp: required' },
      400,
      { kind: 'not_made', failure: 'invalid_request', message: 'otp: required' },
    ],
  ])('tells %s', async (_what, body, httpStatus, answer) => {
    expect(await otpAnswered(body, httpStatus)).toEqual(answer);
  });

  it.each([
    ['accepted without code "00"', { data: { status: true } }, 200],
    ['accepted with code "400"', envelope('400', { status: true }), 200],
    ['accepted under HTTP 400', accepted, 400],
    ['accepted under HTTP 404', accepted, 404],
    ['too many tries but accepted', envelope('400', { status: true, message: 'TOO MANY OTP ATTEMPTS' }), 200],
    ['no data', envelope('00', null), 200],
    ['no data.status', envelope('00', { message: 'Invalid OTP' }), 200],
    ['a record that does not exist', { code: '404', description: 'Not found' }, 404],
  ])('leaves in doubt: %s', async (_what, body, httpStatus) => {
    expect(await otpAnswered(body, httpStatus)).toMatchObject({ kind: 'unknown', cause: { httpStatus } });
  });
});

describe('resendOtp', () => {
  it('sends the transaction id in the field named orderReference, without headers', async () => {
    nock(baseUrl, { badheaders: ['authorization', 'accountid'] })
      .post(resendPath, { orderReference: transactionId })
      .reply(200, envelope('00', { status: true, message: 'OTP sent again' }));
    expect(await resendOtp(clientOf(), transactionId, inTime)).toEqual({ kind: 'resent' });
  });

  it.each([
    ['resent, by the envelope alone', { code: '00', description: 'Success' }, 200, { kind: 'resent' }],
    ['refused by its code', { code: '400', description: 'No' }, 200, { kind: 'refused' }],
    ['refused by data.status', envelope('00', { status: false }), 200, { kind: 'refused' }],
    ['refused by data.success', envelope('00', { success: false }), 200, { kind: 'refused' }],
    ['refused by the envelope’s status', { code: '00', status: false }, 200, { kind: 'refused' }],
    ['refused for a record that does not exist', { code: '404' }, 404, { kind: 'refused' }],
    ['not made when validation failed', {}, 400, { kind: 'not_made', failure: 'invalid_request' }],
    ['unknown without a code', { ok: true }, 200, { kind: 'unknown' }],
  ])('is %s', async (_what, body, httpStatus, answer) => {
    expect(await resendAnswered(body, httpStatus)).toMatchObject(answer);
  });

  it('is unknown in the sandbox, which has no such endpoint', async () => {
    const answer = await resendOtp(clientOf({ sandbox: true }), transactionId, inTime);
    expect(answer).toMatchObject({ kind: 'unknown', cause: { message: expect.stringContaining('sandbox') } });
  });
});

describe('what the service says', () => {
  it('never contains the OTP and the transaction id, even if repeated by the service', async () => {
    const words = `${secrets.otp} is wrong for ${transactionId}`;
    expect(await otpAnswered(envelope('00', { status: false, message: words }))).toEqual({
      kind: 'wrong',
      bankMessage: '[secret] is wrong for [secret]',
    });
  });
});
