import { describe, expect, it } from 'vitest';
import { proposeWebhook } from '../../../src/cli/connect/propose-webhook.ts';
import { withSettings } from '../../../src/config/read-config.ts';
import type { SignatureScheme, SignedRequest } from '../../../src/webhooks/signed-delivery.ts';
import { presetScheme, readSignatureScheme } from '../../../src/webhooks/webhook-settings.ts';
import { runtimeOf } from '../../support/runtime-of.ts';
import { signDelivery } from '../../support/sign-delivery.ts';

const secret = 'canary-webhook-secret-0001';
const signedAtMs = Date.UTC(2020, 2, 1, 9, 30);
const body = {
  event: 'payment_success',
  eventId: 'evt-1',
  data: { order: { orderReference: 'ORDER-1', orderId: 'o-1', amount: '5000.00', currency: 'NGN' } },
};

function deliveryBy(scheme: SignatureScheme, of: object = body): SignedRequest {
  const bytes = Buffer.from(JSON.stringify(of));
  return { headers: signDelivery(scheme, secret, bytes, signedAtMs), body: bytes };
}

function configOf(settings: Record<string, string>) {
  return runtimeOf({ WEBHOOK_SECRETS: secret, ...settings }).config;
}

/** The proposal for these settings, and the proposal for the changed settings, which must change nothing more. */
function propose(settings: Record<string, string>, request: SignedRequest) {
  const proposal = proposeWebhook(configOf(settings), request);
  if (proposal.kind === 'none') return proposal;
  const changed = withSettings(configOf(settings), proposal.changes);
  if (!changed.ok) throw new Error(changed.problem);
  return { ...proposal, again: proposeWebhook(changed.value, request) };
}

const readOrder = readSignatureScheme({
  webhookSignaturePreset: 'field-concatenation',
  webhookSignatureHeader: ['x-bank-sign'],
  webhookSignedTemplate:
    '{header:x-bank-time}|{json:/data/order/orderReference}|{json:/event}|{json:/eventId}',
  webhookTimestampSource: 'header:x-bank-time',
  webhookTimestampUnit: 'ms',
});
if (!readOrder.ok || !readOrder.value) throw new Error('no scheme');
const ownOrder = readOrder.value;
const ms: SignatureScheme = {
  ...presetScheme('timestamped-pairs'),
  timestamp: { source: { kind: 'pair', name: 't' }, unit: 'ms', toleranceSeconds: 300 },
};

it('fits no delivery that the bot answers before it checks the signature', () => {
  const delivery = deliveryBy(presetScheme('raw-body'));
  const compressed = { ...delivery, headers: { ...delivery.headers, 'content-encoding': 'gzip' } };
  expect(propose({}, compressed)).toMatchObject({ kind: 'none', why: expect.stringContaining('415') });
});

describe('a captured delivery', () => {
  it.each<[string, SignatureScheme, Record<string, string>, object]>([
    ['of a preset', presetScheme('raw-body'), {}, { WEBHOOK_SIGNATURE_PRESET: 'raw-body' }],
    [
      'with fields in another order, base64, and a time in ms',
      ownOrder,
      {},
      {
        WEBHOOK_SIGNATURE_PRESET: 'raw-body',
        WEBHOOK_SIGNATURE_HEADER: 'x-bank-sign',
        WEBHOOK_SIGNATURE_ENCODING: 'base64',
        WEBHOOK_SIGNED_TEMPLATE:
          '{header:x-bank-time}|{json:/data/order/orderReference}|{json:/event}|{json:/eventId}',
        WEBHOOK_TIMESTAMP_SOURCE: 'header:x-bank-time',
        WEBHOOK_TIMESTAMP_UNIT: 'ms',
      },
    ],
    [
      'of a preset, but with a time in ms',
      ms,
      {},
      { WEBHOOK_SIGNATURE_PRESET: 'timestamped-pairs', WEBHOOK_TIMESTAMP_UNIT: 'ms' },
    ],
    [
      'of another preset, with those of the set one removed,',
      presetScheme('standard-webhooks'),
      {
        WEBHOOK_SIGNATURE_PRESET: 'raw-body',
        WEBHOOK_SIGNATURE_HEADER: 'x-other',
        WEBHOOK_SIGNATURE_ALGORITHM: 'sha512',
      },
      {
        WEBHOOK_SIGNATURE_PRESET: 'standard-webhooks',
        WEBHOOK_SIGNATURE_HEADER: '',
        WEBHOOK_SIGNATURE_ALGORITHM: '',
        WEBHOOK_SECRET_ENCODING: 'utf8',
      },
    ],
    [
      'that verifies already, even if it is old,',
      presetScheme('timestamped-pairs'),
      { WEBHOOK_SIGNATURE_PRESET: 'timestamped-pairs' },
      {},
    ],
  ])('%s gets the fewest settings that verify it', (_what, theirs, settings, changes) => {
    const sent = theirs.secretEncoding === 'whsec' ? { ...theirs, secretEncoding: 'utf8' as const } : theirs;
    const found = propose(settings, deliveryBy(sent));
    expect(found).toEqual({
      kind: 'fits',
      changes,
      lacks: undefined,
      again: { kind: 'fits', changes: {}, lacks: undefined },
    });
  });

  it('gets pointers for an event with other field names, besides those that are set', () => {
    const elsewhere = {
      action: 'PAYMENT_FAILED',
      payload: { merchantReference: 'ORDER-1', total: 1, amount: '5.00', currency_code: 'NGN' },
    };
    const settings = {
      WEBHOOK_SIGNATURE_PRESET: 'raw-body',
      WEBHOOK_EVENT_POINTERS: '{"customerId":"/payload/customer"}',
    };
    expect(propose(settings, deliveryBy(presetScheme('raw-body'), elsewhere))).toMatchObject({
      changes: {
        WEBHOOK_EVENT_POINTERS: JSON.stringify({
          customerId: '/payload/customer',
          kind: '/action',
          orderReference: '/payload/merchantReference',
          amount: '/payload/amount',
          currency: '/payload/currency_code',
        }),
      },
      again: { changes: {} },
    });
  });

  it('names what it lacks if the bot knows no such event, and the setting for that', () => {
    const plain = { WEBHOOK_SIGNATURE_PRESET: 'raw-body' };
    const lackOf = (event: object, more: Record<string, string> = {}): unknown => {
      const found = propose({ ...plain, ...more }, deliveryBy(presetScheme('raw-body'), event));
      return found.kind === 'fits' ? found.lacks : found;
    };
    const named = { event: 'charge.failed', data: { order: { orderReference: 'ORDER-1' } } };
    expect(lackOf(named)).toEqual({
      says: expect.stringContaining('a name that the bot does not know'),
      setting: 'WEBHOOK_KINDS',
    });
    expect(lackOf(named, { WEBHOOK_KINDS: 'Charge.Failed=failed' })).toBeUndefined();
    expect(lackOf({ data: {} })).toEqual({
      says: expect.stringContaining('read as no event'),
      setting: 'WEBHOOK_EVENT_POINTERS',
    });
    expect(lackOf({ event: 'payment_success' })).toEqual({
      says: expect.stringContaining('Neither its order reference'),
      setting: 'WEBHOOK_EVENT_POINTERS',
    });
  });

  it('has its kind found in another field, also by the service’s own event names', () => {
    const elsewhere = { event: 'webhook', action: 'charge.failed', data: { order: { orderReference: 'A' } } };
    const settings = { WEBHOOK_SIGNATURE_PRESET: 'raw-body', WEBHOOK_KINDS: 'charge.failed=failed' };
    expect(propose(settings, deliveryBy(presetScheme('raw-body'), elsewhere))).toMatchObject({
      changes: { WEBHOOK_EVENT_POINTERS: '{"kind":"/action"}' },
      lacks: undefined,
    });
  });

  it('gets no settings if nothing fits or there is no secret', () => {
    const other = { ...deliveryBy(presetScheme('raw-body')), body: Buffer.from('{"event":"other"}') };
    expect(propose({}, other)).toMatchObject({ kind: 'none', why: expect.stringContaining('byte for byte') });
    expect(propose({ WEBHOOK_SECRETS: '' }, other)).toMatchObject({
      kind: 'none',
      why: expect.stringContaining('WEBHOOK_SECRETS'),
    });
  });
});
