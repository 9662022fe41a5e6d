import { z } from 'zod';
import { answered, checkoutEnveloped, enveloped, refusal, type Answer } from './answer.ts';
import { answerToCard, approvedWords } from './bank.ts';
import { cardDetailBody, cardNumberIn, createOrder, tryCard } from './checkout.ts';
import { otpBody } from './otp.ts';
import { completePayment, timeExceeded } from './payment-flow.ts';
import { amount, currency, email, orderReference, readBody } from './read-body.ts';
import type { Call, Route } from './route.ts';
import { changeEmailBody, tokenKeyOf } from './saved-card-routes.ts';
import type { World } from './world.ts';

/** The sandbox's fixed inputs; the e-mail is designated by the playground, as the spec leaves its value out. */
export const sandboxInputs = {
  unknownReference: '1234567890',
  approvedOtp: '9999',
  timedOutOtp: '1234',
  wrongOtp: '5464',
  unknownTokenKey: '123',
  emailWithoutCards: 'no-cards@example.com',
} as const;

const sampleCard = {
  tokenKey: 'sandbox-sample-token',
  cardType: 'Mastercard',
  tokenExpiryDate: '12/29',
  cardPan: '555555******4444',
  customerEmail: 'sample.customer@example.com',
};

const chargeBody = z.object({
  tokenKey: z.string().min(1),
  order: z.object({
    amount,
    currency,
    customerEmail: email,
    orderReference: orderReference.optional(),
    customerId: z.string().optional(),
  }),
});

/** Spec: Sandbox endpoints. No real card is saved, and there is no resend-otp. */
export function sandboxRoutes(world: World): Route[] {
  const cards = '/sandbox/checkout/tokenized-card-data';
  const protectedPost = { method: 'POST', access: 'merchant', from: 'bot' } as const;
  // Their headers are not shown, and what they answer is a fixed sample.
  const sample = { access: 'open', from: 'bot' } as const;
  const openPost = { method: 'POST', access: 'open' } as const;
  return [
    {
      ...protectedPost,
      path: '/sandbox/checkout/order',
      label: 'Sandbox: create a checkout order',
      answer: (call) => createOrder(world, call, true),
    },
    {
      ...protectedPost,
      path: '/sandbox/checkout/tokenized-card-payment',
      label: 'Sandbox: charge a saved card',
      answer: (call) => charge(world, call),
    },
    {
      ...openPost,
      from: 'customer',
      path: '/sandbox/checkout/checkout-card-detail',
      label: 'Sandbox: submit card details',
      answer: (call) => submitCardDetails(world, call),
    },
    {
      ...openPost,
      from: 'bot',
      path: '/sandbox/checkout/checkout-card-otp',
      label: 'Sandbox: submit an OTP',
      answer: (call) => submitOtp(world, call),
    },
    { ...protectedPost, path: cards, label: 'Sandbox: change a card’s e-mail', answer: changeEmail },
    { ...sample, method: 'GET', path: cards, label: 'Sandbox: list saved cards', answer: list },
    { ...sample, method: 'DELETE', path: cards, label: 'Sandbox: delete a saved card', answer: remove },
  ];
}

/** Every reference but one is approved; one charged before is approved again without being charged again. */
function charge(world: World, call: Call): Answer {
  const read = readBody(chargeBody, call);
  if (!read.ok) return read.answer;
  const { amount: amountMinor, orderReference: given, customerId, ...fields } = read.value.order;
  const reference = given ?? world.orders.newReference('SUB');
  if (reference === sandboxInputs.unknownReference) return unknownReference();
  const order =
    world.orders.byReference(reference) ??
    world.orders.add({
      ...fields,
      ...(customerId === undefined ? {} : { customerId }),
      orderReference: reference,
      accountId: call.accountId,
      amountMinor,
      isSavedCardCharge: true,
      sandbox: true,
    });
  if (order.sandbox) completePayment(world, order);
  const { orderId } = order;
  const data = {
    status: true,
    message: approvedWords,
    otpRequired: false,
    orderId,
    orderReference: reference,
  };
  return checkoutEnveloped(data, `${reference}: ${approvedWords}`);
}

/** Only the card number decides: an order of the sandbox moves with it, any other reference is answered the same. */
function submitCardDetails(world: World, call: Call): Answer {
  const read = readBody(cardDetailBody, call);
  if (!read.ok) return read.answer;
  const cardNumber = cardNumberIn(read.value.cardDetails);
  if (cardNumber === undefined)
    return refusal(400, 'cardDetails: must be a JSON string with the card’s fields');
  const order = world.orders.byOrderId(read.value.orderReference);
  if (order?.sandbox) {
    const outcome = tryCard(world, order, cardNumber);
    return checkoutEnveloped(outcome, outcome.message);
  }
  const accepted = answerToCard(cardNumber).kind === 'otp';
  const message = accepted ? 'Enter the code your bank sent you' : 'The card was not accepted';
  const data = {
    status: accepted,
    message,
    responseCode: accepted ? 'T0' : '',
    transactionId: accepted ? 'sandbox-transaction' : '',
    secureAuthenticationData: null,
  };
  return checkoutEnveloped(data, message);
}

function submitOtp(world: World, call: Call): Answer {
  const read = readBody(otpBody, call);
  if (!read.ok) return read.answer;
  world.stats.add('otpSubmissions');
  const { approvedOtp, timedOutOtp } = sandboxInputs;
  const approved = read.value.otp === approvedOtp;
  const order = world.orders.byOrderId(read.value.orderReference);
  if (approved && order?.sandbox && order.state === 'awaiting_otp') completePayment(world, order);
  const refused = read.value.otp === timedOutOtp ? timeExceeded : 'Invalid OTP';
  const message = approved ? approvedWords : refused;
  return checkoutEnveloped({ status: approved, message }, message);
}

function changeEmail(call: Call): Answer {
  const read = readBody(changeEmailBody, call);
  if (!read.ok) return read.answer;
  if (read.value.tokenKey === sandboxInputs.unknownTokenKey) return notFound();
  const tokenizedCardData = { ...sampleCard, customerEmail: read.value.newEmailAddress };
  return enveloped({ status: true, message: 'Email address updated', tokenizedCardData }, 'a fixed sample');
}

function list(call: Call): Answer {
  if (call.query.get('customerEmail') === sandboxInputs.emailWithoutCards) return notFound();
  return enveloped({ tokenizedCardDataList: [sampleCard] }, 'a fixed sample');
}

function remove(call: Call): Answer {
  const tokenKey = tokenKeyOf(call);
  if (tokenKey === undefined) return refusal(400, 'tokenKey is required');
  if (tokenKey === sandboxInputs.unknownTokenKey) return notFound();
  return enveloped({ status: true, message: 'Card deleted' }, 'a fixed sample');
}

/** The spec tells a `code` here and a plain 404 for the saved cards: the one is the envelope's, the other HTTP's. */
function unknownReference(): Answer {
  const data = {
    status: false,
    message: 'Record not found',
    otpRequired: false,
    orderId: null,
    orderReference: null,
  };
  return answered({ code: '404', description: 'Record not found', status: false, data }, 'Record not found');
}

function notFound(): Answer {
  return refusal(404, 'Record not found');
}
