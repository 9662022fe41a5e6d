import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { parsed } from '../../../src/domain/parsed.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { findViewProblems } from '../../../src/slack/assert-blocks.ts';
import { modal, richText, words } from '../../../src/slack/blocks.ts';
import {
  defineCommand,
  type Command,
  type Conversation,
  type Press,
  type Pressed,
} from '../../../src/slack/command.ts';
import { helpMessage } from '../../../src/slack/help-message.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import type { BotOptions } from '../../support/running-bot.ts';
import { runningBots } from '../../support/running-bots.ts';
import { answerSlack, type ApiCall } from '../../support/slack-api.ts';
import { chosenOption, typedText } from '../../support/slack-requests.ts';

mockTheOutside();

const start = runningBots();

const page = modal({ callbackId: 'page', title: 'Refund', blocks: [richText([words('Terms')])] });
const opened = { ok: true, view: { id: 'V9' } };
const inModal = { actionId: 'more', value: 'INV-1', view: { id: 'V7' } };
const inMessage = { actionId: 'more', value: 'INV-1' };

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 30));
}

function pressVerb(press: Press['press'], more: Partial<Command> = {}): Command {
  const command = defineCommand<undefined>({
    verb: 'refund',
    usage: '',
    summary: 'Give money back',
    examples: ['refund'],
    permission: 'refund',
    effect: 'none',
    presses: [{ actionId: 'more', press }],
    parse: () => parsed(undefined),
    run: async () => helpMessage([]),
  });
  return { ...command, ...more };
}

function opening(press: Press['press']): Command {
  return { ...pressVerb(press), presses: [{ actionId: 'more', opensForm: true, press }] };
}

function typedVerb(run: (conversation: Conversation) => Promise<undefined>): Command {
  return defineCommand<undefined>({
    verb: 'form',
    usage: '',
    summary: 'Show a form',
    examples: ['form'],
    permission: 'form',
    effect: 'none',
    buttons: [{ actionId: 'form', words: () => [] }],
    parse: () => parsed(undefined),
    run: (_, conversation) => run(conversation),
  });
}

function counted() {
  const seen: Pressed[] = [];
  return { seen, verb: pressVerb(async (pressed) => void seen.push(pressed)) };
}

function claims(): { keys: string[]; claimOnce: (key: string) => Promise<boolean> } {
  const keys: string[] = [];
  return {
    keys,
    async claimOnce(key) {
      if (keys.includes(key)) return false;
      keys.push(key);
      return true;
    },
  };
}

describe('a press', () => {
  it('in a modal tells the verb its value, the dialogue and what stands in the form', async () => {
    const { seen, verb } = counted();
    const bot = await start({ more: [verb] });
    const inputs = { amount: typedText('12.00'), card: chosenOption('card-1') };
    const view = { id: 'V7', privateMetadata: '{"draft":"d"}', inputs };
    expect(await bot.press({ ...inModal, view })).toBe(200);
    expect(seen[0]).toMatchObject({ value: 'INV-1', caller: { userId: 'U0AGENT', teamId: 'T0TEAM' } });
    expect(seen[0]?.caller).not.toHaveProperty('channelId');
    expect(seen[0]?.view).toEqual({
      id: 'V7',
      privateMetadata: '{"draft":"d"}',
      values: { amount: '12.00', card: 'card-1' },
    });
    const audit = JSON.parse(bot.logged.find((line) => line.includes('Asked and answered')) ?? '{}');
    expect(audit).toMatchObject({ verb: 'refund', userId: 'U0AGENT', result: 'answered', durationMs: 0 });
  });

  it('in a message or the App Home has no modal around it', async () => {
    const { seen, verb } = counted();
    const bot = await start({ more: [verb] });
    await bot.press(inMessage);
    await bot.press({ ...inModal, view: { id: 'VH', type: 'home' } });
    expect(seen.map(({ view }) => view)).toEqual([undefined, undefined]);
  });

  it.each([
    [chosenOption('card-1'), 'card-1'],
    [{ type: 'static_select', selected_option: null }, ''],
    [{ type: 'button' }, ''],
    // What was typed would end in the store, as part of the key against repeats.
    [typedText('my secret'), ''],
  ])('of %j has the value %j', async (element, value) => {
    const { seen, verb } = counted();
    const { keys, claimOnce } = claims();
    const bot = await start({ more: [verb], claimOnce });
    await bot.press({ ...inModal, element });
    expect(seen.map((pressed) => pressed.value)).toEqual([value]);
    expect(keys.join()).not.toContain('secret');
  });

  it('opens a modal from a message, and on top of the modal it was made in', async () => {
    const calls: ApiCall[] = [];
    const ids: string[] = [];
    const verb = pressVerb(async ({ openModal }) => void ids.push(await openModal(page)));
    const bot = await start({ more: [verb] });
    answerSlack(calls, 'views.open', opened);
    await bot.press(inMessage);
    answerSlack(calls, 'views.push', opened);
    await bot.press(inModal);
    answerSlack(calls, 'views.open', opened);
    await bot.press({ ...inModal, view: { type: 'home' } });
    expect(calls.map(({ method }) => method)).toEqual(['views.open', 'views.push', 'views.open']);
    expect(calls[0]).toMatchObject({ trigger_id: '1.3.def', view: page });
    expect(ids).toEqual(['V9', 'V9', 'V9']);
  });

  it('changes the modal it stands in, and does nothing when that is closed by now', async () => {
    const calls: ApiCall[] = [];
    const verb = pressVerb(({ updateModal }) => updateModal(page));
    const bot = await start({ more: [verb] });
    answerSlack(calls, 'views.update');
    await bot.press(inModal);
    expect(calls[0]).toMatchObject({ view_id: 'V7', view: page });
    answerSlack(calls, 'views.update', { ok: false, error: 'not_found' });
    await bot.press(inModal);
    expect(bot.logged.join('')).not.toMatch(/"level":"(?:warn|error)"/);
    answerSlack(calls, 'views.update', { ok: false, error: 'invalid_arguments' });
    await bot.press(inModal);
    expect(bot.logged.join('')).toMatch(/"level":"warn".*invalid_arguments/);
    await bot.press(inMessage);
    expect(calls).toHaveLength(3);
  });

  it('answers the person alone: beside the message, or directly when there is none', async () => {
    const calls: ApiCall[] = [];
    const verb = pressVerb(({ reply }) => reply(helpMessage([])));
    const bot = await start({ more: [verb] });
    await bot.press(inMessage);
    expect(bot.told).toEqual([
      expect.objectContaining({ response_type: 'ephemeral', replace_original: false }),
    ]);
    answerSlack(calls, 'chat.postMessage');
    await bot.press(inModal);
    expect(calls[0]).toMatchObject({ channel: 'U0AGENT' });
  });
});

describe('a repeated press', () => {
  it('is answered when the person presses again, and not when Slack delivers it again', async () => {
    const { seen, verb } = counted();
    const calls: ApiCall[] = [];
    const bot = await start({ more: [verb], claimOnce: claims().claimOnce });
    await bot.press({ ...inMessage, actionTs: '1700000001.100000' });
    await bot.press({ ...inMessage, actionTs: '1700000001.100000' });
    expect(bot.told).toEqual([]);
    await bot.press({ ...inMessage, actionTs: '1700000001.900000' });
    expect(bot.told.map(({ text }) => text)).toEqual(['⏳ Already on it · Button · one press is enough']);
    await bot.press({ ...inModal, actionTs: '1700000001.100000' });
    answerSlack(calls, 'views.update', { ok: false, error: 'hash_conflict' });
    await bot.press({ ...inModal, actionTs: '1700000001.900000' });
    expect(JSON.stringify(calls[0])).toContain('Already on it');
    expect(seen).toHaveLength(2);
  });

  it('runs once for a double click, in messages and modals', async () => {
    const { seen, verb } = counted();
    const bot = await start({ more: [verb], claimOnce: claims().claimOnce });
    for (const place of [inMessage, inModal]) {
      // oxlint-disable-next-line no-await-in-loop
      await Promise.all([
        bot.press({ ...place, actionTs: '1700000001.990000' }),
        bot.press({ ...place, actionTs: '1700000002.010000' }),
        bot.press({ ...place, actionTs: '1700000002.010000' }),
      ]);
    }
    expect(seen).toHaveLength(2);
    expect(bot.logged.filter((line) => line.includes('"repeated"'))).toHaveLength(4);
  });

  it('is another press when another person presses, so that both are answered', async () => {
    const { seen, verb } = counted();
    const bot = await start({ more: [verb], claimOnce: claims().claimOnce });
    await Promise.all(['U0ADA', 'U0BOLA'].map((userId) => bot.press({ ...inMessage, userId })));
    expect(seen).toHaveLength(2);
  });

  it('is another press two seconds later, so that a closed modal can be opened again', async () => {
    const { seen, verb } = counted();
    const bot = await start({ more: [verb], claimOnce: claims().claimOnce });
    await bot.press({ ...inMessage, actionTs: '1700000001.500000' });
    await bot.press({ ...inMessage, actionTs: '1700000003.500000' });
    expect(seen).toHaveLength(2);
  });

  it('is another press with another value, or in another state of the modal', async () => {
    const { seen, verb } = counted();
    const bot = await start({ more: [verb], claimOnce: claims().claimOnce });
    await bot.press(inModal);
    await bot.press({ ...inModal, value: 'INV-2' });
    await bot.press({ ...inModal, view: { id: 'V7', hash: '2.h' } });
    expect(seen).toHaveLength(3);
  });
});

describe('a press that takes long', () => {
  const slowly = { patienceMs: 5, openMs: 5 };
  const never = new Promise<void>(() => undefined);

  it('says that it goes on, beside the message, and answers then', async () => {
    const bot = await start({
      ...slowly,
      more: [pressVerb(({ reply }) => settled().then(() => reply(helpMessage([]))))],
    });
    await bot.press(inMessage);
    expect(bot.told.map(({ text }) => text)).toEqual(['⏳ Still working · Button', helpMessage([]).text]);
  });

  it('says so above the modal it stands in, and takes that back when nothing has changed', async () => {
    const calls: ApiCall[] = [];
    const bot = await start({ ...slowly, more: [pressVerb(settled)] });
    answerSlack(calls, 'views.update', { ok: true, view: { id: 'V7', hash: '2.h' } });
    answerSlack(calls, 'views.update', { ok: false, error: 'hash_conflict' });
    await bot.press({
      ...inModal,
      view: { id: 'V7', hash: '1.h', privateMetadata: 'm', elsewhere: { it: {} } },
    });
    expect(calls).toMatchObject([
      {
        view_id: 'V7',
        hash: '1.h',
        view: { private_metadata: 'm', blocks: [{ type: 'rich_text' }, { type: 'actions' }] },
      },
      { view_id: 'V7', hash: '2.h', view: { private_metadata: 'm', blocks: [{ type: 'actions' }] } },
    ]);
    expect(JSON.stringify(calls[0])).toContain('Still working');
  });

  it('opens its form at once, and puts there what it was pressed for', async () => {
    const calls: ApiCall[] = [];
    const ids: string[] = [];
    const verb = opening(async ({ openModal }) => {
      await settled();
      ids.push(await openModal(page));
    });
    const bot = await start({ ...slowly, more: [verb] });
    answerSlack(calls, 'views.open', opened);
    answerSlack(calls, 'views.update');
    await bot.press(inMessage);
    expect(calls).toMatchObject([
      { method: 'views.open', trigger_id: '1.3.def', view: { title: { text: 'One moment' } } },
      { method: 'views.update', view_id: 'V9', view: page },
    ]);
    expect(ids).toEqual(['V9']);
    expect(bot.told).toEqual([]);
  });

  it('shows in that form why there is none', async () => {
    const calls: ApiCall[] = [];
    const refused = opening(({ reply }) => settled().then(() => reply(helpMessage([]))));
    const failing = opening(() =>
      settled().then(() => Promise.reject(new ServiceFailure('timeout', 'details'))),
    );
    for (const verb of [refused, failing, opening(settled)]) {
      // oxlint-disable-next-line no-await-in-loop
      const bot = await start({ ...slowly, more: [verb] });
      answerSlack(calls, 'views.open', opened);
      answerSlack(calls, 'views.update');
      // oxlint-disable-next-line no-await-in-loop
      await bot.press(inMessage);
      expect(bot.told).toEqual([]);
    }
    const shown = calls.filter(({ method }) => method === 'views.update').map((call) => JSON.stringify(call));
    expect(shown[0]).toContain('"text":"Button"');
    expect(shown[1]).toContain('No answer from the payments service');
    expect(shown[2]).toContain('You can close it');
  });

  it('opens its form while the permission is looked up, and refuses in it', async () => {
    const calls: ApiCall[] = [];
    const bot = await start({
      ...slowly,
      more: [opening(() => never)],
      mayRun: () => settled().then(() => ({ kind: 'refused', rule: 'It needs a role', whoCan: 'the leads' })),
    });
    answerSlack(calls, 'views.open', opened);
    answerSlack(calls, 'views.update');
    await bot.press(inMessage);
    expect(JSON.stringify(calls[1])).toContain('Not allowed: Button');
  });

  it('takes the place of a message that only the person sees, where it says so', async () => {
    const verb = pressVerb(({ reply }) => reply(helpMessage([])).then(() => reply(helpMessage([]))));
    const [press] = verb.presses ?? [];
    const bot = await start({
      more: [{ ...verb, presses: press ? [{ ...press, replacesMessage: true }] : [] }],
    });
    await bot.press(inMessage);
    await bot.press({ ...inMessage, isEphemeral: false });
    expect(bot.told.map((said) => said.replace_original)).toEqual([true, true, false, false]);
  });
});

describe('a press that is refused or fails', () => {
  const refuseAll: BotOptions = {
    mayRun: async () => ({ kind: 'refused', rule: 'It needs a role', whoCan: 'the leads' }),
  };

  it('without the permission says so, beside the message or on top of the modal', async () => {
    const { seen, verb } = counted();
    const calls: ApiCall[] = [];
    const bot = await start({ more: [verb], ...refuseAll });
    await bot.press(inMessage);
    expect(bot.toldText()).toContain('Not allowed: Button');
    answerSlack(calls, 'views.push', opened);
    await bot.press(inModal);
    expect(JSON.stringify(calls[0]?.['view'])).toContain('Not allowed: Button');
    expect(findViewProblems(calls[0]?.['view'])).toEqual([]);
    expect(seen).toEqual([]);
  });

  it('from another workspace does not run', async () => {
    const { seen, verb } = counted();
    const bot = await start({ more: [verb] });
    while (!bot.logged.some((line) => line.includes('Slack knows the bot'))) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      await bot.next();
    }
    await bot.press({ ...inMessage, teamId: 'T0OTHER' });
    expect(bot.toldText()).toContain('another workspace');
    expect(seen).toEqual([]);
  });

  it('does not run beside a card number that was typed', async () => {
    const { seen, verb } = counted();
    const calls: ApiCall[] = [];
    const bot = await start({ more: [verb] });
    answerSlack(calls, 'views.push', opened);
    const inputs = { token: typedText('4111111111111111') };
    await bot.press({ ...inModal, view: { inputs } });
    expect(seen).toEqual([]);
    expect(JSON.stringify(calls)).toContain('looks like a card number');
    expect(JSON.stringify(calls) + bot.logged.join('')).not.toContain('4111');
  });

  it('does not run when nobody can say whether it is a repeat', async () => {
    const { seen, verb } = counted();
    const bot = await start({
      more: [verb],
      claimOnce: () => Promise.reject(new StoreUnavailable('away')),
    });
    await bot.press(inMessage);
    expect(seen).toEqual([]);
    expect(bot.toldText()).toContain('store does not answer');
  });

  it('shows what went wrong on top of the modal, and directly when Slack opens none', async () => {
    const calls: ApiCall[] = [];
    const bot = await start({
      more: [pressVerb(() => Promise.reject(new ServiceFailure('timeout', 'details')))],
    });
    answerSlack(calls, 'views.push', opened);
    await bot.press(inModal);
    expect(JSON.stringify(calls[0]?.['view'])).toContain('No answer from the payments service');
    expect(findViewProblems(calls[0]?.['view'])).toEqual([]);

    answerSlack(calls, 'views.push', { ok: false, error: 'push_limit_reached' });
    answerSlack(calls, 'chat.postMessage');
    await bot.press(inModal);
    expect(calls[2]).toMatchObject({ method: 'chat.postMessage', channel: 'U0AGENT' });
    expect(calls[2]?.['text']).toContain('No answer from the payments service');
  });

  it.each([
    ['expired_trigger_id', 'no more time'],
    ['exchanged_trigger_id', 'no more time'],
    ['trigger_expired', 'no more time'],
    ['push_limit_reached', 'no more than three forms'],
    ['invalid_arguments', 'did not open the form'],
    ['fatal_error', 'did not say whether the form opened'],
  ])('says what to do when Slack opens no modal: %s', async (error, said) => {
    const calls: ApiCall[] = [];
    const bot = await start({ more: [pressVerb(async ({ openModal }) => void (await openModal(page)))] });
    answerSlack(calls, 'views.push', { ok: false, error });
    // A second try with the same trigger would be in vain, so none is made.
    answerSlack(calls, 'views.push', opened);
    answerSlack(calls, 'chat.postMessage');
    await bot.press(inModal);
    nock.cleanAll();
    expect(calls.map(({ method }) => method)).toEqual(['views.push', 'chat.postMessage']);
    const told = JSON.stringify(calls[1]);
    expect(told).toContain(said);
    expect(told).toContain('nothing was charged or changed');
    expect(told).toContain('do the same again');
    expect(bot.logged.join('')).toContain('Slack opened no modal');
  });
});

describe('a command whose answer is a modal', () => {
  it('is opened once when Slack delivers it twice, and nothing else is said', async () => {
    const calls: ApiCall[] = [];
    const verb = typedVerb(async ({ openModal }) => void (await openModal(page)));
    const bot = await start({ more: [verb], claimOnce: claims().claimOnce });
    answerSlack(calls, 'views.open', opened);
    await bot.type('form', { triggerId: '7.8.x' });
    await bot.type('form', { triggerId: '7.8.x' });
    expect(calls).toHaveLength(1);
    expect(bot.told).toEqual([]);
  });

  it('opens it and says nothing else', async () => {
    const calls: ApiCall[] = [];
    const bot = await start({ more: [typedVerb(async ({ openModal }) => void (await openModal(page)))] });
    answerSlack(calls, 'views.open', opened);
    await bot.type('form', { triggerId: '7.8.x' });
    expect(calls).toEqual([expect.objectContaining({ trigger_id: '7.8.x', view: page })]);
    expect(bot.told).toEqual([]);
    expect(bot.logged.find((line) => line.includes('Asked and answered'))).toContain('"answered"');
  });

  it('opens it on top when its button stands in a modal', async () => {
    const calls: ApiCall[] = [];
    const bot = await start({ more: [typedVerb(async ({ openModal }) => void (await openModal(page)))] });
    answerSlack(calls, 'views.push', opened);
    await bot.press({ ...inModal, actionId: 'form' });
    expect(calls).toHaveLength(1);
  });

  it('says to do the same again when Slack does not open it', async () => {
    const bot = await start({ more: [typedVerb(async ({ openModal }) => void (await openModal(page)))] });
    answerSlack([], 'views.open', { ok: false, error: 'expired_trigger_id' });
    await bot.type('form');
    expect(bot.toldText()).toContain('do the same again');
  });

  it('takes an answer of Slack that names no modal for none', async () => {
    const bot = await start({ more: [typedVerb(async ({ openModal }) => void (await openModal(page)))] });
    answerSlack([], 'views.open', { ok: true });
    await bot.type('form');
    expect(bot.toldText()).toContain('did not say whether the form opened');
  });
});
