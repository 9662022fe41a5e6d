import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Workspace } from '../../../src/simulators/slack/workspace.ts';
import { clientOf, closeAll, modal, openRawBot, openSocketBot, openWorkspace } from './support.ts';

afterEach(closeAll);

function type(workspace: Workspace, text: string) {
  const channel = workspace.ids.channels.payDesk;
  return workspace.act(workspace.ids.users.agent, { kind: 'send_message', channel, text });
}

function seen(workspace: Workspace) {
  return workspace.state(workspace.ids.users.agent).messages[workspace.ids.channels.payDesk] ?? [];
}

type Frame = { type: string; reason?: string; num_connections?: number; envelope_id?: string };

/** A bare client: every frame it gets, in order, and what it answers. */
async function openSocket(workspace: Workspace) {
  const { url = '' } = await clientOf(workspace, workspace.credentials.appToken).apps.connections.open();
  const socket = new WebSocket(url);
  const frames: Frame[] = [];
  let arrived = Promise.withResolvers<void>();
  socket.on('message', (data: Buffer) => {
    frames.push(JSON.parse(data.toString()) as Frame);
    arrived.resolve();
  });
  async function next(): Promise<Frame> {
    while (frames.length === 0) {
      arrived = Promise.withResolvers<void>();
      await arrived.promise;
    }
    return frames.shift() as Frame;
  }
  return { url, socket, next, hello: await next() };
}

describe('Socket Mode', () => {
  it('carries what people do to a real Bolt app, and takes what its acknowledgements carry', async () => {
    const workspace = await openWorkspace();
    const http = await openRawBot(workspace, () => ({ status: 200 }));
    const answers = [
      { response_action: 'update' as const, view: modal('Charging…', { callback_id: 'form' }) },
    ];
    await openSocketBot(workspace, (app) => {
      app.command('/pay', ({ ack }) => ack('From the socket'));
      app.shortcut('charge', async ({ ack, client, shortcut }) => {
        const view = modal('Charge', { callback_id: 'form' });
        await client.views.open({ trigger_id: shortcut.trigger_id, view });
        await ack();
      });
      app.view('form', ({ ack }) => {
        const answer = answers.shift();
        return answer ? ack(answer) : ack();
      });
    });
    const user = workspace.ids.users.agent;
    await type(workspace, '/pay ORDER-1001');
    expect(seen(workspace)).toMatchObject([{ text: 'From the socket', ephemeral: true }]);
    await workspace.act(user, { kind: 'global_shortcut', callbackId: 'charge' });
    const viewId = workspace.state(user).views[0]?.id ?? '';
    await workspace.act(user, { kind: 'submit_view', viewId, values: {} });
    expect(workspace.state(user).views).toMatchObject([{ id: viewId, title: 'Charging…' }]);
    await workspace.act(user, { kind: 'submit_view', viewId, values: {} });
    expect(workspace.state(user).views).toEqual([]);
    expect(http.requests).toEqual([]);
  });

  it('says hello, and gives each payload to one of the connections', async () => {
    const workspace = await openWorkspace();
    const one = await openSocket(workspace);
    const two = await openSocket(workspace);
    expect([one.hello, two.hello]).toMatchObject([
      { type: 'hello', num_connections: 1 },
      { type: 'hello', num_connections: 2 },
    ]);
    const got: string[] = [];
    for (const [name, connection] of Object.entries({ one, two })) {
      connection.socket.on('message', (data: Buffer) => {
        got.push(name);
        const { envelope_id } = JSON.parse(data.toString()) as Frame;
        connection.socket.send(JSON.stringify({ envelope_id }));
      });
    }
    for (let sent = 0; sent < 4; sent += 1) expect(await type(workspace, '/pay')).toEqual({ ok: true });
    expect(got.toSorted()).toEqual(['one', 'one', 'two', 'two']);
    expect(seen(workspace)).toEqual([]);
  });

  it('wants an app token, and an address works once', async () => {
    const workspace = await openWorkspace();
    const { url } = await openSocket(workspace);
    const again = new WebSocket(url);
    const status = await new Promise((resolve) => {
      again.on('unexpected-response', (_request, response) => resolve(response.statusCode));
    });
    expect(status).toBe(403);
    expect(workspace.openSockets()).toBe(1);
  });

  it('times out without an acknowledgement, and fails when the connection breaks under it', async () => {
    const workspace = await openWorkspace({ ackTimeoutMs: 60 });
    const { socket } = await openSocket(workspace);
    await type(workspace, '/pay');
    socket.once('message', () => socket.terminate());
    await type(workspace, '/pay');
    expect(seen(workspace).map((message) => message.text)).toEqual([
      '/pay failed with the error "operation_timeout"',
      '/pay failed with the error "dispatch_failed"',
    ]);
  });

  it('asks for a new connection and uses the old one no more', async () => {
    const workspace = await openWorkspace();
    const old = await openSocket(workspace);
    workspace.disconnectSockets();
    expect(await old.next()).toEqual({ type: 'disconnect', reason: 'refresh_requested' });
    const http = await openRawBot(workspace, () => ({ status: 200 }));
    await type(workspace, '/pay');
    expect(http.requests).toHaveLength(1);
  });

  it('is cut while Slack is down', async () => {
    const workspace = await openWorkspace();
    const { socket } = await openSocket(workspace);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    workspace.setFaults({ kind: 'down' });
    await closed;
    expect(workspace.openSockets()).toBe(0);
  });
});
