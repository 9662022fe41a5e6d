import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openHouse, type House } from '../support/house.ts';

type Part = { name: string; state: string; detail?: string; fix?: string };

async function channelsPart(url: string): Promise<Part | undefined> {
  const { parts } = (await (await fetch(`${url}/readyz`)).json()) as { parts: Part[] };
  return parts.find(({ name }) => name === 'channels');
}

function routeTo({ policyFile }: House, channel: string): void {
  const rule = `routes:\n  - { name: big, when: { currency: USD }, to: ${channel} }\n`;
  writeFileSync(policyFile, `${readFileSync(policyFile, 'utf8')}${rule}`);
}

function looksAt(house: House): number {
  return house.exchanges().filter(({ path }) => path.endsWith('/conversations.info')).length;
}

describe.concurrent('a channel of payops.yml that the bot is not in', () => {
  it('is named at start, by the log and by health, until somebody invites the bot', async (test) => {
    const house = await openHouse(test, { workspace: { grantedOptionalScopes: 'all' } });
    const { channels, users } = house.workspace.ids;
    routeTo(house, channels.privateRoom);
    const bot = house.bot({ CHANNEL_CHECK_SECONDS: '1' });
    await house.start(bot);
    await house.until('health names it', async () => (await channelsPart(bot.url()))?.state === 'degraded');
    expect(await channelsPart(bot.url())).toMatchObject({
      detail: `no post arrives in ${channels.privateRoom} (rule big): channel_not_found`,
      fix: expect.stringContaining('/invite @pay'),
    });
    const warning = bot.lines.filter((line) => line.includes('cannot post in'));
    expect(warning).toHaveLength(1);
    expect(warning[0]).toMatch(/"level":"warn".*which rule big of payops\.yml names.*\/invite @pay/);

    const invitation = { kind: 'send_message', channel: channels.privateRoom, text: '/invite @pay' } as const;
    expect(await house.workspace.act(users.onCall, invitation)).toEqual({ ok: true });
    await house.until('health is well', async () => (await channelsPart(bot.url()))?.state === 'ok');
    expect(bot.lines.join('\n')).toContain(`The bot can post in ${channels.privateRoom} again`);
    expect(bot.lines.filter((line) => line.includes('cannot post in'))).toHaveLength(1);
  });

  it('is no fault, and said once, where the bot may not look', async (test) => {
    const house = await openHouse(test);
    routeTo(house, house.workspace.ids.channels.privateRoom);
    const bot = house.bot();
    await house.start(bot);
    await house.until('it is said', () => bot.lines.some((line) => line.includes('could not be checked')));
    await house.until('each was looked at', () => looksAt(house) === 5);
    expect(await channelsPart(bot.url())).toEqual({ name: 'channels', state: 'ok' });
    const lines = bot.lines.filter((line) => line.includes('could not be checked'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/"level":"info".*channels:read and groups:read/);
  });

  it('is found once Slack is there, which the start does not wait for', async (test) => {
    const house = await openHouse(test, { workspace: { grantedOptionalScopes: 'all' } });
    routeTo(house, house.workspace.ids.channels.privateRoom);
    house.workspace.setFaults({ kind: 'down' });
    const bot = house.bot();
    await house.start(bot);
    await house.until('it has tried', () => looksAt(house) > 0);
    expect(await channelsPart(bot.url())).toEqual({ name: 'channels', state: 'ok' });
    house.workspace.setFaults();
    await house.until('health names it', async () => (await channelsPart(bot.url()))?.state === 'degraded');
  });
});
