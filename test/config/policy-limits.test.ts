import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { limitRules, limitsCheck } from '../../src/config/limit-rules.ts';
import { readPolicy } from '../../src/config/read-policy.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-limits-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'payops.yml');

function read(written: string) {
  writeFileSync(path, `channels: { alerts: C0ALERTS01 }\n${written}`);
  return readPolicy(path);
}

function policyOf(written: string) {
  const result = read(written);
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  return result.policy;
}

/** Without the file's name, which leads every one. */
function problemsOf(limits: string, may = '[charge]'): string[] {
  const result = read(`roles:\n  agent: { users: [U0AGENT01], may: ${may}, limits: ${limits} }\n`);
  const problems =
    result.kind === 'refused'
      ? result.problems
      : limitsCheck.judge({
          policy: result.policy,
          payopsFile: path,
          chargeCurrencies: ['NGN', 'GHS'],
        } as Partial<Config> as Config);
  return problems.map((problem) => problem.replace(`${path}: roles.agent.limits`, ''));
}

describe('limits of the policy file', () => {
  it('are read into minor units, however an amount is written', () => {
    const policy = policyOf(`
timezone: Africa/Lagos
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
  });

  it('are none where no role that may charge has any, and UTC is the day', () => {
    expect(
      limitRules(policyOf('timezone: Africa/Lagos\nroles: { a: { may: [charge] } }'), undefined),
    ).toBeUndefined();
    const limited = policyOf('roles: { a: { may: [charge], limits: { NGN: {} } } }');
    expect(limitRules(limited, undefined)?.timeZone).toBe('UTC');
  });

  it('hold for the accounts of their role', () => {
    const policy = policyOf(`
roles:
  agent: { may: [charge], accounts: [test], limits: { NGN: { per_charge: 1 } } }
  lead: { may: [charge] }
`);
    expect(limitRules(policy, 'lagos')).toBeUndefined();
    expect(Object.keys(limitRules(policy, 'test')?.roles ?? {})).toEqual(['agent', 'lead']);
  });

  it.each([
    [
      '{ NGN: { per_charge: "50,000.00" } }',
      '.NGN.per_charge must be an amount like 50000.00, without separators.',
    ],
    [
      '{ NGN: { per_charge: 1.005 } }',
      '.NGN.per_charge must be an amount like 50000.00, without separators.',
    ],
    ['{ NGN: { per_charge: -1 } }', '.NGN.per_charge must be an amount like 50000.00, without separators.'],
    ['{ NGN: { per_charge: 0.00 } }', '.NGN.per_charge must be more than zero.'],
    ['{}', ' names no currency: the role may then charge nothing.'],
    ['{ NGN: { percharge: 5 } }', '.NGN.percharge is not a setting. Did you mean per_charge?'],
    ['{ ngn: { per_charge: 5 } }', '.ngn must be a currency code in capitals, like NGN.'],
  ])('%s are refused', (limits, problem) => {
    expect(problemsOf(limits)).toEqual([problem]);
  });

  it.each([
    [
      '{ USD: { per_charge: 5 } }',
      /^\.USD: nobody can charge USD, CHARGE_CURRENCIES names NGN, GHS alone\.$/,
    ],
    [
      '{ NGN: { per_charge: 60000, per_agent_per_day: 50000 } }',
      /^\.NGN\.per_charge is NGN 60,000\.00, and per_agent_per_day never lets more than NGN 50,000\.00 through: lower the one, or raise the other\.$/,
    ],
    [
      '{ NGN: { per_charge: 60000, per_card_per_day: 59999.99 } }',
      /^\.NGN\.per_charge is NGN 60,000\.00, and per_card_per_day/,
    ],
  ])('%s contradict themselves, in one problem', (limits, problem) => {
    const problems = problemsOf(limits);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  it('limit nobody in a role that may not charge', () => {
    expect(problemsOf('{ NGN: { per_charge: 5 } }', '[lookup]')).toEqual([
      ': the role may not charge, so they limit nobody. Take them out, or write charge under may.',
    ]);
    expect(problemsOf('{ NGN: { per_charge: 5 } }', '["*"]')).toEqual([]);
  });

  it('may be equal to one another', () => {
    expect(problemsOf('{ NGN: { per_charge: 5, per_agent_per_day: 5, per_card_per_day: 5 } }')).toEqual([]);
  });

  it('know a day’s time zone by its name', () => {
    const result = read('timezone: Lagos\n');
    expect(result).toMatchObject({
      problems: [expect.stringContaining('timezone must be a time zone’s name')],
    });
  });
});
