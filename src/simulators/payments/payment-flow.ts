import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { wireFromMinor } from '../../domain/money.ts';
import { approvedWords, rightOtp } from './bank.ts';
import { newTokenKey, savedCardOf, type StoredCard } from './cards.ts';
import { isOtpOverdue, type Order, otpSubmissionLimit } from './orders.ts';
import { type Answer, type Call, checkoutEnveloped, readBody, refusal, type Route } from './route.ts';
import type { ToldStatus, WebhookPayload } from './webhooks-out.ts';
import { increase, type World } from './world.ts';

/**
 * The bank takes the money, at most once an order. Saves the card if the order says so, and sends payment_success.
 *
 * Spec: Card-saving payment and saved-card charge.
 */
export function completePayment(world: World, order: Order): void {
  if (order.state === 'paid' || order.state === 'given_back') return;
  order.state = 'paid';
  order.reason = approvedWords;
  order.takenMinor = order.amountMinor - order.shortMinor;
  increase(world.stats.chargesByReference, order.orderReference);
  sendEvent(world, order, saveCard(world, order));
  world.changed();
}

/**
 * The bank declines, or never decided (`failed`: time or attempts ran out). Only a saved-card charge sends an event. Spec:
 * Events.
 */
export function declinePayment(
  world: World,
  order: Order,
  reason: string,
  state: 'declined' | 'failed' = 'declined',
): void {
  order.state = state;
  order.reason = reason;
  if (order.isSavedCardCharge) sendEvent(world, order);
  world.changed();
}

export const timeExceeded = 'The payment has exceeded the time allowed';

/** Returns the money to the customer. Spec: not shown; the event is the playground's. */
export function giveBack(world: World, order: Order, sends: boolean): void {
  order.state = 'given_back';
  order.reason = 'Refunded by the merchant';
  if (sends) sendEvent(world, order);
  world.changed();
}

/** Fails every payment whose 15 minutes for the OTP are over. */
export function failOverdue(world: World): void {
  for (const order of world.orders.awaitingOtp()) {
    if (isOtpOverdue(order, world.now())) declinePayment(world, order, timeExceeded, 'failed');
  }
}

function saveCard(world: World, order: Order): StoredCard | undefined {
  const details = order.otp?.card;
  if (!order.tokenizeCard || order.sandbox || !details) return undefined;
  const card: StoredCard = {
    ...details,
    tokenKey: newTokenKey(),
    customerEmail: order.customerEmail,
    accountId: order.accountId,
    label: `Saved with ${order.orderReference}, approves`,
    behaviour: { kind: 'approve' },
  };
  world.cards.add(card);
  return card;
}

/** `savedCard`: the card that this payment saved. */
export function sendEvent(world: World, order: Order, savedCard?: StoredCard): void {
  const told = eventsOf[order.state];
  if (!told) return;
  const { orderReference, orderId, customerId, currency, customerEmail } = order;
  world.webhooks.send({
    event: told.event,
    eventId: `evt_${randomUUID()}`,
    createdAt: new Date(world.now()).toISOString(),
    data: {
      order: {
        orderReference,
        orderId,
        ...(customerId === undefined ? {} : { customerId }),
        isTokenizedCardPayment: order.isSavedCardCharge ? 'true' : 'false',
        amount: wireFromMinor(order.takenMinor ?? order.amountMinor),
        currency,
        customerEmail,
      },
      transaction: {
        transactionId: order.transactionRecordId,
        status: told.status,
        message: order.reason ?? '',
      },
    },
    ...(savedCard ? { tokenizedCardData: savedCardOf(savedCard) } : {}),
  });
}

const failed = { event: 'payment_failed', status: 'FAILED' } as const;

const eventsOf: Partial<Record<Order['state'], Pick<WebhookPayload, 'event'> & { status: ToldStatus }>> = {
  paid: { event: 'payment_success', status: 'SUCCESS' },
  given_back: { event: 'payment_refunded', status: 'REFUNDED' },
  declined: failed,
  failed,
};

const otpBody = z.object({
  otp: z.string().min(1),
  orderReference: z.string().min(1),
  transactionId: z.string().min(1),
});

const resendBody = z.object({ orderReference: z.string().min(1) });

const tooManyAttempts = 'TOO MANY OTP ATTEMPTS';

/** Spec: submit OTP, resend-otp. Neither takes Authorization or accountId. */
const open = { method: 'POST', access: 'open', from: 'bot' } as const;
export const otpRoutes: readonly Route[] = [
  { ...open, path: '/v1/checkout/checkout-card-otp', label: 'Submit an OTP', answer: submit },
  { ...open, path: '/v1/checkout/resend-otp', label: 'Resend the OTP', answer: resend },
];

function submit(world: World, call: Call): Answer {
  const read = readBody(otpBody, call);
  if (!read.ok) return read.answer;
  world.stats.otpSubmissions += 1;
  const order = orderOf(world, read.value.orderReference);
  if (!order?.otp || order.otp.transactionId !== read.value.transactionId) {
    return refusal(404, 'No payment waits for an OTP with this order reference and transaction id');
  }
  const outcome = tryOtp(world, order, read.value.otp);
  return checkoutEnveloped(outcome, `${order.orderReference}: ${outcome.message}`);
}

/** By the merchant's reference for a saved-card charge, by the service's order id for a card-saving payment. */
function orderOf(world: World, reference: string): Order | undefined {
  const charge = world.orders.byReference(reference);
  if (charge?.isSavedCardCharge) return charge;
  const order = world.orders.byOrderId(reference);
  return order?.isSavedCardCharge ? undefined : order;
}

/**
 * One OTP, from the checkout page or the API; returns the answer's data. Every wrong code counts; the fourth refuses the
 * charge.
 */
export function tryOtp(world: World, order: Order, otp: string): { status: boolean; message: string } {
  const open = order.otp;
  if (!open || order.state !== 'awaiting_otp') {
    const over = order.state === 'paid' ? 'This payment is already completed' : order.reason;
    return { status: false, message: over ?? 'No OTP is expected' };
  }
  open.submissions += 1;
  if (open.submissions > otpSubmissionLimit) {
    declinePayment(world, order, tooManyAttempts, 'failed');
    return { status: false, message: tooManyAttempts };
  }
  if (otp !== rightOtp) {
    order.reason = 'Invalid OTP';
    world.changed();
    return { status: false, message: 'Invalid OTP' };
  }
  completePayment(world, order);
  return { status: true, message: approvedWords };
}

/** The field orderReference holds the charge's transaction id. Adds neither time nor tries. */
function resend(world: World, call: Call): Answer {
  const read = readBody(resendBody, call);
  if (!read.ok) return read.answer;
  const order = world.orders.byTransactionId(read.value.orderReference);
  if (!order) return refusal(404, 'No charge has this transaction id');
  const waiting = order.state === 'awaiting_otp';
  if (waiting && order.otp) {
    order.otp.resends += 1;
    world.changed();
  }
  const message = waiting ? 'OTP sent again' : 'No OTP is expected';
  return checkoutEnveloped({ status: waiting, message }, `${order.orderReference}: ${message}`);
}
