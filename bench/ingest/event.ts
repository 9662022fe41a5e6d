import type { Request } from 'autocannon';
import type { SignatureScheme } from '../../src/webhooks/signed-delivery.ts';
import { presetScheme } from '../../src/webhooks/webhook-settings.ts';
import { signDelivery } from '../../test/support/sign-delivery.ts';

/** How the load signs; every variant but standardwebhooks' takes the first. */
export type Signing = 'raw-body' | 'standard-webhooks';

export const secrets = {
  'raw-body': 'bench-secret-0123456789abcdef0123456789abcdef',
  'standard-webhooks': `whsec_${Buffer.alloc(24, 'bench').toString('base64')}`,
} as const satisfies Record<Signing, string>;

export type EventKind = 'payment_failed' | 'payment_success';

/** As much as a real one has, with what senders put around it. */
const bodyBytes = 1_500;

/** An event of about 1.5 KB that no other `id` shares anything decisive with. */
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

export type EventOrder = { kind: EventKind; signing: Signing };

export function eventRequest({ kind, signing }: EventOrder, id: string): Request {
  const body = eventBody(kind, id);
  const scheme: SignatureScheme = presetScheme(signing);
  const signed = signDelivery(scheme, secrets[signing], body, Date.now());
  const headers = { 'content-type': 'application/json', ...signed };
  return { method: 'POST', path: '/webhooks/payments', headers, body };
}
