import { afterEach, describe, expect, it } from 'vitest';
import { channelIds, credentials, userIds } from '../../../src/simulators/slack/directory.ts';
import type { Workspace } from '../../../src/simulators/slack/workspace.ts';
import { clientOf, closeAll, createClock, openWorkspace, refusal, textInput } from './support.ts';

// The stories cover right calls. These tests cover what Slack refuses: a lax simulator would let a bug through.

afterEach(closeAll);

type Arguments = Record<string, unknown>;
type Refused = [what: string, method: string, given: Arguments, error: string, before?: Before];
type Before = (workspace: Workspace) => void;

const { payDesk, general, payOps, privateRoom, agentDm } = channelIds;
const { agent } = userIds;
const post = { channel: payDesk, text: 'x' };
const words = (length: number): string => 'x'.repeat(length);
const nowhere = '1700000000.000001';
const key = (text: string): Arguments => ({ event_type: 'a', event_payload: { key: text } });
const without: Before = (workspace) => workspace.setChannel(general, { botIsMember: false });
const archived: Before = (workspace) => workspace.setChannel(payOps, { archived: true });
const rich = {
  type: 'rich_text' as const,
  elements: [{ type: 'rich_text_section' as const, elements: [{ type: 'text' as const, text: 'x' }] }],
};
const home = (...blocks: object[]): string => JSON.stringify({ type: 'home', blocks });

async function errorOf(workspace: Workspace, method: string, given: Arguments): Promise<unknown> {
  return (await refusal(clientOf(workspace).apiCall(method, given)))['error'];
}

describe('what is read back', () => {
  it('has emoji as names in texts, and as elements in rich text', async () => {
    const workspace = await openWorkspace({ grantedOptionalScopes: 'all' });
    const client = clientOf(workspace);
    const line = {
      type: 'rich_text_section',
      elements: [{ type: 'text', text: '✅ Paid 💳', style: { bold: true } }],
    };
    const blocks = [
      { type: 'rich_text', elements: [line] },
      { type: 'header', text: { type: 'plain_text', text: '⏰ Later' } },
    ];
    await client.apiCall('chat.postMessage', { channel: payDesk, text: '✅ Paid', blocks });
    const { messages = [] } = await client.conversations.history({ channel: payDesk });
    expect(messages[0]?.text).toBe(':white_check_mark: Paid');
    const bold = { bold: true };
    expect(messages[0]?.blocks).toMatchObject([
      {
        elements: [
          {
            elements: [
              { type: 'emoji', name: 'white_check_mark' },
              { type: 'text', text: ' Paid ', style: bold },
              { type: 'emoji', name: 'credit_card' },
            ],
          },
        ],
      },
      { text: { text: ':alarm_clock: Later' } },
    ]);
    // People see what was posted.
    expect(workspace.posts(payDesk)[0]?.text).toBe('✅ Paid');
  });
});

describe('the Web API refuses', () => {
  it.each<Refused>([
    ['a method that the bot does not use', 'pay.everybody', {}, 'unknown_method'],
    ['a post without a channel', 'chat.postMessage', { text: 'x' }, 'invalid_arguments'],
    ['a post to no channel', 'chat.postMessage', { ...post, channel: 'C0NOWHERE1' }, 'channel_not_found'],
    ['a post to nobody', 'chat.postMessage', { ...post, channel: 'U0NOBODY01' }, 'channel_not_found'],
    ['a post to a private room', 'chat.postMessage', { ...post, channel: privateRoom }, 'channel_not_found'],
    ['a post from outside', 'chat.postMessage', { ...post, channel: general }, 'not_in_channel', without],
    ['a post to an archive', 'chat.postMessage', { ...post, channel: payOps }, 'is_archived', archived],
    ['a blank post', 'chat.postMessage', { ...post, text: ' ' }, 'no_text'],
    ['a long post', 'chat.postMessage', { ...post, text: words(40_001) }, 'msg_too_long'],
    ['no blocks', 'chat.postMessage', { ...post, blocks: 'nonsense' }, 'invalid_blocks_format'],
    ['an input in a post', 'chat.postMessage', { ...post, blocks: [textInput('otp')] }, 'invalid_blocks'],
    ['an attachment', 'chat.postMessage', { ...post, attachments: [] }, 'invalid_attachments'],
    [
      'metadata without a payload',
      'chat.postMessage',
      { ...post, metadata: { event_type: 'a' } },
      'invalid_metadata_format',
    ],
    ['long metadata', 'chat.postMessage', { ...post, metadata: key(words(9000)) }, 'metadata_too_large'],
    ['a text of 4,001', 'chat.postMessage', { ...post, text: words(4001) }, 'msg_too_long'],
    ['an edit of nothing', 'chat.update', { ...post, ts: nowhere }, 'message_not_found'],
    [
      'an edit by a person’s id',
      'chat.update',
      { ...post, channel: agent, ts: nowhere },
      'channel_not_found',
    ],
    ['a deletion of nothing', 'chat.delete', { channel: payDesk, ts: nowhere }, 'message_not_found'],
    ['a history not granted', 'conversations.history', { channel: payDesk }, 'missing_scope'],
    ['a thread not granted', 'conversations.replies', { channel: agentDm, ts: nowhere }, 'missing_scope'],
    ['nobody', 'users.info', { user: 'U0NOBODY' }, 'user_not_found'],
    ['a group nobody has', 'usergroups.users.list', { usergroup: 'S0NONE' }, 'no_such_subteam'],
    [
      'a block that no Home has',
      'views.publish',
      { user_id: agent, view: home({ type: 'no_such_block' }) },
      'invalid_arguments',
    ],
    ['a Home of nobody', 'views.publish', { user_id: 'U0NOBODY', view: home() }, 'invalid_arguments'],
    ['an app’s call by a bot', 'apps.connections.open', {}, 'not_allowed_token_type'],
  ])('%s', async (_what, method, given, ...[error, before]) => {
    const workspace = await openWorkspace();
    before?.(workspace);
    expect(await errorOf(workspace, method, given)).toBe(error);
    expect(workspace.posts()).toEqual([]);
  });

  it('an edit that Slack would refuse, and messages that are not the bot’s', async () => {
    const workspace = await openWorkspace();
    const { ts } = await clientOf(workspace).chat.postMessage(post);
    await workspace.act(agent, { kind: 'send_message', channel: payDesk, text: 'Mine' });
    const mine = workspace.state(agent).messages[payDesk]?.at(-1)?.ts;
    const edit = (given: Arguments) => errorOf(workspace, 'chat.update', { channel: payDesk, ts, ...given });
    expect(await edit({ text: 'x', blocks: [{ type: 'section' }] })).toBe('invalid_blocks');
    expect(await edit({})).toBe('no_text');
    expect(await edit({ ts: mine, text: 'x' })).toBe('cant_update_message');
    await clientOf(workspace).chat.update({ channel: payDesk, ts: ts ?? '', text: 'x', blocks: [rich] });
    expect(await edit({ text: 'x', blocks: [] })).toBe('block_mismatch');
    workspace.setChannel(payDesk, { archived: true });
    expect(await edit({ text: 'x' })).toBe('is_inactive');
    workspace.setChannel(payDesk, { archived: false });
    expect(await errorOf(workspace, 'chat.delete', { channel: payDesk, ts: mine })).toBe(
      'cant_delete_message',
    );
  });

  it('an app token in the body, even with one in the header', async () => {
    const { apiUrl } = await openWorkspace();
    const asked = async (body: string): Promise<unknown> => {
      const headers = {
        authorization: `Bearer ${credentials.appToken}`,
        'content-type': 'application/x-www-form-urlencoded',
      };
      const sent = await fetch(`${apiUrl}apps.connections.open`, { method: 'POST', headers, body });
      return await sent.json();
    };
    expect(await asked('')).toMatchObject({ ok: true });
    expect(await asked(`token=${credentials.appToken}`)).toMatchObject({ ok: false, error: 'invalid_auth' });
  });

  it('no reply below a deleted message: it stands in the channel, and its answer names no thread', async () => {
    const workspace = await openWorkspace();
    const { chat } = clientOf(workspace);
    const { ts = '' } = await chat.postMessage(post);
    await chat.delete({ channel: payDesk, ts });
    const { ok, message } = await chat.postMessage({ ...post, thread_ts: ts });
    expect([ok, message?.thread_ts]).toEqual([true, undefined]);
    expect(workspace.posts(payDesk).map((one) => one.threadTs)).toEqual([undefined]);
  });

  it.each([
    ['no token', {}, '', 'not_authed'],
    ['another token', { authorization: 'Bearer xoxb-other' }, '', 'invalid_auth'],
    ['an app’s token', { authorization: `Bearer ${credentials.appToken}` }, '', 'not_allowed_token_type'],
    [
      'a token in JSON',
      { 'content-type': 'application/json' },
      `{"token":"${credentials.botToken}"}`,
      'not_authed',
    ],
    ['a body of text', { 'content-type': 'text/plain' }, 'x', 'invalid_post_type'],
    ['a broken body', { 'content-type': 'application/json' }, '{', 'invalid_json'],
  ])('%s', async (what, headers, body, error) => {
    const { apiUrl } = await openWorkspace();
    const authorization = what.includes('body') ? { authorization: `Bearer ${credentials.botToken}` } : {};
    const asked = { method: 'POST', headers: { ...authorization, ...headers }, body };
    expect(await (await fetch(`${apiUrl}auth.test`, asked)).json()).toMatchObject({ ok: false, error });
  });

  it('each method whose own scope was not granted', async () => {
    const workspace = await openWorkspace({ grantedOptionalScopes: ['not:in:manifest'] });
    const needed: [string, Arguments, string][] = [
      ['conversations.info', { channel: payDesk }, 'channels:read'],
      ['conversations.list', {}, 'channels:read'],
      ['usergroups.list', {}, 'usergroups:read'],
      ['usergroups.users.list', { usergroup: 'S1' }, 'usergroups:read'],
      ['files.getUploadURLExternal', { filename: 'a.csv', length: 1 }, 'files:write'],
    ];
    for (const [method, given, scope] of needed) {
      const answer = await refusal(clientOf(workspace).apiCall(method, given));
      expect(answer).toMatchObject({ error: 'missing_scope', needed: scope });
    }
  });
});

describe('Slack’s pace', () => {
  it('allows a short burst and then one message a second in each channel', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now });
    const to = (channel: string) => clientOf(workspace).chat.postMessage({ channel, text: 'x' });
    for (let sent = 0; sent < 3; sent += 1) await to(payDesk);
    await expect(to(payDesk)).rejects.toMatchObject({ retryAfter: 1 });
    expect(await to(general)).toMatchObject({ ok: true });
    clock.advance(1000);
    expect(await to(payDesk)).toMatchObject({ ok: true });
    await expect(to(payDesk)).rejects.toMatchObject({ retryAfter: 1 });
    expect(workspace.posts(payDesk)).toHaveLength(4);
    // Timestamps are unique and rising even while the clock stands.
    const given = workspace.posts().map(({ ts }) => Number(ts));
    expect([...new Set(given)].toSorted((one, other) => one - other)).toEqual(given);
  });

  it.each([
    ['fifty edits, then fifty a minute over all channels', 'chat.update', 50, 1200, 2],
    ['twenty looks at user groups a minute', 'usergroups.list', 20, 3000, 3],
  ])('is %s', async (_what, method, burst, ...[everyMs, retryAfter]) => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now });
    const bot = clientOf(workspace);
    const places = [
      await bot.chat.postMessage(post),
      await bot.chat.postMessage({ ...post, channel: general }),
    ];
    const call = (index: number) => {
      const { channel, ts } = places[index % 2] ?? {};
      return bot.apiCall(method, { channel, ts, text: `edit ${index}` });
    };
    for (let made = 0; made < burst; made += 1) await call(made);
    await expect(call(0)).rejects.toMatchObject({ retryAfter });
    clock.advance(everyMs);
    expect(await call(1)).toMatchObject({ ok: true });
  });
});

function texts(answer: { messages?: { text?: string }[] }) {
  return answer.messages?.map(({ text }) => text);
}

describe('what can be read back', () => {
  it('of a channel is a window, newest first, page by page, with metadata if asked, only for a member', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now, grantedOptionalScopes: ['channels:history'] });
    const bot = clientOf(workspace);
    const ts: string[] = [];
    for (const text of ['1', '2', '3', '4']) {
      ts.push((await bot.chat.postMessage({ channel: payDesk, text, metadata: key(text) })).ts ?? '');
      clock.advance(1000);
    }
    const [oldest = '', , latest = ''] = ts;
    const read = (more: object = {}) => bot.conversations.history({ channel: payDesk, ...more });
    expect(texts(await read({ oldest }))).toEqual(['4', '3', '2']);
    expect(texts(await read({ oldest, latest, inclusive: true }))).toEqual(['3', '2', '1']);
    const first = await read({ limit: 3, include_all_metadata: true });
    expect(texts(first)).toEqual(['4', '3', '2']);
    expect(first.messages?.[0]?.metadata).toEqual(key('4'));
    const cursor = first.response_metadata?.next_cursor ?? '';
    const rest = await read({ limit: 3, cursor });
    expect([texts(rest), rest.has_more, rest.messages?.[0]]).toEqual([
      ['1'],
      false,
      expect.not.objectContaining({ metadata: key('1') }),
    ]);
    workspace.setChannel(payDesk, { botIsMember: false });
    expect(await refusal(read())).toMatchObject({ error: 'not_in_channel' });
  });

  it('of a thread is the first message and a window of its replies, oldest first', async () => {
    const workspace = await openWorkspace({
      postBurst: Infinity,
      grantedOptionalScopes: ['channels:history'],
    });
    const bot = clientOf(workspace);
    const { ts = '' } = await bot.chat.postMessage(post);
    const answer = async (text: string, thread_ts = ts) =>
      (await bot.chat.postMessage({ ...post, text, thread_ts })).ts ?? '';
    const one = await answer('one');
    // A reply to a reply joins the existing thread.
    await answer('two', one);
    await answer('three');
    await bot.chat.postMessage({ ...post, text: 'elsewhere' });
    const read = (more: object = {}) => bot.conversations.replies({ channel: payDesk, ts, ...more });
    expect(texts(await read({ oldest: one }))).toEqual(['x', 'two', 'three']);
    const first = await read({ limit: 3 });
    expect([texts(first), first.has_more]).toEqual([['x', 'one', 'two'], true]);
    const cursor = first.response_metadata?.next_cursor ?? '';
    expect(texts(await read({ limit: 3, cursor }))).toEqual(['three']);
  });
});
