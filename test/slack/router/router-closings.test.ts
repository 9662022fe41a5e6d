import { describe, expect, it } from 'vitest';
import { parsed } from '../../../src/domain/parsed.ts';
import { defineCommand, type Closed, type Command } from '../../../src/slack/command.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import type { RunningBot } from '../../support/running-bot.ts';
import { runningBots } from '../../support/running-bots.ts';

mockTheOutside();

const run = runningBots();

async function start(closed?: (told: Closed) => Promise<void>): Promise<RunningBot> {
  const verb: Command = defineCommand<undefined>({
    verb: 'form',
    usage: '',
    summary: 'Show a form',
    examples: ['form'],
    permission: 'form',
    effect: 'none',
    modals: [
      {
        callbackId: 'form',
        submit: async () => ({ kind: 'close' }),
        ...(closed === undefined ? {} : { closed }),
      },
    ],
    parse: () => parsed(undefined),
    run: async () => undefined,
  });
  const bot = await run({ more: [verb] });
  return bot;
}

const view = { id: 'V7', callbackId: 'form', privateMetadata: 'about' };

describe('a modal that was closed', () => {
  it('is told to the verb that made it, once Slack has its answer', async () => {
    const told: Closed[] = [];
    const bot = await start(async (closed) => void told.push(closed));
    expect((await bot.closeModal({ view })).status).toBe(200);
    await bot.slack.drained();
    expect(told).toEqual([
      {
        caller: { userId: 'U0AGENT', teamId: 'T0TEAM', from: 'modal' },
        viewId: 'V7',
        privateMetadata: 'about',
      },
    ]);
  });

  it('ends with an error id in the log when the verb throws, and quietly when nobody wants to know', async () => {
    const failing = await start(async () => {
      throw new Error('store away');
    });
    expect((await failing.closeModal({ view })).status).toBe(200);
    await failing.slack.drained();
    expect(failing.logged.join('\n')).toContain('A closed modal could not be followed up');
    const quiet = await start();
    expect((await quiet.closeModal({ view })).status).toBe(200);
    expect((await quiet.closeModal({ view: { ...view, callbackId: 'unknown' } })).status).toBe(200);
    await quiet.slack.drained();
    expect(quiet.logged.join('\n')).not.toContain('A closed modal could not be followed up');
  });

  it('is nobody’s business from another workspace', async () => {
    const told: Closed[] = [];
    const bot = await start(async (closed) => void told.push(closed));
    await bot.closeModal({ view, teamId: 'T0OTHER' });
    await bot.slack.drained();
    expect(told).toEqual([]);
  });
});
