import { z } from 'zod';
import {
  amount,
  answered,
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
import {
  chargeScript,
  nextChargeScripts,
  type Accident,
  type CardBehaviour,
  type ChargeScript,
} from './bank.ts';
import type { Order } from './orders.ts';
import { completePayment, declinePayment } from './payment-flow.ts';
import { unreadable } from './faults.ts';
import type { World } from './world.ts';

/** A missing or broken e-mail is a rejection with its own words, not a failed validation. */
const chargeBody = z.object({
  tokenKey: z.string().min(1),
  order: z.object({
    amount,
    currency,
    customerEmail: z.unknown().optional(),
    orderReference: orderReference.optional(),
    customerId: z.string().optional(),
  }),
});

type ChargeBody = z.infer<typeof chargeBody>;

/** Spec: charge a saved card. */
export const savedCardChargeRoute: Route = {
  ...merchant,
  method: 'POST',
  path: '/v1/checkout/tokenized-card-payment',
  label: 'Charge a saved card',
  answer: charge,
};

function charge(world: World, call: Call): Answer {
  const read = readBody(chargeBody, call);
  if (!read.ok) return read.answer;
  const byAmount = chargeScript(read.value.order.amount);
  const bare = byAmount.rejected && 'status' in byAmount.rejected ? byAmount.rejected.status : undefined;
  if (bare !== undefined) return refusal(bare, 'The request is refused');
  const checked = check(world, call, read.value, byAmount);
  if (checked.kind === 'rejected') return rejected(checked.message);
  const script = takeScript(world, byAmount);
  const reference = read.value.order.orderReference ?? world.orders.newReference('SUB');
  const accident = script.accident;
  if (accident?.when === 'before' && !world.accidentsHad.has(reference)) {
    world.accidentsHad.add(reference);
    return accidentAnswer(accident, `${reference}: nothing was charged`);
  }
  const order = world.orders.add({
    ...termsOf(read.value),
    orderReference: reference,
    accountId: call.accountId,
    customerEmail: checked.customerEmail,
    isSavedCardCharge: true,
    shortMinor: script.shortMinor ?? 0,
    pendingLookups: script.pendingLookups ?? 0,
  });
  const answer = settle(world, order, script.behaviour ?? checked.behaviour);
  return accident?.when === 'after' ? accidentAnswer(accident, `${reference}: charged all the same`) : answer;
}

/** Approves any token, and any reference but one; its record can be looked up. Spec: sandbox behaviour 3. */
export function chargeInSandbox(world: World, call: Call): Answer {
  const read = readBody(chargeBody, call);
  if (!read.ok) return read.answer;
  const { orderReference = world.orders.newReference('SUB'), customerEmail } = read.value.order;
  if (orderReference === '1234567890') return rejected('Record not found', '404');
  const order =
    world.orders.byReference(orderReference) ??
    world.orders.add({
      ...termsOf(read.value),
      orderReference,
      accountId: call.accountId,
      customerEmail: email.catch('any@example.com').parse(customerEmail),
      isSavedCardCharge: true,
    });
  return settle(world, order, { kind: 'approve' });
}

/** The panel's choice applies once: a repeat of the reference is an ordinary charge. */
function takeScript(world: World, usual: ChargeScript): ChargeScript {
  const chosen = world.next.charge;
  if (chosen === 'as_usual') return usual;
  const { reason } = world.next;
  world.next = { charge: 'as_usual' };
  world.changed();
  return reason === undefined ? nextChargeScripts[chosen] : { behaviour: { kind: 'decline', reason } };
}

function termsOf({ order }: ChargeBody): Pick<Order, 'amountMinor' | 'currency' | 'customerId'> {
  const { amount: amountMinor, currency, customerId } = order;
  return { amountMinor, currency, ...(customerId === undefined ? {} : { customerId }) };
}

type Checked =
  | { kind: 'rejected'; message: string }
  | { kind: 'accepted'; customerEmail: string; behaviour: CardBehaviour };

/**
 * Checks for a used reference first: a repeat of a received request is "already existing", even if the card is gone.
 * Spec: Errors (saved-card charge rejections).
 */
function check(world: World, call: Call, body: ChargeBody, script: ChargeScript): Checked {
  const { orderReference: reference } = body.order;
  if (reference !== undefined && world.orders.has(reference)) {
    return { kind: 'rejected', message: 'An order already exists with this order reference' };
  }
  const customerEmail = email.safeParse(body.order.customerEmail);
  if (!customerEmail.success) return { kind: 'rejected', message: 'Customer email is invalid' };
  if (script.rejected && 'words' in script.rejected)
    return { kind: 'rejected', message: script.rejected.words };
  const card = world.cards.find(call.accountId, body.tokenKey);
  if (!card) return { kind: 'rejected', message: 'Invalid card token' };
  if (card.customerEmail !== customerEmail.data) {
    return { kind: 'rejected', message: "Email address doesn't match token key" };
  }
  return { kind: 'accepted', customerEmail: customerEmail.data, behaviour: card.behaviour };
}

function settle(world: World, order: Order, behaviour: CardBehaviour): Answer {
  switch (behaviour.kind) {
    case 'approve':
      completePayment(world, order);
      break;
    case 'otp':
      world.orders.awaitOtp(order, 'Enter the OTP the bank sent to the customer');
      world.changed();
      break;
    case 'decline':
      declinePayment(world, order, behaviour.reason);
      break;
    case 'undecided':
      world.changed();
      break;
  }
  const message = order.reason ?? '';
  const otpRequired = order.state === 'awaiting_otp';
  const data = {
    status: order.state === 'paid',
    message,
    otpRequired,
    ...(order.otp && otpRequired ? { transactionId: order.otp.transactionId } : {}),
    orderId: order.orderId,
    orderReference: order.orderReference,
  };
  return checkoutEnveloped(data, `${order.orderReference}: ${message}`);
}

function rejected(message: string, code = '400'): Answer {
  const data = { status: false, message, otpRequired: false, orderId: null, orderReference: null };
  return answered({ code, description: 'Bad request', status: false, data }, `not sent: ${message}`);
}

function accidentAnswer({ how }: Accident, outcome: string): Answer {
  if (how === 'silence' || how === 'cut') return { kind: how, outcome };
  if (how === 'unreadable') return unreadable(outcome);
  return { ...refusal(500, 'A downstream system failed'), outcome };
}
