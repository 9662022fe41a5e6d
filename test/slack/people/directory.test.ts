import { WebAPIPlatformError, WebAPIRequestError, type WebClient } from '@slack/web-api';
import { beforeEach, describe, expect, it } from 'vitest';
import { createDirectory } from '../../../src/slack/people/directory.ts';
import type { SharedAnswers } from '../../../src/slack/people/cached-answers.ts';
import type { Role } from '../../../src/slack/people/role.ts';
import type { Identity } from '../../../src/slack/workspace.ts';

// permissions.table.test.ts and policy-page.test.ts cover who may do what, where and with which kind of account.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Slack's answer. A string is Slack's error; `down`: no answer. */
type Says<Value> = Value | string;
let accounts: Record<string, Says<Record<string, unknown>>>;
let members: Record<string, Says<readonly string[]>>;
let asked: string[];
let logged: string[];
let nowMs: number;
beforeEach(() => {
  [accounts, members, asked, logged, nowMs] = [{}, {}, [], [], 0];
});

function told<Value>(name: string, says: Says<Value>): Value {
  asked.push(name);
  if (typeof says !== 'string') return says;
  if (says === 'down') throw new WebAPIRequestError(new Error('no answer'));
  throw new WebAPIPlatformError({ ok: false, error: says, response_metadata: {} });
}

const client = {
  auth: { test: async () => ({ team_id: 'T0TEAM', ...told('bot', accounts['bot'] ?? {}) }) },
  users: {
    info: async ({ user: id }: { user: string }) => ({
      user: { id, team_id: 'T0TEAM', ...told<Record<string, unknown>>(id, accounts[id] ?? {}) },
    }),
  },
  usergroups: {
    list: async () => ({ usergroups: [{ id: 'S0SUPPORT', handle: 'support' }] }),
    users: {
      list: async ({ usergroup }: { usergroup: string }) => ({
        users: told(usergroup, members[usergroup] ?? []),
      }),
    },
  },
} as unknown as WebClient;

function memory(): SharedAnswers {
  const values = new Map<string, { value: unknown; atMs: number }>();
  return { get: async (key) => values.get(key), set: async (key, value) => void values.set(key, value) };
}

function log(_level: string, message: string, fields = {}): void {
  logged.push(message + JSON.stringify(fields));
}

function directory(
  roles: Record<string, Partial<Role>>,
  options: { cache?: SharedAnswers; identity?: Identity | undefined } = {},
) {
  const { cache = memory(), identity } = { identity: { teamId: 'T0TEAM' }, ...options };
  const whole = Object.entries(roles).map(([name, role]) => [
    name,
    { users: [], groups: [], may: ['*'], ...role },
  ]);
  const { mayRun, ...rest } = createDirectory(Object.fromEntries(whole) as Record<string, Role>, {
    client,
    cache,
    log,
    now: () => nowMs,
    identity: () => identity,
  });
  return { ...rest, permitOf: (userId: string) => mayRun('charge', { userId }) };
}

const byId = { agent: { users: ['U0AGENT', 'U0BOSS'] } };
const byGroup = { lead: { users: ['U0BOSS'], groups: ['S0LEADS'] } };
const allowed = { kind: 'allowed' };
const refusedFor = (rule: string) => ({ kind: 'refused', rule: expect.stringContaining(rule) });

describe('members of a group', () => {
  it('are fetched once in ten minutes for all replicas', async () => {
    members['S0LEADS'] = ['U0LEAD'];
    const cache = memory();
    const [here, there] = [directory(byGroup, { cache }), directory(byGroup, { cache })];
    expect(await here.permitOf('U0LEAD')).toEqual(allowed);
    members['S0LEADS'] = [];
    nowMs = 9 * minuteMs;
    expect(await here.permitOf('U0LEAD')).toEqual(allowed);
    expect(await there.permitOf('U0LEAD')).toEqual(allowed);
    expect(asked).toEqual(['S0LEADS', 'U0LEAD']);
    nowMs = 10 * minuteMs;
    expect(await here.permitOf('U0LEAD')).toMatchObject(refusedFor('permission “charge”'));
  });

  it('are refused while Slack has never listed the group, but people listed by user id are not', async () => {
    members['S0LEADS'] = 'down';
    const { permitOf, rolesOf, holdersOf } = directory(byGroup);
    expect(await permitOf('U0LEAD')).toMatchObject(refusedFor('Slack didn’t say who is in S0LEADS'));
    expect(await rolesOf('charge', 'U0LEAD')).toEqual({ kind: 'unknown' });
    expect(await permitOf('U0BOSS')).toEqual(allowed);
    expect(await holdersOf('charge')).toEqual(['U0BOSS']);
  });

  it.each([
    ['S0LEADS', 'plan_upgrade_required', 'user ids'],
    ['S0LEADS', 'missing_scope', 'usergroups:read'],
    ['@suport', '', 'check its handle'],
  ])(
    'of %s count as none after “%s”, with one warning that names the fix',
    async (group, slackError, fix) => {
      members[group] = slackError;
      const { permitOf } = directory({ lead: { groups: [group] } });
      await permitOf('U0OUT');
      nowMs = 11 * minuteMs;
      expect(await permitOf('U0OUT')).toMatchObject({
        kind: 'refused',
        notes: [expect.stringContaining(`${group} counts as empty`)],
      });
      expect(logged).toEqual([expect.stringContaining(fix)]);
    },
  );

  it('are fetched only if the group is in a fitting role', async () => {
    members['S0LEADS'] = ['U0LEAD'];
    expect(await directory(byGroup).permitOf('U0OUT')).toMatchObject({ kind: 'refused' });
    expect(asked).toEqual(['S0LEADS']);
  });
});

describe('a permitted person', () => {
  it.each([
    ['a guest', { is_restricted: true }, 'Guests can’t use the bot'],
    ['a guest of one channel', { is_ultra_restricted: true }, 'Guests can’t use the bot'],
    ['a bot', { is_bot: true }, 'Bots and workflows'],
    ['a workflow', { is_workflow_bot: true }, 'Bots and workflows'],
    ['somebody deactivated', { deleted: true }, 'deactivated'],
    ['somebody of another workspace', { team_id: 'T0OTHER' }, 'own workspace'],
    ['a stranger', { is_stranger: true }, 'own workspace'],
    ['an account Slack does not know here', 'user_not_found', 'no such account'],
  ])('is never %s, even if a role lists them', async (_who, account, rule) => {
    accounts['U0AGENT'] = account;
    const { permitOf, rolesOf, holdersOf } = directory(byId);
    expect(await permitOf('U0AGENT')).toMatchObject(refusedFor(rule));
    expect(await rolesOf('charge', 'U0AGENT')).toEqual({ kind: 'known', roles: [] });
    expect(await holdersOf('charge')).toEqual(['U0BOSS']);
  });

  it('may be of another workspace of the same organisation', async () => {
    const grid = { enterprise_id: 'E0ORG', teams: ['T0OTHER'] };
    accounts['U0AGENT'] = { team_id: 'T0OTHER', enterprise_user: grid };
    for (const [enterpriseId, kind] of [
      ['E0ORG', 'allowed'],
      ['E0ELSE', 'refused'],
    ] as const) {
      const { permitOf } = directory(byId, { identity: { teamId: 'T0TEAM', enterpriseId } });
      expect(await permitOf('U0AGENT')).toMatchObject({ kind });
    }
  });

  it('is of the bot’s workspace also while the bot does not know its own: Slack is asked then', async () => {
    accounts['U0BOSS'] = { team_id: 'T0OTHER' };
    const { permitOf } = directory(byId, { identity: undefined });
    expect(await permitOf('U0BOSS')).toMatchObject(refusedFor('own workspace'));
    expect(await permitOf('U0AGENT')).toEqual(allowed);
    expect(asked.filter((one) => one === 'bot')).toEqual(['bot']);
    accounts['bot'] = 'down';
    const away = directory(byId, { identity: undefined });
    expect(await away.permitOf('U0AGENT')).toMatchObject(refusedFor('Slack didn’t confirm your account'));
  });

  it('is fetched once for simultaneous questions, and known for a day while Slack is away', async () => {
    const { permitOf, rolesOf } = directory(byId);
    await Promise.all([permitOf('U0AGENT'), rolesOf('charge', 'U0AGENT'), permitOf('U0AGENT')]);
    expect(asked).toEqual(['U0AGENT']);
    accounts['U0AGENT'] = 'down';
    nowMs = 23 * hourMs;
    expect(await permitOf('U0AGENT')).toEqual(allowed);
    nowMs = 24 * hourMs;
    expect(await permitOf('U0AGENT')).toMatchObject(refusedFor('Slack didn’t'));
    expect(await rolesOf('charge', 'U0AGENT')).toEqual({ kind: 'unknown' });
  });

  it('is fetched again if the clock was put back', async () => {
    nowMs = 48 * hourMs;
    const cache = memory();
    const here = directory(byId, { cache });
    expect(await here.permitOf('U0AGENT')).toEqual(allowed);
    accounts['U0AGENT'] = { deleted: true };
    nowMs = hourMs;
    for (const { permitOf } of [here, directory(byId, { cache })])
      expect(await permitOf('U0AGENT')).toMatchObject(refusedFor('deactivated'));
  });

  it('is refused while the scope users:read is missing, and the refusal names the scope', async () => {
    accounts['U0AGENT'] = 'missing_scope';
    const whoCan = expect.stringContaining('users:read');
    expect(await directory(byId).permitOf('U0AGENT')).toMatchObject({ kind: 'refused', whoCan });
  });
});

it('lists every role with the permission, in any channel, for the named account only', async () => {
  members['S0SUPPORT'] = ['U0LEAD', 'U0AGENT'];
  const { rolesOf, holdersOf } = directory({
    agent: { groups: ['@support'] },
    desk: { users: ['U0LEAD'], may: ['charge'], channels: ['C0DESK0001'] },
    lagos: { users: ['U0LEAD', 'U0LAGOS'], accounts: ['lagos'] },
    other: { users: ['U0LEAD', 'U0OTHER'], may: ['lookup'] },
  });
  expect(await rolesOf('charge', 'U0LEAD')).toEqual({ kind: 'known', roles: ['agent', 'desk'] });
  const ofLagos = { kind: 'known', roles: ['agent', 'desk', 'lagos'] };
  expect(await rolesOf('charge@lagos', 'U0LEAD')).toEqual(ofLagos);
  expect(await holdersOf('charge')).toEqual(['U0LEAD', 'U0AGENT']);
});

it('knows a permitted person’s name for a day, on every replica, without another call', async () => {
  accounts['U0AGENT'] = { name: 'ada.o', profile: { display_name: '', real_name: 'Ada Obi' } };
  const cache = memory();
  const here = directory(byId, { cache });
  expect(await here.nameOf('U0AGENT')).toBeUndefined();
  await here.permitOf('U0AGENT');
  nowMs = 23 * hourMs;
  expect(await here.nameOf('U0AGENT')).toBe('Ada Obi');
  expect(await directory(byId, { cache }).nameOf('U0AGENT')).toBe('Ada Obi');
  expect(asked).toEqual(['U0AGENT']);
  nowMs = 25 * hourMs;
  expect(await here.nameOf('U0AGENT')).toBeUndefined();
});
