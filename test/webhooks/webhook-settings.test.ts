import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { filledPolicyFile } from '../support/filled-policy.ts';
import { parseSignatureTemplate } from '../../src/webhooks/signature-template.ts';
import { createVerifier } from '../../src/webhooks/signature.ts';
import {
  presetScheme,
  readSignatureScheme,
  readWebhooks,
  type RecipeSettings,
  tellUnsignedFields,
  webhookChecks,
} from '../../src/webhooks/webhook-settings.ts';
import { type SignaturePreset, templateExample } from '../../src/config/webhook-settings.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { signDelivery } from '../support/sign-delivery.ts';

const complete = {
  SLACK_BOT_TOKEN: 'xoxb-token',
  SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
  PAYMENTS_SANDBOX_URL: 'https://payments.test/',
  PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
  PAYMENTS_STATIC_TOKEN: 'static',
  PAYOPS_FILE: filledPolicyFile,
};

function problemsOf(variables: Record<string, string>): string[] {
  const result = readConfig({ ...complete, ...variables }, webhookChecks);
  return result.kind === 'refused' ? result.problems : [];
}

const rawBody = { WEBHOOK_SIGNATURE_PRESET: 'raw-body', WEBHOOK_SECRETS: 'canary-secret' };

describe('webhookChecks', () => {
  it.each([
    {},
    rawBody,
    { ...rawBody, WEBHOOK_SIGNATURE_HEADER: 'X-Hub-Signature-256', WEBHOOK_SIGNATURE_PLACE: 'pair:sha256' },
    { ...rawBody, WEBHOOK_SIGNATURE_PRESET: 'timestamped-pairs', WEBHOOK_SIGNATURE_PLACE: 'pair:s' },
  ])('find nothing wrong with %o', (variables) => {
    expect(problemsOf(variables)).toEqual([]);
  });

  it.each([
    ['WEBHOOK_SIGNATURE_HEADER', 'x-signature'],
    ['WEBHOOK_SIGNATURE_PLACE', 'whole'],
    ['WEBHOOK_SIGNATURE_ALGORITHM', 'sha512'],
    ['WEBHOOK_SIGNATURE_ENCODING', 'hex'],
    ['WEBHOOK_SECRET_ENCODING', 'hex'],
    ['WEBHOOK_SIGNED_TEMPLATE', '{body}'],
    ['WEBHOOK_TIMESTAMP_SOURCE', 'none'],
    ['WEBHOOK_TIMESTAMP_UNIT', 's'],
    ['WEBHOOK_TOLERANCE_SECONDS', '60'],
  ])('refuse %s without a preset, where it would go unused', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([
      expect.stringContaining(`WEBHOOK_SIGNATURE_PRESET is missing: ${name} changes a recipe`),
    ]);
  });

  it('don’t judge a recipe with an unreadable part', () => {
    const unusable = { WEBHOOK_SIGNATURE_PRESET: 'standard-webhooks', WEBHOOK_SECRETS: 'not base64 at all' };
    expect(problemsOf(unusable)).toEqual([expect.stringContaining('every delivery would be refused')]);
    expect(problemsOf({ ...unusable, WEBHOOK_SECRET_ENCODING: 'utf9' })).toEqual([
      expect.stringContaining('WEBHOOK_SECRET_ENCODING must be'),
    ]);
  });

  it('don’t report an unreadable preset as missing', () => {
    expect(problemsOf({ WEBHOOK_SIGNATURE_PRESET: 'hmac', WEBHOOK_SIGNATURE_HEADER: 'x-signature' })).toEqual(
      [expect.stringContaining('WEBHOOK_SIGNATURE_PRESET must be raw-body or')],
    );
  });

  it.each([
    [
      { ...rawBody, WEBHOOK_SIGNED_TEMPLATE: '{bodi}' },
      'WEBHOOK_SIGNED_TEMPLATE or WEBHOOK_TIMESTAMP_SOURCE: ',
    ],
    [
      { ...rawBody, WEBHOOK_SIGNED_TEMPLATE: '{json:/a}{json:/b}' },
      'nothing stands between field /a and field /b',
    ],
    [{ ...rawBody, WEBHOOK_SECRET_ENCODING: 'hex' }, 'secret 1 of 1 is empty or not written as hex'],
    [
      { ...rawBody, WEBHOOK_SIGNATURE_PLACE: 'pair' },
      'WEBHOOK_SIGNATURE_PLACE must be whole, pair:KEY or list:',
    ],
    [{ WEBHOOK_EVENT_POINTERS: '{"colour":["/a"]}' }, 'WEBHOOK_EVENT_POINTERS: '],
  ])('say what to change in %o, and show no secret', (variables, words) => {
    const problems = problemsOf(variables);
    expect(problems).toEqual([expect.stringContaining(words)]);
    expect(problems.join()).not.toContain('canary');
  });
});

function saidOf(variables: Record<string, string>): string[] {
  const result = readConfig({ ...complete, WEBHOOK_SECRETS: 'canary-secret', ...variables });
  if (result.kind !== 'read') throw new Error(result.problems.join());
  const lines: string[] = [];
  tellUnsignedFields(readWebhooks(result.config), (_level, words) => void lines.push(words));
  return lines;
}

describe('the log at start', () => {
  it('says what a recipe that signs single fields switches off', () => {
    const fields = { WEBHOOK_SIGNATURE_PRESET: 'field-concatenation' };
    const [said] = saidOf(fields);
    expect(said).toContain('saved cards aren’t learnt from events');
    expect(said).toContain('amounts come from look-ups alone');
    expect(said).not.toContain('the order reference is only looked up');
    const template = '{json:/event}:{json:/data/transaction/transactionId}:{header:x-webhook-timestamp}';
    const [unsigned] = saidOf({ ...fields, WEBHOOK_SIGNED_TEMPLATE: template });
    expect(unsigned).toContain('the order reference is only looked up');
    expect(unsigned).not.toContain('can be proven');
  });

  it('says nothing if the body is signed', () => {
    expect([saidOf(rawBody), saidOf({})]).toEqual([[], []]);
  });
});

function schemeOf(preset: SignaturePreset, settings: RecipeSettings) {
  const scheme = readSignatureScheme({ webhookSignaturePreset: preset, ...settings });
  if (!scheme.ok || !scheme.value) throw new Error(scheme.ok ? 'none' : scheme.problem);
  return scheme.value;
}

describe('readSignatureScheme', () => {
  it('lets settings replace every part of a preset', () => {
    const scheme = schemeOf('field-concatenation', {
      webhookSignatureHeader: ['X-Sender-Signature'],
      webhookSignatureAlgorithm: 'sha512',
      webhookSignatureEncoding: 'hex',
      webhookSignedTemplate: '{json:/event}|{json:/requestId}|{json:/data/transaction/id}|{header:X-Sent-At}',
      webhookTimestampSource: 'header:X-Sent-At',
      webhookTimestampUnit: 'ms',
      webhookToleranceSeconds: 60,
    });
    const body = Buffer.from('{"event":"payment_success","requestId":"r1","data":{"transaction":{"id":7}}}');
    const headers = signDelivery(scheme, 'secret', body, 1_000);
    expect(Object.keys(headers).toSorted()).toEqual(['x-sender-signature', 'x-sent-at']);
    expect(createVerifier(scheme, ['secret'])({ headers, body }, 2_000)).toEqual({
      kind: 'valid',
      covers: 'fields',
      pointers: ['/event', '/requestId', '/data/transaction/id'],
      atMs: 1_000,
    });
  });

  it('can drop a preset’s time check, and add one to a preset without', () => {
    const without = schemeOf('standard-webhooks', { webhookTimestampSource: 'none' });
    expect(without.timestamp).toBeUndefined();
    const sentAt = { webhookTimestampSource: 'json:/sentAt', webhookTimestampUnit: 'iso' } as const;
    expect(schemeOf('raw-body', sentAt).timestamp).toEqual({
      source: { kind: 'json', name: '/sentAt' },
      unit: 'iso',
      toleranceSeconds: 300,
    });
  });

  it('reads a signature after its algorithm’s name, as in a sender’s published example', () => {
    const webhookSignatureHeader = ['X-Hub-Signature-256'];
    const headers = {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    };
    const request = { headers, body: Buffer.from('Hello, World!') };
    const kinds = (['pair:sha256', 'whole'] as const).map((webhookSignaturePlace) => {
      const scheme = schemeOf('raw-body', { webhookSignatureHeader, webhookSignaturePlace });
      return createVerifier(scheme, ["It's a Secret to Everybody"])(request, 0).kind;
    });
    expect(kinds).toEqual(['valid', 'invalid']);
  });

  it.each([
    ['raw-body', 'whole', /^[0-9a-f]{64}$/],
    ['raw-body', 'pair:sha512', /^sha512=[0-9a-f]{64}$/],
    ['raw-body', 'list:v2', /^v2,[0-9a-f]{64}$/],
    ['timestamped-pairs', 'pair:s', /^t=1,s=[0-9a-f]{64}$/],
    ['static-token', 'pair:token', /^token=secret$/],
  ] as const)('can put the signature of %s at %s', (preset, webhookSignaturePlace, written) => {
    const scheme = schemeOf(preset, { webhookSignatureHeader: ['x-signature'], webhookSignaturePlace });
    const body = Buffer.from('{"a":1}');
    const headers = signDelivery(scheme, 'secret', body, 1_000);
    expect(headers['x-signature']).toMatch(written);
    expect(createVerifier(scheme, ['secret'])({ headers, body }, 1_000).kind).toBe('valid');
  });

  it('ignores algorithm, template and encoding for a static token', () => {
    const settings = {
      webhookSignatureAlgorithm: 'sha512',
      webhookSignedTemplate: '{json:/a}',
      webhookSecretEncoding: 'hex',
    } as const;
    expect(schemeOf('static-token', settings)).toEqual(presetScheme('static-token'));
  });

  it.each<[RecipeSettings, string]>([
    [{ webhookTimestampSource: 'header' }, 'write none, header:NAME'],
    [{ webhookTimestampSource: 'json:at' }, 'write none, header:NAME'],
    [{ webhookSignaturePlace: 'pair' }, 'write whole, pair:KEY or list:VERSION'],
    [{ webhookSignaturePlace: 'pair:a=b' }, 'write whole, pair:KEY or list:VERSION'],
    ...[
      '{boddy}',
      '{header:}',
      '{header:a b}',
      '{json:data}',
      '{json:/a~2}',
      '{pair:a=b}',
      '{',
      '{{body}}',
    ].map((webhookSignedTemplate): [RecipeSettings, string] => [
      { webhookSignedTemplate },
      'write {body}, {header:NAME}',
    ]),
  ])('says what to write instead of %o', (settings, words) => {
    const scheme = readSignatureScheme({ webhookSignaturePreset: 'raw-body', ...settings });
    expect(scheme.ok ? '' : scheme.problem).toContain(words);
  });

  it('reads every kind of place in a template, and the text between', () => {
    expect(parseSignatureTemplate('{header:X-Id}.{pair:t}|{json:/data/order~1x/0}:{body}')).toEqual({
      ok: true,
      value: [
        { kind: 'header', name: 'x-id' },
        { kind: 'text', text: '.' },
        { kind: 'pair', name: 't' },
        { kind: 'text', text: '|' },
        { kind: 'json', name: '/data/order~1x/0' },
        { kind: 'text', text: ':' },
        { kind: 'body' },
      ],
    });
  });
});

it('the example in docs/settings.md verifies the delivery that it describes', () => {
  const lines = templateExample.map((line) => line.split(/=(.*)/s) as [string, string]);
  const result = readConfig({ ...complete, ...Object.fromEntries(lines), WEBHOOK_SECRETS: 'secret' });
  if (result.kind === 'refused') throw new Error(result.problems.join());
  const nowMs = Date.UTC(2026, 2, 1);
  const verify = createVerifier(readWebhooks(result.config).scheme, ['secret']);
  const body = Buffer.from('{"event":"payment_success","data":{"order":{"orderReference":"ORDER-1"}}}');
  const signed = `${nowMs}|ORDER-1|payment_success`;
  const headers = {
    'x-bank-time': String(nowMs),
    'x-bank-signature': createHmac('sha256', 'secret').update(signed).digest('base64'),
  };
  expect(verify({ headers, body }, nowMs + 1_000).kind).toBe('valid');
  expect(verify({ headers, body }, nowMs + 301_000).kind).toBe('invalid');
});
