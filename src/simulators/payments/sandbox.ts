import { checkoutEnveloped, enveloped, refusal, type Answer, type Call, type Route } from './route.ts';
import { approvedWords } from './bank.ts';
import { createOrder } from './checkout.ts';
import { tokenKeyOf } from './cards.ts';
import { timeExceeded } from './payment-flow.ts';
import { chargeInSandbox } from './saved-card-charge.ts';
import type { World } from './world.ts';

/** The sandbox's fixed inputs for saved cards; the e-mail is the playground's, as the spec leaves it out. */
export const sandboxInputs = {
  unknownTokenKey: '123',
  emailWithoutCards: 'no-cards@example.com',
} as const;

/** Any other code is wrong. */
const codeWords: Readonly<Record<string, string>> = { 9999: approvedWords, 1234: timeExceeded };

const sampleCard = {
  tokenKey: 'sandbox-sample-token',
  cardType: 'Mastercard',
  tokenExpiryDate: '12/29',
  cardPan: '555555******4444',
  customerEmail: 'sample.customer@example.com',
};

/**
 * The live checkout routes on the sandbox's paths, without resend-otp. Orders save no card, charges are approved, and
 * codes and saved cards are fixed samples.
 *
 * Spec: Sandbox endpoints.
 */
export function sandboxRoutes(checkout: readonly Route[]): Route[] {
  return checkout
    .filter(({ path }) => !path.endsWith('/resend-otp'))
    .map((route) => ({
      ...route,
      ...samples[`${route.method} ${route.path.slice('/v1/checkout/'.length)}`],
      path: route.path.replace('/v1/', '/sandbox/'),
    }));
}

const samples: Readonly<Record<string, Partial<Route>>> = {
  'POST tokenized-card-payment': { answer: chargeInSandbox },
  'POST order': { answer: (world, call) => createOrder(world, call, true) },
  'POST checkout-card-otp': { answer: submitOtp },
  // The spec does not show their headers.
  'GET tokenized-card-data': { answer: list, access: 'open' },
  'POST tokenized-card-data': { answer: changeEmail },
  'DELETE tokenized-card-data': { answer: remove, access: 'open' },
};

/** Checks the code against the spec's fixed inputs; the sandbox keeps no charge for it. */
function submitOtp(_world: World, { body }: Call): Answer {
  const otp = typeof body === 'object' && body !== null && 'otp' in body ? String(body.otp) : '';
  const message = codeWords[otp] ?? 'Invalid OTP';
  return checkoutEnveloped({ status: message === approvedWords, message }, message);
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

function notFound(): Answer {
  return refusal(404, 'Record not found');
}
