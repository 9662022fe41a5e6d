import { afterEach, describe, expect, it } from 'vitest';
import type { Workspace } from '../../../src/simulators/slack/workspace.ts';
import { closeAll, createClock, manifest, openBot, openRawBot, openWorkspace } from './support.ts';

afterEach(closeAll);

function type(workspace: Workspace, text: string, more: { threadTs?: string; channel?: string } = {}) {
  const channel = more.channel ?? workspace.ids.channels.payDesk;
  const thread = more.threadTs === undefined ? {} : { threadTs: more.threadTs };
  return workspace.act(workspace.ids.users.agent, { kind: 'send_message', channel, text, ...thread });
}

function seen(workspace: Workspace, user: keyof Workspace['ids']['users'] = 'agent') {
  return workspace.state(workspace.ids.users[user]).messages[workspace.ids.channels.payDesk] ?? [];
}

describe('a slash command', () => {
  it('reaches Bolt signed, with the words, the place and a trigger', async () => {
    const workspace = await openWorkspace();
    const commands: Record<string, unknown>[] = [];
    await openBot(workspace, (app) =>
      app.command('/pay', async ({ command, ack }) => {
        commands.push(command);
        await ack();
      }),
    );
    expect(await type(workspace, '/pay  ORDER-1001 12.50 ')).toEqual({ ok: true });
    expect(commands).toMatchObject([
      {
        command: '/pay',
        text: 'ORDER-1001 12.50',
        user_id: workspace.ids.users.agent,
        channel_id: workspace.ids.channels.payDesk,
        channel_name: 'pay-desk',
        team_id: workspace.ids.teamId,
        trigger_id: expect.any(String),
        response_url: expect.stringContaining(workspace.url),
      },
    ]);
    expect(seen(workspace)).toEqual([]);
  });

  it('is refused by a bot that knows another signing secret', async () => {
    const workspace = await openWorkspace();
    workspace.credentials.signingSecret = 'another-secret';
    await openBot(workspace, (app) => app.command('/pay', ({ ack }) => ack('hello')));
    await type(workspace, '/pay');
    expect(seen(workspace)).toMatchObject([
      { authorName: 'Slackbot', text: '/pay failed with the error "http_client_error"' },
    ]);
  });

  it('shows the text of the acknowledgement to the one person', async () => {
    const workspace = await openWorkspace();
    await openBot(workspace, (app) => app.command('/pay', ({ ack }) => ack('Nothing is open.')));
    await type(workspace, '/pay');
    expect(seen(workspace)).toMatchObject([{ text: 'Nothing is open.', ephemeral: true, authorIsBot: true }]);
    expect(seen(workspace, 'lead')).toEqual([]);
  });

  it('tells the person when no acknowledgement comes in time', async () => {
    const workspace = await openWorkspace({ ackTimeoutMs: 60 });
    await openRawBot(workspace, () => undefined);
    await type(workspace, '/pay');
    expect(seen(workspace)).toMatchObject([
      { authorName: 'Slackbot', ephemeral: true, text: '/pay failed with the error "operation_timeout"' },
    ]);
  });

  it('tells the person when the bot fails, is away, or answers with blocks Slack refuses', async () => {
    const workspace = await openWorkspace();
    await type(workspace, '/pay');
    const answers = [
      { status: 500 },
      { status: 200, body: JSON.stringify({ blocks: [{ type: 'section' }] }) },
    ];
    await openRawBot(workspace, (_request, count) => answers[count - 1]);
    await type(workspace, '/pay');
    await type(workspace, '/pay');
    expect(seen(workspace).map((message) => message.text)).toEqual([
      '/pay failed with the error "dispatch_failed"',
      '/pay failed with the error "http_service_error"',
      '/pay failed with the error "invalid_blocks"',
    ]);
  });

  it('is answered by Slackbot when no app has it, and inside threads', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    await type(workspace, '/refund all');
    await type(workspace, 'A thread');
    await type(workspace, '/pay', { threadTs: seen(workspace).at(-1)?.ts ?? '' });
    expect(seen(workspace).filter((message) => message.authorName === 'Slackbot')).toMatchObject([
      { text: expect.stringContaining('/refund is not a valid command.'), ephemeral: true },
      { text: '/pay is not supported in threads. Sorry!' },
    ]);
    expect(bot.requests).toEqual([]);
  });

  it('has names as ids when the manifest escapes, and as typed when it does not', async () => {
    const workspace = await openWorkspace();
    const texts: (string | null)[] = [];
    await openRawBot(workspace, ({ body }) => {
      texts.push(new URLSearchParams(body).get('text'));
      return { status: 200 };
    });
    const words = '@ada #pay-ops @on-call ada@shop.example https://shop.example/a @nobody';
    await type(workspace, `/pay ${words}`);
    await type(workspace, `/raw ${words}`);
    const { users, channels, groups } = workspace.ids;
    expect(texts).toEqual([
      `<@${users.agent}|ada> <#${channels.payOps}|pay-ops> <!subteam^${groups.onCall}|@on-call> ` +
        '<mailto:ada@shop.example|ada@shop.example> <https://shop.example/a> @nobody',
      words,
    ]);
  });

  it('works in a channel that the bot is not in, and in nobody else’s direct message', async () => {
    const workspace = await openWorkspace();
    await openBot(workspace, (app) => app.command('/pay', ({ ack }) => ack('Here')));
    const { channels, users } = workspace.ids;
    await type(workspace, '/pay', { channel: channels.privateRoom });
    expect(workspace.state(users.agent).messages[channels.privateRoom]).toMatchObject([{ text: 'Here' }]);
    expect(await type(workspace, '/pay', { channel: channels.leadDm })).toMatchObject({ ok: false });
  });
});

async function urlOf(
  workspace: Workspace,
): Promise<(body: unknown) => Promise<{ status: number; error?: string }>> {
  let url = '';
  await openRawBot(workspace, ({ body }) => {
    url = new URLSearchParams(body).get('response_url') ?? '';
    return { status: 200 };
  });
  await type(workspace, '/pay');
  return async (body) => {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    const { error } = (await answer.json()) as { error?: string };
    return { status: answer.status, ...(error === undefined ? {} : { error }) };
  };
}

describe('a response_url', () => {
  it('has no original message behind a command: replacing posts', async () => {
    const workspace = await openWorkspace();
    const respond = await urlOf(workspace);
    await respond({ text: 'One' });
    await respond({ text: 'Two', replace_original: true });
    expect(seen(workspace).map((message) => message.text)).toEqual(['One', 'Two']);
  });

  it('is good for five answers, and a refused one does not count', async () => {
    const workspace = await openWorkspace();
    const respond = await urlOf(workspace);
    expect(await respond({ text: 'x', blocks: [{ type: 'section' }] })).toEqual({
      status: 400,
      error: 'invalid_blocks',
    });
    expect(await respond({})).toEqual({ status: 400, error: 'no_text' });
    for (let used = 0; used < 5; used += 1) expect(await respond({ text: 'x' })).toEqual({ status: 200 });
    expect(await respond({ text: 'x' })).toEqual({ status: 404, error: 'used_url' });
    expect(seen(workspace)).toHaveLength(5);
  });

  it('is good for thirty minutes', async () => {
    const clock = createClock();
    const workspace = await openWorkspace({ now: clock.now });
    const respond = await urlOf(workspace);
    clock.advance(30 * 60 * 1000);
    expect(await respond({ text: 'x' })).toEqual({ status: 200 });
    clock.advance(1);
    expect(await respond({ text: 'x' })).toEqual({ status: 404, error: 'expired_url' });
  });

  it('makes Bolt’s respond throw when it is dead', async () => {
    const workspace = await openWorkspace();
    let outcome: unknown;
    await openBot(workspace, (app) =>
      app.command('/pay', async ({ ack, respond }) => {
        for (let used = 0; used < 5; used += 1) await respond('x');
        outcome = await respond('too many').catch((error: unknown) => error);
        await ack();
      }),
    );
    await type(workspace, '/pay');
    expect(outcome).toMatchObject({ code: 'slack_bolt_respond_error' });
  });
});

describe('a message a person writes', () => {
  it('is seen by all, with ids for names', async () => {
    const workspace = await openWorkspace();
    await type(workspace, 'Good morning');
    await type(workspace, '@Pay help');
    expect(seen(workspace, 'outsider').map((message) => message.text)).toEqual([
      'Good morning',
      `<@${workspace.ids.botUserId}> help`,
    ]);
  });

  it('cannot be sent to an app whose messages tab is read-only, commands included', async () => {
    const home = { ...manifest.features.app_home, messages_tab_read_only_enabled: true };
    const features = { ...manifest.features, app_home: home };
    const workspace = await openWorkspace({ manifest: { ...manifest, features } });
    const channel = workspace.ids.channels.agentDm;
    const refused = { ok: false, problem: 'Sending messages to this app has been turned off.' };
    expect(await type(workspace, 'Hello', { channel })).toEqual(refused);
    expect(await type(workspace, '/pay', { channel })).toEqual(refused);
    const shown = workspace.state(workspace.ids.users.agent).channels;
    expect(shown.filter(({ readOnly }) => readOnly).map(({ id }) => id)).toEqual([channel]);
  });

  it('cannot be empty, nor go where there is no channel any more', async () => {
    const workspace = await openWorkspace();
    expect(await type(workspace, '  ')).toMatchObject({ ok: false });
    workspace.setChannel(workspace.ids.channels.payDesk, { archived: true });
    expect(await type(workspace, 'Hello')).toEqual({ ok: false, problem: 'This channel is archived.' });
  });
});
