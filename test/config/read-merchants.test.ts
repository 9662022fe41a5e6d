import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { minimalSettings, fileOf } from './minimal-settings.ts';
import { filledPolicy } from '../support/filled-policy.ts';
import { webhookChecks } from '../../src/webhooks/webhook-settings.ts';
import { readConfig, secretsOf } from '../../src/config/read-config.ts';

const ids = {
  main: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
  lagos: '1c6f6a0e-5d0b-4c3e-9d55-0a7c1f0b7e21',
  parent: '5d1c7b92-7a0e-4a51-8f2c-3f9f7f6f0d11',
};

const head = 'channels: { alerts: C0ALERTS01 }\n';
const two = `${head}accounts:
  - { name: main, account_id: ${ids.main}, environment: live, colour: blue }
  - name: lagos-2
    label: Lagos branch
    account_id: ${ids.lagos}
    parent_id: ${ids.parent}
    environment: sandbox
    base_url: https://lagos.payments.test/
    colour: orange
    channels: [C0LAGOS001]
`;

const complete = {
  SLACK_BOT_TOKEN: minimalSettings.SLACK_BOT_TOKEN,
  SLACK_SIGNING_SECRET: minimalSettings.SLACK_SIGNING_SECRET,
  PAYMENTS_BASE_URL: 'https://payments.test',
  PAYMENTS_SANDBOX_URL: 'https://sandbox.payments.test',
  PAYMENTS_TOKEN_ISSUE_BODY: '{"id":"{{CLIENT_ID}}","secret":"{{CLIENT_SECRET}}"}',
  PAYMENTS_CLIENT_ID: 'main-id',
  PAYMENTS_CLIENT_SECRET: 'main-secret',
  PAYMENTS_CLIENT_ID__LAGOS_2: 'lagos-id',
  PAYMENTS_CLIENT_SECRET__LAGOS_2: 'lagos-secret',
};

function read(policy: string, more: Record<string, string | undefined> = {}) {
  return readConfig({ ...complete, PAYOPS_FILE: fileOf(policy), ...more }, webhookChecks);
}

function configOf(policy: string, more: Record<string, string | undefined> = {}) {
  const result = read(policy, more);
  if (result.kind !== 'read') throw new Error(result.problems.join('\n'));
  return result.config;
}

function problemsOf(policy: string, more: Record<string, string | undefined> = {}): string[] {
  const result = read(policy, more);
  return result.kind === 'refused' ? result.problems.map((told) => told.replace(/^\/\S+: /, '')) : [];
}

describe('accounts of the policy file', () => {
  it('are each a whole configuration, with their own id, parent, address, environment, label and secrets', () => {
    const config = configOf(two);
    expect(config).toMatchObject({
      merchant: { name: 'main', isFirst: true, isMixed: true },
      paymentsAccountId: ids.main,
      paymentsParentAccountId: ids.main,
      paymentsEnvironment: 'live',
      paymentsBaseUrl: 'https://payments.test',
      paymentsAccountName: '🟦 main (blue)',
      paymentsClientId: 'main-id',
    });
    expect(config.further).toHaveLength(1);
    expect(config.further?.[0]).toMatchObject({
      merchant: { name: 'lagos-2', isFirst: false, isMixed: true },
      paymentsAccountId: ids.lagos,
      paymentsParentAccountId: ids.parent,
      paymentsEnvironment: 'sandbox',
      paymentsSandboxUrl: 'https://lagos.payments.test',
      paymentsAccountName: '🟧 Lagos branch (orange)',
      paymentsClientId: 'lagos-id',
      paymentsClientSecret: 'lagos-secret',
    });
    expect(Object.isFrozen(config.further?.[0])).toBe(true);
  });

  it('have their secrets struck out of the log', () => {
    const config = configOf(two, {
      WEBHOOK_SIGNATURE_PRESET: 'raw-body',
      WEBHOOK_SECRETS: 'main-hook',
      WEBHOOK_SECRETS__LAGOS_2: 'lagos-hook,lagos-hook-2',
    });
    expect(secretsOf(config)).toEqual(
      expect.arrayContaining(['main-secret', 'lagos-secret', 'main-hook', 'lagos-hook', 'lagos-hook-2']),
    );
  });

  it('may have secrets in files, and the first may also use variables with its own name', () => {
    const config = configOf(two, {
      PAYMENTS_CLIENT_SECRET: undefined,
      PAYMENTS_CLIENT_SECRET__MAIN: 'own-name',
      PAYMENTS_CLIENT_SECRET__LAGOS_2: undefined,
      PAYMENTS_CLIENT_SECRET__LAGOS_2_FILE: fileOf('from-a-file\n'),
    });
    expect(config.paymentsClientSecret).toBe('own-name');
    expect(config.further?.[0]?.paymentsClientSecret).toBe('from-a-file');
  });

  it('are each warned of short secrets, and of secret files that all may read', () => {
    const file = fileOf('long-enough-to-be-one\n');
    chmodSync(file, 0o644);
    const { warnings } = read(two, {
      WEBHOOK_SIGNATURE_PRESET: 'raw-body',
      WEBHOOK_SECRETS: 'short',
      WEBHOOK_SECRETS__LAGOS_2: 'short',
      PAYMENTS_CLIENT_SECRET__LAGOS_2: undefined,
      PAYMENTS_CLIENT_SECRET__LAGOS_2_FILE: file,
    });
    expect(warnings).toEqual([
      expect.stringContaining('WEBHOOK_SECRETS has a secret of less than 16 characters'),
      expect.stringContaining('no role lists people'),
      expect.stringContaining('WEBHOOK_SECRETS__LAGOS_2 has a secret of less than 16 characters'),
      `Every user of this machine may read ${file} (PAYMENTS_CLIENT_SECRET__LAGOS_2_FILE): chmod 600 ${file}`,
    ]);
  });

  it('never borrow the first one’s secrets: each that is missing is named, all at once', () => {
    expect(
      problemsOf(two, {
        PAYMENTS_CLIENT_ID__LAGOS_2: undefined,
        PAYMENTS_CLIENT_SECRET__LAGOS_2: undefined,
        PAYMENTS_STATIC_TOKEN: undefined,
        WEBHOOK_SIGNATURE_PRESET: 'raw-body',
        WEBHOOK_SECRETS: 'main-hook',
      }),
    ).toEqual([
      'PAYMENTS_CLIENT_ID__LAGOS_2 is missing: PAYMENTS_TOKEN_ISSUE_BODY has {{CLIENT_ID}}.',
      'PAYMENTS_CLIENT_SECRET__LAGOS_2 is missing: PAYMENTS_TOKEN_ISSUE_BODY has {{CLIENT_SECRET}}.',
      'WEBHOOK_SECRETS__LAGOS_2 is missing: WEBHOOK_SIGNATURE_PRESET is set, and without a secret every delivery would be refused.',
    ]);
  });

  it('need a token or the request for one, and an address', () => {
    const bare = two.replace('    base_url: https://lagos.payments.test/\n', '');
    expect(
      problemsOf(bare, {
        PAYMENTS_TOKEN_ISSUE_BODY: undefined,
        PAYMENTS_STATIC_TOKEN: 'main-token',
        PAYMENTS_SANDBOX_URL: undefined,
      }),
    ).toEqual([
      expect.stringContaining('Account lagos-2: PAYMENTS_SANDBOX_URL is missing'),
      expect.stringContaining('or set PAYMENTS_STATIC_TOKEN__LAGOS_2'),
    ]);
  });

  it('report each contradiction between them', () => {
    const twins = `${head}accounts:
  - { name: main, account_id: ${ids.main}, environment: live, colour: blue, channels: [C0SHARED01] }
  - { name: main, account_id: ${ids.main.toUpperCase()}, environment: live, colour: blue, channels: [C0SHARED01] }
routes: [{ name: one, when: { account: mian }, to: C0ALERTS01 }]
roles: { agent: { users: [U0AGENT01], may: [lookup], accounts: [lagos] } }
`;
    const none = { PAYMENTS_CLIENT_ID__LAGOS_2: undefined, PAYMENTS_CLIENT_SECRET__LAGOS_2: undefined };
    expect(problemsOf(twins, { ...none, PAYMENTS_STATIC_TOKEN__MAIN: 'ready' })).toEqual(
      [
        'accounts.1.name: an account before it is called main too.',
        'accounts.1.account_id: it is main’s too; one account has one name.',
        'accounts.1.channels: C0SHARED01 has a default account before it already.',
        'routes.0.when.account: there is no account mian. Did you mean main?',
        'roles.agent.accounts: there is no account lagos. The accounts are main, main.',
      ].map((told) => expect.stringContaining(told)),
    );
  });

  it('refuse a name, id, environment or colour that could not be typed, shown or told apart', () => {
    const odd = `${head}accounts: [{ name: Lagos_1, account_id: none, environment: test, colour: green, labels: x }]\n`;
    expect(problemsOf(odd).join('\n')).toMatch(
      /name must be up to 20 small letters[\s\S]*account_id must be a UUID[\s\S]*environment must be live or sandbox[\s\S]*colour must be blue/,
    );
    expect(problemsOf(odd).join('\n')).toContain('Did you mean label?');
  });

  it('refuse a secret of an unknown account', () => {
    expect(problemsOf(two, { PAYMENTS_CLIENT_ID__LAGOS_3: 'x' })).toEqual([
      'PAYMENTS_CLIENT_ID__LAGOS_3 is not a setting. Did you mean PAYMENTS_CLIENT_ID__LAGOS_2?',
    ]);
    expect(problemsOf(head, { PAYMENTS_ACCOUNT_ID: ids.main, PAYMENTS_CLIENT_ID__LAGOS_2: 'x' })).toContain(
      'PAYMENTS_CLIENT_ID__LAGOS_2 is not a setting. No account in the policy file has it.',
    );
  });

  it('refuse to put another account before the one in PAYMENTS_ACCOUNT_ID, whose records the bot has', () => {
    expect(problemsOf(two, { PAYMENTS_ACCOUNT_ID: ids.lagos })).toEqual([
      expect.stringContaining('PAYMENTS_ACCOUNT_ID is another account than accounts.0'),
    ]);
    expect(configOf(two, { PAYMENTS_ACCOUNT_ID: ids.main }).merchant?.name).toBe('main');
  });

  it('of the example file are valid once they are no longer commented out', () => {
    const example = filledPolicy;
    const commented = example.slice(
      example.indexOf('# accounts:'),
      example.indexOf('# Optional: rules that send'),
    );
    const accounts = commented.replaceAll(/^# ?/gm, '');
    const policy = example
      .replace(commented, accounts)
      .replace('    # accounts: [test]', '    accounts: [test]');
    const config = configOf(policy, {
      PAYMENTS_CLIENT_ID__LAGOS_2: undefined,
      PAYMENTS_CLIENT_SECRET__LAGOS_2: undefined,
      PAYMENTS_CLIENT_ID__TEST: 'test-id',
      PAYMENTS_CLIENT_SECRET__TEST: 'test-secret',
    });
    expect(config.merchant?.name).toBe('lagos');
    expect(config.further?.map(({ merchant }) => merchant.name)).toEqual(['test']);
    expect(config.policy.roles['support-agent']?.accounts).toEqual(['test']);
  });

  it('change nothing if the file has none', () => {
    const config = configOf(head, {
      PAYMENTS_ACCOUNT_ID: ids.main,
      PAYMENTS_CLIENT_ID__LAGOS_2: undefined,
      PAYMENTS_CLIENT_SECRET__LAGOS_2: undefined,
    });
    expect(config).not.toHaveProperty('merchant');
    expect(config).not.toHaveProperty('further');
    expect(config.paymentsAccountName).toBe('main account');
  });
});
