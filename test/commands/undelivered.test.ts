import { describe, expect, it } from 'vitest';
import { createCommandSet } from '../../src/commands/command-set.ts';
import { undeliveredCommand } from '../../src/commands/undelivered.ts';
import type { Undelivered } from '../../src/domain/delivery.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { deliverAgainId, type BeingTried } from '../../src/slack/undelivered-message.ts';
import type { SlackMessage } from '../../src/slack/message.ts';

const channel = 'C0ALERTS01';
const place = { environment: 'live', account: 'Main' } as const;
const one: Undelivered = {
  channel,
  messages: 3,
  sinceMs: 0,
  slackError: 'is_archived',
  fix: 'Unarchive it.',
};

function stage(all: readonly Undelivered[] = [one], tried: readonly BeingTried[] = []) {
  const asked: string[] = [];
  const left = new Map(all.map((some) => [some.channel, some.messages]));
  const command = undeliveredCommand({
    ...place,
    undelivered: {
      all: async () => all,
      tried: () => tried,
      async deliverAgain(wanted) {
        asked.push(wanted);
        const messages = left.get(wanted) ?? 0;
        left.delete(wanted);
        return { kind: 'again', messages };
      },
    },
  });
  const replies: SlackMessage[] = [];
  async function type(words: readonly string[]): Promise<SlackMessage | string | undefined> {
    const prepared = command.prepare(words);
    if (!prepared.ok) return prepared.problem;
    const caller = { userId: 'U1' };
    return prepared.value.run({ caller, openModal: async () => 'V1', whileWaiting: (work) => work });
  }
  async function press(value: string): Promise<void> {
    await command.presses?.[0]?.press({
      caller: { userId: 'U1' },
      value,
      openModal: async () => 'V1',
      updateModal: async () => undefined,
      reply: async (message) => void replies.push(message),
    });
  }
  return { command, asked, replies, type, press };
}

const away = () => Promise.reject(new StoreUnavailable('away'));
const allowed = async () => ({ kind: 'allowed' }) as const;

describe('/pay undelivered', () => {
  it('lists by channel, changes nothing, and needs its own permission', async () => {
    const { command, type, asked } = stage();
    expect(command).toMatchObject({ permission: 'undelivered', effect: 'none' });
    expect((await type([])) as SlackMessage).toMatchObject({ text: expect.stringContaining('3 messages') });
    expect(asked).toEqual([]);
  });

  it('is not at ease while Slack refuses what was not given up yet', async () => {
    const { type } = stage([], [{ channel, slackError: 'is_archived', fix: 'Unarchive it.' }]);
    expect((await type([])) as SlackMessage).toMatchObject({
      text: expect.stringContaining('Slack refuses messages'),
    });
  });

  it('takes no words', async () => {
    expect(await stage().type([channel])).toMatch(/Nothing follows “undelivered”/);
  });

  it('delivers again what was pressed, under the verb’s own permission, and pressed twice only once', async () => {
    const { command, press, asked, replies } = stage();
    expect(command.presses).toMatchObject([{ actionId: deliverAgainId }]);
    expect(command.presses?.[0]?.permissions).toBeUndefined();
    expect(command.presses?.[0]?.about).toBeUndefined();
    expect(command.presses?.[0]?.aboutOther?.(channel)).toBe(channel);
    await press(channel);
    await press(channel);
    expect(asked).toEqual([channel, channel]);
    expect(replies.map(({ text }) => text)).toEqual([
      expect.stringContaining('3 messages on the way again'),
      expect.stringContaining('Nothing is left'),
    ]);
  });

  it('hands on that the store is away', async () => {
    const command = undeliveredCommand({
      ...place,
      undelivered: { all: away, tried: () => [], deliverAgain: away },
    });
    const prepared = command.prepare([]);
    if (!prepared.ok) throw new Error(prepared.problem);
    const conversation = { caller: { userId: 'U1' }, openModal: async () => 'V1' };
    await expect(prepared.value.run({ ...conversation, whileWaiting: (work) => work })).rejects.toThrow(
      StoreUnavailable,
    );
  });

  it('is found by its word and its button', () => {
    const set = createCommandSet([stage().command], allowed, () => undefined);
    expect(set.understand('undelivered')).toMatchObject({
      kind: 'command',
      command: { verb: 'undelivered' },
    });
    expect(set.press(deliverAgainId)).toMatchObject({ command: { verb: 'undelivered' } });
  });
});
