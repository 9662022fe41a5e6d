import { describe, expect, it } from 'vitest';
import { channelUses, createChannels, namedChannels } from '../../src/app/channels.ts';
import { policySchema } from '../../src/config/policy.ts';
import type { Outside } from '../../src/app/outside.ts';
import type { SlackClients } from '../../src/slack/workspace.ts';

describe('namedChannels', () => {
  it('has every channel of the policy file once, with all that names it', () => {
    const policy = policySchema.parse({
      channels: { alerts: 'C0ALERTS01', ops: 'C0OPS00001', desk: 'C0ALERTS01' },
      routes: [
        { name: 'big', to: ['C0BIG00001', 'C0OPS00001'] },
        { name: 'rest', to: 'C0BIG00001' },
      ],
      daily_summary: [{ channel: 'C0BIG00001', at: '08:00', tz: 'UTC' }],
      approvals: { channel: 'C0APPROVE1', rules: [{ what: 'redrive' }] },
    });
    expect(namedChannels(policy)).toEqual([
      { channel: 'C0ALERTS01', namedBy: ['channels.alerts', 'channels.desk'] },
      { channel: 'C0OPS00001', namedBy: ['channels.ops', 'rule big'] },
      { channel: 'C0BIG00001', namedBy: ['rule big', 'rule rest', 'daily_summary'] },
      { channel: 'C0APPROVE1', namedBy: ['approvals'] },
    ]);
  });
});

describe('channelUses', () => {
  it('has what the file tells a channel besides alerts', () => {
    const policy = policySchema.parse({
      channels: { alerts: 'C0ALERTS01', ops: 'C0OPS00001', desk: 'C0DESK0001' },
      daily_summary: [{ channel: 'C0OPS00001', at: '08:00', tz: 'UTC' }],
      approvals: { channel: 'C0DESK0001', rules: [{ what: 'redrive' }] },
    });
    expect(channelUses(policy, 'C0ALERTS01')).toEqual([]);
    expect(channelUses(policy, 'C0OPS00001')).toEqual([
      { kind: 'daily_summary', atMinute: 480, timeZone: 'UTC' },
      { kind: 'ops' },
    ]);
    expect(channelUses(policy, 'C0DESK0001')).toEqual([{ kind: 'desk' }, { kind: 'approvals' }]);
  });
});

describe('createChannels', () => {
  it('names the first five that cannot be reached, each with its fix, and how many more there are', async () => {
    const to = Array.from({ length: 7 }, (_, index) => `C0CHANNEL${index}`);
    const policy = policySchema.parse({ channels: { alerts: 'D0DIRECT01' }, routes: [{ name: 'all', to }] });
    const outside = {
      config: { policy, channelCheckSeconds: 180 },
      log: () => undefined,
      now: () => 0,
    } as unknown as Outside;
    const archived = { channel: { is_archived: true } };
    const interactive = { conversations: { info: () => Promise.resolve(archived) } };
    const channels = createChannels(outside, { interactive } as unknown as SlackClients);
    expect(channels.health()).toEqual({ state: 'ok' });
    channels.start();
    // Nothing here takes longer than promises do.
    await new Promise((resolve) => void setImmediate(resolve));
    const shown = to.slice(0, 5);
    expect(channels.health()).toEqual({
      state: 'degraded',
      detail: `no post arrives in ${shown.map((id) => `${id} (rule all): is_archived`).join('; ')}; and 2 more, which the log names`,
      fix: shown.map((id) => `Unarchive ${id}, or set another channel in payops.yml.`).join(' '),
    });
    await channels.stop();
  });
});
