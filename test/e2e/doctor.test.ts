import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { parse } from 'yaml';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { neededScopes, optionalScopes } from '../../src/features/doctor/slack-checks.ts';
import { openDesk, runHere } from '../support/desk.ts';
import {
  behind,
  inStore,
  manifest,
  openStage,
  webPage,
  type Broken,
  type Doctor,
} from '../support/examined.ts';
import { bySocket, openHouse } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';

type SetUp = Broken & {
  /** Each part with a problem, and words of the finding and its fix. */
  problems: Record<string, readonly [says: string, fix: string]>;
};

const wrongToken = 'xoxb-wrong-token-canary-9731';
const wrongSecret = 'wrong-client-secret-canary-5521';
const otherKey = `k2:${Buffer.alloc(32, 'another-key-canary').toString('base64')}`;
const noWebhooks = Object.fromEntries(
  ['SIGNATURE_PRESET', 'SIGNATURE_HEADER', 'SIGNATURE_ALGORITHM', 'SECRETS'].map((name) => [
    `WEBHOOK_${name}`,
    '',
  ]),
);

/** Puts this user in the place of every user in the policy file. */
function withUser(id: string): (policy: string) => string {
  return (policy) => policy.replaceAll(/users: \[[^\]]*\]/g, `users: [${id}]`);
}

function withGroup(group: string): (policy: string) => string {
  return (policy) =>
    policy.replace('roles:', `roles:\n  extra:\n    groups: ["${group}"]\n    may: [lookup]`);
}

/** The problems if Slack answers each token with an error. */
function ofBothTokens(...words: [says: string, fix: string]): SetUp['problems'] {
  return { 'Slack token': words, ...(bySocket && { 'Slack app token': words }) };
}

const setUps: Record<string, SetUp> = {
  'a bot token that Slack has revoked': {
    env: { SLACK_BOT_TOKEN: wrongToken },
    problems: { 'Slack token': ['invalid_auth', 'SLACK_BOT_TOKEN'] },
  },
  'a Slack that is away': {
    breaks: ({ workspace }) => workspace.setFaults({ kind: 'down' }),
    problems: ofBothTokens('Slack does not answer', 'SLACK_API_URL'),
  },
  'a Slack that hangs': {
    breaks: ({ workspace }) => workspace.setFaults({ kind: 'hang' }),
    problems: ofBothTokens('Slack does not answer', 'SLACK_API_URL'),
  },
  'a proxy in the place of Slack': {
    breaks: async (_house, test) => ({ SLACK_API_URL: `${await webPage(test, 403)}/api/` }),
    problems: ofBothTokens('http_403', 'proxy'),
  },
  'an app token that is none, in Socket Mode': {
    env: { SLACK_MODE: 'socket', SLACK_APP_TOKEN: 'xapp-wrong-canary-1147', SLACK_SIGNING_SECRET: '' },
    problems: { 'Slack app token': ['invalid_auth', 'connections:write'] },
  },
  'an app without a scope that it needs': {
    withoutScope: 'users:read',
    problems: { 'Slack scopes': ['users:read', 'reinstall'] },
  },
  'a clock that is ten minutes fast': {
    clockMs: 600_000,
    problems: { 'Slack clock': ['ahead of that of Slack', 'NTP'] },
  },
  'a channel that is archived': {
    breaks: ({ workspace }) => workspace.setChannel(workspace.ids.channels.payAlerts, { archived: true }),
    problems: { 'Channel C0ALERTS01': ['is_archived', 'Unarchive'] },
  },
  'a private channel that the bot is not in': {
    policy: (policy) => policy.replace('ops: C0OPS00001', 'ops: C0PRIVATE1'),
    problems: { 'Channel C0PRIVATE1': ['channel_not_found', '/invite @pay'] },
  },
  'a channel without the bot, and without the scope to post there': {
    withoutScope: 'chat:write.public',
    breaks: ({ workspace }) => workspace.setChannel(workspace.ids.channels.payDesk, { botIsMember: false }),
    problems: { 'Channel C0DESK0001': ['not_in_channel', '/invite @pay'] },
  },
  'a rule that calls people who are not in its channel': {
    policy: (policy) =>
      `${policy}routes: [{ name: big, to: C0ALERTS01, mention: U0GUEST001, escalate: { after: 5m, to: S0ONCALL01 } }]\n`,
    problems: { 'Calls by rule big': ['U0GUEST001 in C0ALERTS01', 'Add them to the channel'] },
  },
  'a user group that does not exist': {
    policy: withGroup('@payers'),
    problems: { 'User group @payers': ['no_such_subteam', 'payops.yml'] },
  },
  'user groups on a free plan': {
    house: { workspace: { grantedOptionalScopes: 'all', hasUserGroups: false } },
    policy: withGroup('@support-agents'),
    problems: { 'User group @support-agents': ['plan_upgrade_required', 'list user ids'] },
  },
  'user groups without their scope': {
    withoutScope: 'usergroups:read',
    policy: withGroup('@support-agents'),
    problems: { 'User group @support-agents': ['missing_scope', 'usergroups:read'] },
  },
  'roles whose only person has left': {
    policy: (policy) => withUser('U0FORMER01')(policy).replace(/ {2}lead:[^]*?(?= {2}on-call:)/, ''),
    problems: {
      'Role support-agent': ['U0FORMER01 (deactivated)', 'roles.support-agent'],
      'Role on-call': ['deactivated', 'roles.on-call'],
      'Role pay-ops': ['deactivated', 'roles.pay-ops'],
    },
  },
  'a role of a guest alone': {
    policy: (policy) => policy.replace(/users: \[U0AGENT01\]/, 'users: [U0GUEST001]'),
    problems: { 'Role support-agent': ['U0GUEST001 (guest)', 'active members'] },
  },
  'a role without people': {
    policy: (policy) => policy.replace('roles:', 'roles:\n  auditor:\n    may: [story]'),
    problems: { 'Role auditor': ['lists nobody', 'roles.auditor'] },
  },
  'no roles at all': {
    policy: (policy) => policy.replace(/roles:[^]*/, ''),
    problems: { Roles: ['no roles', 'docs/policy.md'] },
  },
  'a payments service that is away': {
    breaks: ({ payments }) => payments.setFaults({ kind: 'down' }),
    problems: { 'Payments service': ['could not be reached', 'PAYMENTS_BASE_URL'] },
  },
  'a payments service that hangs': {
    breaks: ({ payments }) => payments.setFaults({ kind: 'hang' }),
    problems: { 'Payments service': ['No answer', 'PAYMENTS_BASE_URL'] },
  },
  'a payments service that is not well': {
    breaks: ({ payments }) => payments.setFaults({ kind: 'error_500' }),
    problems: { 'Payments service': ['HTTP 500', 'Ask the payments service'] },
  },
  'a payments service that takes no more calls': {
    breaks: ({ payments }) => payments.setFaults({ kind: 'rate_limited' }),
    problems: { 'Payments service': ['no more calls', 'None needed'] },
  },
  'a web page in the place of the payments service': {
    breaks: async (_house, test) => ({ PAYMENTS_BASE_URL: await webPage(test, 200) }),
    problems: { 'Payments token': ['not JSON', 'PAYMENTS_BASE_URL'] },
  },
  'a wrong client secret': {
    env: { PAYMENTS_CLIENT_SECRET: wrongSecret },
    problems: { 'Payments token': ['refused to give an access token', 'PAYMENTS_CLIENT_SECRET'] },
  },
  'a client secret that became wrong while a stored token is still good': {
    async breaks(house) {
      await runHere(['payops', 'lookup', 'ORDER-1'], house.settings());
      return { PAYMENTS_CLIENT_SECRET: wrongSecret };
    },
    problems: { 'Payments token': ['refused to give an access token', 'PAYMENTS_CLIENT_SECRET'] },
  },
  'the id of another account': {
    env: { PAYMENTS_ACCOUNT_ID: '11111111-2222-4333-8444-555555555555' },
    problems: { 'Payments token': ['may not do that', 'PAYMENTS_ACCOUNT_ID'] },
  },
  'a ready token that the service does not accept': {
    env: { PAYMENTS_STATIC_TOKEN: 'static-token-canary-8820', PAYMENTS_TOKEN_ISSUE_BODY: '' },
    problems: { 'Payments look-up': ['does not accept the access token', 'PAYMENTS_STATIC_TOKEN'] },
  },
  'unreadable look-ups': {
    breaks: ({ payments }) =>
      payments.setFaults({ kind: 'unreadable', operation: 'GET /v1/transactions/accounts/single' }),
    problems: { 'Payments look-up': ['not JSON', 'PAYMENTS_BASE_URL'] },
  },
  'a stand-in that knows every reference': {
    house: { payments: { orderFor: () => ({ amountMinor: 500_000, state: 'paid' }) } },
    problems: { 'Payments look-up': ['cannot exist was answered', 'stand-in'] },
  },
  'a sandbox that is called live': {
    breaks: async (house, test) => ({
      PAYMENTS_BASE_URL: await behind(house, test, { prefix: '/sandbox-api' }),
    }),
    problems: { 'Payments environment': ['live, and the address is of a sandbox', 'PAYMENTS_ENVIRONMENT'] },
  },
  'a live service that is called sandbox': {
    breaks: async (house, test) => ({
      PAYMENTS_ENVIRONMENT: 'sandbox',
      PAYMENTS_SANDBOX_URL: await behind(house, test, { missing: '/sandbox/' }),
    }),
    problems: { 'Payments environment': ['none of the sandbox’s paths', 'PAYMENTS_SANDBOX_URL'] },
  },
  'no recipe for the signature of events': {
    env: noWebhooks,
    problems: { 'Webhook settings': ['Every delivery is refused', 'WEBHOOK_SIGNATURE_PRESET'] },
  },
  'a record that was put aside': {
    breaks: (house) =>
      inStore(house, (store) => store.create('aside:1 charge:x', '', { index: { aside: 1 } })),
    problems: { 'Records put aside': ['1', 'restart the bot'] },
  },
  'a sealing key that was replaced': {
    async breaks(house) {
      const first = house.bot();
      await house.start(first);
      await house.decline();
      await house.payments.settled();
      await first.stop();
      writeFileSync(join(house.dataDir, 'sealing.key'), Buffer.alloc(32, 9));
    },
    problems: { 'Sealing keys': ['do not open', 'sealing.key'] },
  },
  'a key file that is gone': {
    breaks: (house) => rmSync(join(house.dataDir, 'sealing.key')),
    problems: { Store: ['is missing', 'Put it back from a backup'] },
  },
  'a key file that others may read': {
    breaks(house) {
      writeFileSync(join(house.dataDir, 'sealing.key'), Buffer.alloc(32, 7));
      chmodSync(join(house.dataDir, 'sealing.key'), 0o644);
    },
    problems: { Store: ['may be read by others', 'chmod 600'] },
  },
  'a data folder that cannot be made': {
    breaks: (house) => ({ DATA_DIR: join(house.policyFile, 'data') }),
    problems: { Store: ['cannot be written to', 'Set DATA_DIR'] },
  },
  'a Redis that is away': {
    env: { REDIS_URL: 'redis://127.0.0.1:1', SEALING_KEYS: otherKey },
    problems: { Store: ['does not answer', 'REDIS_URL'] },
  },
  'a Redis that may delete what it holds': {
    redis: ['--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru'],
    problems: { Store: ['allkeys-lru', 'noeviction'] },
  },
  'a Redis that is full': {
    redis: ['--maxmemory', '1'],
    problems: { Store: ['out of memory', 'maxmemory'] },
  },
  'a Redis that is a replica': {
    redis: ['--replicaof', '127.0.0.1', '1'],
    problems: { Store: ['a replica', 'master'] },
  },
};

const hasRedis = findProgram('redis-server') !== undefined;
if (!hasRedis) console.warn('SKIPPED: the doctor of a broken Redis, because redis-server is not installed.');

async function examine(test: TestContext, setUp: Broken): Promise<Doctor> {
  return await (await openStage(test, setUp)).examine();
}

describe.concurrent('the doctor', () => {
  it('finds nothing in a healthy bot', async (test) => {
    const { code, findings } = await examine(test, {});
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
      expect.objectContaining({ part: 'Webhook deliveries', state: 'warning', says: 'None has come yet' }),
    ]);
    expect(findings.length).toBeGreaterThan(15);
    expect(code).toBe(0);
  });

  it('finds nothing in a healthy bot in Socket Mode', async (test) => {
    const { code, findings } = await examine(test, {
      env: { SLACK_MODE: 'socket', SLACK_APP_TOKEN: 'xapp-playground-app-token', SLACK_SIGNING_SECRET: '' },
    });
    expect(findings).toContainEqual(expect.objectContaining({ part: 'Slack app token', state: 'ok' }));
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([]);
    expect(code).toBe(0);
  });

  const possible = Object.entries(setUps).filter(([, { redis }]) => hasRedis || redis === undefined);
  it.for(possible)('names %s with a one-line fix, and blames nothing else', async ([, setUp], test) => {
    const { code, findings } = await examine(test, setUp);
    const found = findings.filter(({ state }) => state === 'problem');
    const expected = Object.entries(setUp.problems).map(([part, [says, fix]]) => ({
      part,
      state: 'problem',
      says: expect.stringContaining(says),
      fix: expect.stringContaining(fix),
    }));
    expect(found).toEqual(expected);
    expect(found.filter(({ fix = '' }) => fix === '' || fix.includes('\n'))).toEqual([]);
    expect(code).toBe(1);
  });
});

describe.concurrent('the doctor with a rate-limited Slack', () => {
  it('waits as long as Slack asks, for example after another doctor', async (test) => {
    const stage = await openStage(test, {});
    const { workspace } = stage.house;
    const { apiUrl, credentials } = workspace;
    for (let asked = 0; asked < 50; asked += 1) {
      await fetch(`${apiUrl}conversations.info?channel=${workspace.ids.channels.payAlerts}`, {
        headers: { authorization: `Bearer ${credentials.botToken}` },
      });
    }
    const { code, findings } = await stage.examine();
    expect(findings.filter(({ part }) => part.startsWith('Channel'))).toEqual(
      Array.from({ length: 4 }, () => expect.objectContaining({ state: 'ok' })),
    );
    expect(workspace.stats().rateLimited).toBeGreaterThan(0);
    expect(code).toBe(0);
  });

  it('calls nothing a problem that it could not check in time', async (test) => {
    const stage = await openStage(test, {});
    stage.house.workspace.setFaults(
      { kind: 'rate_limited', method: 'conversations.info' },
      { kind: 'rate_limited', method: 'users.info' },
    );
    const { code, findings } = await stage.examine();
    const unlooked = findings.filter(({ state }) => state === 'skipped');
    expect(unlooked.length).toBeGreaterThan(6);
    expect(unlooked.filter(({ says }) => !/^Slack (?:asks to wait|does not say)/.test(says))).toEqual([]);
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([]);
    expect(code).toBe(0);
  });
});

describe('the scopes that the doctor knows', () => {
  it('are those of manifest.yml', () => {
    const { oauth_config: oauth } = parse(manifest) as {
      oauth_config: { scopes: Record<'bot' | 'bot_optional', string[]> };
    };
    const { bot, bot_optional: optional } = oauth.scopes;
    expect([...neededScopes, ...Object.keys(optionalScopes)].toSorted()).toEqual(bot.toSorted());
    expect(Object.keys(optionalScopes).toSorted()).toEqual(optional.toSorted());
  });
});

describe('/pay doctor', () => {
  it('doesn’t call a part working that it may not check', async (test) => {
    const desk = await openDesk(test);
    await desk.house.decline();
    await desk.settled('soon');
    const shown = await desk.asks('onCall', '/pay doctor', 'Nothing broken, 4 parts not checked');
    expect(shown.shown.text).toMatch(/Not checked: Channel C0ALERTS01.*grant the scopes channels:read/);
  });

  it('reports a problem with its fix, and once that is done, that the part works', async (test) => {
    const desk = await openDesk(test, { workspace: { grantedOptionalScopes: 'all' } });
    const { workspace } = desk.house;
    await desk.asks('agent', '/pay doctor', 'Not allowed');
    workspace.setChannel(workspace.ids.channels.payAlerts, { archived: true });
    const broken = await desk.asks('onCall', '/pay doctor', '1 problem, 1 warning');
    expect(broken.shown.text).toMatch(/❌ Channel C0ALERTS01 ?: channels.alerts of payops.yml: is_archived/);
    expect(broken.shown.text).toContain('Fix: Unarchive C0ALERTS01');
    workspace.setChannel(workspace.ids.channels.payAlerts, { archived: false });
    const well = await desk.asks('onCall', '/pay doctor', '1 warning');
    expect(well.shown.text).toContain('None has come yet');
    expect(well.shown.text).toMatch(/Working: .*Payments look-up/);
  });
});

async function readJson(words: readonly string[], env: Record<string, string>): Promise<object> {
  const { code, stdout, stderr } = await runHere(words, env);
  return { code, stderr, ...(JSON.parse(stdout) as object) };
}

function unread(says: string) {
  const of = { part: 'Settings', state: 'problem', fix: expect.any(String) };
  return {
    kind: 'doctor',
    ok: false,
    findings: [{ ...of, says: expect.stringContaining(says) }],
    stderr: '',
  };
}

describe('npm run doctor', () => {
  it('prints a line for each part, and says if settings are unreadable', async (test) => {
    const { settings } = await openStage(test, {});
    const { code, stdout } = await runHere(['doctor'], settings);
    expect(stdout).toContain('✅ Slack token: Slack knows the bot');
    expect(stdout).toMatch(/⚠️ Webhook deliveries: None has come yet\n {3}Fix: Give the payments service/);
    expect(stdout.trimEnd()).toMatch(/\n1 warning$/);
    expect(code).toBe(0);
    const misspelt = await runHere(['doctor'], { ...settings, SLACK_SIGNIN_SECRET: 'signing-canary-3310' });
    expect(misspelt).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Did you mean SLACK_SIGNING_SECRET?'),
    });
    expect(misspelt.stderr).not.toContain('canary');
  });

  it('prints its report first, and other errors below it', async (test) => {
    const { settings } = await openStage(test, {});
    const written: string[] = [];
    const stream = {
      write(text: string, done?: () => void) {
        written.push(text);
        done?.();
        return true;
      },
    };
    const variables = {
      ...settings,
      SLACK_API_URL: 'http://127.0.0.1:9',
      CHARGE_WAITS: '1',
      LOG_LEVEL: 'info',
    };
    const line = { words: ['doctor'], variables, stdout: stream, stderr: stream, now: () => Date.now() };
    expect(await runCommandLine(line)).toBe(1);
    const [report, ...below] = written.join('').split(/(?<=\n)(?=Warning|\{)/);
    expect(report).toMatch(/^✅ Store: .*\n\d problems?, \d warnings?\n$/s);
    expect(below.join('')).toContain('Warning: CHARGE_WAITS is not a setting of Payops');
    expect(below.join('')).toContain('Slack library: http request failed');
  });

  it('prints JSON with --json even if it can’t check anything', async (test) => {
    const house = await openHouse(test);
    const settings = house.settings();
    const misspelt = { ...settings, SLACK_SIGNIN_SECRET: 'signing-canary-3310' };
    expect(await readJson(['doctor', '--json'], misspelt)).toEqual({
      code: 5,
      ...unread('SLACK_SIGNIN_SECRET'),
    });
    const noFile = { ...settings, PAYOPS_FILE: `${house.folder}/none.yml` };
    expect(await readJson(['doctor', '--json'], noFile)).toEqual({ code: 5, ...unread('none.yml') });
    expect(await readJson(['doctor', '--json', '--quick'], settings)).toMatchObject({ code: 2, ok: false });
  });
});
