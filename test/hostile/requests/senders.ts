// Signers, written independently of the code under test: the bot gets the scheme's settings, and the sender signs by
// hand.

import { createHmac } from 'node:crypto';
import type { SignaturePreset } from '../../../src/config/webhook-settings.ts';
import type { SignatureScheme } from '../../../src/webhooks/signed-delivery.ts';
import { readSignatureScheme, type RecipeSettings } from '../../../src/webhooks/webhook-settings.ts';
import type { Random } from '../../chaos/random.ts';

export type Sender = {
  name: string;
  scheme: SignatureScheme;
  /** The bot's secrets; the second is from before a rotation. */
  secrets: readonly [string, string];
  /** A secret that the bot must not accept. */
  stranger: string;
  /** Header names for the signature; the first one present counts. */
  carriers: readonly string[];
  place: 'whole' | { pair: string } | { list: string };
  /** `token`: a plain token; nothing is signed. */
  encoding: 'hex' | 'base64' | 'token';
  /** What the signature covers besides `stands`. */
  covers: 'body' | 'fields' | 'nothing';
  /** Headers and pairs that are signed, or that carry the time. */
  stands: readonly ({ header: string } | { pair: string })[];
  time?: { in: { header: string } | { pair: string } | 'body'; unit: 'iso' | 's' | 'ms' };
  sign: (secret: string, event: EventBody, atMs: number) => [name: string, value: string][];
};

export const toleranceMs = 300_000;

const names = ['x-webhook-signature', 'x-signature'] as const;
const utf8 = ['first secret of the bot', 'older secret, kept while rotating'] as const;
const plain = {
  secrets: utf8,
  stranger: 'a secret of somebody else',
  carriers: names,
  place: 'whole',
  encoding: 'hex',
  covers: 'body',
  stands: [],
} as const;

function mac(algorithm: string, secret: string | Buffer, signed: string | Buffer) {
  return createHmac(algorithm, secret).update(signed);
}

function seconds(atMs: number): string {
  return String(Math.floor(atMs / 1_000));
}

function schemeOf(preset: SignaturePreset, settings: RecipeSettings = {}): SignatureScheme {
  const reading = readSignatureScheme({ webhookSignaturePreset: preset, ...settings });
  if (!reading.ok || !reading.value) throw new Error(reading.ok ? 'none' : reading.problem);
  return reading.value;
}

/** Every preset, and other possible settings: hashes, encodings, places and times. */
export const senders: readonly Sender[] = [
  {
    ...plain,
    name: 'raw-body',
    scheme: schemeOf('raw-body'),
    sign: (secret, { body }) => [[names[0], mac('sha256', secret, body).digest('hex')]],
  },
  {
    ...plain,
    name: 'raw-body, sha512 in base64',
    scheme: schemeOf('raw-body', {
      webhookSignatureAlgorithm: 'sha512',
      webhookSignatureEncoding: 'base64',
      webhookSignatureHeader: ['X-Pay-Sign'],
    }),
    carriers: ['x-pay-sign'],
    encoding: 'base64',
    sign: (secret, { body }) => [['X-Pay-Sign', mac('sha512', secret, body).digest('base64')]],
  },
  {
    ...plain,
    name: 'static-token',
    scheme: schemeOf('static-token'),
    secrets: ['a-long-static-token-0123456789', 'Ünïcode token, kept while rotating'],
    stranger: 'a-long-static-token-0123456788',
    carriers: ['x-webhook-token', 'authorization'],
    encoding: 'token',
    covers: 'nothing',
    sign: (secret) => [['X-Webhook-Token', Buffer.from(secret).toString('latin1')]],
  },
  {
    ...plain,
    name: 'timestamped-pairs',
    scheme: schemeOf('timestamped-pairs'),
    place: { pair: 'v1' },
    stands: [{ pair: 't' }],
    time: { in: { pair: 't' }, unit: 's' },
    sign(secret, { body }, atMs) {
      const at = seconds(atMs);
      const signed = Buffer.concat([Buffer.from(`${at}.`), body]);
      return [[names[0], `t=${at},v1=${mac('sha256', secret, signed).digest('hex')}`]];
    },
  },
  {
    ...plain,
    name: 'standard-webhooks',
    scheme: schemeOf('standard-webhooks'),
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    stranger: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    carriers: ['webhook-signature'],
    place: { list: 'v1' },
    encoding: 'base64',
    stands: [{ header: 'webhook-id' }, { header: 'webhook-timestamp' }],
    time: { in: { header: 'webhook-timestamp' }, unit: 's' },
    sign(secret, { body, reference }, atMs) {
      const id = `msg_${Buffer.from(reference).toString('hex').slice(0, 20)}`;
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
      const signed = Buffer.concat([Buffer.from(`${id}.${seconds(atMs)}.`), body]);
      return [
        ['webhook-id', id],
        ['webhook-timestamp', seconds(atMs)],
        ['webhook-signature', `v1,${mac('sha256', key, signed).digest('base64')}`],
      ];
    },
  },
  {
    ...plain,
    name: 'field-concatenation',
    scheme: schemeOf('field-concatenation'),
    encoding: 'base64',
    covers: 'fields',
    stands: [{ header: 'x-webhook-timestamp' }],
    time: { in: { header: 'x-webhook-timestamp' }, unit: 'iso' },
    sign(secret, { kind, reference, orderId }, atMs) {
      const at = new Date(atMs).toISOString();
      const signed = [kind, reference, orderId, at].join(':');
      return [
        ['X-Webhook-Timestamp', at],
        [names[0], mac('sha256', secret, signed).digest('base64')],
      ];
    },
  },
  {
    ...plain,
    name: 'fields between bars, the time in a pair',
    scheme: schemeOf('timestamped-pairs', {
      webhookSignedTemplate:
        '{json:/event_type}|{json:/data/order/orderReference}|{json:/data/order/orderId}|{pair:t}',
    }),
    place: { pair: 'v1' },
    covers: 'fields',
    stands: [{ pair: 't' }],
    time: { in: { pair: 't' }, unit: 's' },
    sign(secret, { kind, reference, orderId }, atMs) {
      const signed = [kind, reference, orderId, seconds(atMs)].join('|');
      return [[names[0], `t=${seconds(atMs)},v1=${mac('sha256', secret, signed).digest('hex')}`]];
    },
  },
  {
    ...plain,
    name: 'body and a header of milliseconds, the key in hex',
    scheme: schemeOf('raw-body', {
      webhookSignedTemplate: '{header:x-time}.{body}',
      webhookTimestampSource: 'header:x-time',
      webhookTimestampUnit: 'ms',
      webhookSecretEncoding: 'hex',
    }),
    secrets: ['00112233445566778899aabbccddeeff', 'ffeeddccbbaa99887766554433221100'],
    stranger: '0011223344556677',
    stands: [{ header: 'x-time' }],
    time: { in: { header: 'x-time' }, unit: 'ms' },
    sign(secret, { body }, atMs) {
      const signed = Buffer.concat([Buffer.from(`${atMs}.`), body]);
      const key = Buffer.from(secret, 'hex');
      return [
        ['X-Time', String(atMs)],
        [names[0], mac('sha256', key, signed).digest('hex')],
      ];
    },
  },
  {
    ...plain,
    name: 'raw-body, the time in the body',
    scheme: schemeOf('raw-body', { webhookTimestampSource: 'json:/sentAt', webhookTimestampUnit: 'iso' }),
    // Different secrets, or one sender's signature would be valid for the other.
    secrets: ['secret beside a time in the body', 'an older one of these'],
    time: { in: 'body', unit: 'iso' },
    sign: (secret, { body }) => [[names[0], mac('sha256', secret, body).digest('hex')]],
  },
];

/** A body with the values that were put into it, so that tests need not parse it. */
export type EventBody = {
  body: Buffer;
  kind: 'payment_failed' | 'payment_success';
  reference: string;
  orderId: string;
  amountMinor: number;
  currency: string;
  reason: string;
};

/** Texts that mutations can use: separators, letters with two encodings, quotes, keys. */
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
