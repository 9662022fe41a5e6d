import { describe, expect, it } from 'vitest';
import { parsed } from '../../../src/domain/parsed.ts';
import type { Choice } from '../../../src/slack/blocks.ts';
import { defineCommand, type Command, type Suggestion } from '../../../src/slack/command.ts';
import { helpMessage } from '../../../src/slack/help-message.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import { runningBots } from '../../support/running-bots.ts';

mockTheOutside();

const start = runningBots();

function pickVerb(suggest: Suggestion['suggest']): Command {
  return defineCommand<undefined>({
    verb: 'refund',
    usage: '',
    summary: 'Give money back',
    examples: ['refund'],
    permission: 'refund',
    effect: 'none',
    suggestions: [{ actionId: 'card', suggest }],
    parse: () => parsed(undefined),
    run: async () => helpMessage([]),
  });
}

function counted(choices: readonly Choice[] = []) {
  const asked: unknown[] = [];
  const verb = pickVerb(async (typed, caller) => {
    asked.push([typed, caller]);
    return choices;
  });
  return { asked, verb };
}

const none = { status: 200, body: { options: [] } };

describe('an external select', () => {
  it('offers what the verb finds for what was typed', async () => {
    const { asked, verb } = counted([{ text: 'Visa ·· 4242', value: 'card-1' }]);
    const bot = await start({ more: [verb] });
    expect(await bot.suggest({ actionId: 'card', typed: 'vis' })).toEqual({
      status: 200,
      body: {
        options: [{ text: { type: 'plain_text', text: 'Visa ·· 4242', emoji: false }, value: 'card-1' }],
      },
    });
    expect(asked).toEqual([['vis', { userId: 'U0AGENT', teamId: 'T0TEAM', from: 'modal' }]]);
  });

  it('keeps to Slack’s limits, and cuts no value', async () => {
    const choices = [
      { text: 'too long', value: 'v'.repeat(151) },
      { text: 'empty', value: '' },
      { text: 't'.repeat(200), value: 'v'.repeat(150) },
      ...Array.from({ length: 200 }, (_, index) => ({ text: `card ${index}`, value: `card-${index}` })),
    ];
    const bot = await start({ more: [counted(choices).verb] });
    const { body } = await bot.suggest({ actionId: 'card', typed: '' });
    const options = body?.['options'] as { text: { text: string }; value: string }[];
    expect(options).toHaveLength(100);
    expect(options[0]).toMatchObject({ value: 'v'.repeat(150) });
    expect(options[0]?.text.text).toHaveLength(75);
    expect(bot.logged.join('')).toContain('values that Slack does not take');
  });

  it('offers nothing for a card number, and keeps nothing of it', async () => {
    const { asked, verb } = counted();
    const bot = await start({ more: [verb] });
    expect(await bot.suggest({ actionId: 'card', typed: '4111 1111 1111 1111' })).toEqual(none);
    expect(asked).toEqual([]);
    const line = JSON.parse(bot.logged.find((each) => each.includes('card number')) ?? '{}');
    expect(line).toMatchObject({ level: 'warn', userId: 'U0AGENT' });
    expect(bot.logged.join('')).not.toContain('4111');
  });

  it('offers nothing without the permission, or from another workspace', async () => {
    const { asked, verb } = counted();
    const refusing = await start({
      more: [verb],
      mayRun: async () => ({ kind: 'refused', rule: 'r', whoCan: 'w' }),
    });
    expect(await refusing.suggest({ actionId: 'card', typed: 'a' })).toEqual(none);
    const bot = await start({ more: [verb] });
    while (!bot.logged.some((line) => line.includes('Slack knows the bot'))) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      await bot.next();
    }
    expect(await bot.suggest({ actionId: 'card', typed: 'a', teamId: 'T0OTHER' })).toEqual(none);
    expect(asked).toEqual([]);
  });

  it('offers nothing when the verb fails or no verb claims it', async () => {
    const bot = await start({ more: [pickVerb(() => Promise.reject(new Error('the pear is ripe')))] });
    expect(await bot.suggest({ actionId: 'card', typed: 'a' })).toEqual(none);
    expect(bot.logged.join('')).toContain('the pear is ripe');
    expect(await bot.suggest({ actionId: 'gone', typed: 'a' })).toEqual(none);
  });

  it('is answered in time when the verb hangs', async () => {
    const bot = await start({ more: [pickVerb(() => new Promise(() => undefined))], suggestMs: 20 });
    expect(await bot.suggest({ actionId: 'card', typed: 'a' })).toEqual(none);
    expect(bot.logged.join('')).toContain('A list could not be offered');
  });
});
