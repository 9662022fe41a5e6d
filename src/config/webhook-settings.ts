import type { z } from 'zod';
import type { PaymentEventKind } from '../domain/payment-event.ts';
import {
  exactUrl,
  inGroup,
  jsonObject,
  list,
  transformed,
  oneOf,
  text,
  wholeNumber,
  secret,
  setting,
} from './readers.ts';

/** Predefined ways to sign a webhook. Spec: not shown (Events: signature scheme). */
export const signaturePresetNames = [
  'raw-body',
  'static-token',
  'timestamped-pairs',
  'standard-webhooks',
  'field-concatenation',
] as const;

/** What happens if the signature covers only some fields and not this one. */
export const unsignedConsequences = {
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

/** The example of a signed template in docs/settings.md. */
export const templateExample = [
  'WEBHOOK_SIGNATURE_PRESET=raw-body',
  'WEBHOOK_SIGNATURE_HEADER=x-bank-signature',
  'WEBHOOK_SIGNATURE_ENCODING=base64',
  'WEBHOOK_SIGNED_TEMPLATE={header:x-bank-time}|{json:/data/order/orderReference}|{json:/event}',
  'WEBHOOK_TIMESTAMP_SOURCE=header:x-bank-time',
  'WEBHOOK_TIMESTAMP_UNIT=ms',
];

export type SignaturePreset = (typeof signaturePresetNames)[number];

/** How events are verified, read and forwarded, and when missing ones raise an alarm. */
export const webhookSettings = inGroup('Webhook', {
  webhookSignaturePreset: setting(
    `The signature recipe; without one every delivery is refused. One of ${signaturePresetNames.map((name) => `\`${name}\``).join(', ')}. Spec: not shown.`,
    oneOf(signaturePresetNames),
  ),
  webhookSecrets: secret('Signing secrets; several while one is rotated.', list()),
  webhookSignatureHeader: setting(
    'Header(s) with the signature. It and the eight below replace the preset’s.',
    list(),
  ),
  webhookSignaturePlace: setting(
    'Where the signature is in its header. `whole`; `pair:KEY`: after KEY= in a list with commas; `list:VERSION`: after VERSION in a list with blanks.',
    text(/^(whole|pair:[^=,\s]+|list:[^,\s]+)$/, 'whole, pair:KEY or list:VERSION'),
  ),
  webhookSignatureAlgorithm: setting('HMAC algorithm: `sha256` or `sha512`.', oneOf(['sha256', 'sha512'])),
  webhookSignatureEncoding: setting('The signature’s encoding: `hex` or `base64`.', oneOf(['hex', 'base64'])),
  webhookSecretEncoding: setting(
    'How the secret’s text becomes bytes: `utf8`, `hex`, `base64` or `whsec`.',
    oneOf(['utf8', 'hex', 'base64', 'whsec']),
  ),
  webhookSignedTemplate: setting(
    'What is signed: {body}, {header:NAME}, {pair:K}, {json:/pointer}. See [The signed template](#the-signed-template).',
    text(),
  ),
  webhookTimestampSource: setting(
    'Where the signed time is: header:NAME, pair:K or json:/pointer; `none` checks none.',
    text(/^(none|header:\S+|pair:\S+|json:\/\S*)$/, 'none, header:NAME, pair:K or json:/pointer'),
  ),
  webhookTimestampUnit: setting(
    'How the signed time is written: `iso`, `s` or `ms`.',
    oneOf(['iso', 's', 'ms']),
  ),
  webhookToleranceSeconds: setting(
    'How far the signed time may be off. If repeats keep their first signature: WEBHOOK_TIMESTAMP_SOURCE=none.',
    wholeNumber(1, 86_400),
  ),
  webhookEventPointers: setting(
    'JSON object of the payload’s fields to lists of JSON pointers, tried before the built-in ones.',
    jsonObject(),
  ),
  webhookKinds: setting(
    'What the service’s own event names mean: `refund.completed=given_back,charge.failed=failed,charge.paid=success`.',
    eventKinds(),
  ),
  webhookRememberDays: setting(
    'How long an event’s repeats are recognised, and its alert can be acted on.',
    wholeNumber(8, 365),
    '30',
  ),
  alarmMissingEventMinutes: setting(
    'How long the event of an approved charge may take before operators are told; 0: never.',
    wholeNumber(0, 1_440),
    '30',
  ),
  webhookForwardUrl: secret(
    'Your own backend, to which each delivery is sent on. See [webhooks.md](webhooks.md).',
    exactUrl(),
  ),
  webhookForwardDeliveries: setting(
    '`verified`: forwards what verifies; `all`: also what is refused, with all its headers.',
    oneOf(['verified', 'all']),
    'verified',
  ),
  webhookForwardDays: setting(
    'How long an event is retried. Then `npm run payops -- forward` sends it, within WEBHOOK_REMEMBER_DAYS.',
    wholeNumber(1, 30),
    '3',
  ),
  webhookForwardHttpHosts: setting(
    'Hosts in your network that WEBHOOK_FORWARD_URL may reach by http://.',
    list(),
  ),
});

const kindsByWord: Readonly<Record<string, PaymentEventKind>> = {
  success: 'payment_success',
  failed: 'payment_failed',
  given_back: 'payment_given_back',
};

/** Maps the service's names of events, in lower case, to their kinds. */
function eventKinds(): z.ZodType<Record<string, PaymentEventKind>, string> {
  const words =
    'must be names of events with what they mean, like refund.completed=given_back; the kinds are success, failed and given_back, and payment_success and payment_failed need no line';
  return transformed(list(), words, (items) => {
    const pairs = items.map((item) => /^([^=]{1,64})=(\w+)$/.exec(item.replaceAll(/\s*=\s*/g, '=')) ?? []);
    const kinds = pairs.flatMap(([, name = '', word = '']): [string, PaymentEventKind][] => {
      const kind = Object.hasOwn(kindsByWord, word) ? kindsByWord[word] : undefined;
      const isBuiltIn = ['payment_success', 'payment_failed'].includes(name.toLowerCase());
      return kind === undefined || isBuiltIn ? [] : [[name.toLowerCase(), kind]];
    });
    const areAllGood =
      kinds.length === items.length && new Set(kinds.map(([name]) => name)).size === kinds.length;
    return items.length > 0 && areAllGood ? Object.fromEntries(kinds) : undefined;
  });
}
