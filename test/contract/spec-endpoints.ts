import { account, checkoutOrderBody, fieldsOf, savedCard, transaction } from './spec-tables.ts';

/** Field path → words of describeField (shape.ts); '' is the body itself. */
type Fields = Record<string, string>;

export type SpecEndpoint = {
  /** The endpoint's line in the specification, up to its closing asterisks. */
  heading: string;
  method: 'get' | 'post' | 'delete';
  path: string;
  operation: string;
  tag: string;
  /** The specification's words about headers; empty where it has none. */
  headers: string;
  bearer: boolean;
  accountId: 'uuid' | 'string' | 'none';
  /** Whether the 200 carries the three rate-limit headers: the groups Authenticate and Accounts. */
  rateLimited: boolean;
  query: Fields;
  request: Fields | undefined;
  response: Fields;
  /** Whether the specification lists the outer `status` in this response. */
  status: boolean;
};

export const tags = [
  'Authenticate',
  'Accounts',
  'Virtual Accounts',
  'Online Checkout',
  'Charge',
  'Transfers',
  'Direct Debits',
  'Terminals',
  'Transactions',
  'Airtime and Data Vending',
  'Electricity Vending',
  'CableTV Subscription',
  'Betting Vending',
];

const envelope: Fields = { '': 'object', code: 'string', description: 'string', status: 'boolean' };
const allRequired: Fields = {
  ...envelope,
  code: 'string, required',
  description: 'string, required',
  data: 'object, open, required, not shown',
};
const openBody: Fields = { '': 'object, open, not shown' };
const unknownBody: Fields = { '': 'anything, not shown' };

const bankEntry: Fields = {
  bankAccountNumber: 'string, exactly 10 characters',
  bankName: 'string',
  bankAccountName: 'string',
};

const terminal: Fields = {
  terminalId: 'string',
  serialNumber: 'string',
  accountId: 'string',
  parentAccountId: 'string',
  merchantName: 'string',
  terminalLabel: 'string',
  createdAt: 'string, date-time, with milliseconds',
  updatedAt: 'string, date-time, with milliseconds',
};

const page: Fields = { 'query limit': 'integer, int32, at most 50', 'query cursor': 'string' };
const checkout = { tag: 'Online Checkout', rateLimited: false, query: {}, status: true } as const;
const charge = { tag: 'Charge', rateLimited: false, query: {} } as const;
const uuidBearer = { bearer: true, accountId: 'uuid', rateLimited: true, status: false } as const;
const stringBearer = { bearer: true, accountId: 'string' } as const;
const neither = { bearer: false, accountId: 'none' } as const;

const savedCardsHeading = '**GET and DELETE {base_url}/v1/checkout/tokenized-card-data**';

export const endpoints: SpecEndpoint[] = [
  {
    heading: '**POST {base_url}/v1/auth/token/issue**',
    method: 'post',
    path: '/v1/auth/token/issue',
    operation: 'issueToken',
    tag: 'Authenticate',
    headers:
      'Header: `accountId` (string, uuid, required; the parent account id of the business). No bearer token.',
    bearer: false,
    accountId: 'uuid',
    rateLimited: true,
    query: {},
    request: openBody,
    response: allRequired,
    status: false,
  },
  {
    ...uuidBearer,
    heading: '**POST {base_url}/v1/auth/token/refresh**',
    method: 'post',
    path: '/v1/auth/token/refresh',
    operation: 'refreshToken',
    tag: 'Authenticate',
    headers: 'Requires bearer authentication. Header `accountId` (uuid, required).',
    query: {},
    request: openBody,
    response: allRequired,
  },
  {
    ...neither,
    heading: '**POST {base_url}/v1/auth/token/revoke**',
    method: 'post',
    path: '/v1/auth/token/revoke',
    operation: 'revokeToken',
    tag: 'Authenticate',
    headers: '',
    rateLimited: true,
    query: {},
    request: openBody,
    response: openBody,
    status: false,
  },
  {
    ...uuidBearer,
    heading: '**GET {base_url}/v1/accounts**',
    method: 'get',
    path: '/v1/accounts',
    operation: 'listAccounts',
    tag: 'Accounts',
    headers: 'Bearer authentication. Header `accountId` (uuid, required).',
    query: page,
    request: undefined,
    response: {
      '': 'object',
      results: 'array',
      'results[]': 'object',
      ...fieldsOf(account, 'results[].'),
      'results[].banks[]': 'object',
      ...under('results[].banks[].', bankEntry),
      cursor: 'string',
    },
  },
  {
    ...uuidBearer,
    heading: '**POST {base_url}/v1/accounts**',
    method: 'post',
    path: '/v1/accounts',
    operation: 'createAccount',
    tag: 'Accounts',
    headers: 'Bearer authentication. Header `accountId` (uuid, required).',
    query: {},
    request: openBody,
    response: allRequired,
  },
  {
    ...uuidBearer,
    heading: '**GET {base_url}/v1/accounts/sub-account-details**',
    method: 'get',
    path: '/v1/accounts/sub-account-details',
    operation: 'getSubAccountDetails',
    tag: 'Accounts',
    headers: 'Bearer authentication. Header `accountId` (uuid, required: the parent id).',
    query: { 'query accountId': 'string, uuid', 'query accountRef': 'string, uuid' },
    request: undefined,
    response: { ...envelope, data: 'object or null, open, not shown' },
  },
  {
    ...stringBearer,
    heading: '**GET {base_url}/v1/accounts/terminals**',
    method: 'get',
    path: '/v1/accounts/terminals',
    operation: 'listTerminals',
    tag: 'Terminals',
    headers: 'Headers `Authorization` (`Bearer <ACCESS_TOKEN>`) and `accountId`.',
    rateLimited: false,
    query: page,
    request: undefined,
    response: {
      ...envelope,
      data: 'object',
      'data.results': 'array',
      'data.results[]': 'object',
      ...under('data.results[].', terminal),
      'data.cursor': 'string',
    },
    status: false,
  },
  {
    ...checkout,
    ...stringBearer,
    heading: '**POST {base_url}/v1/checkout/order**',
    method: 'post',
    path: '/v1/checkout/order',
    operation: 'createCheckoutOrder',
    headers: 'Headers: `Authorization` (`Bearer <ACCESS_TOKEN>`, required), `accountId` (string, required).',
    request: {
      '': 'object',
      ...fieldsOf(checkoutOrderBody),
      'order.allowedPaymentMethods[]': 'string',
    },
    response: {
      ...envelope,
      data: 'object',
      'data.success': 'boolean',
      'data.message': 'anything',
      'data.checkoutLink': 'string',
      'data.orderReference': 'string',
    },
  },
  {
    ...checkout,
    ...neither,
    heading: '**POST {base_url}/v1/checkout/checkout-card-detail**',
    method: 'post',
    path: '/v1/checkout/checkout-card-detail',
    operation: 'submitCardDetails',
    headers:
      '(submit card details; no Authorization or accountId header; the caller must be PCI DSS compliant)',
    request: {
      '': 'object',
      saveCard: 'never',
      cardDetails: 'string, JSON text, required',
      key: 'string, required',
      orderReference: 'string, required',
      deviceInformation: 'object, required, not shown',
      'deviceInformation.httpBrowserLanguage': 'string',
      'deviceInformation.httpBrowserJavaEnabled': 'string',
      'deviceInformation.httpBrowserJavaScriptEnabled': 'string',
      'deviceInformation.httpBrowserColorDepth': 'string',
      'deviceInformation.httpBrowserScreenHeight': 'string',
      'deviceInformation.httpBrowserScreenWidth': 'string',
      'deviceInformation.httpBrowserTimeDifference': 'string',
      'deviceInformation.userAgentBrowserValue': 'string',
      'deviceInformation.deviceChannel': 'string',
    },
    response: {
      ...envelope,
      data: 'object',
      'data.status': 'boolean',
      'data.message': 'string',
      'data.responseCode': 'string',
      'data.transactionId': 'string',
      'data.secureAuthenticationData': 'object or null, open',
    },
  },
  {
    ...checkout,
    ...neither,
    heading: '**POST {base_url}/v1/checkout/checkout-card-otp**',
    method: 'post',
    path: '/v1/checkout/checkout-card-otp',
    operation: 'submitOtp',
    headers: '(submit OTP; no Authorization or accountId header)',
    request: {
      '': 'object',
      otp: 'string, required',
      orderReference: 'string, required',
      transactionId: 'string, required',
    },
    response: { ...envelope, data: 'object', 'data.status': 'boolean', 'data.message': 'string' },
  },
  {
    ...checkout,
    ...neither,
    heading: '**POST {base_url}/v1/checkout/resend-otp**',
    method: 'post',
    path: '/v1/checkout/resend-otp',
    operation: 'resendOtp',
    headers: 'No Authorization or accountId header is used.',
    request: { '': 'object', orderReference: 'string, required' },
    response: unknownBody,
    status: false,
  },
  {
    ...charge,
    ...stringBearer,
    heading: '**POST {base_url}/v1/checkout/tokenized-card-payment**',
    method: 'post',
    path: '/v1/checkout/tokenized-card-payment',
    operation: 'chargeSavedCard',
    headers:
      'Headers: `Authorization` (`Bearer <ACCESS_TOKEN>`, required), `accountId` (required; the charge is credited to this account).',
    request: {
      '': 'object',
      tokenKey: 'string, required',
      order: 'object, required',
      'order.amount': 'string, two decimal places, required',
      'order.currency': 'string, required',
      'order.customerEmail': 'string, required',
      'order.orderReference': 'string, up to 50 characters',
      'order.customerId': 'string',
    },
    response: {
      ...envelope,
      data: 'object',
      'data.status': 'boolean',
      'data.message': 'string',
      'data.otpRequired': 'boolean',
      'data.transactionId': 'string',
      'data.orderId': 'string or null',
      'data.orderReference': 'string or null',
    },
    status: true,
  },
  {
    ...charge,
    ...stringBearer,
    heading: '**POST {base_url}/v1/checkout/tokenized-card-data**',
    method: 'post',
    path: '/v1/checkout/tokenized-card-data',
    operation: 'changeSavedCardEmail',
    headers: 'Headers: `Authorization` (`Bearer <ACCESS_TOKEN>`), `accountId`, both required.',
    request: {
      '': 'object',
      tokenKey: 'string, required',
      currentEmailAddress: 'string, required',
      newEmailAddress: 'string, required',
    },
    response: {
      ...envelope,
      data: 'object',
      'data.status': 'boolean',
      'data.message': 'string',
      'data.tokenizedCardData': 'object',
      ...fieldsOf(savedCard, 'data.tokenizedCardData.'),
    },
    status: false,
  },
  ...(['get', 'delete'] as const).map((method): SpecEndpoint => ({
    ...charge,
    ...neither,
    heading: savedCardsHeading,
    method,
    path: '/v1/checkout/tokenized-card-data',
    operation: method === 'get' ? 'listSavedCards' : 'deleteSavedCard',
    headers: '',
    request: undefined,
    response: unknownBody,
    status: false,
  })),
  {
    ...stringBearer,
    heading: '**GET {base_url}/v1/transactions/accounts/single**',
    method: 'get',
    path: '/v1/transactions/accounts/single',
    operation: 'getTransaction',
    tag: 'Transactions',
    headers: 'Headers `Authorization` (`Bearer <ACCESS_TOKEN>`) and `accountId`, required.',
    rateLimited: false,
    query: { 'query orderReference': 'string, required' },
    request: undefined,
    response: { ...envelope, data: 'object or null', ...fieldsOf(transaction, 'data.') },
    status: false,
  },
];

function under(prefix: string, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([field, is]) => [prefix + field, is]));
}
