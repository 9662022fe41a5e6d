import type { SpecSentence } from './spec-sentences.ts';
import type { SpecTable } from './spec-tables.ts';

/** The row of the sandbox table, the operation that shows it, and the production operation it repeats. */
export type SandboxRow = { row: string; operation: string; repeats: string };

export const sandboxEndpoints: SpecTable<SandboxRow> = {
  header: '| Purpose | Method and path |',
  rows: [
    sandbox('| Create checkout order | POST /sandbox/checkout/order |', 'createCheckoutOrder'),
    sandbox('| Submit card details | POST /sandbox/checkout/checkout-card-detail |', 'submitCardDetails'),
    sandbox('| Charge saved card | POST /sandbox/checkout/tokenized-card-payment |', 'chargeSavedCard'),
    sandbox('| Submit OTP | POST /sandbox/checkout/checkout-card-otp |', 'submitOtp'),
    sandbox('| List saved cards | GET /sandbox/checkout/tokenized-card-data |', 'listSavedCards'),
    sandbox(
      '| Change email of saved card | POST /sandbox/checkout/tokenized-card-data |',
      'changeSavedCardEmail',
    ),
    sandbox('| Delete saved card | DELETE /sandbox/checkout/tokenized-card-data |', 'deleteSavedCard'),
  ],
};

function sandbox(row: string, repeats: string): SandboxRow {
  return { row, operation: `sandbox${repeats.charAt(0).toUpperCase()}${repeats.slice(1)}`, repeats };
}

export const sandboxBehaviours: SpecSentence[] = [
  {
    words:
      'No real cards are saved; the sandbox `payment_success` event has no `tokenizedCardData`; saved-card endpoints return fixed sample responses. Any value can be used as `tokenKey`.',
    shown: [
      {
        operation: 'paymentSuccess',
        asks: 'sandboxFirstPayment',
        holds: { '/data/order/isTokenizedCardPayment': 'false', '/tokenizedCardData': undefined },
      },
      { operation: 'sandboxChargeSavedCard', says: 'Any value can be used as `tokenKey`.' },
    ],
  },
  {
    words:
      'Card details: only the card number decides the outcome; any expiry, CVV and PIN work. A designated sandbox test Mastercard number yields `responseCode` `T0` (its value is omitted here).',
    shown: [
      {
        operation: 'sandboxSubmitCardDetails',
        says: 'Only the card number decides the outcome; any expiry, CVV and PIN work. A designated sandbox test Mastercard number yields `responseCode` `T0` (its value is omitted here).',
      },
      {
        operation: 'sandboxSubmitCardDetails',
        answers: 'otpRequired',
        holds: { '/data/responseCode': 'T0' },
      },
    ],
  },
  {
    words:
      'Saved-card charge: `order.orderReference` equal to `1234567890` gives code `404` with a record-not-found message; any other reference is approved (`data.status` true). `otpRequired` true cannot be produced.',
    shown: [
      {
        operation: 'sandboxChargeSavedCard',
        asks: 'recordNotFound',
        holds: { '/order/orderReference': '1234567890' },
      },
      {
        operation: 'sandboxChargeSavedCard',
        answers: 'recordNotFound',
        holds: { '/code': '404', '/data/message': 'Record not found' },
      },
      { operation: 'sandboxChargeSavedCard', answers: 'approved', holds: { '/data/status': true } },
    ],
  },
  {
    words:
      'OTP submission (any `orderReference` and `transactionId`): `otp` `9999` approved (message about approval by a financial institution); `1234` timed out (message that the payment exceeded the time allowed); `5464` wrong OTP (message `Invalid OTP`).',
    shown: [
      { operation: 'sandboxSubmitOtp', asks: 'approved', holds: { '/otp': '9999' } },
      {
        operation: 'sandboxSubmitOtp',
        answers: 'approved',
        holds: { '/data/status': true, '/data/message': 'Approved by Financial Institution' },
      },
      { operation: 'sandboxSubmitOtp', asks: 'timedOut', holds: { '/otp': '1234' } },
      {
        operation: 'sandboxSubmitOtp',
        answers: 'timedOut',
        holds: { '/data/status': false, '/data/message': 'The payment exceeded the time allowed' },
      },
      { operation: 'sandboxSubmitOtp', asks: 'wrongOtp', holds: { '/otp': '5464' } },
      {
        operation: 'sandboxSubmitOtp',
        answers: 'wrongOtp',
        holds: { '/data/status': false, '/data/message': 'Invalid OTP' },
      },
    ],
  },
  {
    words:
      'Saved-card management: list returns 404 record-not-found for one designated sample customer email and a sample list otherwise; change-email and delete return 404 record-not-found for `tokenKey` `123` and success otherwise.',
    shown: [
      {
        operation: 'sandboxListSavedCards',
        says: 'Returns 404 record-not-found for one designated sample customer email and a sample list otherwise.',
      },
      { operation: 'sandboxListSavedCards', answers: 'sampleList', holds: {} },
      { operation: 'sandboxListSavedCards', answers: '404 recordNotFound', holds: { '/code': '404' } },
      { operation: 'sandboxChangeSavedCardEmail', asks: 'recordNotFound', holds: { '/tokenKey': '123' } },
      { operation: 'sandboxChangeSavedCardEmail', answers: '404 recordNotFound', holds: { '/code': '404' } },
      { operation: 'sandboxChangeSavedCardEmail', answers: 'changed', holds: { '/data/status': true } },
      { operation: 'sandboxDeleteSavedCard', says: 'Returns 404 record-not-found for `tokenKey` `123`' },
      { operation: 'sandboxDeleteSavedCard', answers: '404 recordNotFound', holds: { '/code': '404' } },
      { operation: 'sandboxDeleteSavedCard', answers: 'success', holds: {} },
    ],
  },
];
