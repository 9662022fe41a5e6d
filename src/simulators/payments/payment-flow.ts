import { randomUUID } from 'node:crypto';
import { wireFromMinor } from '../../domain/money.ts';
import { approvedWords } from './bank.ts';
import { newTokenKey, savedCardOf, type StoredCard } from './cards.ts';
import { isOtpOverdue, type Order } from './orders.ts';
import type { World } from './world.ts';

/**
 * The bank took the money: at most once for an order, however often it is asked. Saves the card when the
 * order asked for it, and sends payment_success.
 *
 * Spec: Card-saving payment and saved-card charge.
 */
export function completePayment(world: World, order: Order): void {
  if (order.state === 'paid') return;
  order.state = 'paid';
  order.reason = approvedWords;
  order.takenMinor = order.amountMinor - order.shortMinor;
  world.stats.charged(order.orderReference);
  sendEvent(world, order, saveCard(world, order));
  world.changed();
}

/** The bank said no. Only a saved-card charge has an event for that. Spec: Events. */
export function declinePayment(world: World, order: Order, reason: string): void {
  endUnpaid(world, order, 'declined', reason);
}

/** The bank never came to an answer: time or attempts ran out. */
export function failPayment(world: World, order: Order, reason: string): void {
  endUnpaid(world, order, 'failed', reason);
}

export const timeExceeded = 'The payment has exceeded the time allowed';

/** Fails every payment whose 15 minutes for the OTP are over. */
export function failOverdue(world: World): void {
  for (const order of world.orders.awaitingOtp()) {
    if (isOtpOverdue(order, world.now())) failPayment(world, order, timeExceeded);
  }
}

function endUnpaid(world: World, order: Order, state: 'declined' | 'failed', reason: string): void {
  order.state = state;
  order.reason = reason;
  if (order.isSavedCardCharge) sendEvent(world, order);
  world.changed();
}

/** Sends the event of an earlier payment that saved this card. */
export function tellSavedCard(world: World, order: Order, card: StoredCard): void {
  sendEvent(world, order, card);
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

function sendEvent(world: World, order: Order, savedCard?: StoredCard): void {
  const paid = order.state === 'paid';
  const { orderReference, orderId, customerId, currency, customerEmail } = order;
  world.webhooks.send({
    event: paid ? 'payment_success' : 'payment_failed',
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
        status: paid ? 'SUCCESS' : 'FAILED',
        message: order.reason ?? '',
      },
    },
    ...(savedCard ? { tokenizedCardData: savedCardOf(savedCard) } : {}),
  });
}
