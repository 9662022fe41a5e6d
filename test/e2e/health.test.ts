import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openDesk } from '../support/desk.ts';
import { openHouse, type House } from '../support/house.ts';

type Part = { name: string; state: string; detail?: string; fix?: string };

function routeTo({ policyFile }: House, channel: string): void {
  const rule = `routes:\n  - { name: big, when: { currency: USD }, to: ${channel} }\n`;
  writeFileSync(policyFile, `${readFileSync(policyFile, 'utf8')}${rule}`);
}

function looksAt(house: House): number {
  return house.exchanges().filter(({ path }) => path.endsWith('/conversations.info')).length;
}

describe.concurrent('a channel of payops.yml without the bot', () => {
  it('is named in the log at start, once, with the fix', async (test) => {
    const house = await openHouse(test, { workspace: { grantedOptionalScopes: 'all' } });
    const { channels } = house.workspace.ids;
    routeTo(house, channels.privateRoom);
    const bot = house.bot();
    await house.start(bot);
    const warnings = () => bot.lines.filter((line) => line.includes('cannot post there'));
    await house.until('the log names it', () => warnings().length > 0);
    await house.until('each was looked at', () => looksAt(house) === 5);
    expect(warnings()).toEqual([
      expect.stringMatching(/"level":"warn".*rule big of payops\.yml.*\/invite @pay/),
    ]);
    expect(warnings()[0]).toContain(channels.privateRoom);
  });

  it('is no problem if the bot may not check it', async (test) => {
    const house = await openHouse(test);
    routeTo(house, house.workspace.ids.channels.privateRoom);
    const bot = house.bot();
    await house.start(bot);
    await house.until('each was looked at', () => looksAt(house) === 5);
    expect(bot.lines.filter((line) => line.includes('cannot post there'))).toEqual([]);
  });
});

describe('health and metrics', () => {
  it('name every part, stay ready without Slack or the service, and count what happens', async (test) => {
    const desk = await openDesk(test, { env: { PAYMENTS_TIMEOUT_SECONDS: '1' } });
    const get = async (path: string) => {
      const response = await fetch(`${desk.bot.url()}${path}`);
      return { status: response.status, text: await response.text() };
    };
    expect(await get('/healthz')).toMatchObject({ status: 200, text: expect.stringContaining('ok') });
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    const well = JSON.parse((await get('/readyz')).text) as { state: string; parts: Part[] };
    expect(well.state).toBe('ok');
    expect(well.parts.map(({ name }) => name)).toEqual([
      'store',
      'slack',
      'payments',
      'webhooks',
      'undelivered',
      'process',
    ]);
    await desk.house.payments.act({ kind: 'set_mode', mode: 'hang' });
    await desk.asks('agent', '/pay ORDER-1001', 'No answer from the payments service in time');
    const ill = await get('/readyz');
    expect(ill.status).toBe(200);
    const parts = (JSON.parse(ill.text) as { parts: Part[] }).parts;
    expect(parts.find(({ name }) => name === 'payments')).toMatchObject({
      state: 'degraded',
      detail: expect.stringContaining('the last look-up failed'),
    });
    await desk.house.payments.act({ kind: 'set_mode', mode: 'normal' });
    await desk.house.decline();
    await desk.house.until('the post of its alert is counted', async () =>
      /^payops_slack_request_duration_seconds_count\{method="chat.postMessage",result="ok"\} 1$/m.test(
        (await get('/metrics')).text,
      ),
    );
  });
});
