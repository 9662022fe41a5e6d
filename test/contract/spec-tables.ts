/**
 * The specification's tables, row by row in its own words, each with what openapi/payments.yaml must show for
 * it. Written by hand from the specification: never from the YAML, which it judges.
 */

/** `is` tells a field in the words of describeField (shape.ts). */
export type FieldRow = { row: string; is: string };

/** Where the YAML shows a row that is not a field. A `holds` value of undefined means the pointer must lead nowhere. */
export type Evidence =
  | { operation: string; says: string }
  | { operation: string; answers: string; holds: Record<string, unknown> }
  | { operation: string; asks: string; holds: Record<string, unknown> }
  | { operation: string; field: string; is: string }
  | { at: string; is: unknown };

export type OutcomeRow = { row: string; shown: Evidence[] };

export type SpecTable<Row extends { row: string }> = { header: string; rows: Row[] };

export const responseEnvelope: SpecTable<FieldRow> = {
  header: '| Field | Type | Meaning |',
  rows: [
    { row: '| code | string | Result code. `"00"` means success. |', is: 'string' },
    {
      row: '| description | string | Human-readable description. Must not be used to decide the outcome of a charge. |',
      is: 'string',
    },
    { row: '| status | boolean | Present on checkout responses: request status. |', is: 'boolean' },
    { row: '| data | object or null | Operation payload. |', is: 'object or null' },
  ],
};

export const account: SpecTable<FieldRow> = {
  header: '| Field | Type | Constraints |',
  rows: [
    { row: '| accountId | string | 36 characters (uuid). |', is: 'string, uuid, exactly 36 characters' },
    {
      row: '| accountHolderId | string | Business id of the parent that houses the account. |',
      is: 'string',
    },
    {
      row: '| accountRef | string | Exactly 20 characters. Unique reference to track the account from an external process; generated if not provided at creation. |',
      is: 'string, exactly 20 characters',
    },
    { row: '| phoneNumber | string | Unique to the account bearer. |', is: 'string' },
    { row: '| email | string | Email of the account bearer. |', is: 'string' },
    { row: '| bvn | string | Exactly 11 characters. |', is: 'string, exactly 11 characters' },
    { row: '| type | string | `virtual` or `physical`. |', is: 'string, one of virtual physical' },
    { row: '| accountName | string | 2 to 255 characters. |', is: 'string, 2 to 255 characters' },
    { row: '| banks | array of bank entries | See below. |', is: 'array' },
    { row: '| address | string | 0 to 255 characters. |', is: 'string, 0 to 255 characters' },
    {
      row: '| status | string | `active`, `pnd`, `fraudulent`, `suspend`. |',
      is: 'string, one of active pnd fraudulent suspend, not shown',
    },
    {
      row: '| currency | string | 3 characters; only `NGN` is supported. |',
      is: 'string, exactly 3 characters, one of NGN',
    },
    { row: '| description | string | Brief description. |', is: 'string' },
    {
      row: '| createdAt | string | UTC, ISO 8601 `YYYY-MM-DDThh:mm:ssZ`. |',
      is: 'string, date-time, UTC to the second',
    },
    {
      row: '| updatedAt | string | UTC, ISO 8601 `YYYY-MM-DDThh:mm:ssZ`. |',
      is: 'string, date-time, UTC to the second',
    },
  ],
};

export const savedCard: SpecTable<FieldRow> = {
  header: '| Field | Type | Meaning |',
  rows: [
    {
      row: '| tokenKey | string | The card token. Belongs to the merchant account that saved it. |',
      is: 'string',
    },
    { row: '| cardType | string | Card network name. |', is: 'string, not shown' },
    { row: '| tokenExpiryDate | string | Expiry of the token/card. |', is: 'string, not shown' },
    { row: '| cardPan | string | Masked or last digits of the card number. |', is: 'string, not shown' },
    {
      row: '| customerEmail | string | Email the card is saved against; every charge must use the same email. |',
      is: 'string',
    },
  ],
};

export const transaction: SpecTable<FieldRow> = {
  header: '| Field | Type | Meaning |',
  rows: [
    { row: '| id | string | Transaction id. |', is: 'string' },
    { row: '| status | string | `SUCCESS` for a successful charge. |', is: 'string, not shown' },
    {
      row: '| amount | string | Transaction amount, two decimal places. |',
      is: 'string, two decimal places',
    },
    { row: '| source | string | Origin of the transaction. |', is: 'string, not shown' },
    {
      row: '| type | string | Kind of transaction (an online checkout transaction has the kind `online_checkout`). |',
      is: 'string, not shown',
    },
    { row: '| gatewayMessage | string | Gateway message. |', is: 'string' },
    { row: "| onlineCheckoutOrderId | string | Service's id for the order. |", is: 'string' },
    { row: "| onlineCheckoutOrderReference | string | The merchant's order reference. |", is: 'string' },
    { row: '| onlineCheckoutCurrency | string | Currency code. |', is: 'string' },
    { row: '| onlineCheckoutCustomerEmail | string | Customer email. |', is: 'string' },
    {
      row: '| onlineCheckoutAmount | string | Order amount, two decimal places. |',
      is: 'string, two decimal places',
    },
    {
      row: '| onlineCheckoutPaymentMethod | string | Payment method (a card payment has the value `card_payment`). |',
      is: 'string',
    },
    { row: '| currency | string | Currency code. |', is: 'string' },
    {
      row: '| entryType | string | Ledger direction (a credit has the value `CREDIT`). |',
      is: 'string, not shown',
    },
  ],
};

export const checkoutOrderBody: SpecTable<FieldRow> = {
  header: '| Field | Type | Required | Notes |',
  rows: [
    { row: '| order | object | yes | |', is: 'object, required, not shown' },
    {
      row: '| order.amount | string | yes | two decimal places |',
      is: 'string, two decimal places, required',
    },
    { row: '| order.currency | string | yes | currency code |', is: 'string, required' },
    {
      row: '| order.customerEmail | string | yes | card is saved against it; all later charges must use it |',
      is: 'string, required',
    },
    {
      row: '| order.orderReference | string | no | up to 50 characters; generated if omitted |',
      is: 'string, up to 50 characters',
    },
    {
      row: "| order.customerId | string | no | merchant's id for the customer; returned in the webhook |",
      is: 'string',
    },
    {
      row: '| order.callbackUrl | string | no | where the customer is sent after paying on the checkout page |',
      is: 'string',
    },
    {
      row: '| order.allowedPaymentMethods | array of string | no | use `["Card"]` for card saving; a transfer payment yields no card token |',
      is: 'array',
    },
    {
      row: '| tokenizeCard | boolean | yes for card saving | must be at the top level, beside `order`; ignored inside `order` |',
      is: 'boolean',
    },
  ],
};

export const eventFields: SpecTable<FieldRow> = {
  header: '| Path | Type | Meaning |',
  rows: [
    { row: '| data.order.orderReference | string | Match a charge to this value. |', is: 'string' },
    {
      row: "| data.order.orderId | string | The service's order id (equals `data.orderReference` returned at order creation). |",
      is: 'string',
    },
    {
      row: "| data.order.customerId | string | The merchant's customer id, when supplied on the order. |",
      is: 'string',
    },
    {
      row: '| data.order.isTokenizedCardPayment | string | `"true"` for a saved-card charge, `"false"` for the first card-saving payment. |',
      is: 'string, one of true false',
    },
    {
      row: '| tokenizedCardData | object | Present on the first card-saving payment in production; carries the card token (Saved card). |',
      is: 'object',
    },
  ],
};

/** A row's cells, without the backticks' neighbours trimmed away: "| a | `b` |" is ["a", "`b`"]. */
export function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** The rows as field → words, as shapeOf (shape.ts) gives them. */
export function fieldsOf(table: SpecTable<FieldRow>, prefix = ''): Record<string, string> {
  return Object.fromEntries(table.rows.map(({ row, is }) => [`${prefix}${cellsOf(row)[0]}`, is]));
}
