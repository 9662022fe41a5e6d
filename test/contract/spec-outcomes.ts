import type { OutcomeRow, SpecTable } from './spec-tables.ts';

/** The rows of the specification that are no fields: states, outcomes, errors, limits. */

export const states: SpecTable<OutcomeRow> = {
  header: '| State | Trigger | Condition | Next state | Also happens |',
  rows: [
    {
      row: '| order created | POST /v1/checkout/order | valid request with `tokenizeCard` true at top level | awaiting card details | `checkoutLink` and order id returned |',
      shown: [
        { operation: 'createCheckoutOrder', asks: 'cardSaving', holds: { '/tokenizeCard': true } },
        {
          operation: 'createCheckoutOrder',
          answers: 'created',
          holds: {
            '/code': '00',
            '/data/checkoutLink': 'https://checkout.example/ORDER-0000000001',
            '/data/orderReference': 'ORDER-0000000001',
          },
        },
      ],
    },
    {
      row: '| awaiting card details | POST /v1/checkout/checkout-card-detail | details accepted, bank requires OTP (`responseCode` `T0`) | awaiting OTP | `transactionId` returned |',
      shown: [
        {
          operation: 'submitCardDetails',
          answers: 'otpRequired',
          holds: {
            '/data/status': true,
            '/data/responseCode': 'T0',
            '/data/transactionId': 'TXN-0000000001',
            '/data/secureAuthenticationData': null,
          },
        },
      ],
    },
    {
      row: '| awaiting OTP | POST /v1/checkout/checkout-card-otp | OTP accepted by the bank | payment completed | card saved as token; `payment_success` event sent |',
      shown: [
        { operation: 'submitOtp', answers: 'accepted', holds: { '/data/status': true } },
        {
          operation: 'paymentSuccess',
          asks: 'firstCardSavingPayment',
          holds: { '/tokenizedCardData/tokenKey': 'TOKEN-KEY-EXAMPLE' },
        },
      ],
    },
    {
      row: '| awaiting OTP | POST /v1/checkout/checkout-card-otp | OTP rejected | awaiting OTP | `data.status` false with message; up to 3 submissions per charge |',
      shown: [
        {
          operation: 'submitOtp',
          answers: 'rejected',
          holds: { '/data/status': false, '/data/message': 'Invalid OTP' },
        },
        { operation: 'submitOtp', says: 'Up to 3 submissions per charge' },
      ],
    },
    {
      row: '| awaiting OTP | 4th and later OTP submission | attempts exhausted | refused | message `TOO MANY OTP ATTEMPTS` |',
      shown: [
        {
          operation: 'submitOtp',
          answers: 'tooManyAttempts',
          holds: { '/data/status': false, '/data/message': 'TOO MANY OTP ATTEMPTS' },
        },
      ],
    },
    {
      row: '| awaiting OTP (charge) | 15 minutes pass with no successful OTP | time limit | failed | service checks with the bank, marks charge failed if incomplete |',
      shown: [
        {
          operation: 'submitOtp',
          says: '15 minutes from the charge without a successful OTP, the service checks with the bank and marks the charge failed if incomplete',
        },
      ],
    },
    {
      row: '| saved-card charge requested | POST /v1/checkout/tokenized-card-payment | bank approves | approved | `payment_success` event; `data.status` true |',
      shown: [
        { operation: 'chargeSavedCard', answers: 'approved', holds: { '/data/status': true } },
        {
          operation: 'paymentSuccess',
          asks: 'savedCardCharge',
          holds: { '/data/order/isTokenizedCardPayment': 'true', '/tokenizedCardData': undefined },
        },
      ],
    },
    {
      row: '| saved-card charge requested | same | bank requires OTP | pending OTP | `data.otpRequired` true, `transactionId` returned |',
      shown: [
        {
          operation: 'chargeSavedCard',
          answers: 'pendingOtp',
          holds: { '/data/otpRequired': true, '/data/transactionId': 'TXN-0000000001' },
        },
      ],
    },
    {
      row: '| saved-card charge requested | same | bank declines | declined | `data.status` false, reason in `data.message`; `payment_failed` event |',
      shown: [
        {
          operation: 'chargeSavedCard',
          answers: 'declined',
          holds: { '/data/status': false, '/data/message': 'Insufficient funds' },
        },
        {
          operation: 'paymentFailed',
          asks: 'savedCardChargeFailed',
          holds: { '/data/order/isTokenizedCardPayment': 'true' },
        },
      ],
    },
    {
      row: '| saved-card charge requested | same | request invalid | rejected | `code` `"400"`, nothing sent to the bank |',
      shown: [{ operation: 'chargeSavedCard', answers: 'rejectedInvalidToken', holds: { '/code': '400' } }],
    },
    {
      row: '| pending OTP | OTP endpoint, OTP accepted | within 15 minutes and within 3 attempts | approved | confirm via lookup before giving value |',
      shown: [
        { operation: 'submitOtp', asks: 'savedCardCharge', holds: { '/orderReference': 'INV-2026-0001-A1' } },
        {
          operation: 'submitOtp',
          says: 'Even on success the merchant confirms the charge before giving value.',
        },
      ],
    },
  ],
};

const withoutTransactionId = { '/data/transactionId': undefined };

export const chargeOutcomes: SpecTable<OutcomeRow> = {
  header: '| code | data.status | data.otpRequired | Meaning | Merchant action |',
  rows: [
    {
      row: '| `"00"` | true | false | approved | confirm via transaction lookup before giving value |',
      shown: [chargeAnswer('approved', '00', true, false)],
    },
    {
      row: '| `"00"` | false | true | pending OTP | keep `transactionId`, submit OTP within 15 minutes |',
      shown: [chargeAnswer('pendingOtp', '00', false, true)],
    },
    {
      row: '| `"00"` | false | false | declined by bank; reason in message | retry rules below |',
      shown: [chargeAnswer('declined', '00', false, false)],
    },
    {
      row: '| `"400"` | false | false | rejected by the service | fix the request |',
      shown: [chargeAnswer('rejectedInvalidToken', '400', false, false)],
    },
  ].map(({ row, shown }) => ({ row, shown: [...shown, { operation: 'chargeSavedCard', says: row }] })),
};

function chargeAnswer(answers: string, code: string, status: boolean, otpRequired: boolean) {
  const holds = { '/code': code, '/data/status': status, '/data/otpRequired': otpRequired };
  return {
    operation: 'chargeSavedCard',
    answers,
    holds: otpRequired ? holds : { ...holds, ...withoutTransactionId },
  };
}

export const httpStatuses: SpecTable<OutcomeRow> = {
  header: '| HTTP status | Meaning |',
  rows: [
    '| 400 | request body failed validation |',
    '| 401 | access token missing or invalid |',
    '| 403 | client lacks permission |',
    '| 404 | record does not exist |',
    '| 429 | call limit for the period exceeded |',
    '| 500 | downstream system error |',
  ].map((row) => ({ row, shown: [] })),
};

export const rejections: SpecTable<OutcomeRow> = {
  header: '| data.message | Cause |',
  rows: [
    {
      row: '| Invalid card token | `tokenKey` does not exist, was deleted, or was saved by another account |',
      shown: [rejection('rejectedInvalidToken', 'Invalid card token')],
    },
    {
      row: "| Email address doesn't match token key | `customerEmail` differs from the saved email |",
      shown: [rejection('rejectedEmailMismatch', "Email address doesn't match token key")],
    },
    {
      row: '| An order already exists with this order reference | `orderReference` already used |',
      shown: [rejection('rejectedAlreadyExists', 'An order already exists with this order reference')],
    },
    {
      row: '| Card payment is not supported for this order. Please use a different payment method. | card payments not enabled for the account |',
      shown: [
        rejection(
          'rejectedCardNotSupported',
          'Card payment is not supported for this order. Please use a different payment method.',
        ),
      ],
    },
    {
      row: '| Customer email is invalid | `customerEmail` missing or not a valid email |',
      shown: [rejection('rejectedInvalidEmail', 'Customer email is invalid')],
    },
  ],
};

function rejection(answers: string, message: string) {
  return {
    operation: 'chargeSavedCard',
    answers,
    holds: {
      '/code': '400',
      '/data/status': false,
      '/data/otpRequired': false,
      '/data/message': message,
      '/data/orderId': null,
      '/data/orderReference': null,
      ...withoutTransactionId,
    },
  };
}

const accountField = '/components/schemas/Account/properties';

export const limits: SpecTable<OutcomeRow> = {
  header: '| Limit | Value | Applies to |',
  rows: [
    {
      row: '| Page size `limit` | maximum 50 | list endpoints |',
      shown: [
        { operation: 'listAccounts', field: 'query limit', is: 'integer, int32, at most 50' },
        { operation: 'listTerminals', field: 'query limit', is: 'integer, int32, at most 50' },
      ],
    },
    {
      row: '| `orderReference` length | up to 50 characters | checkout order and saved-card charge |',
      shown: [
        {
          operation: 'createCheckoutOrder',
          field: 'order.orderReference',
          is: 'string, up to 50 characters',
        },
        { operation: 'chargeSavedCard', field: 'order.orderReference', is: 'string, up to 50 characters' },
      ],
    },
    {
      row: '| OTP validity | 15 minutes from the charge | OTP submission; resend does not extend it |',
      shown: [
        { operation: 'submitOtp', says: '15 minutes from the charge' },
        { operation: 'resendOtp', says: 'Resending does not extend the 15-minute limit.' },
      ],
    },
    {
      row: '| OTP submissions | 3 per charge | OTP endpoint |',
      shown: [{ operation: 'submitOtp', says: 'Up to 3 submissions per charge' }],
    },
    {
      row: '| accountRef | exactly 20 characters | Account |',
      shown: [
        { at: `${accountField}/accountRef/minLength`, is: 20 },
        { at: `${accountField}/accountRef/maxLength`, is: 20 },
      ],
    },
    {
      row: '| accountName | 2 to 255 characters | Account |',
      shown: [
        { at: `${accountField}/accountName/minLength`, is: 2 },
        { at: `${accountField}/accountName/maxLength`, is: 255 },
      ],
    },
    {
      row: '| address | 0 to 255 characters | Account |',
      shown: [
        { at: `${accountField}/address/minLength`, is: 0 },
        { at: `${accountField}/address/maxLength`, is: 255 },
      ],
    },
    {
      row: '| bvn | exactly 11 characters | Account |',
      shown: [
        { at: `${accountField}/bvn/minLength`, is: 11 },
        { at: `${accountField}/bvn/maxLength`, is: 11 },
      ],
    },
    {
      row: '| bankAccountNumber | exactly 10 characters | Account |',
      shown: [
        { at: '/components/schemas/BankEntry/properties/bankAccountNumber/minLength', is: 10 },
        { at: '/components/schemas/BankEntry/properties/bankAccountNumber/maxLength', is: 10 },
      ],
    },
    {
      row: '| currency | only `NGN` | Account |',
      shown: [{ at: `${accountField}/currency/enum`, is: ['NGN'] }],
    },
  ],
};
