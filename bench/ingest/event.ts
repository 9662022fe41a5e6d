import { createHmac } from 'node:crypto';
import type { Request } from 'autocannon';

export const webhookSecret = 'bench-secret-0123456789abcdef0123456789abcdef';

export type EventKind = 'payment_failed' | 'payment_success';

/** A typical size, including the fields that senders add. */
const bodyBytes = 1_500;

/** An event of about 1.5 KB; two with different ids share no key. */
function eventBody(kind: EventKind, id: string): Buffer {
  const event = {
    event_type: kind,
    requestId: `req-${id}`,
    data: {
      order: {
        orderReference: `ord-${id}`,
        orderId: `9f1c-${id}`,
        customerId: `customer-${id}`,
        customerEmail: `customer.${id}@example.com`,
        amount: 5_000,
        currency: 'NGN',
        isTokenizedCardPayment: 'true',
        callbackUrl: 'https://shop.example.com/orders/callback',
      },
      transaction: {
        transactionId: `tx-${id}`,
        gatewayMessage: kind === 'payment_failed' ? 'Insufficient funds' : 'Approved',
        type: 'CARD',
        timeCompleted: '2026-01-15T10:00:00.000Z',
      },
      padding: '',
    },
  };
  event.data.padding = 'x'.repeat(Math.max(0, bodyBytes - JSON.stringify(event).length));
  return Buffer.from(JSON.stringify(event));
}

/** `mixed`: one of ten is a failure. */
export type EventOrder = { kind: EventKind | 'mixed' };

export function eventRequest({ kind }: EventOrder, id: string): Request {
  const mixed = id.endsWith('0') ? 'payment_failed' : 'payment_success';
  const body = eventBody(kind === 'mixed' ? mixed : kind, id);
  const signature = createHmac('sha256', webhookSecret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-webhook-signature': signature };
  return { method: 'POST', path: '/webhooks/payments', headers, body };
}
