import { describe, expect, it } from 'vitest';
import { filledPolicyFile } from '../support/filled-policy.ts';
import { readWebhooks, tellUnsignedFields, webhookChecks } from '../../src/webhooks/webhook-settings.ts';
import { readConfig } from '../../src/config/read-config.ts';

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

  it('do not call a preset missing that could not be read', () => {
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
  ])('say what to change in %o, and repeat no secret', (variables, words) => {
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

describe('what a start says of a recipe that signs single fields', () => {
  it('is what that switches off', () => {
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

  it('is nothing where the body is signed', () => {
    expect([saidOf(rawBody), saidOf({})]).toEqual([[], []]);
  });
});
