import { z } from 'zod';
import { checkoutEnveloped, refusal, type Answer } from './answer.ts';
import { answerToCard, cardsNotEnabledWords } from './bank.ts';
import { checkoutLink, openOtp, type Order } from './orders.ts';
import { declinePayment } from './payment-flow.ts';
import { amount, currency, email, orderReference, readBody } from './read-body.ts';
import type { Call, Route } from './route.ts';
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

const deviceInformation = z.object(
  Object.fromEntries(
    [
      'httpBrowserLanguage',
      'httpBrowserJavaEnabled',
      'httpBrowserJavaScriptEnabled',
      'httpBrowserColorDepth',
      'httpBrowserScreenHeight',
      'httpBrowserScreenWidth',
      'httpBrowserTimeDifference',
      'userAgentBrowserValue',
      'deviceChannel',
    ].map((member) => [member, z.string().optional()]),
  ),
);

export const cardDetailBody = z.object({
  cardDetails: z.string(),
  key: z.string(),
  orderReference: z.string().min(1),
  deviceInformation,
});

const cardDetails = z.object({
  cardNumber: z.string(),
  cardExpiryMonth: z.coerce.string(),
  cardExpiryYear: z.coerce.string(),
  cardCVV: z.coerce.string(),
  cardPin: z.coerce.string(),
});

/** What the customer's card met: data of the card-detail answer. Spec: submit card details. */
export type CardOutcome = {
  status: boolean;
  message: string;
  responseCode: string;
  transactionId: string;
  secureAuthenticationData: Record<string, string> | null;
};

/** Spec: Online checkout. The card endpoint takes neither Authorization nor accountId. */
export function checkoutRoutes(world: World): Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/checkout/order',
      label: 'Create a checkout order',
      access: 'merchant',
      from: 'bot',
      answer: (call) => createOrder(world, call, false),
    },
    {
      method: 'POST',
      path: '/v1/checkout/checkout-card-detail',
      label: 'Submit card details',
      access: 'open',
      from: 'customer',
      answer: (call) => submitCardDetails(world, call),
    },
  ];
}

export function createOrder(world: World, call: Call, sandbox: boolean): Answer {
  const read = readBody(orderBody, call);
  if (!read.ok) return read.answer;
  const { amount: amountMinor, allowedPaymentMethods, orderReference: given, ...fields } = read.value.order;
  const reference = given ?? world.orders.newReference('ORDER');
  if (world.orders.has(reference)) return refusal(400, 'An order already exists with this order reference');
  const { customerId, callbackUrl } = fields;
  const order = world.orders.add({
    orderReference: reference,
    accountId: call.accountId,
    amountMinor,
    currency: fields.currency,
    customerEmail: fields.customerEmail,
    ...(customerId === undefined ? {} : { customerId }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
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

function submitCardDetails(world: World, call: Call): Answer {
  const read = readBody(cardDetailBody, call);
  if (!read.ok) return read.answer;
  const order = world.orders.byOrderId(read.value.orderReference);
  if (!order) return refusal(404, 'The order does not exist');
  if (read.value.key !== '') return refusal(400, 'key: the playground reads unencrypted card details only');
  const cardNumber = cardNumberIn(read.value.cardDetails);
  if (cardNumber === undefined)
    return refusal(400, 'cardDetails: must be a JSON string with the card’s fields');
  const outcome = tryCard(world, order, cardNumber);
  return checkoutEnveloped(outcome, `${order.orderReference}: ${outcome.message}`);
}

export function cardNumberIn(text: string): string | undefined {
  try {
    return cardDetails.parse(JSON.parse(text)).cardNumber;
  } catch {
    return undefined;
  }
}

/**
 * One try at paying an order with a card, from whichever door. A try made while another waits for its OTP
 * takes its place; a payment that is over cannot be tried again.
 */
export function tryCard(world: World, order: Order, cardNumber: string): CardOutcome {
  if (order.state === 'paid' || order.state === 'failed' || order.isSavedCardCharge) {
    return notAccepted('This order cannot be paid any more');
  }
  if (!order.cardAllowed) return notAccepted(cardsNotEnabledWords);
  const answer = answerToCard(cardNumber);
  if (answer.kind === 'declined') {
    delete order.otp;
    declinePayment(world, order, answer.reason);
    return notAccepted(answer.reason);
  }
  if (answer.kind === 'three_d_secure') {
    const transactionId = openOtp(world.now()).transactionId;
    return {
      status: true,
      message: 'The bank asks for 3-D Secure',
      responseCode: 'S0',
      transactionId,
      secureAuthenticationData: { acsUrl: `${world.baseUrl()}/checkout/${order.orderId}`, md: order.orderId },
    };
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
  return {
    status: true,
    message: 'Enter the code your bank sent you',
    responseCode: 'T0',
    transactionId: otp.transactionId,
    secureAuthenticationData: null,
  };
}

function notAccepted(message: string): CardOutcome {
  return { status: false, message, responseCode: '', transactionId: '', secureAuthenticationData: null };
}
