import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebClient } from '@slack/web-api';
import { afterAll, describe, expect, it } from 'vitest';
import { permissions } from '../../src/features/registry.ts';
import {
  approvalRules,
  approvalsCheck,
  limitRules,
  limitsCheck,
  permissionCheck,
} from '../../src/config/policy-rules.ts';
import type { Config } from '../../src/config/config.ts';
import type { Policy } from '../../src/config/policy.ts';
import { readPolicy } from '../../src/config/read-policy.ts';
import { needFor } from '../../src/features/approvals/approval-case.ts';
import type { ApprovalQuestion } from '../../src/domain/approval.ts';
import { limitsOfRoles, limitsFor, overLimit, type DayUse } from '../../src/features/charge/charge-limits.ts';
import { merchantPermission } from '../../src/domain/merchant.ts';
import { parseAmount, type Money } from '../../src/domain/money.ts';
import type { Caller } from '../../src/slack/command.ts';
import { createDirectory, type Directory } from '../../src/slack/people/directory.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-policy-page-'));
afterAll(() => rmSync(folder, { recursive: true }));

const page = readFileSync('docs/policy.md', 'utf8');

/** The cells of each row below that table head. */
function rowsAfter(head: string, text: string): string[][] {
  const [, after] = text.split(`\n${head}\n`);
  if (after === undefined) return [];
  const lines = after.split('\n').slice(1);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

function bare(cell: string | undefined): string {
  return (cell ?? '').replaceAll('`', '');
}

const people = new Map(
  rowsAfter('| Name | Slack user id | Slack says |', page).map(([name = '', id, says = '']) => [
    name,
    { id: bare(id), says },
  ]),
);
const channels = new Map(
  [...page.matchAll(/(#[a-z]+)` is `(C\w+)`/g)].map(([, name = '', id = '']) => [name, id]),
);

type Claim = { who: string; where: string; what: string; answer: string };
type Example = {
  heading: string;
  yaml: string;
  claims: Claim[];
  /** Rows of the tables about limits, and about approvals. */
  limits: string[][];
  needs: string[][];
};

/** Each example, with the tables between it and the next one. */
const examples: Example[] = page
  .split('\n## ')
  .slice(1)
  .flatMap((part) => {
    const [heading = ''] = part.split('\n');
    return part
      .split('\n```yaml\n')
      .slice(1)
      .map((text): Example => {
        const [yaml = '', after = ''] = text.split('\n```\n');
        const claims = rowsAfter('| Who | Where | What | Answer |', after).map(
          ([who = '', where = '', what = '', answer = '']) => ({ who, where, what, answer }),
        );
        const limits = rowsAfter('| Who | Charges | Used that day: by them, of the card | Answer |', after);
        const needs = rowsAfter('| What | Needs |', after);
        return { heading, yaml, claims, limits, needs };
      });
  });

/** Slack's data for each kind of account that the page names. */
const accounts: readonly (readonly [string, Record<string, unknown>])[] = [
  ['a guest', { is_restricted: true }],
  ['deactivated', { deleted: true }],
  ['a bot', { is_bot: true }],
  ['of another workspace', { team_id: 'T0OTHER001' }],
];

const teamId = 'T0TEAM0001';

function fakeSlack(): WebClient {
  const members = [...people.values()].filter(({ says }) => says.includes('@support-agents'));
  return {
    users: {
      async info({ user: id }: { user: string }) {
        const says = [...people.values()].find((one) => one.id === id)?.says ?? '';
        const told = accounts.filter(([words]) => says.startsWith(words)).map(([, account]) => account);
        return { user: Object.assign({ id, team_id: teamId }, ...told) };
      },
    },
    usergroups: {
      async list() {
        return { usergroups: [{ id: 'S0SUPPORT1', handle: 'support-agents' }] };
      },
      users: { list: async () => ({ users: members.map(({ id }) => id) }) },
    },
  } as unknown as WebClient;
}

function policyOf(yaml: string): Policy {
  const path = join(folder, 'payops.yml');
  writeFileSync(path, yaml);
  const read = readPolicy(path);
  if (read.kind === 'refused') throw new Error(read.problems.join('\n'));
  const config = { policy: read.policy, payopsFile: path, chargeCurrencies: ['NGN', 'USD'] } as Config & {
    chargeCurrencies: readonly string[];
  };
  const checks = [permissionCheck(permissions), limitsCheck, approvalsCheck];
  expect(checks.flatMap((check) => check(config))).toEqual([]);
  return read.policy;
}

function directoryOf({ roles }: Policy): Directory {
  return createDirectory(roles, {
    client: fakeSlack(),
    cache: { get: async () => undefined, set: async () => undefined },
    log: () => undefined,
    now: () => 0,
    identity: () => ({ teamId }),
  });
}

/** Reads "NGN 50,000.01"; "nothing" is zero. */
function moneyOf(text: string): Money {
  if (text === 'nothing') return { minor: 0, currency: 'NGN' };
  const [currency = '', amount = ''] = text.split(' ');
  const minor = parseAmount(amount);
  if (!minor.ok) throw new Error(`${text} is no amount`);
  return { minor: minor.value, currency };
}

/** Reads "NGN 30,000.00, NGN 90,000.00": the amount charged by the person, and of the card. */
function dayOf(used: string): DayUse {
  const [byThem = 'nothing', ofCard = 'nothing'] = used.split(', ');
  return { per_agent_per_day: moneyOf(byThem).minor, per_card_per_day: moneyOf(ofCard).minor };
}

/** The limits' answer to a charge, in the page's words. */
async function limitAnswer(policy: Policy, [who = '', charges = '', used = '']: string[]): Promise<string> {
  const rules = limitRules(policy, undefined);
  if (!rules) throw new Error('the example limits nobody');
  const heldRoles = await directoryOf(policy).rolesOf('charge', people.get(who)?.id ?? '');
  const money = moneyOf(charges);
  const found = limitsFor(rules.roles, limitsOfRoles(rules.roles, heldRoles), money);
  if (found.kind !== 'found') {
    return found.kind === 'currency' ? 'no: the currency is not named' : 'no: in no role that may charge';
  }
  const over = found.limits && overLimit(found.limits, money, dayOf(used));
  return over ? `no: above \`${over.limit}\`` : 'yes';
}

function questionOf(what: string): ApprovalQuestion {
  const [, charge, onHold] = /^a charge of (.*?)( of a card on hold)?$/.exec(what) ?? [];
  if (charge !== undefined) {
    return { kind: 'charge', money: moneyOf(charge), ...(onHold ? { overridesRest: true } : {}) };
  }
  if (what !== 'a change of e-mail') throw new Error(`Nothing is known of ${what}`);
  return { kind: 'card_email' };
}

function callerOf({ who, where }: Claim): Caller {
  const userId = people.get(who)?.id;
  if (userId === undefined) throw new Error(`${who} is nobody on the page`);
  switch (where) {
    case 'a direct message':
      return { userId, channelId: 'D0DIRECT01', from: 'command' };
    case 'the Home':
      return { userId, from: 'home' };
    case 'a shortcut':
      return { userId, from: 'shortcut' };
  }
  const channelId = channels.get(where);
  if (channelId === undefined) throw new Error(`${where} is nowhere on the page`);
  return { userId, channelId, from: 'command' };
}

function permissionOf(what: string): string {
  const [permission = '', name] = bare(what).split(' for ');
  expect(permissions).toContain(permission);
  return name === undefined ? permission : merchantPermission(permission, { name });
}

describe('docs/policy.md', () => {
  it('has examples, and most of them say what they do', () => {
    expect(examples.length).toBe(4);
    const tables = examples.map(({ claims, limits, needs }) => claims.length + limits.length + needs.length);
    expect(tables.filter((rows) => rows === 0)).toEqual([]);
    expect(people.size).toBe(7);
    expect(channels.size).toBe(3);
  });

  it.each(examples.filter(({ limits }) => limits.length > 0))(
    '$heading: lets charge what the table says',
    async ({ yaml, limits }) => {
      const policy = policyOf(yaml);
      const said = await Promise.all(limits.map((row) => limitAnswer(policy, row)));
      expect(said).toEqual(limits.map(([, , , answer]) => answer));
    },
  );

  it.each(examples.filter(({ needs }) => needs.length > 0))(
    '$heading: needs whom the table says',
    ({ yaml, needs }) => {
      const rules = approvalRules(policyOf(yaml), undefined);
      const said = needs.map(
        ([what = '']) => needFor(rules, questionOf(what))?.needed.toString() ?? 'nobody',
      );
      expect(said).toEqual(needs.map(([, needed]) => needed));
    },
  );

  it.each(examples)('$heading: does what the table says', async ({ yaml, claims }) => {
    const { mayRun } = directoryOf(policyOf(yaml));
    for (const claim of claims) {
      const permit = await mayRun(permissionOf(claim.what), callerOf(claim));
      const said =
        permit.kind === 'allowed'
          ? 'yes'
          : ['no', permit.rule, permit.whoCan, permit.where?.join(', '), ...(permit.notes ?? [])].join(' · ');
      const [answer, words = ''] = claim.answer.split(/: (.*)/);
      expect([claim, said.split(' · ')[0]]).toEqual([claim, answer]);
      expect(said).toContain(words);
    }
  });

  it('lists every permission, and no other', () => {
    const told = rowsAfter('| Permission | Lets people |', page).map(([permission]) => bare(permission));
    expect(told.toSorted()).toEqual([...permissions].toSorted());
  });
});
