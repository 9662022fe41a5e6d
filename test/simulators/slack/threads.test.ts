import { afterEach, describe, expect, it } from 'vitest';
import { clientOf, closeAll, createClock, openWorkspace, refusal } from './support.ts';

afterEach(closeAll);

const metadata = (key: string) => ({ event_type: 'payops_charge', event_payload: { key } });

async function openThread() {
  const clock = createClock();
  const workspace = await openWorkspace({ now: clock.now, grantedOptionalScopes: ['channels:history'] });
  const bot = clientOf(workspace);
  const channel = workspace.ids.channels.payDesk;
  async function post(text: string, thread_ts?: string): Promise<string> {
    clock.advance(1000);
    const more = thread_ts === undefined ? {} : { thread_ts };
    return (await bot.chat.postMessage({ channel, text, metadata: metadata(text), ...more })).ts ?? '';
  }
  const parent = await post('Charging');
  const replies = [await post('one', parent), await post('two', parent), await post('three', parent)];
  return { workspace, bot, channel, parent, replies, post };
}

function texts(answer: { messages?: { text?: string }[] }): (string | undefined)[] | undefined {
  return answer.messages?.map(({ text }) => text);
}

describe('conversations.replies', () => {
  it('gives the thread, oldest first, with its metadata when asked', async () => {
    const { bot, channel, parent, replies, post } = await openThread();
    await post('elsewhere');
    const plain = await bot.conversations.replies({ channel, ts: parent });
    expect(texts(plain)).toEqual(['Charging', 'one', 'two', 'three']);
    expect(plain.messages?.[1]).not.toHaveProperty('metadata');
    expect(plain.messages?.[0]).toMatchObject({
      thread_ts: parent,
      reply_count: 3,
      reply_users_count: 1,
      latest_reply: replies[2],
    });
    const whole = await bot.conversations.replies({ channel, ts: parent, include_all_metadata: true });
    expect(whole.messages?.map((message) => message.metadata)).toEqual(
      ['Charging', 'one', 'two', 'three'].map(metadata),
    );
  });

  it('takes a window and a page of the answers', async () => {
    const { bot, channel, parent, replies } = await openThread();
    const since = await bot.conversations.replies({ channel, ts: parent, oldest: replies[0] ?? '' });
    expect(texts(since)).toEqual(['Charging', 'two', 'three']);
    const first = await bot.conversations.replies({ channel, ts: parent, limit: 3 });
    expect([texts(first), first.has_more]).toEqual([['Charging', 'one', 'two'], true]);
    const cursor = first.response_metadata?.next_cursor ?? '';
    const rest = await bot.conversations.replies({ channel, ts: parent, limit: 3, cursor });
    expect([texts(rest), rest.has_more]).toEqual([['three'], false]);
  });

  it('still gives the answers when the first message was deleted', async () => {
    const { bot, channel, parent } = await openThread();
    await bot.chat.delete({ channel, ts: parent });
    const { messages } = await bot.conversations.replies({ channel, ts: parent });
    expect(messages?.[0]).toMatchObject({ subtype: 'tombstone' });
    expect(messages?.slice(1).map(({ text }) => text)).toEqual(['one', 'two', 'three']);
  });

  it('knows no thread of what was never posted, and wants the scope and the membership of a history', async () => {
    const { workspace, bot, channel, parent } = await openThread();
    expect(await refusal(bot.conversations.replies({ channel, ts: '1700000000.000001' }))).toMatchObject({
      error: 'thread_not_found',
    });
    const direct = workspace.ids.channels.agentDm;
    expect(await refusal(bot.conversations.replies({ channel: direct, ts: parent }))).toMatchObject({
      error: 'missing_scope',
      needed: 'im:history',
    });
    workspace.setChannel(channel, { botIsMember: false });
    expect(await refusal(bot.conversations.replies({ channel, ts: parent }))).toMatchObject({
      error: 'not_in_channel',
    });
  });
});

describe('a direct message', () => {
  it('goes to a person’s id, is answered with its channel, and is edited there alone', async () => {
    const workspace = await openWorkspace();
    const bot = clientOf(workspace);
    const { users, channels } = workspace.ids;
    const posted = await bot.chat.postMessage({ channel: users.agent, text: 'Enter the code' });
    expect(posted.channel).toBe(channels.agentDm);
    const ts = posted.ts ?? '';
    expect(await refusal(bot.chat.update({ channel: users.agent, ts, text: 'x' }))).toMatchObject({
      error: 'channel_not_found',
    });
    await bot.chat.update({ channel: channels.agentDm, ts, text: 'Paid' });
    expect(workspace.state(users.agent).messages[channels.agentDm]).toMatchObject([
      { text: 'Paid', edited: true },
    ]);
    expect(await refusal(bot.chat.postMessage({ channel: 'U0NOBODY01', text: 'x' }))).toMatchObject({
      error: 'channel_not_found',
    });
  });
});

describe('chat.update', () => {
  it('takes fifty edits and then about fifty a minute, over all channels', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now });
    const bot = clientOf(workspace);
    const { payDesk, payAlerts } = workspace.ids.channels;
    const { ts: one = '' } = await bot.chat.postMessage({ channel: payDesk, text: 'one' });
    const { ts: other = '' } = await bot.chat.postMessage({ channel: payAlerts, text: 'other' });
    for (let edit = 0; edit < 50; edit += 1)
      await bot.chat.update({ channel: payDesk, ts: one, text: `edit ${edit}` });
    const tooMany = bot.chat.update({ channel: payAlerts, ts: other, text: 'x' });
    await expect(tooMany).rejects.toMatchObject({ retryAfter: 2 });
    clock.advance(1200);
    expect(await bot.chat.update({ channel: payAlerts, ts: other, text: 'x' })).toMatchObject({ ok: true });
  });
});
