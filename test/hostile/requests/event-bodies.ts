import type { Random } from '../../chaos/random.ts';

/** A body and what was put into it, so that nobody has to read it again to know. */
export type EventBody = {
  body: Buffer;
  kind: 'payment_failed' | 'payment_success';
  reference: string;
  orderId: string;
  amountMinor: number;
  currency: string;
  reason: string;
};

/** Texts that a mutation can make something of: separators, two ways to write a letter, quotes, keys. */
const reasons = [
  'Insufficient funds',
  'Do not honor: é and é',
  '余额不足 💳',
  'a.b:c|d,e=f v1,g',
  '"quoted" \\ and \\u0041',
  '{"amount":"1.00"}',
];

export function eventBody(random: Random, number: number, atMs: number): EventBody {
  const kind = random.chance(0.7) ? 'payment_failed' : 'payment_success';
  const reference = `REF-${number}`;
  const orderId = random.pick([
    `ord-${number}`,
    `${number}`,
    `ord ${number} é`,
    `${number}:7`,
    `${number}|7`,
  ]);
  const amountMinor = 100 + random.below(10_000_000);
  const amount = `${Math.floor(amountMinor / 100)}.${String(amountMinor % 100).padStart(2, '0')}`;
  const currency = random.pick(['NGN', 'USD', 'KES']);
  const reason = random.pick(reasons);
  const written = {
    event_type: kind,
    sentAt: new Date(atMs).toISOString(),
    requestId: `evt-${number}`,
    data: {
      order: { orderReference: reference, orderId, amount, currency, customerId: `cust-${number}` },
      transaction: { gatewayMessage: reason },
    },
  };
  const text = JSON.stringify(written, null, random.chance(0.3) ? 2 : undefined);
  return { body: Buffer.from(text), kind, reference, orderId, amountMinor, currency, reason };
}
