import type { z } from 'zod';
import type { PaymentEventKind } from '../domain/payment-event.ts';
import {
  exactUrl,
  inGroup,
  jsonObject,
  list,
  made,
  oneOf,
  text,
  wholeNumber,
  secret,
  setting,
} from './readers.ts';

/** Recipes of webhook signatures that settings start from. Spec: not shown (Events: signature scheme). */
export const signaturePresetNames = [
  'raw-body',
  'static-token',
  'timestamped-pairs',
  'standard-webhooks',
  'field-concatenation',
] as const;

/** What is off where a signature covers single fields, and not this one. */
export const unsignedMeans = {
  orderReference:
    'the order reference is only looked up, and counts once its record has the signed transaction id; missing events raise no alarm',
  transactionId: 'no unsigned order reference can be proven',
  amount: 'amounts come from look-ups alone',
  customerId: 'no rule can ask for a customer id',
  customerEmail: 'customers come from look-ups alone',
  reason: 'the bank’s words come from look-ups alone',
  isSavedCardCharge: 'no rule can ask for saved cards',
  savedCard: 'saved cards aren’t learnt from events',
} as const;

/** As docs/settings.md shows it. */
export const templateExample = [
  'WEBHOOK_SIGNATURE_PRESET=raw-body',
  'WEBHOOK_SIGNATURE_HEADER=x-bank-signature',
  'WEBHOOK_SIGNATURE_ENCODING=base64',
  'WEBHOOK_SIGNED_TEMPLATE={header:x-bank-time}|{json:/data/order/orderReference}|{json:/event}',
  'WEBHOOK_TIMESTAMP_SOURCE=header:x-bank-time',
  'WEBHOOK_TIMESTAMP_UNIT=ms',
];

export type SignaturePreset = (typeof signaturePresetNames)[number];

/** How deliveries of events are verified, read and watched. */
export const webhookSettings = inGroup('Webhook', {
  webhookSignaturePreset: setting(
    `The signature recipe to start from; without one every delivery is refused. One of ${signaturePresetNames.map((name) => `\`${name}\``).join(', ')}. Spec: not shown.`,
    oneOf(signaturePresetNames),
  ),
  webhookSecrets: secret(
    'Signing secrets, separated by commas; several at once while a secret is rotated.',
    list(),
  ),
  webhookSignatureHeader: setting(
    'Header(s) that carry the signature, separated by commas, in place of the preset’s.',
    list(),
  ),
  webhookSignaturePlace: setting(
    'Where in its header the signature stands, in place of the preset’s. `whole`: it is all of it; `pair:KEY`: after KEY= in a list with commas, so `pair:sha256` reads sha256=…; `list:VERSION`: after VERSION, in a list with blanks.',
    text(/^(whole|pair:[^=,\s]+|list:[^,\s]+)$/, 'whole, pair:KEY or list:VERSION'),
  ),
  webhookSignatureAlgorithm: setting('HMAC algorithm in place of the preset’s.', oneOf(['sha256', 'sha512'])),
  webhookSignatureEncoding: setting(
    'Encoding of the signature in place of the preset’s.',
    oneOf(['hex', 'base64']),
  ),
  webhookSecretEncoding: setting(
    'How the secret’s text becomes key bytes, in place of the preset’s.',
    oneOf(['utf8', 'hex', 'base64', 'whsec']),
  ),
  webhookSignedTemplate: setting(
    'What is signed, made of {body}, {header:NAME}, {pair:K} and {json:/pointer}, in place of the preset’s. An example, and what holds where single fields are signed: [The signed template](#the-signed-template).',
    text(),
  ),
  webhookTimestampSource: setting(
    'Where the signed time stands: header:NAME, pair:K or json:/pointer; `none` checks no time.',
    text(/^(none|header:\S+|pair:\S+|json:\/\S*)$/, 'none, header:NAME, pair:K or json:/pointer'),
  ),
  webhookTimestampUnit: setting('How that time is written.', oneOf(['iso', 's', 'ms'])),
  webhookToleranceSeconds: setting(
    'How far that time may be from now, either way. A sender that repeats a delivery with its first signature needs WEBHOOK_TIMESTAMP_SOURCE=none.',
    wholeNumber(1, 86_400),
  ),
  webhookEventPointers: setting(
    'Where fields stand in the payload: a JSON object of field name to list of JSON pointers, put before the built-in ones. Spec: partly not shown.',
    jsonObject(),
  ),
  webhookKinds: setting(
    'What the service’s own names of events mean, separated by commas: `refund.completed=given_back,charge.failed=failed`. The kinds are `success`, `failed` and `given_back`: money that went back to the customer, which is told each time. Spec: it names payment_success and payment_failed, which mean what they say.',
    eventKinds(),
  ),
  webhookRememberDays: setting(
    'How long an event is known again when it is sent once more, and its alert acted on. Longer than a snooze.',
    wholeNumber(8, 365),
    '30',
  ),
  alarmMissingEventMinutes: setting(
    'How long the signed payment_success of an approved charge may take before operators are told. Once an hour at most; 0 never asks. Where the signature does not cover the order reference, any event since counts as the charge’s.',
    wholeNumber(0, 1_440),
    '30',
  ),
  webhookForwardUrl: secret(
    'Your own backend: each delivery is sent on to it, byte for byte with the signed headers. [webhooks.md](webhooks.md) has it beside the other ways.',
    exactUrl(),
  ),
  webhookForwardDeliveries: setting(
    '`verified`: forwards what the signature holds for; `all`: what is refused too, with all its headers. The sender is answered 401 all the same.',
    oneOf(['verified', 'all']),
    'verified',
  ),
  webhookForwardDays: setting(
    'How long an event that your backend does not take is retried. Then operators are told, and it waits for `npm run payops -- forward` until WEBHOOK_REMEMBER_DAYS are over.',
    wholeNumber(1, 30),
    '3',
  ),
  webhookForwardHttpHosts: setting(
    'Names in your own network, separated by commas, that WEBHOOK_FORWARD_URL may reach by http://.',
    list(),
  ),
});

const kindsByWord: Readonly<Record<string, PaymentEventKind>> = {
  success: 'payment_success',
  failed: 'payment_failed',
  given_back: 'payment_given_back',
};

/** By the service's names, in lower case. */
function eventKinds(): z.ZodType<Record<string, PaymentEventKind>, string> {
  const words =
    'must be names of events with what they mean, like refund.completed=given_back; the kinds are success, failed and given_back, and payment_success and payment_failed need no line';
  return made(list(), words, (items) => {
    const pairs = items.map((item) => /^([^=]{1,64})=(\w+)$/.exec(item.replaceAll(/\s*=\s*/g, '=')) ?? []);
    const kinds = pairs.flatMap(([, name = '', word = '']): [string, PaymentEventKind][] => {
      const kind = Object.hasOwn(kindsByWord, word) ? kindsByWord[word] : undefined;
      const isOurs = ['payment_success', 'payment_failed'].includes(name.toLowerCase());
      return kind === undefined || isOurs ? [] : [[name.toLowerCase(), kind]];
    });
    const isWhole =
      kinds.length === items.length && new Set(kinds.map(([name]) => name)).size === kinds.length;
    return items.length > 0 && isWhole ? Object.fromEntries(kinds) : undefined;
  });
}
