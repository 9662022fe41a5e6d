import nock from 'nock';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/slack/command.ts';
import type { Directory } from '../../../src/slack/people/directory.ts';
import type { DirectoryCache } from '../../../src/slack/remembered.ts';
import type { Role } from '../../../src/slack/people/role.ts';
import {
  directoryOn,
  directoryStage,
  memoryCache,
  type DirectoryOptions,
} from '../../support/directory-stage.ts';
import { mockTheOutside } from '../../support/mocks.ts';

mockTheOutside();
const stage = directoryStage();
const minuteMs = 60_000;

const roles: Record<string, Role> = {
  agent: { users: ['U0AGENT'], groups: ['@support'], may: ['lookup'] },
  lead: { users: [], groups: ['S0LEADS'], may: ['*'] },
};

type Options = Partial<DirectoryOptions>;

function directory(options: Options = {}): Directory {
  return directoryOn(stage, { roles, ...options });
}

function mayRun(options: Options = {}) {
  return directory(options).mayRun;
}

function slack(method: string) {
  return nock('https://slack.test').post(`/api/${method}`);
}

function answerGroups(leads: string[], support: string[]): void {
  slack('usergroups.list').reply(200, { ok: true, usergroups: [{ id: 'S0SUPPORT', handle: 'support' }] });
  nock('https://slack.test')
    .post('/api/usergroups.users.list', (body: Record<string, string>) => body['usergroup'] === 'S0SUPPORT')
    .reply(200, { ok: true, users: support });
  answerLeads(leads);
}

function answerLeads(leads: string[]): void {
  nock('https://slack.test')
    .post('/api/usergroups.users.list', (body: Record<string, string>) => body['usergroup'] === 'S0LEADS')
    .reply(200, { ok: true, users: leads });
}

const outsider = { userId: 'U0OUT' };

describe('mayRun', () => {
  it('asks Slack again after ten minutes, not before', async () => {
    const onlyLeads = { lead: roles['lead'] as Role };
    const check = mayRun({ roles: onlyLeads });
    answerLeads(['U0LEAD']);
    expect(await check('x', { userId: 'U0LEAD' })).toEqual({ kind: 'allowed' });
    stage.nowMs = 9 * minuteMs;
    expect(await check('x', { userId: 'U0LEAD' })).toEqual({ kind: 'allowed' });
    stage.nowMs = 10 * minuteMs;
    answerLeads([]);
    expect(await check('x', { userId: 'U0LEAD' })).toMatchObject({ kind: 'refused' });
  });

  it('lets nobody through by group while Slack is away and the members are unknown, and says so', async () => {
    slack('usergroups.users.list').reply(503);
    const check = mayRun({ roles: { lead: { users: ['U0BOSS'], groups: ['S0LEADS'], may: ['*'] } } });
    expect(await check('x', { userId: 'U0LEAD' })).toMatchObject({
      kind: 'refused',
      rule: expect.stringContaining('Slack didn’t say who is in S0LEADS'),
    });
    expect(await check('x', { userId: 'U0BOSS' })).toEqual({ kind: 'allowed' });
  });

  it.each([
    ['paid_teams_only', 'user ids'],
    ['plan_upgrade_required', 'user ids'],
    ['missing_scope', 'usergroups:read'],
    ['unknown_method', 'user ids'],
  ])('counts a group as empty on %s, with one warning that names the fix', async (slackError, fix) => {
    const check = mayRun({ roles: { lead: roles['lead'] as Role } });
    slack('usergroups.users.list').times(2).reply(200, { ok: false, error: slackError });
    expect(await check('x', outsider)).toMatchObject({
      kind: 'refused',
      rule: expect.stringContaining('permission'),
      notes: [expect.stringContaining('S0LEADS counts as empty')],
    });
    stage.nowMs = 11 * minuteMs;
    expect(await check('x', outsider)).toMatchObject({ notes: [expect.stringContaining(fix)] });
    expect(stage.logged).toHaveLength(1);
    expect(stage.logged[0]).toContain(fix);
  });

  it('counts a group that does not exist as empty, with the fix', async () => {
    slack('usergroups.list').reply(200, { ok: true, usergroups: [] });
    const check = mayRun({ roles: { agent: { users: [], groups: ['@suport'], may: ['lookup'] } } });
    expect(await check('lookup', outsider)).toMatchObject({ kind: 'refused' });
    expect(stage.logged.join('')).toContain('check its handle');
  });

  it('goes by what another replica has asked', async () => {
    const cache = memoryCache();
    const only = { roles: { lead: roles['lead'] as Role }, cache };
    answerLeads(['U0LEAD']);
    await mayRun(only)('x', { userId: 'U0LEAD' });
    expect(await mayRun(only)('x', { userId: 'U0LEAD' })).toEqual({ kind: 'allowed' });
    expect(stage.whoAsked).toEqual(['U0LEAD']);
  });

  it('works without a cache that works', async () => {
    const broken: DirectoryCache = {
      get: () => Promise.reject(new Error('cache away')),
      set: () => Promise.reject(new Error('cache away')),
    };
    answerLeads(['U0LEAD']);
    const check = mayRun({ roles: { lead: roles['lead'] as Role }, cache: broken });
    expect(await check('x', { userId: 'U0LEAD' })).toEqual({ kind: 'allowed' });
  });
});

function at(more: Omit<Caller, 'userId'>): Caller {
  return { userId: 'U0AGENT', ...more };
}

describe('where a role counts', () => {
  const placed: Record<string, Role> = {
    desk: { users: ['U0AGENT'], groups: [], may: ['charge'], channels: ['C0DESK0001', 'C0BACK0001'] },
    home: { users: ['U0AGENT'], groups: [], may: ['otp'], channels: ['direct'] },
    all: { users: ['U0AGENT'], groups: [], may: ['lookup'] },
  };
  const desk = at({ channelId: 'C0DESK0001', from: 'command' });
  const other = at({ channelId: 'C0OTHER001', from: 'message' });
  const message = at({ channelId: 'D0AGENT01', from: 'command' });
  const home = at({ from: 'home' });
  const shortcut = at({ from: 'shortcut' });
  const modal = at({ from: 'modal' });

  it.each([
    ['charge', [desk, modal], [other, message, home, shortcut, at({})]],
    ['otp', [message, home, shortcut, at({}), modal], [desk, other]],
    ['lookup', [desk, other, message, home, shortcut, at({}), modal], []],
  ])('lets “%s” be used there alone', async (permission, fits, fitsNot) => {
    const check = mayRun({ roles: placed });
    for (const caller of fits) expect(await check(permission, caller)).toEqual({ kind: 'allowed' });
    for (const caller of fitsNot) expect(await check(permission, caller)).toMatchObject({ kind: 'refused' });
  });
});

describe('who is let near money', () => {
  const agent: Caller = { userId: 'U0AGENT' };

  it.each([
    ['a guest', { is_restricted: true }, 'Guests may not use the bot'],
    [
      'a guest of one channel',
      { is_restricted: true, is_ultra_restricted: true },
      'Guests may not use the bot',
    ],
    ['a bot', { is_bot: true }, 'Bots and workflows'],
    ['a workflow', { is_workflow_bot: true }, 'Bots and workflows'],
    ['somebody deactivated', { deleted: true }, 'deactivated'],
    [
      'somebody of another workspace',
      { team_id: 'T0OTHER' },
      'people of the workspace the bot is installed in',
    ],
    ['a stranger', { is_stranger: true }, 'people of the workspace the bot is installed in'],
    ['an account Slack does not know here', { error: 'user_not_found' }, 'no such account'],
  ])('is not %s, whatever role lists them', async (_who, account, rule) => {
    stage.accounts['U0AGENT'] = account;
    const {
      mayRun: check,
      standingOf,
      holdersOf,
    } = directory({ roles: { agent: roles['agent'] as Role, ...byId } });
    const permit = await check('everything', agent);
    expect(permit).toMatchObject({ kind: 'refused', rule: expect.stringContaining(rule) });
    expect(permit).toMatchObject({ whoCan: expect.stringMatching(/member/) });
    expect(await standingOf('everything', 'U0AGENT')).toEqual({ kind: 'known', roles: [] });
    expect(await holdersOf('everything')).toEqual(['U0BOSS']);
  });

  const byId: Record<string, Role> = { all: { users: ['U0AGENT', 'U0BOSS'], groups: [], may: ['*'] } };

  it('is a person of another workspace of the same organisation', async () => {
    stage.accounts['U0AGENT'] = {
      team_id: 'T0OTHER',
      enterprise_user: { enterprise_id: 'E0ORG', teams: ['T0OTHER'] },
    };
    const within = mayRun({ roles: byId, identity: { teamId: 'T0TEAM', enterpriseId: 'E0ORG' } });
    expect(await within('x', agent)).toEqual({ kind: 'allowed' });
    const outside = mayRun({ roles: byId, identity: { teamId: 'T0TEAM', enterpriseId: 'E0ELSE' } });
    expect(await outside('x', agent)).toMatchObject({ kind: 'refused' });
  });

  it('is asked once in ten minutes, and once by many who ask at the same time', async () => {
    const check = mayRun({ roles: byId });
    await Promise.all([1, 2, 3].map(() => check('x', agent)));
    stage.nowMs = 9 * minuteMs;
    await check('x', agent);
    expect(stage.whoAsked).toEqual(['U0AGENT']);
    stage.nowMs = 10 * minuteMs;
    stage.accounts['U0AGENT'] = { is_restricted: true };
    expect(await check('x', agent)).toMatchObject({ kind: 'refused' });
    expect(stage.whoAsked).toEqual(['U0AGENT', 'U0AGENT']);
  });

  it('holds for a day while Slack is away, and then nobody is let through', async () => {
    const check = mayRun({ roles: byId });
    await check('x', agent);
    stage.accounts['U0AGENT'] = 'down';
    stage.nowMs = 23 * 60 * minuteMs;
    expect(await check('x', agent)).toEqual({ kind: 'allowed' });
    stage.nowMs = 24 * 60 * minuteMs;
    expect(await check('x', agent)).toMatchObject({
      kind: 'refused',
      rule: expect.stringContaining('Slack didn’t'),
    });
  });

  it('is nobody while the scope is missing, and the refusal names it', async () => {
    stage.accounts['U0AGENT'] = { error: 'missing_scope' };
    const { mayRun: check, standingOf } = directory({ roles: byId });
    expect(await check('x', agent)).toMatchObject({
      kind: 'refused',
      whoCan: expect.stringContaining('users:read'),
    });
    expect(await standingOf('x', 'U0AGENT')).toEqual({ kind: 'unknown' });
  });

  it('is not asked of somebody whom no group that is known holds', async () => {
    const check = mayRun({ roles: { lead: roles['lead'] as Role } });
    answerLeads(['U0LEAD']);
    await check('x', { userId: 'U0LEAD' });
    stage.whoAsked.length = 0;
    expect(await check('x', outsider)).toMatchObject({ kind: 'refused' });
    expect(stage.whoAsked).toEqual([]);
  });
});

describe('standingOf', () => {
  it('names every role that gives the permission, wherever it counts, for the account alone', async () => {
    answerGroups(['U0LEAD'], ['U0LEAD']);
    const { standingOf } = directory({
      roles: {
        ...roles,
        desk: { users: ['U0LEAD'], groups: [], may: ['lookup'], channels: ['C0DESK0001'] },
        lagos: { users: ['U0LEAD'], groups: [], may: ['lookup'], accounts: ['lagos'] },
        charger: { users: ['U0LEAD'], groups: [], may: ['charge'] },
      },
    });
    expect(await standingOf('lookup', 'U0LEAD')).toEqual({ kind: 'known', roles: ['agent', 'lead', 'desk'] });
    expect(await standingOf('lookup@lagos', 'U0LEAD')).toEqual({
      kind: 'known',
      roles: ['agent', 'lead', 'desk', 'lagos'],
    });
    expect(await standingOf('lookup', 'U0OUT')).toEqual({ kind: 'known', roles: [] });
  });

  it('is unknown when Slack is away and nothing is known, and never throws', async () => {
    slack('usergroups.users.list').times(2).reply(503);
    const { standingOf } = directory({ roles: { lead: roles['lead'] as Role } });
    expect(await standingOf('approve', 'U0LEAD')).toEqual({ kind: 'unknown' });
    stage.accounts['U0AGENT'] = 'down';
    const byId = directory({ roles: { lead: { users: ['U0AGENT'], groups: [], may: ['*'] } } });
    expect(await byId.standingOf('approve', 'U0AGENT')).toEqual({ kind: 'unknown' });
    await standingOf('approve', 'U0LEAD');
  });
});

describe('holdersOf', () => {
  it('gives users and members of groups once each, and leaves out what is not known', async () => {
    answerLeads(['U0LEAD', 'U0AGENT']);
    nock('https://slack.test')
      .post('/api/usergroups.users.list', (body: Record<string, string>) => body['usergroup'] === 'S0AWAY')
      .reply(503);
    const { holdersOf } = directory({
      roles: {
        agent: { users: ['U0AGENT'], groups: ['S0LEADS'], may: ['approve'], channels: ['C0DESK0001'] },
        away: { users: [], groups: ['S0AWAY'], may: ['*'] },
        other: { users: ['U0OTHER'], groups: [], may: ['lookup'] },
      },
    });
    expect(await holdersOf('approve')).toEqual(['U0AGENT', 'U0LEAD']);
  });
});

describe('nameOf', () => {
  it('is what Slack said of whoever was let through, for a day and on every replica, without another call', async () => {
    stage.accounts['U0AGENT'] = { name: 'ada.o', profile: { display_name: '', real_name: 'Ada Obi' } };
    const cache = memoryCache();
    const here = directory({ cache });
    expect(await here.nameOf('U0AGENT')).toBeUndefined();
    await here.mayRun('lookup', { userId: 'U0AGENT' });
    stage.nowMs = 23 * 60 * minuteMs;
    expect(await here.nameOf('U0AGENT')).toBe('Ada Obi');
    expect(await directory({ cache }).nameOf('U0AGENT')).toBe('Ada Obi');
    expect(stage.whoAsked).toEqual(['U0AGENT']);
    stage.nowMs = 25 * 60 * minuteMs;
    expect(await here.nameOf('U0AGENT')).toBeUndefined();
  });
});
