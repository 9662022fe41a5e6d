import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { filledPolicy } from '../support/filled-policy.ts';
import { permissions } from '../../src/features/registry.ts';
import { approvalRules } from '../../src/config/approval-checks.ts';
import { permissionCheck } from '../../src/config/permission-check.ts';
import { readConfig } from '../../src/config/read-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-approvals-'));
afterAll(() => rmSync(folder, { recursive: true }));

const variables = {
  SLACK_BOT_TOKEN: 'xoxb-canary-token',
  SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
  PAYMENTS_ENVIRONMENT: 'live',
  PAYMENTS_BASE_URL: 'https://payments.test/',
  PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
  PAYMENTS_STATIC_TOKEN: 'canary-static',
};
const roles = 'lead: { users: [U0123LEAD1, U0123LEAD2], may: [approve] }';

function read(rules: string, { held = roles, head = 'channel: C0123APPR0' } = {}) {
  const path = join(folder, 'payops.yml');
  const file = `channels: { alerts: C0ALERTS01 }\nroles: { ${held} }\napprovals:\n  ${head}\n  rules:\n${rules
    .split('\n')
    .map((line) => `    - ${line}`)
    .join('\n')}\n`;
  writeFileSync(path, file);
  return readConfig({ ...variables, PAYOPS_FILE: path }, [permissionCheck(permissions)]);
}

function problemsOf(rules: string, parts?: Parameters<typeof read>[1]): string[] {
  const result = read(rules, parts);
  const problems = result.kind === 'refused' ? result.problems : [];
  return problems.map((problem) => problem.replace(/^.*payops\.yml: /, ''));
}

describe('approvals of payops.yml', () => {
  it('are rules in minor units, of one approver and for four hours unless they say otherwise', () => {
    const result = read(
      '{ what: charge, currency: NGN, amount_from: 50000.00 }\n{ what: retry }\n{ what: card_email, needed: 2 }\n{ what: redrive }',
    );
    if (result.kind !== 'read') throw new Error(result.problems.join('\n'));
    const { policy } = result.config;
    expect(policy.approvals).toMatchObject({ channel: 'C0123APPR0', expire_minutes: 240 });
    expect(approvalRules(policy, undefined)).toEqual([
      { what: 'charge', currency: 'NGN', fromMinor: 5_000_000, needed: 1 },
      { what: 'retry', needed: 1 },
      { what: 'card_email', needed: 2 },
      { what: 'redrive', needed: 1 },
    ]);
  });

  it.each([
    [
      '{ what: charges, currency: NGN, amount_from: 1 }',
      'approvals.rules.0.what must be charge, retry, card_email or redrive.',
    ],
    ['{ what: charge, amount_from: 1 }', 'approvals.rules.0.currency is missing: it must be a currency code'],
    [
      '{ what: charge, currency: NGN }',
      'approvals.rules.0.amount_from is missing: it must be an amount like 100000.00.',
    ],
    [
      '{ what: charge, currency: NGN, amount_form: 1 }',
      'approvals.rules.0.amount_form is not a setting. Did you mean amount_from?',
    ],
    ['{ what: retry, neded: 2 }', 'approvals.rules.0.neded is not a setting. Did you mean needed?'],
    ['{ what: retry, currency: NGN }', 'approvals.rules.0.currency is not a setting.'],
    ['{ what: retry, amount: 1 }', 'approvals.rules.0.amount is not a setting. Did you mean amount_from?'],
    ['{ what: retry, needed: 0 }', 'approvals.rules.0.needed must be at least 1.'],
    [
      '{ what: redrive }\n{ what: redrive, needed: 2 }',
      'approvals.rules.1 is about the same as approvals.rules.0: keep one of them.',
    ],
    [
      '{ what: charge, currency: NGM, amount_from: 1 }',
      'approvals.rules.0.currency: nothing is charged in NGM, CHARGE_CURRENCIES is NGN.',
    ],
    [
      '{ what: retry, account: lagos }',
      'approvals.rules.0.account: lagos is none of the accounts, because the file has no accounts.',
    ],
    [
      '{ what: retry, needed: 3 }',
      'approvals.rules.0.needed: 3 different people must approve, and only 2 may: no request could ever be approved.',
    ],
  ])('refuses %s in words', (rules, words) => {
    expect(problemsOf(rules)).toContainEqual(expect.stringContaining(words));
  });

  it('refuses rules that nobody could ever satisfy', () => {
    const nobody = 'approvals.rules.0: nobody may approve. Give a role the permission approve, and people.';
    const rule = '{ what: retry }';
    expect(problemsOf(rule, { held: 'agent: { users: [U0123AGENT], may: [charge] }' })).toEqual([nobody]);
    expect(problemsOf(rule, { held: 'lead: { may: [approve] }' })).toEqual([nobody]);
    expect(problemsOf(rule, { held: "lead: { users: [U0123LEAD1], may: ['*'] }" })).toEqual([]);
    // Whoever is in a group cannot be counted here.
    const group = { held: "lead: { groups: ['@leads'], may: [approve] }" };
    expect(problemsOf('{ what: retry, needed: 5 }', group)).toEqual([]);
  });

  it('names what is meant of a misspelt key, and asks for the channel', () => {
    expect(problemsOf('{ what: retry }', { head: 'chanel: C0123APPR0' })).toEqual([
      expect.stringContaining('approvals.channel is missing: it must be a channel id'),
      'approvals.chanel is not a setting. Did you mean channel?',
    ]);
    expect(problemsOf('{ what: retry }', { head: 'channel: C0123APPR0\n  expire_minutes: 1' })).toEqual([
      'approvals.expire_minutes must be at least 2.',
    ]);
  });

  it('holds an account’s rules to that account, and those of none to all', () => {
    const rules = {
      rules: [
        { what: 'retry', needed: 1, account: 'lagos' },
        { what: 'redrive', needed: 1 },
      ],
    };
    const policy = { approvals: { channel: 'C1', expire_minutes: 240, ...rules } } as never;
    expect(approvalRules(policy, 'lagos')).toHaveLength(2);
    expect(approvalRules(policy, 'abuja')).toEqual([{ what: 'redrive', needed: 1 }]);
  });

  it('of the example file are good once they are no comment any more', () => {
    const example = filledPolicy;
    const path = join(folder, 'example.yml');
    const section = example.slice(example.indexOf('# approvals:'), example.indexOf('# timezone:'));
    writeFileSync(path, example.replace(section, section.replaceAll(/^# /gm, '')));
    const result = readConfig({ ...variables, PAYOPS_FILE: path }, [permissionCheck(permissions)]);
    expect(
      result.kind === 'refused' ? result.problems : approvalRules(result.config.policy, undefined),
    ).toEqual([
      { what: 'charge', currency: 'NGN', fromMinor: 5_000_000, needed: 1 },
      { what: 'retry', needed: 1 },
    ]);
  });
});
