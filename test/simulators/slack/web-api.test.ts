import { afterEach, describe, expect, it } from 'vitest';
import { clientOf, closeAll, createClock, manifest, openWorkspace, refusal, section } from './support.ts';

afterEach(closeAll);

async function needed(call: Promise<unknown>): Promise<unknown> {
  return (await refusal(call))['needed'];
}

describe('the Web API door', () => {
  it('wants a token, the right one, of the right kind', async () => {
    const workspace = await openWorkspace();
    const call = (headers: Record<string, string>) =>
      fetch(`${workspace.apiUrl}auth.test`, { method: 'POST', headers }).then((answer) => answer.json());
    expect(await call({})).toMatchObject({ ok: false, error: 'not_authed' });
    expect(await call({ authorization: 'Bearer xoxb-other' })).toMatchObject({ error: 'invalid_auth' });
    expect(await call({ authorization: `Bearer ${workspace.credentials.appToken}` })).toMatchObject({
      error: 'not_allowed_token_type',
    });
    const bot = clientOf(workspace);
    expect(await bot.auth.test()).toMatchObject({ ok: true, bot_id: workspace.ids.botId });
    expect(await refusal(bot.apps.connections.open())).toMatchObject({ error: 'not_allowed_token_type' });
  });

  it('reads a token from a form but not from a JSON body', async () => {
    const workspace = await openWorkspace();
    const { botToken } = workspace.credentials;
    const form = await fetch(`${workspace.apiUrl}auth.test`, {
      method: 'POST',
      body: new URLSearchParams({ token: botToken }),
    });
    const json = await fetch(`${workspace.apiUrl}auth.test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: botToken }),
    });
    expect(await form.json()).toMatchObject({ ok: true });
    expect(await json.json()).toMatchObject({ error: 'not_authed' });
  });

  it('takes JSON arguments with the token in the header, and refuses other content types', async () => {
    const workspace = await openWorkspace();
    const authorization = `Bearer ${workspace.credentials.botToken}`;
    const post = (type: string, body: string) =>
      fetch(`${workspace.apiUrl}chat.postMessage`, {
        method: 'POST',
        headers: { authorization, 'content-type': type },
        body,
      }).then((answer) => answer.json());
    const message = JSON.stringify({ channel: workspace.ids.channels.payDesk, blocks: [section('Hello')] });
    expect(await post('application/json; charset=utf-8', message)).toMatchObject({ ok: true });
    expect(await post('text/plain', message)).toMatchObject({ error: 'invalid_post_type' });
    expect(await post('application/json', '{')).toMatchObject({ error: 'invalid_json' });
  });

  it('names unknown methods: those that the bot does not use among them', async () => {
    const workspace = await openWorkspace();
    expect(await refusal(clientOf(workspace).apiCall('pay.everybody'))).toMatchObject({
      error: 'unknown_method',
    });
  });

  it('says which argument is missing', async () => {
    const workspace = await openWorkspace();
    expect(await refusal(clientOf(workspace).apiCall('chat.postMessage', { text: 'x' }))).toMatchObject({
      error: 'invalid_arguments',
      response_metadata: { messages: ['[ERROR] missing required field: channel'] },
    });
  });

  it('grants the scopes of the manifest, of the optional ones only those ticked', async () => {
    const strict = await openWorkspace();
    const { payAlerts, agentDm } = strict.ids.channels;
    const answer = await refusal(clientOf(strict).conversations.history({ channel: payAlerts }));
    expect(answer).toMatchObject({ error: 'missing_scope', needed: 'channels:history' });
    expect(String(answer['provided'])).not.toContain('channels:history');
    expect(String(answer['provided'])).toContain('chat:write');
    expect(await refusal(clientOf(strict).conversations.history({ channel: agentDm }))).toMatchObject({
      needed: 'im:history',
    });
    const granted = await openWorkspace({ grantedOptionalScopes: ['channels:history', 'not:in:manifest'] });
    expect(await clientOf(granted).conversations.history({ channel: payAlerts })).toMatchObject({ ok: true });
  });

  it('asks each method for its own scope', async () => {
    const bare = { ...manifest, oauth_config: { scopes: { bot: ['commands'] } } };
    const workspace = await openWorkspace({ manifest: bare });
    const bot = clientOf(workspace);
    const { payDesk } = workspace.ids.channels;
    const { agent } = workspace.ids.users;
    expect(await needed(bot.chat.postMessage({ channel: payDesk, text: 'x' }))).toBe('chat:write');
    expect(await needed(bot.chat.postEphemeral({ channel: payDesk, user: agent, text: 'x' }))).toBe(
      'chat:write',
    );
    expect(await needed(bot.conversations.info({ channel: payDesk }))).toBe('channels:read');
    expect(await needed(bot.users.info({ user: agent }))).toBe('users:read');
    expect(await needed(bot.usergroups.list({}))).toBe('usergroups:read');
    expect(await needed(bot.usergroups.users.list({ usergroup: 'S1' }))).toBe('usergroups:read');
    const view = { type: 'home' as const, blocks: [] };
    expect(await bot.views.publish({ user_id: agent, view })).toMatchObject({ ok: true });
  });
});

describe('who is there', () => {
  it('tells users, channels and groups', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const { users, channels, groups } = workspace.ids;
    expect((await bot.users.info({ user: users.agent })).user).toMatchObject({
      real_name: 'Ada',
      is_restricted: false,
    });
    expect(await refusal(bot.users.info({ user: 'U0NOBODY' }))).toMatchObject({ error: 'user_not_found' });
    expect((await bot.users.info({ user: 'U0GUEST002' })).user).toMatchObject({
      is_restricted: true,
      is_ultra_restricted: true,
    });
    expect((await bot.users.info({ user: 'U0FORMER01' })).user).toMatchObject({ deleted: true });
    expect((await bot.users.info({ user: workspace.ids.botUserId })).user).toMatchObject({ is_bot: true });
    expect((await bot.conversations.info({ channel: channels.payOps })).channel).toMatchObject({
      name: 'pay-ops',
    });
    const listed = await bot.usergroups.list({ include_users: true });
    expect(listed.usergroups?.map((group) => [group.handle, group.users])).toEqual([
      ['support-agents', [users.agent]],
      ['pay-leads', [users.lead]],
      ['on-call', [users.onCall]],
    ]);
    expect((await bot.usergroups.users.list({ usergroup: groups.onCall })).users).toEqual([users.onCall]);
    expect(await refusal(bot.usergroups.users.list({ usergroup: 'S0NONE' }))).toMatchObject({
      error: 'no_such_subteam',
    });
  });

  it('has no user groups on the free plan', async () => {
    const workspace = await openWorkspace({ userNamesOnPaidPlan: false });
    const bot = clientOf(workspace);
    expect(await refusal(bot.usergroups.list({}))).toMatchObject({ error: 'paid_teams_only' });
    expect(
      await refusal(bot.usergroups.users.list({ usergroup: workspace.ids.groups.onCall })),
    ).toMatchObject({
      error: 'paid_teams_only',
    });
  });

  it('lets the bot ask for user groups twenty times a minute', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now });
    const bot = clientOf(workspace);
    for (let asked = 0; asked < 20; asked += 1) await bot.usergroups.list({});
    await expect(bot.usergroups.list({})).rejects.toMatchObject({ retryAfter: 3 });
    clock.advance(3000);
    expect(await bot.usergroups.list({})).toMatchObject({ ok: true });
  });
});
