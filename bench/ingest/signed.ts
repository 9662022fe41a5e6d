import { createHmac, timingSafeEqual } from 'node:crypto';
import { secrets } from './event.ts';

/** The check as one writes it by hand: HMAC-SHA256 over the raw bytes, in hex, compared in constant time. */
export function isSigned(body: Buffer, signature: unknown): boolean {
  if (typeof signature !== 'string') return false;
  const expected = createHmac('sha256', secrets['raw-body']).update(body).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** What the peers' events are remembered under. */
export function peerKey(prefix: string, body: Buffer): string {
  const event = JSON.parse(body.toString()) as {
    event_type: string;
    data: { order: { orderReference: string } };
  };
  return `${prefix}${event.event_type}/${event.data.order.orderReference}`;
}
