import { afterEach, describe, expect, it } from 'vitest';
import { clientOf, closeAll, createClock, manifest, openWorkspace, refusal, section } from './support.ts';

afterEach(closeAll);

const button = { type: 'button' as const, text: { type: 'plain_text' as const, text: 'Take it' } };

describe('chat.postMessage', () => {
  it('posts what everybody sees, with ids for the blocks left unnamed', async () => {
    const workspace = await openWorkspace();
    const { channels, users } = workspace.ids;
    const posted = await clientOf(workspace).chat.postMessage({
      channel: channels.payAlerts,
      text: 'Declined',
      blocks: [section('Declined'), { type: 'actions', elements: [button] }],
      attachments: [{ color: '#c00', blocks: [section('Reason')] }],
    });
    const [message] = workspace.state(users.outsider).messages[channels.payAlerts] ?? [];
    expect(message).toMatchObject({
      ts: posted.ts,
      text: 'Declined',
      authorIsBot: true,
      ephemeral: false,
      edited: false,
      attachments: [{ color: '#c00', blocks: [{ type: 'section' }] }],
    });
    expect(message?.blocks.map((block) => block.block_id)).toEqual([expect.any(String), expect.any(String)]);
    expect(message?.blocks[1]).toMatchObject({ elements: [{ action_id: expect.any(String) }] });
    expect(workspace.posts(channels.payAlerts)).toMatchObject([{ ts: posted.ts, text: 'Declined' }]);
  });

  it('gives timestamps that are unique and rise, even while the clock stands', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now });
    const bot = clientOf(workspace);
    const channel = workspace.ids.channels.payDesk;
    const ts = [];
    for (const text of ['a', 'b', 'c']) ts.push((await bot.chat.postMessage({ channel, text })).ts);
    expect(new Set(ts).size).toBe(3);
    expect(ts.toSorted((a, b) => Number(a) - Number(b))).toEqual(ts);
    expect(Math.floor(Number(ts[0]))).toBe(Math.floor(clock.now() / 1000));
  });

  it('knows where it may post', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const { channels } = workspace.ids;
    const error = async (channel: string) =>
      (await refusal(bot.chat.postMessage({ channel, text: 'x' })))['error'];
    expect(await error('C0NOWHERE1')).toBe('channel_not_found');
    expect(await error(channels.privateRoom)).toBe('channel_not_found');
    workspace.setChannel(channels.general, { botIsMember: false });
    expect(await error(channels.general)).toBe('not_in_channel');
    workspace.setChannel(channels.payOps, { archived: true });
    expect(await error(channels.payOps)).toBe('is_archived');
    expect(await bot.chat.postMessage({ channel: '#pay-desk', text: 'by name' })).toMatchObject({
      channel: channels.payDesk,
    });
  });

  it('posts without joining where chat:write.public was granted', async () => {
    const workspace = await openWorkspace({ grantedOptionalScopes: ['chat:write.public'] });
    const channel = workspace.ids.channels.general;
    workspace.setChannel(channel, { botIsMember: false });
    expect(await clientOf(workspace).chat.postMessage({ channel, text: 'x' })).toMatchObject({ ok: true });
    const user = workspace.ids.users.agent;
    expect(await refusal(clientOf(workspace).chat.postEphemeral({ channel, user, text: 'x' }))).toMatchObject(
      {
        error: 'not_in_channel',
      },
    );
  });

  it('becomes a member by /invite', async () => {
    const workspace = await openWorkspace();
    const { channels, users } = workspace.ids;
    await workspace.act(users.agent, {
      kind: 'send_message',
      channel: channels.privateRoom,
      text: '/invite @pay',
    });
    const channel = channels.privateRoom;
    expect(await clientOf(workspace).chat.postMessage({ channel, text: 'x' })).toMatchObject({ ok: true });
  });

  it('refuses a direct message when the manifest turned the messages tab off', async () => {
    const home = { ...manifest.features.app_home, messages_tab_enabled: false };
    const workspace = await openWorkspace({
      manifest: { ...manifest, features: { ...manifest.features, app_home: home } },
    });
    const channel = workspace.ids.users.agent;
    expect(await refusal(clientOf(workspace).chat.postMessage({ channel, text: 'x' }))).toMatchObject({
      error: 'messages_tab_disabled',
    });
  });

  it('refuses what cannot be shown', async () => {
    const workspace = await openWorkspace({ postBurst: Infinity });
    const bot = clientOf(workspace);
    const channel = workspace.ids.channels.payDesk;
    const error = async (message: Record<string, unknown>) =>
      (await refusal(bot.apiCall('chat.postMessage', { channel, ...message })))['error'];
    expect(await error({ text: ' ' })).toBe('no_text');
    expect(await error({ text: 'x'.repeat(40_001) })).toBe('msg_too_long');
    expect(await error({ text: 'x', blocks: 'nonsense' })).toBe('invalid_blocks_format');
    expect(await error({ text: 'x', metadata: { event_type: 'alert' } })).toBe('invalid_metadata_format');
    expect(
      await error({ text: 'x', metadata: { event_type: 'a', event_payload: { key: 'x'.repeat(9000) } } }),
    ).toBe('metadata_too_large');
    const attachments = Array.from({ length: 101 }, () => ({ blocks: [section('x')] }));
    expect(await error({ text: 'x', attachments })).toBe('too_many_attachments');
    expect(workspace.posts(channel)).toEqual([]);
  });

  it('judges blocks as a message, attachments included, and says what is wrong', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const channel = workspace.ids.channels.payDesk;
    const input = {
      type: 'input',
      label: { type: 'plain_text', text: 'OTP' },
      element: { type: 'plain_text_input', action_id: 'otp' },
    };
    const answer = await refusal(bot.apiCall('chat.postMessage', { channel, text: 'x', blocks: [input] }));
    expect(answer).toMatchObject({ error: 'invalid_blocks' });
    expect(JSON.stringify(answer['response_metadata'])).toContain('[ERROR] /blocks/0');
    const inside = { channel, text: 'x', attachments: [{ blocks: [{ type: 'section' }] }] };
    expect(await refusal(bot.apiCall('chat.postMessage', inside))).toMatchObject({ error: 'invalid_blocks' });
  });

  it('takes a short burst and then one message a second in each channel', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now });
    const bot = clientOf(workspace);
    const { payAlerts, payDesk } = workspace.ids.channels;
    const post = (channel: string) => bot.chat.postMessage({ channel, text: 'x' });
    for (let sent = 0; sent < 3; sent += 1) await post(payAlerts);
    await expect(post(payAlerts)).rejects.toMatchObject({ retryAfter: 1 });
    expect(await post(payDesk)).toMatchObject({ ok: true });
    clock.advance(1000);
    expect(await post(payAlerts)).toMatchObject({ ok: true });
    await expect(post(payAlerts)).rejects.toMatchObject({ retryAfter: 1 });
    expect(workspace.posts(payAlerts)).toHaveLength(4);
  });
});

describe('threads', () => {
  it('counts the answers and keeps them under their first message', async () => {
    const workspace = await openWorkspace({ grantedOptionalScopes: ['channels:history'] });
    const bot = clientOf(workspace);
    const channel = workspace.ids.channels.payAlerts;
    const { ts = '' } = await bot.chat.postMessage({ channel, text: 'Declined' });
    const reply = await bot.chat.postMessage({ channel, text: 'Seen', thread_ts: ts });
    await bot.chat.postMessage({ channel, text: 'On an answer', thread_ts: reply.ts ?? '' });
    const [first, second, third] = workspace.state(workspace.ids.users.agent).messages[channel] ?? [];
    expect(first).toMatchObject({ replyCount: 2 });
    expect(second).toMatchObject({ threadTs: ts, replyCount: 0 });
    expect(third).toMatchObject({ threadTs: ts });
    const history = await bot.conversations.history({ channel });
    expect(history.messages).toMatchObject([{ text: 'Declined', reply_count: 2 }]);
    expect((await bot.conversations.replies({ channel, ts })).messages).toHaveLength(3);
  });

  it('cannot be opened on a message that is not there', async () => {
    const workspace = await openWorkspace();
    const post = clientOf(workspace).chat.postMessage({
      channel: workspace.ids.channels.payAlerts,
      text: 'x',
      thread_ts: '1700000000.000001',
    });
    expect(await refusal(post)).toMatchObject({ error: 'thread_not_found' });
  });
});

describe('chat.update', () => {
  it('changes what it names, keeps the rest, and marks the message', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const channel = workspace.ids.channels.payAlerts;
    const { ts = '' } = await bot.chat.postMessage({
      channel,
      text: 'Declined',
      blocks: [section('Declined')],
      metadata: { event_type: 'alert', event_payload: { key: 'k1' } },
    });
    await bot.chat.update({ channel, ts, text: 'Taken by Omar' });
    expect(workspace.posts(channel)).toMatchObject([
      {
        ts,
        text: 'Taken by Omar',
        edited: true,
        blocks: [{ type: 'section' }],
        metadata: { event_payload: { key: 'k1' } },
      },
    ]);
    await bot.chat.update({ channel, ts, text: 'Closed', blocks: [] });
    expect(workspace.posts(channel)[0]?.blocks).toEqual([]);
  });

  it('refuses blocks Slack would refuse, an empty change and a message of somebody else', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const { channels, users } = workspace.ids;
    const channel = channels.payAlerts;
    const { ts = '' } = await bot.chat.postMessage({ channel, text: 'Declined' });
    await workspace.act(users.agent, { kind: 'send_message', channel, text: 'Mine' });
    const mine = workspace.state(users.agent).messages[channel]?.at(-1)?.ts ?? '';
    const error = async (change: Record<string, unknown>) =>
      (await refusal(bot.apiCall('chat.update', { channel, ts, ...change })))['error'];
    expect(await error({ text: 'x', blocks: [{ type: 'section' }] })).toBe('invalid_blocks');
    expect(await error({})).toBe('no_text');
    expect(await error({ ts: '1.1', text: 'x' })).toBe('message_not_found');
    expect(await error({ ts: mine, text: 'x' })).toBe('cant_update_message');
    expect(await error({ channel: 'C0NOWHERE1', text: 'x' })).toBe('channel_not_found');
    expect(await refusal(bot.chat.delete({ channel, ts: mine }))).toMatchObject({
      error: 'cant_delete_message',
    });
  });
});

describe('chat.delete', () => {
  it('takes a message away, and leaves a stone where a thread hangs', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const channel = workspace.ids.channels.payAlerts;
    const alone = await bot.chat.postMessage({ channel, text: 'Alone' });
    const parent = await bot.chat.postMessage({ channel, text: 'Parent' });
    await bot.chat.postMessage({ channel, text: 'Answer', thread_ts: parent.ts ?? '' });
    await bot.chat.delete({ channel, ts: alone.ts ?? '' });
    await bot.chat.delete({ channel, ts: parent.ts ?? '' });
    const texts = workspace
      .state(workspace.ids.users.agent)
      .messages[channel]?.map((message) => message.text);
    expect(texts).toEqual(['This message was deleted.', 'Answer']);
    expect(workspace.posts(channel).map((post) => post.text)).toEqual(['Answer']);
    expect(await refusal(bot.chat.delete({ channel, ts: alone.ts ?? '' }))).toMatchObject({
      error: 'message_not_found',
    });
  });
});

describe('chat.postEphemeral', () => {
  it('is seen by one person, is in no history and cannot be updated', async () => {
    const workspace = await openWorkspace({ grantedOptionalScopes: ['channels:history'] });
    const bot = clientOf(workspace);
    const { channels, users } = workspace.ids;
    const channel = channels.payDesk;
    const sent = await bot.chat.postEphemeral({ channel, user: users.agent, text: 'Only you' });
    expect(workspace.state(users.agent).messages[channel]).toMatchObject([
      { text: 'Only you', ephemeral: true },
    ]);
    expect(workspace.state(users.lead).messages[channel]).toEqual([]);
    expect(workspace.posts(channel)).toEqual([]);
    expect((await bot.conversations.history({ channel })).messages).toEqual([]);
    const ts = sent.message_ts ?? '';
    expect(await refusal(bot.chat.update({ channel, ts, text: 'x' }))).toMatchObject({
      error: 'message_not_found',
    });
    const elsewhere = bot.chat.postEphemeral({ channel: channels.leadDm, user: users.agent, text: 'x' });
    expect(await refusal(elsewhere)).toMatchObject({ error: 'user_not_in_channel' });
  });
});

function texts(answer: { messages?: { text?: string }[] }) {
  return answer.messages?.map((message) => message.text);
}

describe('conversations.history', () => {
  it('keeps metadata and gives it when asked', async () => {
    const workspace = await openWorkspace({ grantedOptionalScopes: ['channels:history'] });
    const bot = clientOf(workspace);
    const channel = workspace.ids.channels.payAlerts;
    const metadata = { event_type: 'payops_alert', event_payload: { key: 'payment_failed:ORDER-1' } };
    await bot.chat.postMessage({ channel, text: 'Declined', metadata });
    expect((await bot.conversations.history({ channel })).messages?.[0]).not.toHaveProperty('metadata');
    const all = await bot.conversations.history({ channel, include_all_metadata: true });
    expect(all.messages?.[0]?.metadata).toEqual(metadata);
  });

  it('gives a window, newest first, page by page', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now, grantedOptionalScopes: ['channels:history'] });
    const bot = clientOf(workspace);
    const channel = workspace.ids.channels.payAlerts;
    const ts: string[] = [];
    for (const text of ['1', '2', '3', '4']) {
      ts.push((await bot.chat.postMessage({ channel, text })).ts ?? '');
      clock.advance(1000);
    }
    expect(texts(await bot.conversations.history({ channel, oldest: ts[0] ?? '' }))).toEqual(['4', '3', '2']);
    expect(
      texts(
        await bot.conversations.history({
          channel,
          oldest: ts[0] ?? '',
          latest: ts[2] ?? '',
          inclusive: true,
        }),
      ),
    ).toEqual(['3', '2', '1']);
    const first = await bot.conversations.history({ channel, limit: 3 });
    expect(texts(first)).toEqual(['4', '3', '2']);
    const cursor = first.response_metadata?.next_cursor ?? '';
    expect(texts(await bot.conversations.history({ channel, limit: 3, cursor }))).toEqual(['1']);
  });

  it('is closed to a bot that is not in the channel', async () => {
    const workspace = await openWorkspace({ grantedOptionalScopes: ['channels:history'] });
    const channel = workspace.ids.channels.general;
    workspace.setChannel(channel, { botIsMember: false });
    expect(await refusal(clientOf(workspace).conversations.history({ channel }))).toMatchObject({
      error: 'not_in_channel',
    });
  });
});
