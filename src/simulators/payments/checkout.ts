import { z } from 'zod';
import {
  amount,
  checkoutEnveloped,
  currency,
  email,
  orderReference,
  readBody,
  refusal,
  type Answer,
  type Call,
  type Route,
  merchant,
} from './route.ts';
import { cardsNotEnabledWords, declineOfCard } from './bank.ts';
import { checkoutLink, openOtp, type Order } from './orders.ts';
import { declinePayment } from './payment-flow.ts';
import type { World } from './world.ts';

/** Unknown fields are ignored, `tokenizeCard` inside `order` among them. Spec: create a checkout order. */
const orderBody = z.object({
  order: z.object({
    amount,
    currency,
    customerEmail: email,
    orderReference: orderReference.optional(),
    customerId: z.string().optional(),
    callbackUrl: z.url({ protocol: /^https?$/ }).optional(),
    allowedPaymentMethods: z.array(z.string()).optional(),
  }),
  tokenizeCard: z.boolean().optional(),
});

/** Spec: Online checkout. Where a card is typed is the customer’s page; no merchant calls checkout-card-detail. */
export const checkoutRoutes: readonly Route[] = [
  {
    ...merchant,
    method: 'POST',
    path: '/v1/checkout/order',
    label: 'Create a checkout order',
    answer: (world, call) => createOrder(world, call, false),
  },
];

export function createOrder(world: World, call: Call, sandbox: boolean): Answer {
  const read = readBody(orderBody, call);
  if (!read.ok) return read.answer;
  const { amount: amountMinor, allowedPaymentMethods, orderReference: given, ...fields } = read.value.order;
  const reference = given ?? world.orders.newReference('ORDER');
  if (world.orders.has(reference)) return refusal(400, 'An order already exists with this order reference');
  const order = world.orders.add({
    orderReference: reference,
    accountId: call.accountId,
    amountMinor,
    currency: fields.currency,
    customerEmail: fields.customerEmail,
    ...(fields.customerId === undefined ? {} : { customerId: fields.customerId }),
    cardAllowed: allowedPaymentMethods?.includes('Card') ?? true,
    tokenizeCard: read.value.tokenizeCard === true,
    sandbox,
  });
  world.changed();
  const data = {
    success: true,
    message: 'Order created',
    checkoutLink: checkoutLink(order, world.baseUrl()),
    orderReference: order.orderId,
  };
  return checkoutEnveloped(data, `${reference} created`);
}

/**
 * One try at paying an order with a card, from whichever door. A try made while another waits for its OTP
 * takes its place; a payment that is over cannot be tried again.
 */
export function tryCard(
  world: World,
  order: Order,
  cardNumber: string,
): { status: boolean; message: string } {
  if (order.state === 'paid' || order.state === 'failed' || order.isSavedCardCharge) {
    return notAccepted('This order cannot be paid any more');
  }
  if (!order.cardAllowed) return notAccepted(cardsNotEnabledWords);
  const declined = declineOfCard(cardNumber);
  if (declined !== undefined) {
    delete order.otp;
    declinePayment(world, order, declined);
    return notAccepted(declined);
  }
  const digits = cardNumber.replace(/\D/g, '');
  const otp = openOtp(world.now(), {
    cardType: digits.startsWith('4') ? 'Visa' : 'Mastercard',
    cardPan: `${digits.slice(0, 6)}******${digits.slice(-4)}`,
    tokenExpiryDate: '12/29',
  });
  world.orders.awaitOtp(order, otp);
  order.reason = 'Waiting for the OTP';
  world.changed();
  return { status: true, message: 'Enter the code your bank sent you' };
}

function notAccepted(message: string): { status: boolean; message: string } {
  return { status: false, message };
}
