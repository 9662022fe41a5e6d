import nock from 'nock';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/log.ts';
import { createMayRun, type DirectoryCache, type Role } from '../../src/slack/directory.ts';
import { createClients } from '../../src/slack/workspace.ts';
import { mockTheOutside } from '../support/mocks.ts';

mockTheOutside();

const logged: string[] = [];
const minuteMs = 60_000;
let now = 0;
beforeEach(() => {
  now = 0;
  logged.length = 0;
});

const roles: Record<string, Role> = {
  agent: { users: ['U0AGENT'], groups: ['@support'], may: ['lookup'] },
  lead: { users: [], groups: ['S0LEADS'], may: ['*'] },
};

function memoryCache(): DirectoryCache {
  const values = new Map<string, string>();
  return { get: async (key) => values.get(key), set: async (key, value) => void values.set(key, value) };
}

function mayRun(options: { roles?: Record<string, Role>; cache?: DirectoryCache } = {}) {
  const log = createLog({
    level: 'warn',
    secrets: [],
    write: (line) => logged.push(line),
    now: () => new Date(0),
  });
  const clients = createClients({ botToken: 'xoxb-1', slackApiUrl: 'https://slack.test/api' }, log);
  return createMayRun(options.roles ?? roles, {
    client: clients.interactive,
    cache: options.cache ?? memoryCache(),
    log,
    now: () => now,
  });
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
  it('lets through who is listed by id, without asking Slack', async () => {
    expect(await mayRun()('lookup', { userId: 'U0AGENT' })).toEqual({ kind: 'allowed' });
  });

  it('lets through members of a group, by handle and by id', async () => {
    answerGroups(['U0LEAD'], ['U0ADA']);
    const check = mayRun();
    expect(await check('lookup', { userId: 'U0ADA' })).toEqual({ kind: 'allowed' });
    expect(await check('refund', { userId: 'U0LEAD' })).toEqual({ kind: 'allowed' });
    expect(await check('refund', { userId: 'U0ADA' })).toMatchObject({ kind: 'refused' });
  });

  it('refuses everybody else, and says which rule and who can', async () => {
    answerGroups([], []);
    expect(await mayRun()('lookup', outsider)).toEqual({
      kind: 'refused',
      rule: 'It needs the permission “lookup”',
      whoCan: 'People in the roles agent (@support), lead (S0LEADS)',
    });
  });

  it('refuses everybody when no role has the permission', async () => {
    expect(await mayRun({ roles: {} })('lookup', { userId: 'U0AGENT' })).toMatchObject({
      kind: 'refused',
      whoCan: expect.stringContaining('Nobody'),
    });
  });

  it('asks Slack again after ten minutes, not before', async () => {
    const onlyLeads = { lead: roles['lead'] as Role };
    const check = mayRun({ roles: onlyLeads });
    answerLeads(['U0LEAD']);
    expect(await check('x', { userId: 'U0LEAD' })).toEqual({ kind: 'allowed' });
    now = 9 * minuteMs;
    expect(await check('x', { userId: 'U0LEAD' })).toEqual({ kind: 'allowed' });
    now = 10 * minuteMs;
    answerLeads([]);
    expect(await check('x', { userId: 'U0LEAD' })).toMatchObject({ kind: 'refused' });
  });

  it('asks Slack once for many callers at the same time', async () => {
    const check = mayRun({ roles: { lead: roles['lead'] as Role } });
    answerLeads(['U0LEAD']);
    const permits = await Promise.all([1, 2, 3].map(() => check('x', { userId: 'U0LEAD' })));
    expect(permits.map((permit) => permit.kind)).toEqual(['allowed', 'allowed', 'allowed']);
  });

  it('goes by the last known members while Slack is away', async () => {
    const check = mayRun({ roles: { lead: roles['lead'] as Role } });
    answerLeads(['U0LEAD']);
    await check('x', { userId: 'U0LEAD' });
    now = 60 * minuteMs;
    slack('usergroups.users.list').reply(503);
    expect(await check('x', { userId: 'U0LEAD' })).toEqual({ kind: 'allowed' });
  });

  it('lets nobody through by group while Slack is away and the members are unknown, and says so', async () => {
    slack('usergroups.users.list').reply(503);
    const check = mayRun({ roles: { lead: { users: ['U0BOSS'], groups: ['S0LEADS'], may: ['*'] } } });
    expect(await check('x', { userId: 'U0LEAD' })).toMatchObject({
      kind: 'refused',
      rule: expect.stringContaining('Slack could not be asked who is in S0LEADS'),
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
    });
    now = 11 * minuteMs;
    await check('x', outsider);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain(fix);
  });

  it('counts a group that does not exist as empty, with the fix', async () => {
    slack('usergroups.list').reply(200, { ok: true, usergroups: [] });
    const check = mayRun({ roles: { agent: { users: [], groups: ['@suport'], may: ['lookup'] } } });
    expect(await check('lookup', outsider)).toMatchObject({ kind: 'refused' });
    expect(logged.join('')).toContain('check its handle');
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
