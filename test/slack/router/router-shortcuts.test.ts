import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { parsed } from '../../../src/domain/parsed.ts';
import { modal, richText, words } from '../../../src/slack/blocks.ts';
import { defineCommand, type Command, type MayRun } from '../../../src/slack/command.ts';
import { helpMessage } from '../../../src/slack/help-message.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import type { BotOptions } from '../../support/running-bot.ts';
import { runningBots } from '../../support/running-bots.ts';
import { signSlack, teamId } from '../../support/slack-requests.ts';

mockTheOutside();

const run = runningBots();

const refuseAll: MayRun = async () => ({ kind: 'refused', rule: 'It needs a role', whoCan: 'the leads' });
const form = modal({ callbackId: 'form', title: 'Form', blocks: [richText([words('a form')])] });

function verbWith(seen: (readonly string[])[]): Command {
  return defineCommand<undefined>({
    verb: 'form',
    usage: '',
    summary: 'Show a form',
    examples: ['form'],
    permission: 'form',
    effect: 'none',
    shortcuts: [
      { callbackId: 'open_form', kind: 'global', name: 'Open the form' },
      {
        callbackId: 'read_message',
        kind: 'message',
        name: 'Read it',
        prepare: (texts) => ({
          async run() {
            seen.push(texts);
            return helpMessage([]);
          },
        }),
      },
    ],
    parse: () => parsed(undefined),
    async run(_, { openModal }) {
      await openModal(form);
      return undefined;
    },
  });
}

async function start(options: BotOptions = {}) {
  const seen: (readonly string[])[] = [];
  const bot = await run({ more: [verbWith(seen)], ...options });
  async function choose(more: Record<string, unknown>): Promise<number> {
    const payload = {
      type: 'shortcut',
      team: { id: teamId, domain: 'shop' },
      user: { id: 'U0AGENT', username: 'agent', team_id: teamId },
      token: 'unused',
      action_ts: '1700000001.000000',
      trigger_id: '1.5.jkl',
      ...more,
    };
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const status = await bot.send(signSlack(body));
    await bot.slack.drained();
    return status;
  }
  return { bot, seen, choose };
}

const slack = (): nock.Scope => nock('https://slack.test');
const shown: string[] = [];

function answer(method: string, reply: Record<string, unknown>): void {
  slack()
    .post(`/api/${method}`, (body: Record<string, unknown>) => shown.push(JSON.stringify(body)) > 0)
    .reply(200, reply);
}

function lastShown(): string {
  return shown.at(-1) ?? '';
}

describe('a global shortcut', () => {
  it('runs its verb without words', async () => {
    const { choose } = await start();
    answer('views.open', { ok: true, view: { id: 'V1' } });
    expect(await choose({ callback_id: 'open_form' })).toBe(200);
    expect(lastShown()).toContain('a form');
  });

  it('is refused in a modal, naming what was chosen', async () => {
    const { choose } = await start({ mayRun: refuseAll });
    answer('views.open', { ok: true, view: { id: 'V1' } });
    await choose({ callback_id: 'open_form' });
    expect(lastShown()).toContain('Not allowed: Open the form');
    expect(lastShown()).toContain('the leads');
  });

  it('is refused by direct message when the time for a modal is over', async () => {
    const { choose } = await start({ mayRun: refuseAll });
    answer('views.open', { ok: false, error: 'expired_trigger_id' });
    answer('chat.postMessage', { ok: true, channel: 'D1', ts: '1.1' });
    await choose({ callback_id: 'open_form' });
    expect(lastShown()).toContain('Not allowed: Open the form');
    expect(lastShown()).toContain('U0AGENT');
    expect(lastShown()).toContain('unfurl_links');
  });

  it('of another manifest is acknowledged and does nothing', async () => {
    const { choose } = await start();
    expect(await choose({ callback_id: 'unknown' })).toBe(200);
  });
});

describe('a shortcut on a message', () => {
  const on = {
    type: 'message_action',
    callback_id: 'read_message',
    channel: { id: 'C0SUPPORT', name: 'support' },
    message_ts: '1.1',
    message: { type: 'message', ts: '1.1', text: 'about INV-1' },
  };

  it('is given what can be read in the message, and leaves one audit line', async () => {
    const { bot, choose, seen } = await start();
    answer('chat.postEphemeral', { ok: true });
    expect(await choose({ ...on, response_url: 'http://127.0.0.1:9/gone' })).toBe(200);
    expect(seen).toEqual([['about INV-1']]);
    const audits = bot.logged.filter((line) => line.includes('Asked and answered'));
    expect(audits).toHaveLength(1);
    expect(audits[0]).toContain('"verb":"form"');
    expect(audits[0]).not.toContain('INV-1');
  });

  it('reads nothing for who may not', async () => {
    const { choose, seen } = await start({ mayRun: refuseAll });
    answer('chat.postEphemeral', { ok: true });
    await choose({ ...on, response_url: 'http://127.0.0.1:9/gone' });
    expect(seen).toEqual([]);
    expect(lastShown()).toContain('Not allowed');
  });
});
