import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { filledPolicy } from '../support/filled-policy.ts';
import { alertRules, routesCheck } from '../../src/config/alert-rules.ts';
import type { Config } from '../../src/config/config.ts';
import { readPolicy } from '../../src/config/read-policy.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-routes-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'payops.yml');

function read(routes: string) {
  writeFileSync(path, `channels: { alerts: C0ALERTS01 }\nroutes:\n${routes}`);
  return readPolicy(path);
}

/** Without the file's name, which leads every one. */
function problemsOf(routes: string): string[] {
  const result = read(routes);
  const problems =
    result.kind === 'refused'
      ? result.problems
      : routesCheck.judge({ policy: result.policy, payopsFile: path } as Config);
  return problems.map((problem) => problem.replace(`${path}: routes.`, ''));
}

function rulesOf(routes: string) {
  const result = read(routes);
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  return alertRules(result.policy);
}

describe('routes of the policy file', () => {
  it('are read into rules, amounts into minor units and names into what they mean', () => {
    const rules = rulesOf(`
  - name: big-ones
    when: { event: any, environment: live, saved_card: true, currency: NGN, amount_from: 100000.00, amount_to: "250000.5", customer_id: VIP-*, email_domain: Example.COM, reason: Insufficient Funds }
    to: [C0BIG00001, C0BIG00002]
    mention: S0ONCALL01
    severity: high
    quiet_hours: { from: 22:00, to: 06:30, tz: Africa/Lagos }
    mute_until: 2026-12-01
    continue: true
`);
    expect(rules).toEqual([
      {
        name: 'big-ones',
        match: {
          environment: 'live',
          isSavedCardCharge: true,
          currency: 'NGN',
          amount: { fromMinor: 10_000_000, toMinor: 25_000_050 },
          customer: { kind: 'prefix', text: 'VIP-' },
          emailDomain: 'example.com',
          reasonPart: 'insufficient funds',
        },
        channels: ['C0BIG00001', 'C0BIG00002'],
        mention: { kind: 'group', id: 'S0ONCALL01' },
        severity: 'high',
        quietHours: { fromMinute: 1_320, toMinute: 390, timeZone: 'Africa/Lagos' },
        mutedUntilMs: Date.UTC(2026, 11, 1),
        goesOn: true,
      },
    ]);
  });

  it('take every failed charge, and no success, where they say nothing else', () => {
    expect(rulesOf('  - { name: all, to: C0BIG00001 }')).toEqual([
      { name: 'all', match: { event: 'payment_failed' }, channels: ['C0BIG00001'], goesOn: false },
    ]);
  });

  it('are none where the file has none', () => {
    writeFileSync(path, 'channels: { alerts: C0ALERTS01 }\n');
    const result = readPolicy(path);
    expect(result.kind === 'read' && alertRules(result.policy)).toEqual([]);
  });

  it('name every problem at once, each by its place', () => {
    const problems = problemsOf(`
  - name: big ones
    when: { event: failed, currency: ngn, amount_from: "1,000", customer_id: "*-VIP", email_domain: ada@example.com, reason: " " }
    to: alerts
    mention: "@oncall"
    severity: urgent
    quiet_hours: { from: 24:00, to: 06:00, tz: Lagos }
    mute_until: 2026-02-30
    continue: maybe
  - to: []
`);
    expect(problems).toEqual([
      '0.name must be up to 40 letters, digits and dashes, like big-ones.',
      '0.when.event must be payment_failed, payment_success, card_saved or any.',
      '0.when.currency must be a currency code in capitals, like NGN.',
      '0.when.amount_from must be an amount like 100000.00, without separators.',
      '0.when.customer_id must be a customer id like C-1042, or the beginning of one with a star behind it: VIP-*.',
      '0.when.email_domain must be what stands behind the @, like example.com: one whole domain, without a star.',
      '0.when.reason must not be empty.',
      expect.stringMatching(/^0\.to must be a channel id like C0123ABCD/),
      '0.mention must be a user id like U0123ABCD or a user group’s id like S0123ABCD.',
      '0.severity must be low, normal or high.',
      '0.quiet_hours.from must be a time like "22:00", in quotes.',
      '0.quiet_hours.tz must be a time zone’s name like Africa/Lagos.',
      expect.stringMatching(/^0\.mute_until must be a day like 2026-12-01/),
      '0.continue must be true or false.',
      '1.name is missing: it must be up to 40 letters, digits and dashes, like big-ones.',
      '1.to must name at least one channel.',
    ]);
  });

  it.each(['.example.com', '*.example.com', 'example.com.', 'example..com', 'example.com,example.org'])(
    'ask for no e-mail domain that no address has: %s',
    (domain) => {
      const rule = `  - { name: a, to: C0BIG00001, when: { email_domain: "${domain}" } }`;
      expect(problemsOf(rule)).toEqual([expect.stringMatching(/^0\.when\.email_domain must be what stands/)]);
    },
  );

  it('ask for a reason in one line, as alerts show it', () => {
    const rule = '  - { name: a, to: C0BIG00001, when: { reason: "Do  Not\\u00a0Honour" } }';
    expect(rulesOf(rule)[0]?.match.reasonPart).toBe('do not honour');
  });

  it.each([
    ['{ name: a, to: C0BIG00001, mentoin: U0AGENT01 }', '0.mentoin is not a setting. Did you mean mention?'],
    [
      '{ name: a, to: C0BIG00001, when: { amont_from: 1 } }',
      '0.when.amont_from is not a setting. Did you mean amount_from?',
    ],
    [
      '{ name: a, to: C0BIG00001, when: { mesage: x } }',
      '0.when.mesage is not a setting. What stands here: event, environment, account, saved_card, currency, amount_from, amount_to, customer_id, email_domain, reason.',
    ],
    ['{ name: a, to: C0BIG00001, reason: x }', '0.reason is not a setting. It belongs under when.'],
    [
      '{ name: a, to: C0BIG00001, when: { mention: U0AGENT01 } }',
      '0.when.mention is not a setting. It belongs beside when, not under it.',
    ],
    [
      '{ name: a, channel: C0BIG00001 }',
      '0.channel is not a setting. What stands here: name, when, to, mention, severity, quiet_hours, mute_until, digest_after, continue.',
    ],
    ['{ name: a }', '0.to is missing: it must be a channel id like C0123ABCD, or a list of them.'],
    [
      '{ name: a, to: C0BIG00001, mention: U0AGENT01, quiet_hours: { form: "22:00", to: "06:00", tz: UTC } }',
      '0.quiet_hours.form is not a setting. Did you mean from?',
    ],
  ])('name the nearest word for an unknown one: %s', (route, problem) => {
    expect(problemsOf(`  - ${route}`)).toContain(problem);
  });

  it.each([
    [
      'when: { amount_from: 1 }',
      '0.when.currency is needed beside an amount: 100.00 of one currency is not 100.00 of another.',
    ],
    [
      'when: { currency: NGN, amount_from: 2, amount_to: 1 }',
      '0.when.amount_from is above amount_to, so that no amount fits.',
    ],
    [
      'mention: U0AGENT01, quiet_hours: { from: "22:00", to: "22:00", tz: UTC }',
      '0.quiet_hours.to must differ from `from`.',
    ],
    [
      'quiet_hours: { from: "22:00", to: "06:00", tz: UTC }',
      '0.quiet_hours does nothing without a mention: it only says when that is left out.',
    ],
  ])('refuse what cannot be meant: %s', (parts, problem) => {
    expect(problemsOf(`  - { name: a, to: C0BIG00001, ${parts} }`)).toEqual([problem]);
  });

  it('refuse a channel named twice', () => {
    expect(problemsOf('  - { name: a, to: [C0BIG00001, C0BIG00001] }')).toEqual([
      '0.to names a channel twice.',
    ]);
  });

  it('refuse two rules of one name, and a rule that can never fit, naming what is in its way', () => {
    const problems = problemsOf(`
  - { name: low, when: { currency: NGN, amount_to: 99.99 }, to: C0BIG00001 }
  - { name: high, when: { currency: NGN, amount_from: 100 }, to: C0BIG00001 }
  - { name: middle, when: { currency: NGN, amount_from: 50, amount_to: 150 }, to: C0BIG00001 }
  - { name: low, when: { currency: NGN, amount_to: 10 }, to: C0BIG00001 }
  - { name: rest, to: C0BIG00001 }
`);
    expect(problems).toEqual([
      '3.name: a rule before it is called low too.',
      '3 (low) can never fit: low before it takes all that it asks for. Move it up, or write continue: true there.',
    ]);
  });

  it('let a rule stand behind one that goes on, and one of the other environment', () => {
    const problems = problemsOf(`
  - { name: copy, continue: true, to: C0BIG00001 }
  - { name: live, when: { environment: live }, to: C0BIG00001 }
  - { name: rest, to: C0BIG00001 }
`);
    expect(problems).toEqual([]);
  });

  it('of the example file are good once they are no comment any more', () => {
    const example = filledPolicy;
    const routes = example.slice(
      example.indexOf('# routes:'),
      example.indexOf('# Optional: channels that are told once'),
    );
    const lines = routes
      .split('\n')
      .slice(1)
      .map((line) => line.replace(/^#/, ''));
    expect(problemsOf(lines.join('\n'))).toEqual([]);
    expect(rulesOf(lines.join('\n')).map(({ name }) => name)).toEqual(['big-ones', 'no-funds']);
  });
});
