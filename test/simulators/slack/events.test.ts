import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/simulators/protocol.ts';
import {
  clientOf,
  closeAll,
  manifest,
  modal,
  openRawBot,
  openWorkspace,
  payloadOf,
  textInput,
} from './support.ts';

afterEach(closeAll);

const typed = (value: string) => ({ value: { type: 'plain_text_input', value } });

describe('app_home_opened', () => {
  it('tells who opened it', async () => {
    const workspace = await openWorkspace();
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    await workspace.act(workspace.ids.users.agent, { kind: 'open_home' });
    expect(bot.requests.map(payloadOf)).toMatchObject([
      {
        type: 'event_callback',
        event_id: expect.stringMatching(/^Ev/) as string,
        event: { type: 'app_home_opened', tab: 'home', user: workspace.ids.users.agent },
      },
    ]);
  });

  it('goes only to an app that subscribed', async () => {
    const workspace = await openWorkspace({
      manifest: { ...manifest, settings: { interactivity: { is_enabled: true } } },
    });
    const bot = await openRawBot(workspace, () => ({ status: 200 }));
    await workspace.act(workspace.ids.users.agent, { kind: 'open_home' });
    expect(bot.requests).toEqual([]);
  });
});

describe('the log of exchanges', () => {
  it('holds no token, no one-time password, no card number, no usable address, and stays short', async () => {
    const exchanges: Exchange[] = [];
    const workspace = await openWorkspace({ onExchange: (exchange) => exchanges.push(exchange) });
    const triggers: string[] = [];
    await openRawBot(workspace, (request) => {
      triggers.push(String(payloadOf(request)['trigger_id']));
      return { status: 200 };
    });
    const user = workspace.ids.users.agent;
    for (const name of ['otp', 'otp_code', 'code', 'bank-code', 'token_key']) {
      await workspace.act(user, { kind: 'global_shortcut', callbackId: 'charge' });
      const view = modal('OTP', { blocks: [textInput(name), textInput('note')] });
      await clientOf(workspace).views.open({ trigger_id: triggers.at(-1) ?? '', view });
      const viewId = workspace.state(user).views[0]?.id ?? '';
      const values = { [name]: typed('924517'), note: typed('4111 1111 1111 1111 visible') };
      await workspace.act(user, { kind: 'submit_view', viewId, values });
    }
    const channel = workspace.ids.channels.payDesk;
    await clientOf(workspace).chat.postMessage({ channel, text: 'x'.repeat(5000) });
    await fetch(`${workspace.apiUrl}auth.test`, {
      method: 'POST',
      body: new URLSearchParams({ token: workspace.credentials.botToken }),
    });
    const log = JSON.stringify(exchanges);
    const { botToken, appToken, signingSecret } = workspace.credentials;
    for (const secret of ['924517', '4111 1111', botToken, appToken, signingSecret]) {
      expect(log).not.toContain(secret);
    }
    expect(log.split('visible').length).toBeGreaterThan(5);
    for (const { request = '', response = '' } of exchanges) {
      expect(Math.max(request.length, response.length)).toBeLessThanOrEqual(2000);
    }
  });

  it('hides the address of a response_url', async () => {
    const exchanges: Exchange[] = [];
    const workspace = await openWorkspace({ onExchange: (exchange) => exchanges.push(exchange) });
    let url = '';
    await openRawBot(workspace, ({ body }) => {
      url = new URLSearchParams(body).get('response_url') ?? '';
      return { status: 200 };
    });
    const { users, channels } = workspace.ids;
    await workspace.act(users.agent, { kind: 'send_message', channel: channels.payDesk, text: '/pay x' });
    await fetch(url, { method: 'POST', body: JSON.stringify({ text: 'Found' }) });
    expect(exchanges.at(-1)).toMatchObject({ summary: 'response_url to Ada in #pay-desk', status: 200 });
    expect(JSON.stringify(exchanges)).not.toContain(new URL(url).pathname.split('/').at(-1));
  });
});
