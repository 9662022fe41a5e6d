import { describe, expect, it } from 'vitest';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { findViewProblems } from '../../../src/slack/assert-blocks.ts';
import type { Permit, Submission, ViewAnswer } from '../../../src/slack/command.ts';
import { findCanaries } from '../../support/canaries.ts';
import { auditLines, form, formVerb, page } from '../../support/form-verb.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import { runningBots } from '../../support/running-bots.ts';
import { chosenOption, typedText } from '../../support/slack-requests.ts';

mockTheOutside();

const start = runningBots();

function viewOf(body: Record<string, unknown> | undefined): unknown {
  expect(body).toMatchObject({ response_action: 'update' });
  expect(findViewProblems(body?.['view'])).toEqual([]);
  return body?.['view'];
}

function watched() {
  const seen: Submission[] = [];
  const verb = formVerb(async (submission) => {
    seen.push(submission);
    return { kind: 'close' };
  });
  return { verb, seen };
}

describe('a submitted modal', () => {
  it('is read by the verb that claims it: who, which dialogue, what was typed and chosen', async () => {
    const read: Submission[] = [];
    const bot = await start({
      more: [
        formVerb(async (submission) => {
          read.push(submission);
          return { kind: 'close' };
        }),
      ],
    });
    await bot.submit({
      view: {
        ...form.view,
        privateMetadata: '{"draft":"d1"}',
        inputs: {
          amount: typedText('12,500.00'),
          card: chosenOption('card-1'),
          none: typedText(null),
          blank: typedText('  '),
          unchosen: { type: 'static_select', selected_option: null },
          checked: { type: 'checkboxes', selected_options: [{ value: 'a' }, { value: 'b' }] },
          unchecked: { type: 'checkboxes', selected_options: [] },
        },
      },
    });
    expect(read).toEqual([
      {
        caller: { userId: 'U0AGENT', teamId: 'T0TEAM', from: 'modal' },
        viewId: 'V7',
        privateMetadata: '{"draft":"d1"}',
        values: { amount: '12,500.00', card: 'card-1', checked: 'a,b' },
      },
    ]);
  });

  it('becomes field errors, another modal, or closes', async () => {
    const answers: ViewAnswer[] = [
      { kind: 'errors', errors: { amount: 'An amount is digits.' } },
      { kind: 'update', modal: page('Next') },
      { kind: 'close' },
    ];
    const bot = await start({ more: [formVerb(async () => answers.shift() ?? { kind: 'close' })] });
    expect((await bot.submit(form)).body).toEqual({
      response_action: 'errors',
      errors: { amount: 'An amount is digits.' },
    });
    expect(viewOf((await bot.submit(form)).body)).toEqual(page('Next'));
    expect(await bot.submit(form)).toEqual({ status: 200, body: undefined });
    expect(auditLines(bot)).toMatchObject([
      { verb: 'refund', userId: 'U0AGENT', result: 'unreadable', durationMs: 0 },
      { result: 'answered' },
      { result: 'answered' },
    ]);
  });

  it('that no verb claims is closed', async () => {
    const bot = await start();
    expect(await bot.submit({ view: { callbackId: 'gone' } })).toEqual({ status: 200, body: undefined });
  });

  it('is refused when the permission was lost since it was opened', async () => {
    let submits = 0;
    const permits: Permit[] = [
      { kind: 'allowed' },
      { kind: 'refused', rule: 'It needs the permission “refund”', whoCan: 'the leads' },
    ];
    const bot = await start({
      more: [
        formVerb(async () => {
          submits += 1;
          return { kind: 'close' };
        }),
      ],
      mayRun: async () => permits.shift() ?? { kind: 'allowed' },
    });
    await bot.submit(form);
    const refused = JSON.stringify(viewOf((await bot.submit(form)).body));
    expect(refused).toContain('Not allowed: Form');
    expect(refused).toContain('the leads');
    expect(submits).toBe(1);
    expect(auditLines(bot)).toMatchObject([{ result: 'answered' }, { result: 'refused' }]);
  });

  it('is refused from another workspace', async () => {
    let submits = 0;
    const bot = await start({
      more: [
        formVerb(async () => {
          submits += 1;
          return { kind: 'close' };
        }),
      ],
    });
    while (!bot.logged.some((line) => line.includes('Slack knows the bot'))) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      await bot.next();
    }
    const { body } = await bot.submit({ ...form, teamId: 'T0OTHER' });
    expect(JSON.stringify(viewOf(body))).toContain('another workspace');
    expect(submits).toBe(0);
  });
});

describe('a card number in a modal', () => {
  const cardNumber = '4111 1111 1111 1111';

  it('is refused at its own field, and appears nowhere', async () => {
    const { verb, seen } = watched();
    let permits = 0;
    const bot = await start({
      more: [verb],
      mayRun: async () => {
        permits += 1;
        return { kind: 'allowed' };
      },
    });
    const { body } = await bot.submit({
      view: {
        ...form.view,
        inputs: {
          token: typedText(cardNumber),
          amount: typedText('12.00'),
          note: typedText('x 4111111111111111'),
        },
      },
    });
    await bot.slack.drained();
    expect(body).toMatchObject({ response_action: 'errors' });
    const errors = body?.['errors'] as Record<string, string>;
    expect(Object.keys(errors)).toEqual(['token', 'note']);
    expect(errors['token']).toContain('looks like a card number');
    expect([seen, permits]).toEqual([[], 0]);
    const lines = bot.logged.filter((line) => line.includes('card number'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'warn', userId: 'U0AGENT' }),
    ]);
    const places = { log: bot.logged.join(''), answer: JSON.stringify(body) };
    const canaries = { spaced: cardNumber, plain: '4111111111111111' };
    expect(findCanaries(canaries, places)).toEqual([]);
  });

  it('is refused in a form that no verb claims, too', async () => {
    const bot = await start();
    const { body } = await bot.submit({
      view: { callbackId: 'gone', inputs: { note: typedText(cardNumber) } },
    });
    expect(body).toMatchObject({ response_action: 'errors' });
  });

  it('is seen when its digits are in different styles', async () => {
    const { verb, seen } = watched();
    const bot = await start({ more: [verb] });
    const elements = [
      { type: 'text', text: '41111111' },
      { type: 'text', text: '11111111', style: { bold: true } },
    ];
    const { body } = await bot.submit({
      view: {
        ...form.view,
        inputs: {
          note: {
            type: 'rich_text_input',
            rich_text_value: { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] },
          },
        },
      },
    });
    expect(body).toMatchObject({ response_action: 'errors' });
    expect(seen).toEqual([]);
  });

  it('outside an input block becomes a modal of words, since Slack takes no error there', async () => {
    const { verb, seen } = watched();
    const bot = await start({ more: [verb] });
    const { body } = await bot.submit({
      view: { ...form.view, elsewhere: { search: typedText(cardNumber) } },
    });
    expect(JSON.stringify(viewOf(body))).toContain('looks like a card number');
    expect(seen).toEqual([]);
  });

  it('is not what was chosen: that is the bot’s own text', async () => {
    const { verb, seen } = watched();
    const bot = await start({ more: [verb] });
    await bot.submit({ view: { ...form.view, inputs: { card: chosenOption('4111111111111111') } } });
    expect(seen).toHaveLength(1);
  });
});

describe('a form that cannot be handled', () => {
  it('says when the payments service broke, and that money may have moved', async () => {
    const bot = await start({
      more: [formVerb(() => Promise.reject(new ServiceFailure('timeout', 'details')))],
    });
    const shown = JSON.stringify(viewOf((await bot.submit(form)).body));
    expect(shown).toContain('No answer from the payments service');
    expect(shown).toContain('it may have moved');
    expect(auditLines(bot)).toMatchObject([{ result: 'failed' }]);
  });

  it('says that none moved when submitting it moves none', async () => {
    const verb = formVerb(() => Promise.reject(new StoreUnavailable('away')), { effect: 'none' });
    const bot = await start({ more: [verb] });
    const shown = JSON.stringify(viewOf((await bot.submit(form)).body));
    expect(shown).toContain('store does not answer');
    expect(shown).toContain('none was moved');
  });

  it('says that none moved when it broke before it was submitted', async () => {
    const bot = await start({
      more: [formVerb(async () => ({ kind: 'close' }))],
      mayRun: () => Promise.reject(new Error('a bug')),
    });
    expect(JSON.stringify(viewOf((await bot.submit(form)).body))).toContain('none was moved');
  });

  it('shows the id of a bug that is also in the log, and not its words', async () => {
    const bot = await start({
      more: [
        formVerb(() => {
          throw new Error('the pear is ripe');
        }),
      ],
    });
    const shown = JSON.stringify(viewOf((await bot.submit(form)).body));
    const line = JSON.parse(bot.logged.find((each) => each.includes('A command failed')) ?? '{}');
    expect(line).toMatchObject({ verb: 'refund', error: { message: 'the pear is ripe' } });
    expect(shown).toContain(line.errorId);
    expect(shown).not.toContain('pear');
  });
});
