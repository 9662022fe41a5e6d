import type { OrderReference } from '../domain/order-reference.ts';
import type { NotMade } from '../domain/failure.ts';
import { type Money, wireFromMinor } from '../domain/money.ts';
import type { PaymentsClient } from './client.ts';
import {
  type Rejected,
  type Unknown,
  askForEffect,
  readBoolean,
  rejectedFor,
  type Reply,
} from './effect-answer.ts';
import { looseText } from './wire.ts';

/** An order that its customer pays on the service's checkout page. */
export type CheckoutOrder = {
  money: Money;
  customerEmail: string;
  reference: OrderReference;
  /** Saves the payer's card; then only a card can pay. */
  savesCard: boolean;
  customerId?: string | undefined;
  /** Where the customer goes after paying. */
  callbackUrl?: string | undefined;
};

/**
 * The service's answer to a new order. `orderId` is the service's own id, not the merchant's reference.
 *
 * Spec: create a checkout order.
 */
export type CheckoutOrderAnswer =
  | { kind: 'created'; orderId: string; checkoutLink: string }
  | Rejected
  | NotMade
  | Unknown;

/**
 * Creates an order to be paid on its checkout page; if it saves the card, only by card. Takes no money itself. Never
 * throws.
 *
 * Spec: create a checkout order (`tokenizeCard` beside `order`; only a card payment yields a token).
 */
export async function createCheckoutOrder(
  client: PaymentsClient,
  accountId: string,
  wanted: CheckoutOrder,
): Promise<CheckoutOrderAnswer> {
  const { money, customerEmail, reference, savesCard, customerId, callbackUrl } = wanted;
  const order = {
    amount: wireFromMinor(money.minor),
    currency: money.currency,
    customerEmail,
    orderReference: reference,
    ...(savesCard ? { allowedPaymentMethods: ['Card'] } : {}),
    ...(customerId === undefined ? {} : { customerId }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
  };
  const answer = await askForEffect({
    call: () =>
      client.POST('/v1/checkout/order', {
        params: { header: { accountId } },
        body: { order, ...(savesCard ? { tokenizeCard: true } : {}) },
      }),
    judge: judgeOrder,
    secrets: [],
  });
  return referenceTaken(answer) ?? answer;
}

/**
 * The rejection for a used reference. The specification doesn't say its form here, so HTTP 400 counts as well as code
 * 400.
 */
function referenceTaken(answer: CheckoutOrderAnswer): CheckoutOrderAnswer | undefined {
  if (answer.kind !== 'not_made' || answer.failure !== 'invalid_request') return undefined;
  const rejected = rejectedFor(answer.message);
  return rejected.reason === 'reference_exists' ? rejected : undefined;
}

/** An order's `data` has `success` where a charge's has `status`. */
function judgeOrder({ isOk, code, data, message }: Reply): CheckoutOrderAnswer | undefined {
  const success = readBoolean(data?.['success']);
  if (code === '400' && success === false) return rejectedFor(message);
  const orderId = looseText.parse(data?.['orderReference']);
  const checkoutLink = webAddress(looseText.parse(data?.['checkoutLink']));
  if (!isOk || code !== '00' || success !== true) return undefined;
  if (orderId === undefined || checkoutLink === undefined) return undefined;
  return { kind: 'created', orderId, checkoutLink };
}

/** The link in the form that a browser would open; undefined unless it is http or https. */
function webAddress(link: string | undefined): string | undefined {
  const address = link === undefined ? null : URL.parse(link);
  return address && ['https:', 'http:'].includes(address.protocol) ? address.href : undefined;
}
