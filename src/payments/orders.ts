import type { OrderReference } from '../domain/order-reference.ts';
import type { NotMade } from '../domain/failure.ts';
import { type Money, wireFromMinor } from '../domain/money.ts';
import type { PaymentsClient } from './client.ts';
import {
  type Rejected,
  type Unknown,
  askForEffect,
  readBoolean,
  referenceTaken,
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
  return await askForEffect({
    call: () =>
      client.POST('/v1/checkout/order', {
        params: { header: { accountId } },
        body: { order, ...(savesCard ? { tokenizeCard: true } : {}) },
      }),
    judge: judgeOrder,
    secrets: [],
  });
}

/**
 * An order's `data` has `success` where a charge's has `status`. Any code but "00" says that no order was made, unless
 * `data` contradicts it.
 */
function judgeOrder(reply: Reply): CheckoutOrderAnswer | undefined {
  const { isOk, code, data, status, message, description } = reply;
  const success = readBoolean(data?.['success']);
  const taken = referenceTaken(reply);
  if (taken) return taken;
  const checkoutLink = webAddress(looseText.parse(data?.['checkoutLink']));
  const isMade = (success ?? status) === true || checkoutLink !== undefined;
  if (isOk && code !== undefined && code !== '00' && !isMade) return rejectedFor(message ?? description);
  const orderId = looseText.parse(data?.['orderReference']);
  if (!isOk || code !== '00' || success !== true) return undefined;
  if (orderId === undefined || checkoutLink === undefined) return undefined;
  return { kind: 'created', orderId, checkoutLink };
}

/** The link in the form that a browser would open; undefined unless it is http or https. */
function webAddress(link: string | undefined): string | undefined {
  const address = link === undefined ? null : URL.parse(link);
  return address && ['https:', 'http:'].includes(address.protocol) ? address.href : undefined;
}
