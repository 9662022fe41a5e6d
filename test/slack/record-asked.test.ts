import nock from 'nock';
import { describe, expect, it } from 'vitest';
import type { AuditNote } from '../../src/domain/audit-note.ts';
import { parseOrderReference, type OrderReference } from '../../src/domain/order-reference.ts';
import { modal, richText, words } from '../../src/slack/blocks.ts';
import { defineCommand, itself, type Command } from '../../src/slack/command.ts';
import { helpMessage } from '../../src/slack/help-message.ts';
import { mockTheOutside } from '../support/mocks.ts';
import type { BotOptions } from '../support/running-bot.ts';
import { runningBots } from '../support/running-bots.ts';
import { answerSlack } from '../support/slack-api.ts';
import { typedText } from '../support/slack-requests.ts';

mockTheOutside();

const run = runningBots();

const form = modal({ callbackId: 'refund_form', title: 'Refund', blocks: [richText([words('Terms')])] });

/** A verb with a press and a form, both of which break when told to. */
function refundVerb(breaks = false): Command {
  function work(): void {
    if (breaks) throw new Error('a bug');
  }
  return defineCommand<OrderReference>({
    verb: 'refund',
    usage: '<reference>',
    summary: 'Give money back',
    examples: ['refund INV-1'],
    permission: 'refund',
    effect: 'none',
    buttons: [{ actionId: 'run_refund', words: (value) => [value] }],
    presses: [
      { actionId: 'more', about: itself, press: async () => work() },
      { actionId: 'elsewhere', aboutOther: itself, press: async () => work() },
    ],
    modals: [
      {
        callbackId: 'refund_form',
        about: itself,
        async submit() {
          work();
          return { kind: 'close' };
        },
      },
    ],
    parse: ([first = '']) => parseOrderReference(first),
    reference: (reference) => reference,
    async run() {
      work();
      return helpMessage([]);
    },
  });
}

async function start(options: BotOptions = {}, breaks = false) {
  const notes: AuditNote[] = [];
  const note = (one: AuditNote): void => void notes.push(one);
  const bot = await run({ more: [refundVerb(breaks)], note, ...options });
  return { bot, notes };
}

const refuseAll: BotOptions['mayRun'] = async () => ({
  kind: 'refused',
  rule: 'Needs “refund”',
  whoCan: 'leads',
});
const inModal = { actionId: 'more', value: 'INV-1', view: { id: 'V7' } };
const submitted = {
  view: {
    id: 'V7',
    callbackId: form.callback_id ?? '',
    privateMetadata: 'INV-1',
    blocks: form.blocks,
    inputs: { words: typedText('my free words') },
  },
};
const agent = { who: 'U0AGENT' };

describe('what the audit is told of what was asked', () => {
  it('names who, where, the verb and the reference of a command, and nothing else that was typed', async () => {
    const { bot, notes } = await start();
    await bot.type('refund INV-2041');
    await bot.type('nonsense that nobody knows');
    const here = { ...agent, what: 'command', where: 'C0SUPPORT' };
    expect(notes).toEqual([
      { ...here, verb: 'refund', reference: 'INV-2041', result: 'answered' },
      { ...here, result: 'unclear' },
    ]);
  });

  it('names the rule that refused it, and the reference all the same', async () => {
    const { bot, notes } = await start({ mayRun: refuseAll });
    answerSlack([], 'views.push', { ok: true, view: { id: 'V9' } });
    await bot.type('refund INV-2041');
    await bot.press(inModal);
    await bot.submit(submitted);
    await bot.slack.drained();
    const refused = { ...agent, result: 'refused', reason: 'Needs “refund”' };
    expect(notes).toEqual([
      { ...refused, what: 'command', where: 'C0SUPPORT', verb: 'refund', reference: 'INV-2041' },
      { ...refused, what: 'press', where: 'modal', verb: 'refund more', reference: 'INV-1' },
      { ...refused, what: 'form', where: 'modal', verb: 'refund refund_form', reference: 'INV-1' },
    ]);
  });

  it('is one entry for a press and for a form, with the button and the form by their ids', async () => {
    const { bot, notes } = await start();
    await bot.press(inModal);
    await bot.submit(submitted);
    await bot.slack.drained();
    expect(notes).toEqual([
      {
        ...agent,
        what: 'press',
        where: 'modal',
        verb: 'refund more',
        reference: 'INV-1',
        result: 'answered',
      },
      {
        ...agent,
        what: 'form',
        where: 'modal',
        verb: 'refund refund_form',
        reference: 'INV-1',
        result: 'answered',
      },
    ]);
    expect(JSON.stringify(notes)).not.toContain('free words');
  });

  it('names what a press is about that is no payment, which the log calls no order', async () => {
    const { bot, notes } = await start();
    await bot.press({ actionId: 'elsewhere', value: 'C0ALERTS01', view: { id: 'V7' } });
    await bot.press(inModal);
    await bot.slack.drained();
    expect(notes.map(({ reference }) => reference)).toEqual(['C0ALERTS01', 'INV-1']);
    const logged = bot.logged.join('\n');
    expect(logged).toContain('"orderReference":"INV-1"');
    expect(logged).not.toContain('"orderReference":"C0ALERTS01"');
  });

  it('has the error’s id when something broke, as the screen and the log have it', async () => {
    const { bot, notes } = await start({}, true);
    await bot.type('refund INV-2041');
    const [, id] = /error ([0-9A-F]{8})/.exec(notes[0]?.reason ?? '') ?? [];
    expect(id).toBeDefined();
    expect(notes[0]?.result).toBe('failed');
    expect(bot.toldText()).toContain(id);
    expect(bot.logged.join('\n')).toContain(`"errorId":"${id}"`);
  });

  it('has a card number that was typed as a refusal, and nothing of it', async () => {
    const { bot, notes } = await start();
    await bot.type('refund 4111 1111 1111 1111');
    expect(notes).toEqual([
      { ...agent, what: 'command', where: 'C0SUPPORT', result: 'refused', reason: 'a card number was typed' },
    ]);
  });

  it('has whoever came from another workspace, whatever way they came', async () => {
    const { bot, notes } = await start();
    while (!bot.logged.some((line) => line.includes('Slack knows the bot'))) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      await bot.next();
    }
    const teamId = 'T0OTHER';
    await bot.press({ actionId: 'more', value: 'INV-1', teamId });
    await bot.press({ actionId: 'run_refund', value: 'INV-1', teamId });
    await bot.submit({ ...submitted, teamId });
    const refused = { ...agent, result: 'refused', reason: 'of another workspace' };
    expect(notes).toMatchObject([
      { ...refused, what: 'press' },
      { ...refused, what: 'press' },
      { ...refused, what: 'form' },
    ]);
  });

  it('has nothing of what Slack asks by itself: what to suggest while somebody types', async () => {
    const { bot, notes } = await start();
    await bot.suggest({ actionId: 'nobody', typed: 'Ada' });
    expect(notes).toEqual([]);
    expect(nock.pendingMocks()).toEqual([]);
  });
});
