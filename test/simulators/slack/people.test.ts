import { afterEach, describe, expect, it } from 'vitest';
import type { WorkspaceAction } from '../../../src/simulators/protocol.ts';
import { channelIds, onCallGroup, userIds } from '../../../src/simulators/slack/directory.ts';
import type { Workspace } from '../../../src/simulators/slack/workspace.ts';
import {
  clientOf,
  closeAll,
  createClock,
  modal,
  openRawBot,
  openWorkspace,
  refusal,
  payloadOf,
  section,
} from './support.ts';

// The stories cover people who do what is possible. These tests cover what Slack's client prevents, and a bot that
// answers late, wrongly or not at all.

afterEach(closeAll);

const { payDesk, payOps, agentDm, leadDm, privateRoom } = channelIds;
const { agent, lead, onCall } = userIds;
const plain = (text: string) => ({ type: 'plain_text' as const, text });
const option = (value: string) => ({ text: plain(value), value });
const row = {
  type: 'actions' as const,
  block_id: 'row',
  elements: [
    { type: 'button' as const, action_id: 'take', text: plain('Take & hold'), value: 'ORDER-1001' },
    { type: 'overflow' as const, action_id: 'snooze', options: [option('1h'), option('4h')] },
  ],
};

async function posted(workspace: Workspace): Promise<string> {
  const blocks = [section('x'), row];
  return (await clientOf(workspace).chat.postMessage({ channel: payDesk, text: 'x', blocks })).ts ?? '';
}

type Pressed = Extract<WorkspaceAction, { kind: 'block_action' }>;

function pressOf(ts: string, more: Partial<Pressed> = {}): Pressed {
  return {
    kind: 'block_action',
    blockId: 'row',
    actionId: 'take',
    element: { type: 'button', value: 'FORGED' },
    container: { type: 'message', channel: payDesk, ts },
    values: {},
    ...more,
  };
}

const shortcut = { kind: 'global_shortcut', callbackId: 'charge' } as const;

describe('a press', () => {
  it('works only on existing elements, and carries the bot’s own value', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const ts = await posted(workspace);
    const press = (action: WorkspaceAction) => workspace.act(onCall, action);
    expect(await press(pressOf(ts, { actionId: 'gone' }))).toMatchObject({ ok: false });
    expect(await press(pressOf('1.1'))).toMatchObject({ ok: false });
    expect(bot.requests).toEqual([]);
    expect(await press(pressOf(ts))).toEqual({ ok: true });
    // Its label comes escaped.
    expect(bot.requests.map(payloadOf)).toMatchObject([
      { actions: [{ value: 'ORDER-1001', text: plain('Take &amp; hold') }] },
    ]);
    await clientOf(workspace).chat.update({ channel: payDesk, ts, text: 'Closed', blocks: [] });
    expect(await press(pressOf(ts))).toMatchObject({ ok: false });
  });

  it('accepts only an offered option', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const ts = await posted(workspace);
    const pick = (value: string) => {
      const element = { type: 'overflow', selected_option: option(value) };
      return workspace.act(onCall, pressOf(ts, { actionId: 'snooze', element }));
    };
    expect(await pick('99h')).toEqual({ ok: false, problem: 'That choice is not one of the options.' });
    expect(await pick('4h')).toEqual({ ok: true });
    expect(bot.requests.map(payloadOf)).toMatchObject([
      { actions: [{ type: 'overflow', selected_option: { value: '4h' } }] },
    ]);
  });

  it('shows the problem if it is not acknowledged', async () => {
    const workspace = await openWorkspace({ ackTimeoutMs: 500 });
    const ts = await posted(workspace);
    const press = () => workspace.act(onCall, pressOf(ts));
    expect(await press()).toEqual({ ok: false, problem: 'This app could not be reached.' });
    await openRawBot(workspace, (_request, count) => (count === 1 ? undefined : { status: 404 }));
    expect(await press()).toMatchObject({ problem: expect.stringContaining('timed out') });
    expect(await press()).toEqual({ ok: false, problem: 'This app responded with status code 404.' });
  });

  it('on an ephemeral message is only that person’s, and comes without the message', async () => {
    const workspace = await openWorkspace();
    const body = JSON.stringify({ text: 'x', blocks: [row] });
    const bot = await openRawBot(workspace, (_request, count) => ({
      status: 200,
      ...(count === 1 && { body }),
    }));
    await type(workspace, '/pay');
    const press = pressOf(workspace.state(agent).messages[payDesk]?.at(-1)?.ts ?? '');
    expect(await workspace.act(lead, press)).toMatchObject({ ok: false });
    expect(await workspace.act(agent, press)).toEqual({ ok: true });
    const payload = payloadOf(bot.requests.at(-1) ?? { headers: {}, body: '' });
    expect(payload).toMatchObject({ container: { is_ephemeral: true } });
    expect(payload).not.toHaveProperty('message');
  });
});

describe('the options of an external select', () => {
  it.each([
    ['one that is too long', [{ text: plain('x'.repeat(76)), value: 'x' }]],
    ['more than a hundred', Array.from({ length: 101 }, (_, index) => option(String(index)))],
  ])('are not shown: %s', async (_what, options) => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200, body: JSON.stringify({ options }) }));
    await workspace.act(agent, shortcut);
    const card = { type: 'external_select' as const, action_id: 'card' };
    const field = { type: 'input' as const, block_id: 'row', label: plain('Card'), element: card };
    const trigger_id = String(bot.requests.map(payloadOf)[0]?.['trigger_id']);
    await clientOf(workspace).views.open({ trigger_id, view: modal('Charge', { blocks: [field] }) });
    const viewId = workspace.state(agent).views[0]?.id ?? '';
    const ask = { kind: 'suggest', blockId: 'row', actionId: 'card', text: 'vi', viewId } as const;
    expect(await workspace.act(agent, ask)).toMatchObject({ ok: false });
  });
});

function type(workspace: Workspace, text: string, more: { threadTs?: string; channel?: string } = {}) {
  return workspace.act(agent, { kind: 'send_message', channel: payDesk, text, ...more });
}

function seen(workspace: Workspace): string[] {
  return (workspace.state(agent).messages[payDesk] ?? []).map(({ text }) => text);
}

describe('what is typed', () => {
  it('is answered by Slack itself if the bot is away, slow, broken or unknown, or answers what Slack refuses', async () => {
    const workspace = await openWorkspace({ ackTimeoutMs: 1000 });
    await type(workspace, '/pay');
    const body = JSON.stringify({ blocks: [{ type: 'section' }] });
    const answers = [undefined, { status: 500 }, { status: 200, body }, { status: 401 }];
    await openRawBot(workspace, (_request, count) => answers[count - 1]);
    for (let typed = 0; typed < 4; typed += 1) await type(workspace, '/pay');
    const errors = [
      'dispatch_failed',
      'operation_timeout',
      'http_service_error',
      'invalid_blocks',
      'http_client_error',
    ];
    expect(seen(workspace)).toEqual(errors.map((error) => `/pay failed with the error "${error}"`));
    expect(workspace.state(lead).messages[payDesk]).toEqual([]);
  });

  it('is no command without an app for it, nor inside a thread', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    await type(workspace, '/refund all');
    await type(workspace, 'A thread');
    const threadTs = workspace.state(agent).messages[payDesk]?.at(-1)?.ts ?? '';
    await type(workspace, '/pay', { threadTs });
    expect(seen(workspace)).toEqual([
      expect.stringContaining('/refund is not a valid command.'),
      'A thread',
      '/pay is not supported in threads. Sorry!',
    ]);
    expect(bot.requests).toEqual([]);
  });

  it('has ids for names', async () => {
    const workspace = await openWorkspace();
    const texts: (string | null)[] = [];
    await openRawBot(workspace, ({ body }) => {
      texts.push(new URLSearchParams(body).get('text'));
      return { status: 200 };
    });
    const words = '@ada #pay-ops @on-call ada@shop.example https://shop.example/a @nobody';
    await type(workspace, `/pay  ${words} `);
    const group = `<!subteam^${onCallGroup}|@on-call>`;
    expect(texts).toEqual([
      `<@${agent}|ada> <#${payOps}|pay-ops> ${group} <mailto:ada@shop.example|ada@shop.example> <https://shop.example/a> @nobody`,
    ]);
  });

  it('reaches a channel without the bot, but no other’s direct message and no archived channel', async () => {
    const workspace = await openWorkspace();
    await openRawBot(workspace, () => ({ status: 200 }));
    expect(await type(workspace, '/pay', { channel: privateRoom })).toEqual({ ok: true });
    expect(await type(workspace, '/pay', { channel: leadDm })).toMatchObject({ ok: false });
    expect(await type(workspace, '  ')).toMatchObject({ ok: false });
    workspace.setChannel(payDesk, { archived: true });
    expect(await type(workspace, 'Hello')).toEqual({ ok: false, problem: 'This channel is archived.' });
  });

  it('reaches the bot from conversations without it: named as Slack names them, answered by response_url only', async () => {
    const workspace = await openWorkspace({ talks: true });
    const places: (string | null)[][] = [];
    await openRawBot(workspace, ({ body }) => {
      const sent = new URLSearchParams(body);
      places.push([sent.get('channel_id'), sent.get('channel_name')]);
      return { status: 200, body: '{"text":"Here"}', headers: { 'content-type': 'application/json' } };
    });
    const { twoPeople, oneself, group } = channelIds;
    const client = clientOf(workspace);
    for (const channel of [twoPeople, oneself, group]) {
      expect(await type(workspace, '/pay', { channel })).toEqual({ ok: true });
      expect(workspace.state(agent).messages[channel]).toMatchObject([{ text: 'Here', ephemeral: true }]);
      const refused = await refusal(client.chat.postMessage({ channel, text: 'x' }));
      expect(refused['error']).toBe('channel_not_found');
    }
    expect(places).toEqual([
      [twoPeople, 'directmessage'],
      [oneself, 'directmessage'],
      [group, 'mpdm-ada--lindiwe--omar-1'],
    ]);
    await type(workspace, '/invite @pay', { channel: group });
    expect((await refusal(client.chat.postMessage({ channel: group, text: 'x' })))['error']).toBe(
      'channel_not_found',
    );
    const seenByLead = Object.keys(workspace.state(lead).messages);
    expect(seenByLead).toContain(twoPeople);
    expect(seenByLead).not.toContain(oneself);
  });

  it('reaches no app whose messages tab is read-only, commands included', async () => {
    const workspace = await openWorkspace();
    const refused = { ok: false, problem: 'Sending messages to this app has been turned off.' };
    expect(await type(workspace, 'Hello', { channel: agentDm })).toEqual(refused);
    expect(await type(workspace, '/pay', { channel: agentDm })).toEqual(refused);
  });
});

async function urlOf(workspace: Workspace) {
  let url = '';
  await openRawBot(workspace, ({ body }) => {
    url = new URLSearchParams(body).get('response_url') ?? '';
    return { status: 200 };
  });
  await type(workspace, '/pay');
  return async (body: object) => {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    return [answer.status, ((await answer.json()) as { error?: string }).error];
  };
}

describe('a response_url', () => {
  it('takes five answers, not counting refused ones; after a command it has no message to replace', async () => {
    const workspace = await openWorkspace();
    const respond = await urlOf(workspace);
    expect(await respond({ text: 'x', blocks: [{ type: 'section' }] })).toEqual([400, 'invalid_blocks']);
    expect(await respond({})).toEqual([400, 'no_text']);
    for (let used = 0; used < 5; used += 1) await respond({ text: 'x', replace_original: true });
    expect(await respond({ text: 'x' })).toEqual([404, 'used_url']);
    expect(seen(workspace)).toHaveLength(5);
  });

  it('answers a press in a thread there only if told so, and in the channel else', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const threadTs = await posted(workspace);
    const blocks = [section('x'), row];
    const below = { channel: payDesk, text: 'x', thread_ts: threadTs, blocks };
    const { ts = '' } = await clientOf(workspace).chat.postMessage(below);
    await workspace.act(onCall, pressOf(ts));
    const payload = payloadOf(bot.requests[0] ?? { headers: {}, body: '' });
    expect(payload).toMatchObject({ container: { thread_ts: threadTs } });
    for (const thread of [{}, { thread_ts: threadTs }]) {
      const body = JSON.stringify({ text: 'mine', ...thread });
      await fetch(String(payload['response_url']), { method: 'POST', body });
    }
    const mine = (workspace.state(onCall).messages[payDesk] ?? []).filter(({ text }) => text === 'mine');
    expect(mine.map((one) => one.threadTs)).toEqual([undefined, threadTs]);
  });

  it('is valid for thirty minutes', async () => {
    const clock = createClock();
    const respond = await urlOf(await openWorkspace({ now: clock.now }));
    clock.advance(30 * 60 * 1000);
    expect(await respond({ text: 'x' })).toEqual([200, undefined]);
    clock.advance(1);
    expect(await respond({ text: 'x' })).toEqual([404, 'expired_url']);
  });
});
