import nock from 'nock';
import { describe, expect, it } from 'vitest';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { parsed } from '../../../src/domain/parsed.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { defineCommand, type Command, type Definition } from '../../../src/slack/command.ts';
import { helpMessage } from '../../../src/slack/help-message.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import { answerSlack, type ApiCall } from '../../support/slack-api.ts';
import { runningBots } from '../../support/running-bots.ts';

mockTheOutside();

const start = runningBots();

const cardNumber = '4111 1111 1111 1111';

function moneyVerb(run: Definition<string>['run']): Command {
  return defineCommand<string>({
    verb: 'refund',
    usage: '<reference>',
    summary: 'Give money back',
    examples: ['refund INV-1'],
    permission: 'refund',
    effect: 'money',
    buttons: [{ actionId: 'refund', words: (value) => [value] }],
    parse: (words) => parsed(words[0] ?? ''),
    reference: (typed) => typed as OrderReference,
    run,
  });
}

function countedRuns(): { verb: Command; runs: () => number } {
  let runs = 0;
  const verb = moneyVerb(async () => {
    runs += 1;
    return helpMessage([]);
  });
  return { verb, runs: () => runs };
}

function claims(): (key: string) => Promise<boolean> {
  const seen = new Set<string>();
  return async (key) => !seen.has(key) && Boolean(seen.add(key));
}

describe('what is typed', () => {
  it('is not repeated when it is a mistyped card number', async () => {
    let isDown = false;
    const bot = await start({
      async findTransaction() {
        if (isDown) throw new ServiceFailure('timeout', 'No answer.');
        return undefined;
      },
    });
    await bot.type('lookup 4111111111111112');
    await bot.type('"4111 1111 1111 1112" 12.00', { triggerId: '2' });
    await bot.type('lokup 4111-1111-1111-1112', { triggerId: '3' });
    isDown = true;
    await bot.type('4111111111111112', { triggerId: '4' });
    expect(bot.told).toHaveLength(4);
    for (const said of bot.told) expect(JSON.stringify(said)).toContain('•••• 1112');
    expect(`${bot.toldText()}${bot.logged.join('')}`).not.toMatch(/4111/);
  });

  it('is refused when it holds a card number, without echo, log or look-up', async () => {
    let lookups = 0;
    const bot = await start({
      findTransaction: async () => {
        lookups += 1;
        return undefined;
      },
    });
    await bot.type(`lookup ${cardNumber}`);
    await bot.type('4111111111111111', { triggerId: '2' });
    await bot.type('<tel:4111111111111111|4111111111111111>', { triggerId: '3' });
    expect(bot.told).toHaveLength(3);
    for (const { text } of bot.told) expect(text).toContain('looks like a card number');
    expect(lookups).toBe(0);
    expect(bot.toldText() + bot.logged.join('')).not.toMatch(/4111|1111/);
  });

  it('is refused from another workspace once Slack has said which is ours', async () => {
    const bot = await start();
    while (!bot.logged.some((line) => line.includes('Slack knows the bot'))) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      await bot.next();
    }
    await bot.type('INV-2041', { teamId: 'T0OTHER' });
    expect(bot.toldText()).toContain('another workspace');
  });

  it('is answered to the person alone', async () => {
    const bot = await start();
    await bot.type('help');
    expect(bot.told[0]).toMatchObject({ response_type: 'ephemeral', replace_original: false });
  });

  it('is refused without the permission, saying what, which rule and who can', async () => {
    let lookups = 0;
    const bot = await start({
      mayRun: async (permission) => ({ kind: 'refused', rule: `needs ${permission}`, whoCan: 'the leads' }),
      findTransaction: async () => {
        lookups += 1;
        return undefined;
      },
    });
    await bot.type('INV-2041');
    expect(bot.told[0]?.text).toContain('Not allowed: /pay lookup');
    expect(bot.toldText()).toContain('needs lookup');
    expect(bot.toldText()).toContain('the leads');
    expect(lookups).toBe(0);
  });

  it('leaves one audit line with who, what and the result', async () => {
    const bot = await start();
    await bot.type('INV-2041');
    const audit = bot.logged.find((line) => line.includes('Asked and answered')) ?? '{}';
    expect(JSON.parse(audit)).toMatchObject({
      verb: 'lookup',
      userId: 'U0AGENT',
      channel: 'C0SUPPORT',
      orderReference: 'INV-2041',
      result: 'answered',
    });
  });
});

describe('a verb that moves money', () => {
  it('runs once for a command that Slack delivers twice', async () => {
    const { verb, runs } = countedRuns();
    const bot = await start({ more: [verb], claimOnce: claims() });
    await bot.type('refund INV-1', { triggerId: 'same' });
    await bot.type('refund INV-1', { triggerId: 'same' });
    expect(runs()).toBe(1);
    await bot.type('refund INV-1', { triggerId: 'another' });
    expect(runs()).toBe(2);
  });

  it('runs once for a double click', async () => {
    const { verb, runs } = countedRuns();
    const bot = await start({ more: [verb], claimOnce: claims() });
    await Promise.all([
      bot.press({ actionId: 'refund', value: 'INV-1' }),
      bot.press({ actionId: 'refund', value: 'INV-1' }),
    ]);
    expect(runs()).toBe(1);
  });

  it('does not run when nobody can say whether it is a repeat', async () => {
    const { verb, runs } = countedRuns();
    const bot = await start({ more: [verb], claimOnce: () => Promise.reject(new StoreUnavailable('away')) });
    await bot.type('refund INV-1');
    expect(runs()).toBe(0);
    expect(bot.toldText()).toContain('store does not answer');
    expect(bot.toldText()).toContain('nothing that could move it was sent');
    expect(bot.told[0]?.text).toContain('INV-1');
    expect(bot.toldText()).not.toContain('went wrong in the bot');
  });

  it('says that money may have moved when it breaks half-way', async () => {
    const verb = moneyVerb(() => Promise.reject(new ServiceFailure('timeout', 'no answer')));
    const bot = await start({ more: [verb] });
    await bot.type('refund INV-1');
    expect(bot.toldText()).toContain('it may have moved');
  });

  it('says that none moved when it broke before it ran', async () => {
    const verb = moneyVerb(async () => helpMessage([]));
    const bot = await start({ more: [verb], mayRun: () => Promise.reject(new Error('a bug')) });
    await bot.type('refund INV-1');
    expect(bot.toldText()).toContain('none was moved');
  });
});

describe('a button', () => {
  const refresh = { actionId: 'look_up', value: JSON.stringify(['INV-2041', '12500.00']) };

  it('on the person’s own answer puts the new one in its place', async () => {
    const bot = await start();
    await bot.press(refresh);
    expect(bot.told[0]).toMatchObject({ replace_original: true, text: expect.stringContaining('Not found') });
  });

  it('on a channel’s message leaves that as it is and answers the person alone', async () => {
    const bot = await start({ patienceMs: 0 });
    await bot.press({ ...refresh, isEphemeral: false });
    expect(bot.told.length).toBeGreaterThan(0);
    for (const told of bot.told)
      expect(told).toMatchObject({ replace_original: false, response_type: 'ephemeral' });
  });

  it('asks for the permission again', async () => {
    const bot = await start({ mayRun: async () => ({ kind: 'refused', rule: 'no', whoCan: 'the leads' }) });
    await bot.press(refresh);
    expect(bot.toldText()).toContain('Not allowed');
  });

  it('of an older message is acknowledged and does nothing', async () => {
    const bot = await start();
    expect(await bot.press({ actionId: 'gone', value: 'x' })).toBe(200);
    expect(bot.told).toEqual([]);
  });

  it('with a value that is not ours is answered with words, not an error', async () => {
    const bot = await start();
    await bot.press({ actionId: 'look_up', value: '{"not":"ours"}' });
    expect(bot.toldText()).toContain('A reference is missing');
  });
});

describe('an answer that its response_url refuses', () => {
  it('is told once more in plain text', async () => {
    const bot = await start({ refuses: ({ blocks }) => blocks !== undefined });
    await bot.type('lookup INV-1');
    expect(bot.told.map(({ text, blocks }) => [text, blocks === undefined])).toEqual([
      ['🔎 Not found · INV-1', false],
      ['🔎 Not found · INV-1', true],
    ]);
  });

  it('is told as a direct message where the bot is no member, and in plain text if need be', async () => {
    const bot = await start({ refuses: () => true });
    const calls: ApiCall[] = [];
    answerSlack(calls, 'chat.postEphemeral', { ok: false, error: 'not_in_channel' });
    answerSlack(calls, 'chat.postMessage');
    await bot.type('lookup INV-1');
    answerSlack(calls, 'chat.postEphemeral', { ok: false, error: 'channel_not_found' });
    answerSlack(calls, 'chat.postMessage', { ok: false, error: 'invalid_blocks' });
    answerSlack(calls, 'chat.postMessage');
    await bot.type('lookup INV-1', { triggerId: '2' });
    expect(calls.map((call) => [call.method, call['channel'], 'blocks' in call])).toEqual([
      ['chat.postEphemeral', 'C0SUPPORT', true],
      ['chat.postMessage', 'U0AGENT', true],
      ['chat.postEphemeral', 'C0SUPPORT', true],
      ['chat.postMessage', 'U0AGENT', true],
      ['chat.postMessage', 'U0AGENT', false],
    ]);
  });

  it.each(['ratelimited', 'internal_error'])(
    'is not told once more in plain text where Slack says %s of the direct message, which may have been taken',
    async (error) => {
      const bot = await start({ refuses: () => true });
      const calls: ApiCall[] = [];
      answerSlack(calls, 'chat.postEphemeral', { ok: false, error: 'not_in_channel' });
      answerSlack(calls, 'chat.postMessage', { ok: false, error });
      const again: ApiCall[] = [];
      answerSlack(again, 'chat.postMessage');
      await bot.type('lookup INV-1');
      expect(calls.map(({ method }) => method)).toEqual(['chat.postEphemeral', 'chat.postMessage']);
      expect(again).toEqual([]);
      nock.cleanAll();
    },
  );
});
