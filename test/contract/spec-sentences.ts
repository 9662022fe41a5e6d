import type { Evidence, SpecTable } from './spec-tables.ts';

/** What the specification says outside its tables: endpoint rules, events, "not shown". */
export type SpecSentence = { words: string; shown: Evidence[] };

export const endpointRules: SpecSentence[] = [
  {
    words:
      "the service's order id from order creation), `deviceInformation` (object, required; members used: `httpBrowserLanguage`",
    shown: [
      { operation: 'submitCardDetails', field: 'deviceInformation', is: 'object, required, not shown' },
    ],
  },
  {
    words:
      "Do not send `saveCard`: alone it saves the card to the customer's checkout profile, not to the merchant, so it cannot be charged.",
    shown: [{ operation: 'submitCardDetails', field: 'saveCard', is: 'never' }],
  },
  {
    words:
      'When no transaction exists: `code` `"01"`, `description` about the transaction not being found, `data` null.',
    shown: [
      { operation: 'getTransaction', answers: 'notFound', holds: { '/code': '01', '/data': null } },
      {
        operation: 'getTransaction',
        answers: 'found',
        holds: {
          '/code': '00',
          '/data/status': 'SUCCESS',
          '/data/type': 'online_checkout',
          '/data/onlineCheckoutPaymentMethod': 'card_payment',
          '/data/entryType': 'CREDIT',
        },
      },
    ],
  },
  {
    words: '`cursor` (string; empty when no more pages)',
    shown: [{ operation: 'listAccounts', answers: 'lastPage', holds: { '/cursor': '' } }],
  },
  {
    words: '`cursor` (string; empty string on the last page)',
    shown: [{ operation: 'listTerminals', answers: 'lastPage', holds: { '/data/cursor': '' } }],
  },
  {
    words:
      'A wrong OTP gives `data.status` false with a reason message. Even on success the merchant confirms the charge before giving value.',
    shown: [{ operation: 'submitOtp', answers: 'rejected', holds: { '/data/status': false } }],
  },
  {
    words: "send the charge's `transactionId` in this field",
    shown: [
      {
        at: '/components/schemas/ResendOtpRequest/properties/orderReference/description',
        is: "Send the charge's `transactionId` in this field.",
      },
    ],
  },
  {
    words: '`status` (boolean; false if `currentEmailAddress` is not the email linked to the card)',
    shown: [
      { operation: 'changeSavedCardEmail', answers: 'notLinked', holds: { '/data/status': false } },
      {
        operation: 'changeSavedCardEmail',
        answers: 'changed',
        holds: {
          '/data/status': true,
          '/data/tokenizedCardData/customerEmail': 'accounts@customer.example',
        },
      },
    ],
  },
  {
    words:
      '`secureAuthenticationData` (object or null; 3D Secure data when the bank asks for 3D Secure instead of OTP)',
    shown: [
      {
        operation: 'submitCardDetails',
        answers: 'secureAuthentication',
        holds: { '/data/secureAuthenticationData': {}, '/data/responseCode': undefined },
      },
    ],
  },
];

export type EventRow = { row: string; event: string; says: string; fields: Record<string, string> };

const eventOrder = {
  '': 'object, open, not shown',
  data: 'object, open, not shown',
  'data.order': 'object, open, not shown',
};

/** Fields of the known-payload table are added by the test; tokenizedCardData belongs to the success event alone. */
export const events: SpecTable<EventRow> = {
  header: '| Event | Sent when |',
  rows: [
    {
      row: '| `payment_success` | a payment succeeds: the first card-saving payment, or a saved-card charge |',
      event: 'payment_success',
      says: 'Sent when a payment succeeds: the first card-saving payment, or a saved-card charge.',
      fields: eventOrder,
    },
    {
      row: '| `payment_failed` | a saved-card charge fails |',
      event: 'payment_failed',
      says: 'Sent when a saved-card charge fails.',
      fields: eventOrder,
    },
  ],
};

const groups =
  'Operations of Virtual Accounts, Transfers, Direct Debits, Airtime and Data Vending, Electricity Vending, CableTV Subscription and Betting Vending: not shown.';
const savedCardShapes = 'these methods exist, and their request and response shape: not shown.';
const savedCardValues =
  'Allowed values of cardType and the exact format of tokenExpiryDate and cardPan: not shown.';
const transactionValues = 'Allowed values of source, type and entryType beyond those named: not shown.';
const detailsData = 'Fields of `data`, and whether one of the two query parameters is mandatory: not shown.';
const eventBeyond = 'Webhook payload fields beyond those above: not shown.';
const schemas = '/components/schemas';

/** Every "not shown" of the specification and every place of the YAML that stays open because of it. */
export const notShown: { words: string; at: string[] }[] = [
  { words: groups, at: [2, 5, 6, 9, 10, 11, 12].map((index) => `/tags/${index}`) },
  {
    words: savedCardValues,
    at: ['cardType', 'tokenExpiryDate', 'cardPan'].map((field) => `${schemas}/SavedCard/properties/${field}`),
  },
  {
    words: transactionValues,
    at: ['source', 'type', 'entryType'].map((field) => `${schemas}/Transaction/properties/${field}`),
  },
  { words: 'Transitions: not shown.', at: [`${schemas}/Account/properties/status`] },
  { words: 'Other status values: not shown.', at: [`${schemas}/Transaction/properties/status`] },
  { words: 'Request body (IssueTokenRequest): fields not shown.', at: [`${schemas}/IssueTokenRequest`] },
  { words: 'token payload; its fields: not shown', at: [`${schemas}/TokenPayload`] },
  { words: 'Request body (RefreshTokenRequest): fields not shown.', at: [`${schemas}/RefreshTokenRequest`] },
  { words: 'Request body (RevokeTokenRequest): fields not shown.', at: [`${schemas}/RevokeTokenRequest`] },
  { words: 'Response 200 (RevokeTokenResponse): fields not shown.', at: [`${schemas}/RevokeTokenResponse`] },
  {
    words: 'Request body (CreateAccountRequest): fields not shown.',
    at: [`${schemas}/CreateAccountRequest`],
  },
  {
    words: 'fields of `data`: not shown.',
    at: [`${schemas}/CreateAccountResponse/allOf/1/properties/data`],
  },
  {
    words: detailsData,
    at: [
      '/paths/~1v1~1accounts~1sub-account-details/get',
      `${schemas}/SubAccountDetailsResponse/allOf/1/properties/data`,
    ],
  },
  { words: 'The complete list of order fields: not shown.', at: [`${schemas}/CheckoutOrder`] },
  { words: 'Which members are mandatory: not shown.', at: [`${schemas}/DeviceInformation`] },
  { words: 'Response body of resend-otp: not shown.', at: [`${schemas}/ResendOtpResponse`] },
  {
    words: savedCardShapes,
    at: [
      '/paths/~1v1~1checkout~1tokenized-card-data/get',
      '/paths/~1v1~1checkout~1tokenized-card-data/delete',
      '/paths/~1sandbox~1checkout~1tokenized-card-data/get',
      '/paths/~1sandbox~1checkout~1tokenized-card-data/delete',
      `${schemas}/SavedCardListResponse`,
      `${schemas}/DeleteSavedCardResponse`,
    ],
  },
  {
    words:
      'Endpoints of the other groups (Virtual Accounts, Transfers, Direct Debits, Airtime and Data Vending, Electricity Vending, CableTV Subscription, Betting Vending, and listing or deleting saved cards in production): not shown.',
    at: ['/info'],
  },
  {
    words: 'Credential fields of the issue request, token lifetime and the token response fields: not shown.',
    at: ['/info'],
  },
  {
    words: eventBeyond,
    at: [
      '/webhooks/payment_success/post',
      '/webhooks/payment_failed/post',
      `${schemas}/PaymentSuccessEvent`,
      `${schemas}/PaymentFailedEvent`,
      `${schemas}/EventData`,
      `${schemas}/EventData/properties/order`,
    ],
  },
  {
    words:
      'Signature scheme and how the webhook URL is registered: not shown. Retry schedule and count: not shown.',
    at: ['/info', '/webhooks/payment_success/post', '/webhooks/payment_failed/post'],
  },
  { words: 'Body fields of these error responses: not shown.', at: [`${schemas}/ErrorBody`] },
  {
    words: 'The numeric quota per endpoint: not shown.',
    at: ['/components/headers/X-Rate-Limit-Limit'],
  },
  { words: 'Deprecation and compatibility policy: not shown.', at: ['/info'] },
];
