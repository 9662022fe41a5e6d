import { describe, expect, it } from 'vitest';
import { deployedBot } from '../support/bot.ts';
import { openDesk, type DeskOptions } from '../support/desk.ts';

const socket: DeskOptions = {
  env: { SLACK_MODE: 'socket', SLACK_APP_TOKEN: 'xapp-playground-app-token', SLACK_SIGNING_SECRET: '' },
};

describe('Socket Mode', () => {
  it('does the same work without a public address for Slack', async (test) => {
    // As deployed: what Bolt needs for Socket Mode alone is loaded late there.
    const desk = await openDesk(test, { ...socket, program: deployedBot });
    const { house } = desk;
    house.workspace.connect(undefined);
    await house.until('it is connected', () => house.workspace.openSockets() === 1);
    const paid = await desk.asks('agent', '/pay lookup ORDER-1001 12,500.00', 'Paid (confirmed)');
    await desk.presses('agent', 'Share to channel', paid);
    await desk.reads('lead', ['Paid (confirmed)', 'Shared by'], 'payDesk');
    await desk.asks('outsider', '/pay lookup ORDER-1001', 'Not allowed');
    await desk.opens('agent', '/pay link 10.00');
    const wrong = await desk.submits('agent', { 'Customer’s e-mail': 'nobody' });
    expect(wrong?.problems['Customer’s e-mail']).toContain('not an e-mail address');
    await desk.submits('agent', { 'Customer’s e-mail': 'zoe@example.com' });
    await desk.modalSays('agent', 'The service’s order id');
    await desk.closes('agent');
    await desk.home('agent', 'Your open payment links');
    await desk.shortcut('agent', 'Charge a saved card');
    await desk.modalSays('agent', 'You review it before anything is charged.');
    const reference = await house.decline();
    await desk.reads('onCall', reference, 'payAlerts');
    const route = await fetch(`${desk.bot.url()}/slack/events`, { method: 'POST', body: 'payload={}' });
    expect(route.status).toBe(404);
    expect(desk.bot.lines.join('\n')).not.toContain('xapp-');
  });

  it('comes back by itself when Slack asks for a new connection, cuts it, or was away', async (test) => {
    const desk = await openDesk(test, socket);
    const { workspace, until } = desk.house;
    workspace.connect(undefined);
    await until('it is connected', () => workspace.openSockets() === 1);
    workspace.disconnectSockets();
    await until('it is connected again', () => workspace.openSockets() === 1);
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    workspace.setFaults({ kind: 'down' });
    await until('the connection is gone', () => workspace.openSockets() === 0);
    await until('it says so', async () => (await state(desk.bot.url())) === 'degraded');
    workspace.setFaults();
    await until('it is connected again', () => workspace.openSockets() === 1);
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    await until('it is well', async () => (await state(desk.bot.url())) === 'ok');
  });
});

async function state(url: string): Promise<unknown> {
  const response = await fetch(`${url}/readyz`);
  return ((await response.json()) as { state: unknown }).state;
}
