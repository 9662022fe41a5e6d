import { afterEach, describe, expect, it } from 'vitest';
import type { WorkspaceAction } from '../../../src/simulators/protocol.ts';
import type { Workspace } from '../../../src/simulators/slack/workspace.ts';
import {
  clientOf,
  closeAll,
  manifest,
  modal,
  openBot,
  openRawBot,
  openWorkspace,
  payloadOf,
  section,
} from './support.ts';

afterEach(closeAll);

const plain = (text: string) => ({ type: 'plain_text' as const, text });
const option = (value: string) => ({ text: plain(value), value });
const row = {
  type: 'actions' as const,
  block_id: 'row',
  elements: [
    { type: 'button' as const, action_id: 'take', text: plain('Take it'), value: 'ORDER-1001' },
    { type: 'static_select' as const, action_id: 'snooze', options: [option('1h'), option('4h')] },
    { type: 'external_select' as const, action_id: 'card', min_query_length: 0 },
  ],
};

async function posted(workspace: Workspace): Promise<string> {
  const channel = workspace.ids.channels.payAlerts;
  const sent = await clientOf(workspace).chat.postMessage({
    channel,
    text: 'Declined',
    blocks: [section('x'), row],
  });
  return sent.ts ?? '';
}

function pressOf(
  workspace: Workspace,
  ts: string,
  more: Partial<Extract<WorkspaceAction, { kind: 'block_action' }>> = {},
) {
  return {
    kind: 'block_action' as const,
    blockId: 'row',
    actionId: 'take',
    element: { type: 'button', value: 'FORGED' },
    container: { type: 'message' as const, channel: workspace.ids.channels.payAlerts, ts },
    values: {},
    ...more,
  };
}

describe('a press on a message', () => {
  it('is told of in the log by the words that a person reads, be it a button or a choice of a menu', async () => {
    const said: string[] = [];
    const workspace = await openWorkspace({ onExchange: ({ summary }) => said.push(summary) });
    await openBot(workspace, (app) => {
      app.action(/.*/, async ({ ack }) => ack());
    });
    const ts = await posted(workspace);
    const { onCall } = workspace.ids.users;
    await workspace.act(onCall, pressOf(workspace, ts));
    const element = { type: 'static_select', selected_option: option('4h') };
    await workspace.act(onCall, pressOf(workspace, ts, { actionId: 'snooze', element }));
    expect(said.join('\n')).toMatch(/Omar presses "Take it"[^]*Omar presses "4h"/);
  });

  it('carries the button as the bot made it, the message, and a way to answer', async () => {
    const workspace = await openWorkspace();
    const seen: unknown[] = [];
    await openBot(workspace, (app) => {
      app.action('take', async ({ ack, body, action, respond }) => {
        await ack();
        seen.push({ action, body });
        await respond({ replace_original: true, text: 'Taken by Omar' });
      });
    });
    const ts = await posted(workspace);
    const edited = new Promise<void>((resolve) => workspace.onChange(resolve));
    const { users, channels } = workspace.ids;
    expect(await workspace.act(users.onCall, pressOf(workspace, ts))).toEqual({ ok: true });
    await edited;
    expect(seen).toMatchObject([
      {
        action: {
          type: 'button',
          action_id: 'take',
          block_id: 'row',
          value: 'ORDER-1001',
          text: { text: 'Take it' },
        },
        body: {
          type: 'block_actions',
          user: { id: users.onCall },
          channel: { id: channels.payAlerts },
          container: { type: 'message', message_ts: ts, is_ephemeral: false },
          message: { ts, bot_id: workspace.ids.botId },
          trigger_id: expect.any(String),
        },
      },
    ]);
    expect(workspace.posts(channels.payAlerts)).toMatchObject([
      { ts, text: 'Taken by Omar', edited: true, blocks: [] },
    ]);
  });

  it('works only on what is there now', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const ts = await posted(workspace);
    const { users, channels } = workspace.ids;
    const press = (action: WorkspaceAction) => workspace.act(users.onCall, action);
    expect(await press(pressOf(workspace, ts, { actionId: 'gone' }))).toMatchObject({ ok: false });
    expect(await press(pressOf(workspace, '1.1'))).toMatchObject({ ok: false });
    await clientOf(workspace).chat.update({ channel: channels.payAlerts, ts, text: 'Closed', blocks: [] });
    expect(await press(pressOf(workspace, ts))).toMatchObject({ ok: false });
    expect(bot.requests).toEqual([]);
  });

  it('picks only what is offered, and sends the state of the fields', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const ts = await posted(workspace);
    const pick = (value: string) => {
      const element = { type: 'static_select', selected_option: option(value) };
      return workspace.act(
        workspace.ids.users.onCall,
        pressOf(workspace, ts, { actionId: 'snooze', element, values: { row: { snooze: element } } }),
      );
    };
    expect(await pick('99h')).toEqual({ ok: false, problem: 'That choice is not one of the options.' });
    expect(await pick('4h')).toEqual({ ok: true });
    expect(bot.requests.map(payloadOf)).toMatchObject([
      {
        actions: [{ action_id: 'snooze', selected_option: { value: '4h' } }],
        state: {
          values: { row: { snooze: { selected_option: { value: '4h' } }, card: { selected_option: null } } },
        },
      },
    ]);
  });

  it('shows what went wrong when it is not acknowledged', async () => {
    const workspace = await openWorkspace({ ackTimeoutMs: 60 });
    const ts = await posted(workspace);
    const press = () => workspace.act(workspace.ids.users.onCall, pressOf(workspace, ts));
    expect(await press()).toEqual({ ok: false, problem: 'This app could not be reached.' });
    await openRawBot(workspace, (_request, count) => (count === 1 ? undefined : { status: 404 }));
    expect(await press()).toMatchObject({ problem: expect.stringContaining('timed out') });
    expect(await press()).toEqual({ ok: false, problem: 'This app responded with status code 404.' });
  });

  it('on an ephemeral message works for its person, without the message in the payload', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const { users, channels } = workspace.ids;
    const channel = channels.payAlerts;
    const sent = await clientOf(workspace).chat.postEphemeral({
      channel,
      user: users.agent,
      text: 'x',
      blocks: [row],
    });
    const press = pressOf(workspace, sent.message_ts ?? '');
    expect(await workspace.act(users.lead, press)).toMatchObject({ ok: false });
    expect(await workspace.act(users.agent, press)).toEqual({ ok: true });
    const payload = payloadOf(bot.requests[0] ?? { headers: {}, body: '{}' });
    expect(payload).toMatchObject({ container: { is_ephemeral: true } });
    expect(payload).not.toHaveProperty('message');
    await fetch(String(payload['response_url']), {
      method: 'POST',
      body: JSON.stringify({ replace_original: true, text: 'Done' }),
    });
    expect(workspace.state(users.agent).messages[channel]).toMatchObject([{ text: 'Done', ephemeral: true }]);
  });

  it('is impossible when the manifest has no interactivity', async () => {
    const settings = { interactivity: { is_enabled: false } };
    const workspace = await openWorkspace({ manifest: { ...manifest, settings } });
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const ts = await posted(workspace);
    expect(await workspace.act(workspace.ids.users.agent, pressOf(workspace, ts))).toMatchObject({
      ok: false,
    });
    expect(bot.requests).toEqual([]);
  });
});

const ask = (viewId: string) =>
  ({ kind: 'suggest', blockId: 'row', actionId: 'card', text: 'vi', viewId }) as const;

async function home(workspace: Workspace): Promise<string> {
  const user = workspace.ids.users.agent;
  await clientOf(workspace).views.publish({ user_id: user, view: { type: 'home', blocks: [row] } });
  return workspace.state(user).home?.id ?? '';
}

describe('an external select', () => {
  it('asks the bot, with the view, and gives its options', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({
      status: 200,
      body: JSON.stringify({ options: [option('visa'), option('verve')] }),
    }));
    const user = workspace.ids.users.agent;
    const viewId = await home(workspace);
    expect(await workspace.act(user, ask(viewId))).toMatchObject({
      options: [{ value: 'visa' }, { value: 'verve' }],
    });
    expect(bot.requests.map(payloadOf)).toMatchObject([{ type: 'block_suggestion', view: { id: viewId } }]);
  });

  it('shows a problem for options Slack would refuse', async () => {
    const workspace = await openWorkspace();
    const long = { text: plain('x'.repeat(76)), value: 'x' };
    const many = Array.from({ length: 101 }, (_, index) => option(String(index)));
    await openRawBot(workspace, (_request, count) => ({
      status: 200,
      body: JSON.stringify({ options: count === 1 ? [long] : many }),
    }));
    const viewId = await home(workspace);
    expect(await workspace.act(workspace.ids.users.agent, ask(viewId))).toMatchObject({ ok: false });
    expect(await workspace.act(workspace.ids.users.agent, ask(viewId))).toMatchObject({ ok: false });
  });
});

describe('shortcuts', () => {
  it('are those of the manifest, with the message they were used on', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    const ts = await posted(workspace);
    const { users, channels } = workspace.ids;
    const on = { kind: 'message_shortcut', channel: channels.payAlerts, ts } as const;
    expect(workspace.state(users.agent)).toMatchObject({
      globalShortcuts: [{ callbackId: 'charge', name: 'Charge a saved card' }],
      messageShortcuts: [{ callbackId: 'lookup_here' }],
    });
    expect(await workspace.act(users.agent, { kind: 'global_shortcut', callbackId: 'charge' })).toEqual({
      ok: true,
    });
    expect(await workspace.act(users.agent, { ...on, callbackId: 'lookup_here' })).toEqual({ ok: true });
    expect(await workspace.act(users.agent, { ...on, callbackId: 'charge' })).toMatchObject({ ok: false });
    expect(await workspace.act(users.agent, { kind: 'global_shortcut', callbackId: 'nope' })).toMatchObject({
      ok: false,
    });
    expect(bot.requests.map(payloadOf)).toMatchObject([
      { type: 'shortcut', callback_id: 'charge', trigger_id: expect.any(String) },
      { type: 'message_action', callback_id: 'lookup_here', message: { ts, text: 'Declined' } },
    ]);
  });
});

describe('a press in a modal', () => {
  it('carries the view and a trigger that may push', async () => {
    const workspace = await openWorkspace();
    const triggers: string[] = [];
    const bot = await openRawBot(workspace, (request) => {
      triggers.push(String(payloadOf(request)['trigger_id']));
      return { status: 200 };
    });
    const user = workspace.ids.users.agent;
    await workspace.act(user, { kind: 'global_shortcut', callbackId: 'charge' });
    await clientOf(workspace).views.open({
      trigger_id: triggers[0] ?? '',
      view: modal('Charge', { blocks: [row] }),
    });
    const viewId = workspace.state(user).views[0]?.id ?? '';
    await workspace.act(user, pressOf(workspace, '', { container: { type: 'view', viewId } }));
    expect(payloadOf(bot.requests[1] ?? { headers: {}, body: '{}' })).toMatchObject({
      container: { type: 'view', view_id: viewId },
      view: { id: viewId, hash: expect.any(String) },
    });
    await clientOf(workspace).views.push({ trigger_id: triggers[1] ?? '', view: modal('More') });
    expect(workspace.state(user).views.map((view) => view.title)).toEqual(['Charge', 'More']);
    const covered = await workspace.act(
      user,
      pressOf(workspace, '', { container: { type: 'view', viewId } }),
    );
    expect(covered).toMatchObject({ ok: false });
  });
});
