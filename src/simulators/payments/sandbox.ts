import {
  answered,
  checkoutEnveloped,
  enveloped,
  refusal,
  type Answer,
  type Call,
  type Route,
} from './route.ts';
import { approvedWords } from './bank.ts';
import { createOrder } from './checkout.ts';
import { savedCardChargeRoute } from './saved-card-charge.ts';
import { referenceOf } from './faults.ts';
import { tokenKeyOf } from './cards.ts';
import { timeExceeded } from './payment-flow.ts';
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

/**
 * The checkout paths once more, without resend-otp. An order saves no card, and saved cards are fixed samples.
 * Everything else is played as it is live.
 *
 * Spec: Sandbox endpoints.
 */
export function sandboxRoutes(checkout: readonly Route[]): Route[] {
  return checkout.map((route) => ({
    ...route,
    ...samples[`${route.method} ${route.path.slice('/sandbox/checkout/'.length)}`],
  }));
}

const samples: Readonly<Record<string, Partial<Route>>> = {
  'POST order': { answer: (world, call) => createOrder(world, call, true) },
  'POST tokenized-card-payment': {
    answer: (world, call) =>
      referenceOf(call) === sandboxInputs.unknownReference
        ? unknownReference()
        : savedCardChargeRoute.answer(world, call),
  },
  'POST checkout-card-otp': { answer: submitOtp },
  // Their headers are not shown.
  'GET tokenized-card-data': { answer: list, access: 'open' },
  'POST tokenized-card-data': { answer: changeEmail },
  'DELETE tokenized-card-data': { answer: remove, access: 'open' },
};

function submitOtp(_world: World, { body }: Call): Answer {
  const otp = typeof body === 'object' && body !== null && 'otp' in body ? body.otp : undefined;
  const status = otp === sandboxInputs.approvedOtp;
  const refused = otp === sandboxInputs.timedOutOtp ? timeExceeded : 'Invalid OTP';
  const message = status ? approvedWords : refused;
  return checkoutEnveloped({ status, message }, message);
}

function list(_world: World, call: Call): Answer {
  if (call.query.get('customerEmail') === sandboxInputs.emailWithoutCards) return notFound();
  return enveloped({ tokenizedCardDataList: [sampleCard] }, 'a fixed sample');
}

function changeEmail(_world: World, call: Call): Answer {
  if (tokenKeyOf(call) === sandboxInputs.unknownTokenKey) return notFound();
  return enveloped(
    { status: true, message: 'Email address updated', tokenizedCardData: sampleCard },
    'a fixed sample',
  );
}

function remove(_world: World, call: Call): Answer {
  if (tokenKeyOf(call) === sandboxInputs.unknownTokenKey) return notFound();
  return enveloped({ status: true, message: 'Card deleted' }, 'a fixed sample');
}

/** The spec tells a `code` here and a plain 404 for the saved cards: the one is the envelope's, the other HTTP's. */
function unknownReference(): Answer {
  const [code, description] = ['404', 'Record not found'];
  const data = {
    status: false,
    message: description,
    otpRequired: false,
    orderId: null,
    orderReference: null,
  };
  return answered({ code, description, status: false, data }, description);
}

function notFound(): Answer {
  return refusal(404, 'Record not found');
}
