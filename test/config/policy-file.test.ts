import { describe, expect, it } from 'vitest';
import { minimalSettings, fileOf } from './minimal-settings.ts';
import { filledPolicy } from '../support/filled-policy.ts';
import { permissions } from '../../src/features/registry.ts';
import { alertRules } from '../../src/config/alert-rules.ts';
import { approvalRules, limitRules, permissionCheck } from '../../src/config/policy-rules.ts';
import { readConfig } from '../../src/config/read-config.ts';

const head = 'channels: { alerts: C0ALERTS01 }\n';
const lead = 'roles: { lead: { users: [U0123LEAD1, U0123LEAD2], may: [approve] } }\n';

function read(file: string) {
  const variables = { ...minimalSettings, CHARGE_CURRENCIES: 'NGN,GHS', PAYOPS_FILE: fileOf(file) };
  return readConfig(variables, [permissionCheck(permissions)]);
}

/** The problems, without the file's name at their beginning. */
function problemsOf(file: string): string[] {
  const result = read(file);
  return result.kind === 'refused'
    ? result.problems.map((problem) => problem.replace(/^(?:The policy file )?\/\S+?payops\.yml:? /, ''))
    : [];
}

function policyOf(file: string) {
  const result = read(file);
  if (result.kind !== 'read') throw new Error(result.problems.join('\n'));
  return result.config.policy;
}

/** A part of the example file. */
const part = (from: string, to: string): string =>
  filledPolicy.slice(filledPolicy.indexOf(from), filledPolicy.indexOf(to));
const routes = (...rules: string[]): string =>
  `${head}routes:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`;
const route = (parts: string): string => routes(`{ name: a, to: C0BIG00001, ${parts} }`);
const limits = (written: string, may = '[charge]'): string =>
  `${head}roles: { agent: { users: [U0AGENT01], may: ${may}, limits: ${written} } }\n`;
const approvals = (rules: string, roles = lead, top = 'channel: C0123APPR0'): string =>
  `${head}${roles}approvals: { ${top}, rules: [${rules}] }\n`;

describe('the policy file', () => {
  it('gives rules with amounts in minor units, and with ids and names parsed', () => {
    const policy = policyOf(`${head}routes:
  - name: big-ones
    when: { event: any, environment: live, saved_card: true, currency: NGN, amount_from: 100000.00, amount_to: "250000.5", customer_id: VIP-*, email_domain: Example.COM, reason: "Do  Not\\u00a0Honour" }
    to: [C0BIG00001, C0BIG00002]
    mention: S0ONCALL01
    severity: critical
    escalate: [{ after: 10m, to: S0LEADS }, { after: 2h, to: U0AGENT01 }]
    quiet_hours: { from: 22:00, to: 06:30, tz: Africa/Lagos }
    continue: true
  - { name: all, to: C0BIG00001 }
`);
    expect(alertRules(policy)).toEqual([
      {
        name: 'big-ones',
        match: {
          environment: 'live',
          isSavedCardCharge: true,
          currency: 'NGN',
          amount: { fromMinor: 10_000_000, toMinor: 25_000_050 },
          customer: { kind: 'prefix', text: 'VIP-' },
          emailDomain: 'example.com',
          reasonPart: 'do not honour',
        },
        channels: ['C0BIG00001', 'C0BIG00002'],
        mention: { kind: 'group', id: 'S0ONCALL01' },
        severity: 'critical',
        escalate: [
          { afterMs: 600_000, to: { kind: 'group', id: 'S0LEADS' } },
          { afterMs: 7_200_000, to: { kind: 'person', id: 'U0AGENT01' } },
        ],
        quietHours: { fromMinute: 1_320, toMinute: 390, timeZone: 'Africa/Lagos' },
        continues: true,
      },
      { name: 'all', match: { event: 'payment_failed' }, channels: ['C0BIG00001'], continues: false },
    ]);
    expect(alertRules(policyOf(head))).toEqual([]);
  });

  it('gives each role’s limits in minor units, for its accounts, with days in UTC by default', () => {
    const policy = policyOf(`${head}timezone: Africa/Lagos
roles:
  agent: { may: [charge], limits: { NGN: { per_charge: 50000.00, per_agent_per_day: "500000.5", per_card_per_day: 100000 }, GHS: {} } }
  lead: { may: ['*'] }
  on-call: { may: [lookup] }
`);
    expect(limitRules(policy, undefined)).toEqual({
      timeZone: 'Africa/Lagos',
      roles: {
        agent: {
          limits: {
            NGN: { per_charge: 5_000_000, per_agent_per_day: 50_000_050, per_card_per_day: 10_000_000 },
            GHS: {},
          },
        },
        lead: {},
      },
    });
    expect(limitRules(policyOf(`${head}roles: { a: { may: [charge] } }`), undefined)).toBeUndefined();
    expect(limitRules(policyOf(limits('{ NGN: {} }')), undefined)?.timeZone).toBe('UTC');
    const { roles } = policyOf(
      `${head}roles: { a: { may: [charge], limits: { NGN: { per_charge: 1 } } }, b: { may: [charge] } }`,
    );
    const ofTest = { roles: { ...roles, a: { ...roles['a'], accounts: ['test'] } } } as never;
    expect(limitRules(ofTest, 'lagos')).toBeUndefined();
    expect(Object.keys(limitRules(ofTest, 'test')?.roles ?? {})).toEqual(['a', 'b']);
  });

  it('gives approval rules by account, in minor units; by default one approver and four hours', () => {
    const charge = '{ what: charge, currency: NGN, amount_from: 50000.00 }';
    const policy = policyOf(approvals(`${charge}, { what: retry }, { what: card_email, needed: 2 }`));
    expect(policy.approvals).toMatchObject({ channel: 'C0123APPR0', expire_minutes: 240 });
    expect(approvalRules(policy, undefined)).toEqual([
      { what: 'charge', currency: 'NGN', fromMinor: 5_000_000, needed: 1 },
      { what: 'retry', needed: 1 },
      { what: 'card_email', needed: 2 },
    ]);
    const rules = [
      { what: 'retry', needed: 1, account: 'lagos' },
      { what: 'card_email', needed: 1 },
    ];
    const ofLagos = { approvals: { channel: 'C1', expire_minutes: 240, rules } } as never;
    expect(approvalRules(ofLagos, 'lagos')).toHaveLength(2);
    expect(approvalRules(ofLagos, 'abuja')).toEqual([{ what: 'card_email', needed: 1 }]);
  });

  it.each<[what: string, file: string, ...problems: string[]]>([
    [
      'of shapes',
      `channels: { alerts: C0ALERTS01, opps: C0123OPS01 }
routes:
  - name: big ones
    when: { event: failed, currency: ngn, amount_from: "1,000", customer_id: "*-VIP", email_domain: ada@example.com, reason: " " }
    to: alerts
    mention: "@oncall"
    severity: urgent
    quiet_hours: { from: 24:00, to: 06:00, tz: Lagos }
    continue: maybe
  - to: []
roles:
  lead: { users: [ada], may: [charge] }
`,
      'channels.opps is not a setting. Did you mean ops?',
      'routes.0.name must be up to 40 letters, digits and dashes, like big-ones.',
      'routes.0.when.event must be payment_failed, payment_success, payment_given_back, card_saved or any.',
      'routes.0.when.currency must be a currency code in capitals, like NGN.',
      'routes.0.when.amount_from must be an amount like 100000.00, without separators.',
      'routes.0.when.customer_id must be a customer id like C-1042, or the beginning of one with a star behind it: VIP-*.',
      'routes.0.when.email_domain must be what stands behind the @, like example.com: one whole domain, without a star.',
      'routes.0.when.reason must not be empty.',
      'routes.0.to must be a channel id like C0123ABCD',
      'routes.0.mention must be a user id like U0123ABCD or a user group’s id like S0123ABCD.',
      'routes.0.severity must be low, normal, high or critical.',
      'routes.0.quiet_hours.from must be a time like "22:00", in quotes.',
      'routes.0.quiet_hours.tz must be a time zone’s name like Africa/Lagos.',
      'routes.0.continue must be true or false.',
      'routes.1.name is missing: it must be up to 40 letters, digits and dashes, like big-ones.',
      'routes.1.to must name at least one channel.',
      'roles.lead.users.0 must be a user id',
    ],
    [
      'between sections',
      `channels: { alerts: CXXXXALERTS }
roles:
  agent: { users: [U0AGENT01, UXXXXADA01], may: [lokup, "*"] }
  viewer: { may: [lookup], limits: { NGN: { per_charge: 10.00 } } }
  lead: { users: [U0LEAD001], may: [charge], limits: { USD: { per_charge: 10.00 } } }
`,
      'channels.alerts is CXXXXALERTS, the example’s',
      'roles.agent lists UXXXXADA01, the example’s',
      'roles.agent.may: “lokup” is not a permission. Did you mean lookup?',
      'roles.viewer.limits: the role may not charge, so they limit nobody.',
      'roles.lead.limits.USD: nobody can charge USD, CHARGE_CURRENCIES names NGN, GHS alone.',
    ],
  ])('reports every problem %s at once, each with its place in the file', (_what, file, ...expected) => {
    const told = problemsOf(file);
    for (const words of expected) expect(told).toContainEqual(expect.stringContaining(words));
    expect(told).toHaveLength(expected.length);
  });

  it.each<[file: string, ...problems: string[]]>([
    ['', 'channels is missing'],
    ['- alerts\n', 'the file must be keys, each with a colon and its value'],
    ['channels: [', 'line 1'],
    [
      'channels: { alerst: C0ALERTS01 }',
      'channels.alerts is missing',
      'channels.alerst is not a setting. Did you mean alerts?',
    ],
    ['channels: { alerts: "#pay-alerts" }', 'channels.alerts must be a channel id like C0123ABCD'],
    ['channels: { alerts: 5 }', 'channels.alerts must be a channel id'],
    ['channels: { alerts: *oops }', "oops. A bare * begins a YAML alias: write '*' in quotes."],
    [`${head}desk: C0DESK0001`, 'desk is not a setting. It belongs under channels.'],
    [`${head}timezone: Lagos`, 'timezone must be a time zone’s name'],
    [
      `${head}daily_summary: [{ channel: C0ALERTS01, at: 8, tz: UTC }]`,
      'daily_summary.0.at must be a time like "22:00", in quotes',
    ],
    [
      `${head}roles: { a: { users: U0AGENT01, may: lookup } }`,
      'roles.a.users must be a list: [one, another]',
      'roles.a.may must be a list',
    ],
    [`${head}roles: [{ may: [lookup] }]`, 'roles must be names, each with a colon and what belongs to it'],
    [
      `${head}roles: { lead: { may: [*] } }`,
      "at line 2, column 24. A bare * begins a YAML alias: write '*' in quotes.",
    ],
    [`${head}roles: { agent: { may: [] } }`, 'roles.agent.may must name at least one permission'],
    [
      `${head}roles: { agent: { may: [refund] } }`,
      `“refund” is not a permission. Write ${permissions.join(', ')}, or '*' for all.`,
    ],
    [
      limits('{ NGN: { per_charge: "50,000.00" } }'),
      '.NGN.per_charge must be an amount like 100000.00, without separators.',
    ],
    [
      limits('{ NGN: { per_charge: 1.005 } }'),
      '.NGN.per_charge must be an amount like 100000.00, without separators.',
    ],
    [
      limits('{ NGN: { per_charge: -1 } }'),
      '.NGN.per_charge must be an amount like 100000.00, without separators.',
    ],
    [
      limits('{ NGN: { per_charge: 50,000.00 } }'),
      '.NGN.0 is not a setting. Write an amount without a comma.',
    ],
    [limits('{ NGN: { per_charge: 0.00 } }'), '.NGN.per_charge must be more than zero.'],
    [limits('{}'), ' names no currency: the role may then charge nothing.'],
    [limits('{ NGN: { percharge: 5 } }'), '.NGN.percharge is not a setting. Did you mean per_charge?'],
    [limits('{ ngn: { per_charge: 5 } }'), '.ngn must be a currency code in capitals, like NGN.'],
    [limits('{ NGN: { per_charge: 5 } }', '["*"]')],
    [route('mentoin: U0AGENT01'), '0.mentoin is not a setting. Did you mean mention?'],
    [
      route('when: { mesage: x }'),
      '0.when.mesage is not a setting. What stands here: event, environment, account,',
    ],
    [route('reason: x'), '0.reason is not a setting. It belongs under when.'],
    [
      route('when: { mention: U0AGENT01 }'),
      '0.when.mention is not a setting. It belongs beside when, not under it.',
    ],
    [route('when: { email_domain: "*.example.com" }'), '0.when.email_domain must be what stands'],
    [route('when: { email_domain: "example.com,example.org" }'), '0.when.email_domain must be what stands'],
    [route('when: { amount_from: 1 }'), '0.when.currency is needed beside an amount'],
    [
      route('when: { currency: NGN, amount_from: 2, amount_to: 1 }'),
      '0.when.amount_from is above amount_to, so that no amount fits.',
    ],
    [
      route('mention: U0AGENT01, quiet_hours: { from: "22:00", to: "22:00", tz: UTC }'),
      '0.quiet_hours.to must differ from `from`.',
    ],
    [
      route('quiet_hours: { from: "22:00", to: "06:00", tz: UTC }'),
      '0.quiet_hours does nothing without mention or escalate',
    ],
    [route('escalate: { after: 10m, to: S0LEADS }, quiet_hours: { from: "22:00", to: "06:00", tz: UTC }')],
    ...['10m', '{ after: 10m }', '{ after: 25h, to: S0LEADS }', '{ after: 10m, to: leads }', '[]'].map(
      (written): [string, string] => [
        route(`escalate: ${written}`),
        '0.escalate must be a step like { after: 10m, to: S0123ABCD }, after 24h at most, or a list of up to 5 of them.',
      ],
    ),
    [
      route('escalate: [{ after: 10m, to: S0LEADS }, { after: 10m, to: U0AGENT01 }]'),
      '0.escalate must have its steps in their order, each later than the one before it.',
    ],
    [
      route('when: { event: payment_success }, escalate: { after: 10m, to: S0LEADS }'),
      '0.escalate does nothing here: only failed charges are acknowledged',
    ],
    [routes('{ name: a }'), '0.to is missing: it must be a channel id like C0123ABCD, or a list of them.'],
    [routes('{ name: a, to: [C0BIG00001, C0BIG00001] }'), '0.to names a channel twice.'],
    [
      routes(
        '{ name: low, when: { currency: NGN, amount_to: 99 }, to: C0BIG00001 }',
        '{ name: low, when: { currency: NGN, amount_to: 10 }, to: C0BIG00001 }',
      ),
      '1.name: a rule before it is called low too.',
      '1 (low) can never fit: low before it takes all that it asks for. Move it up, or write continue: true there.',
    ],
    [
      routes(
        '{ name: copy, continue: true, to: C0BIG00001 }',
        '{ name: live, when: { environment: live }, to: C0BIG00001 }',
        '{ name: rest, to: C0BIG00001 }',
      ),
    ],
    [
      approvals('{ what: charges, currency: NGN, amount_from: 1 }'),
      'rules.0.what must be charge, retry or card_email.',
    ],
    [
      approvals('{ what: charge, amount_from: 1 }'),
      'rules.0.currency is missing: it must be a currency code',
    ],
    [
      approvals('{ what: charge, currency: NGN }'),
      'rules.0.amount_from is missing: it must be an amount like 100000.00, without separators.',
    ],
    [
      approvals('{ what: retry, currency: NGN }'),
      'rules.0.currency doesn’t go with the keys beside it: take it out.',
    ],
    [approvals('{ what: retry, amount: 1 }'), 'rules.0.amount is not a setting. Did you mean amount_from?'],
    [approvals('{ what: retry, needed: 0 }'), 'rules.0.needed must be at least 1.'],
    [
      approvals('{ what: retry }, { what: retry, needed: 2 }'),
      'rules.1 is about the same as approvals.rules.0: keep one of them.',
    ],
    [
      approvals('{ what: charge, currency: NGM, amount_from: 1 }'),
      'rules.0.currency: nothing is charged in NGM, CHARGE_CURRENCIES is NGN,GHS.',
    ],
    [approvals('{ what: retry, account: lagos }'), 'rules.0.account: the file has no accounts.'],
    [
      approvals('{ what: retry, needed: 3 }'),
      'rules.0.needed: 3 different people must approve, and only 2 may: no request could ever be approved.',
    ],
    [
      approvals('{ what: retry }', lead, 'chanel: C0123APPR0'),
      'approvals.channel is missing: it must be a channel id',
      'approvals.chanel is not a setting. Did you mean channel?',
    ],
    [
      approvals('{ what: retry }', lead, 'channel: C0123APPR0, expire_minutes: 1'),
      'approvals.expire_minutes must be at least 2.',
    ],
    [
      approvals('{ what: retry }', 'roles: { agent: { users: [U0123AGENT], may: [charge] } }\n'),
      'approvals.rules.0: nobody may approve. Give a role the permission approve, and people.',
    ],
    [
      approvals('{ what: retry }', 'roles: { lead: { may: [approve] } }\n'),
      'approvals.rules.0: nobody may approve.',
    ],
    [approvals('{ what: retry }', 'roles: { lead: { users: [U0123LEAD1], may: ["*"] } }\n')],
    // The members of a group are unknown here, so they can't be counted.
    [approvals('{ what: retry, needed: 5 }', 'roles: { lead: { groups: ["@leads"], may: [approve] } }\n')],
  ])('is refused with the key and what to write: %s', (file, ...problems) => {
    const told = problemsOf(file);
    for (const problem of problems) expect(told).toContainEqual(expect.stringContaining(problem));
    expect(told).toHaveLength(problems.length);
  });

  it('comes with an example whose commented-out rules are valid', () => {
    const written = [
      part('# approvals:', '# timezone:'),
      part('# routes:', '# Optional: channels that are told once'),
    ];
    const policy = policyOf(
      written.reduce(
        (file, section) => file.replace(section, section.replaceAll(/^# ?/gm, '')),
        filledPolicy,
      ),
    );
    expect(alertRules(policy).map(({ name }) => name)).toEqual(['big-ones', 'no-funds']);
    expect(approvalRules(policy, undefined)).toEqual([
      { what: 'charge', currency: 'NGN', fromMinor: 5_000_000, needed: 1 },
      { what: 'retry', needed: 1 },
    ]);
  });
});
