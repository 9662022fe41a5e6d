import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/simulators/protocol.ts';
import { clientOf, closeAll, modal, openRawBot, openWorkspace, payloadOf, textInput } from './support.ts';

afterEach(closeAll);

const typed = (value: string) => ({ value: { type: 'plain_text_input', value } });

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
    await clientOf(workspace).chat.postMessage({ channel, text: 'x'.repeat(4000) });
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
});
