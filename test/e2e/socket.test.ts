import { describe, expect, it } from 'vitest';
import { openHouse } from '../support/house.ts';

describe.concurrent('Socket Mode', () => {
  it('does the same work without a public address for Slack', async (test) => {
    const house = await openHouse(test);
    const { appToken } = house.workspace.credentials;
    const { SLACK_SIGNING_SECRET: _none, ...settings } = house.settings();
    const bot = house.bot({
      ...settings,
      SLACK_MODE: 'socket',
      SLACK_APP_TOKEN: appToken,
      SLACK_SIGNING_SECRET: '',
    });
    await house.start(bot);
    house.workspace.connect(undefined);
    await house.until('it is connected', () => house.workspace.openSockets() === 1);

    await house.type('agent', '/pay lookup ORDER-1001 12,500.00');
    await house.until('the agent is answered', () => house.seenBy('agent').length === 1);
    expect(house.seenBy('agent')[0]?.text).toContain('Paid (confirmed)');
    await house.type('outsider', '/pay lookup ORDER-1001');
    await house.until('the outsider is answered', () => house.seenBy('outsider').length === 1);
    expect(house.seenBy('outsider')[0]?.text).toContain('Not allowed');

    const reference = await house.decline();
    await house.until('all work is done', async () => (await house.workLeft()) === 0);
    await house.until('the alert is there', () => house.posts('payAlerts').length > 0);
    expect(house.posts('payAlerts').map(({ text }) => text)).toEqual([expect.stringContaining(reference)]);

    const route = await fetch(`${bot.url()}/slack/events`, { method: 'POST', body: 'payload={}' });
    expect(route.status).toBe(404);
  });

  it('comes back by itself when Slack asks for a new connection, cuts it, or was away', async (test) => {
    const house = await openHouse(test);
    const { appToken } = house.workspace.credentials;
    const bot = house.bot({ SLACK_MODE: 'socket', SLACK_APP_TOKEN: appToken });
    await house.start(bot);
    house.workspace.connect(undefined);
    await house.until('it is connected', () => house.workspace.openSockets() === 1);

    house.workspace.disconnectSockets('refresh_requested');
    await house.until('it is connected again', () => house.workspace.openSockets() === 1);
    await house.type('agent', '/pay ORDER-1001');
    await house.until('the agent is answered', () => house.seenBy('agent').length === 1);

    house.workspace.setFaults({ kind: 'down' });
    await house.until('the connection is gone', () => house.workspace.openSockets() === 0);
    await house.until('it says so', async () => (await state(bot.url())) === 'degraded');
    house.workspace.setFaults();
    await house.until('it is connected again', () => house.workspace.openSockets() === 1);
    await house.type('agent', '/pay ORDER-1001');
    await house.until('the agent is answered again', () => house.seenBy('agent').length === 2);
    expect(house.seenBy('agent').every(({ text }) => text.includes('Paid (confirmed)'))).toBe(true);
    expect(await state(bot.url())).toBe('ok');
  });
});

async function state(url: string): Promise<unknown> {
  const response = await fetch(`${url}/readyz`);
  return ((await response.json()) as { state: unknown }).state;
}
