import { describe, expect, it } from 'vitest';
import { createCommandSet } from '../../src/commands/command-set.ts';
import { createVerbs } from '../../src/commands/registry.ts';
import { parsed } from '../../src/domain/parsed.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { defineCommand, type Caller, type Command, type MayRun } from '../../src/slack/command.ts';
import { helpMessage } from '../../src/slack/help-message.ts';

const caller: Caller = { userId: 'U0AGENT' };
const conversation = { caller, whileWaiting: <T>(work: Promise<T>) => work };
const allowAll: MayRun = async () => ({ kind: 'allowed' });
const refuseAll: MayRun = async () => ({ kind: 'refused', rule: 'It needs a role', whoCan: 'the leads' });
const noJuggling: MayRun = async (permission) =>
  permission === 'juggle' ? { kind: 'refused', rule: 'r', whoCan: 'w' } : { kind: 'allowed' };
const verbs = createVerbs({
  findTransaction: async () => undefined,
  environment: 'sandbox',
  account: 'Main shop',
  now: () => 0,
});

const fakeVerb = defineCommand<undefined>({
  verb: 'juggle',
  usage: '<balls>',
  summary: 'Keep several balls in the air',
  examples: ['juggle 3'],
  permission: 'juggle',
  effect: 'none',
  parse: () => parsed(undefined),
  run: async () => helpMessage([]),
});

async function answerTo(text: string, options: { verbs?: Command[]; mayRun?: MayRun } = {}): Promise<string> {
  const set = createCommandSet(options.verbs ?? verbs, options.mayRun ?? allowAll);
  const understood = set.understand(text);
  if (understood.kind === 'unclear') return JSON.stringify(understood.message);
  const prepared = understood.command.prepare(understood.words);
  if (!prepared.ok) return prepared.problem;
  const message = await prepared.value.run(conversation);
  assertBlocks('message', message.blocks);
  return JSON.stringify(message);
}

function meaning(text: string): { verb: string; words: readonly string[] } | 'unclear' {
  const understood = createCommandSet(verbs, allowAll).understand(text);
  return understood.kind === 'unclear'
    ? 'unclear'
    : { verb: understood.command.verb, words: understood.words };
}

describe('what is typed', () => {
  it.each([
    ['', { verb: '', words: [] }],
    ['help', { verb: 'help', words: [] }],
    ['HELP lookup', { verb: 'help', words: ['lookup'] }],
    ['lookup INV-1', { verb: 'lookup', words: ['INV-1'] }],
    ['Lookup "A B" 5', { verb: 'lookup', words: ['A B', '5'] }],
    ['INV-2041', { verb: 'lookup', words: ['INV-2041'] }],
    ['INV-2041 12,500.00', { verb: 'lookup', words: ['INV-2041', '12,500.00'] }],
    ['PAYREF', { verb: 'lookup', words: ['PAYREF'] }],
    ['PAYREF 5000', { verb: 'lookup', words: ['PAYREF', '5000'] }],
    ['"lokup"', { verb: 'lookup', words: ['lokup'] }],
    ['“help”', { verb: 'lookup', words: ['help'] }],
    ['lookup1', { verb: 'lookup', words: ['lookup1'] }],
    ['lokup', 'unclear'],
    ['lokup INV-1', 'unclear'],
    ['hlep', 'unclear'],
    ['please check INV-1', 'unclear'],
  ] as const)('%j means %j', (text, expected) => {
    expect(meaning(text)).toEqual(expected);
  });

  it('names the nearest verb for a slip, and offers to look it up as a reference', async () => {
    const answer = await answerTo('lokup');
    expect(answer).toContain('/pay lookup');
    expect(answer).toContain('look_up');
    expect(createCommandSet(verbs, allowAll).pressed('look_up', '["lokup"]')).toMatchObject({
      kind: 'command',
      words: ['lokup'],
    });
  });

  it('offers what was meant when a look-up is misspelt, words and amount included', () => {
    const set = createCommandSet(verbs, allowAll);
    const understood = set.understand('lokup "ORDER 17 B" 12.50');
    if (understood.kind !== 'unclear') throw new Error('a slip was taken for a reference');
    expect(JSON.stringify(understood.message)).toContain(JSON.stringify('/pay lookup "ORDER 17 B" 12.50'));
    const button = understood.message.blocks.find((block) => block.type === 'actions')?.elements[0];
    if (button?.type !== 'button') throw new Error('no button');
    expect(button.text.text).toBe('Look up ORDER 17 B');
    expect(set.pressed('look_up', button.value ?? '')).toMatchObject({ words: ['ORDER 17 B', '12.50'] });
    assertBlocks('message', understood.message.blocks);
  });

  it('knows no button that no verb claims', () => {
    expect(createCommandSet(verbs, allowAll).pressed('gone', '')).toBeUndefined();
  });
});

describe('help', () => {
  it('tells the caller’s verbs, and one verb with its examples', async () => {
    expect(await answerTo('help')).toContain('/pay lookup <reference> [amount]');
    expect(await answerTo('help lookup')).toContain('INV-2041 12,500.00');
  });

  it('names the nearest verb for one it does not know', async () => {
    expect(await answerTo('help lokup')).toBe('There is no verb “lokup”. Did you mean “lookup”?');
    expect(await answerTo('help xyzzy')).toBe('There is no verb “xyzzy”. The verbs are lookup, help.');
  });

  it('leaves out what the caller may not do, and says whom to ask', async () => {
    for (const text of ['', 'help']) {
      // oxlint-disable-next-line no-await-in-loop
      const answer = await answerTo(text, { mayRun: refuseAll });
      expect(answer).not.toContain('/pay lookup');
      expect(answer).toContain('the leads');
    }
  });
});

describe('adding a verb', () => {
  const withFake = { verbs: [...verbs, fakeVerb] };

  it('is enough to show it in menu, help and home, and to be suggested', async () => {
    for (const text of ['', 'help']) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await answerTo(text, withFake)).toContain('/pay juggle <balls>');
    }
    expect(await answerTo('help juggle', withFake)).toContain('juggle 3');
    expect(await answerTo('jugle', withFake)).toContain('/pay juggle');
    const home = await createCommandSet(withFake.verbs, allowAll).home(caller);
    expect(JSON.stringify(home)).toContain('/pay juggle <balls>');
    assertBlocks('home', home.blocks);
  });

  it('is hidden from who may not run it', async () => {
    expect(await answerTo('help', { ...withFake, mayRun: noJuggling })).not.toContain('juggle');
  });

  it('refuses two verbs of one word, or one button', () => {
    expect(() => createCommandSet([...verbs, ...verbs], allowAll)).toThrow('two verbs share “lookup”');
    const other = { ...fakeVerb, buttons: [{ actionId: 'look_up', words: () => [] }] };
    expect(() => createCommandSet([...verbs, other], allowAll)).toThrow('two verbs share “look_up”');
  });
});
