import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCommandSet } from '../../src/commands/command-set.ts';
import { lookupCommand } from '../../src/commands/lookup.ts';
import { parsed } from '../../src/domain/parsed.ts';
import { createLog } from '../../src/log.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { richText, words } from '../../src/slack/blocks.ts';
import { defineCommand, type Caller, type Command, type MayRun } from '../../src/slack/command.ts';
import { helpMessage } from '../../src/slack/help-message.ts';
import type { HomeBlock } from '../../src/slack/message.ts';
import { noSharing } from './no-sharing.ts';

const caller: Caller = { userId: 'U0AGENT' };
const conversation = { caller, openModal: async () => 'V1', whileWaiting: <T>(work: Promise<T>) => work };
const allowAll: MayRun = async () => ({ kind: 'allowed' });
const refuseAll: MayRun = async () => ({ kind: 'refused', rule: 'It needs a role', whoCan: 'the leads' });
const noJuggling: MayRun = async (permission) =>
  permission === 'juggle' ? { kind: 'refused', rule: 'r', whoCan: 'w' } : { kind: 'allowed' };
const verbs = [
  lookupCommand({
    ...noSharing,
    findTransaction: async () => undefined,
    environment: 'sandbox',
    account: 'Main shop',
    now: () => 0,
  }),
];

function commandSet(of: readonly Command[] = verbs, mayRun = allowAll, logged: string[] = []) {
  const log = createLog({
    level: 'debug',
    secrets: [],
    write: (line) => logged.push(line),
    now: () => new Date(0),
  });
  return createCommandSet(of, mayRun, log);
}

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

function withHome(verb: string, home: NonNullable<Command['home']>): Command {
  return { ...fakeVerb, verb, home };
}

function lines(count: number, word: string): HomeBlock[] {
  return Array.from({ length: count }, (_, index) => richText([words(`${word} ${index}`)]));
}

const submit = async () => ({ kind: 'close' as const });

async function answerTo(text: string, options: { verbs?: Command[]; mayRun?: MayRun } = {}): Promise<string> {
  const set = commandSet(options.verbs, options.mayRun);
  const understood = set.understand(text);
  if (understood.kind === 'unclear') return JSON.stringify(understood.message);
  const prepared = understood.command.prepare(understood.words);
  if (!prepared.ok) return prepared.problem;
  const message = await prepared.value.run(conversation);
  if (!message) throw new Error('no message');
  assertBlocks('message', message.blocks);
  return JSON.stringify(message);
}

function meaning(text: string): { verb: string; words: readonly string[] } | 'unclear' {
  const understood = commandSet().understand(text);
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
    expect(commandSet().pressed('look_up', '["lokup"]')).toMatchObject({
      kind: 'command',
      words: ['lokup'],
    });
  });

  it('offers what was meant when a look-up is misspelt, words and amount included', () => {
    const set = commandSet();
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
    expect(commandSet().pressed('gone', '')).toBeUndefined();
  });
});

describe('help', () => {
  it('tells the caller’s verbs, and one verb with its examples', async () => {
    expect(await answerTo('help')).toContain('/pay lookup <reference> [amount]');
    expect(await answerTo('help lookup')).toContain('INV-2041 12,500.00');
    const refused = await answerTo('help lookup', { mayRun: refuseAll });
    expect(refused).toContain('the leads');
    expect(refused).not.toContain('INV-2041');
  });

  it('names the nearest verb for one it does not know', async () => {
    expect(await answerTo('help lokup')).toBe('There is no verb “lokup”. Did you mean “lookup”?');
    expect(await answerTo('help xyzzy')).toBe(
      'There is no verb “xyzzy”. Type /pay help for what you can do.',
    );
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
    expect(await answerTo('', withFake)).toContain('/pay juggle');
    expect(await answerTo('help', withFake)).toContain('/pay juggle <balls>');
    expect(await answerTo('help juggle', withFake)).toContain('juggle 3');
    expect(await answerTo('jugle', withFake)).toContain('/pay juggle');
    const home = await commandSet(withFake.verbs).home(caller);
    expect(JSON.stringify(home)).toContain('/pay juggle <balls>');
    assertBlocks('home', home.blocks);
  });

  it('is hidden from who may not run it', async () => {
    expect(await answerTo('help', { ...withFake, mayRun: noJuggling })).not.toContain('juggle');
  });

  it('that is not set up answers when it is typed, and stands in no list', async () => {
    const hidden: Command = { ...fakeVerb, hidden: true };
    const withHidden = { verbs: [...verbs, hidden] };
    for (const text of ['', 'help']) {
      // oxlint-disable-next-line no-await-in-loop -- one answer after the other
      expect(await answerTo(text, withHidden)).not.toContain('juggle');
    }
    expect(await answerTo('help xyzzy', withHidden)).not.toContain('juggle');
    expect(await answerTo('help juggle', withHidden)).toContain('juggle 3');
    expect(commandSet(withHidden.verbs).understand('juggle 3')).toMatchObject({ command: hidden });
    expect(commandSet(withHidden.verbs).understand('jugle')).toMatchObject({ kind: 'command' });
  });

  it('refuses two verbs of one word, or one button', () => {
    expect(() => commandSet([...verbs, ...verbs])).toThrow('two verbs share “lookup”');
    const other = { ...fakeVerb, buttons: [{ actionId: 'look_up', words: () => [] }] };
    expect(() => commandSet([...verbs, other])).toThrow('two verbs share “look_up”');
  });

  it('refuses one id for a button, a press or a typeahead, and two modals of one callback id', () => {
    const press = { ...fakeVerb, presses: [{ actionId: 'look_up', press: async () => undefined }] };
    expect(() => commandSet([...verbs, press])).toThrow('two verbs share “look_up”');
    const suggestion = { ...fakeVerb, suggestions: [{ actionId: 'look_up', suggest: async () => [] }] };
    expect(() => commandSet([...verbs, suggestion])).toThrow('two verbs share “look_up”');
    const modals = [
      { callbackId: 'form', submit },
      { callbackId: 'form', submit },
    ];
    expect(() => commandSet([...verbs, { ...fakeVerb, modals }])).toThrow('two verbs share “form”');
  });

  it('finds its press, modal and typeahead with the verb they belong to', () => {
    const press = { actionId: 'throw', press: async () => undefined };
    const modal = { callbackId: 'form', submit };
    const suggestion = { actionId: 'ball', suggest: async () => [] };
    const verb = { ...fakeVerb, presses: [press], modals: [modal], suggestions: [suggestion] };
    const set = commandSet([...verbs, verb]);
    expect(set.press('throw')).toEqual({ command: verb, press });
    expect(set.modal('form')).toEqual({ command: verb, modal });
    expect(set.suggestion('ball')).toEqual({ command: verb, suggestion });
    expect([set.press('look_up'), set.modal(''), set.suggestion('throw')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('the App Home', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('shows what each verb has for the caller before the menu', async () => {
    const asked: Caller[] = [];
    const verb = withHome('juggle', async (who) => {
      asked.push(who);
      return lines(1, 'ball');
    });
    const { blocks } = await commandSet([...verbs, verb]).home(caller);
    const text = JSON.stringify(blocks);
    expect(text.indexOf('ball 0')).toBeGreaterThan(-1);
    expect(text.indexOf('ball 0')).toBeLessThan(text.indexOf('/pay lookup'));
    expect(asked).toEqual([caller]);
    assertBlocks('home', blocks);
  });

  it('begins with its first words where it has no buttons', async () => {
    const { blocks } = await commandSet([withHome('juggle', async () => lines(1, 'ball'))]).home(caller);
    expect(blocks[0]).toEqual(lines(1, 'ball')[0]);
  });

  it('asks no verb that the caller may not run', async () => {
    let asked = 0;
    const verb = withHome('juggle', async () => {
      asked += 1;
      return lines(1, 'ball');
    });
    const { blocks } = await commandSet([...verbs, verb], noJuggling).home(caller);
    expect(asked).toBe(0);
    expect(JSON.stringify(blocks)).toContain('/pay lookup');
  });

  it('says of a verb that throws that it cannot be shown, and shows the rest', async () => {
    const logged: string[] = [];
    const broken = withHome('drop', () => Promise.reject(new Error('the ball is gone')));
    const whole = withHome('juggle', async () => lines(1, 'ball'));
    const home = await commandSet([...verbs, broken, whole], allowAll, logged).home(caller);
    const text = JSON.stringify(home.blocks);
    expect(text).toContain('/pay drop cannot be shown here now');
    expect(text).toContain('ball 0');
    expect(text).toContain('/pay lookup');
    expect(text).not.toContain('the ball is gone');
    const line = JSON.parse(logged.find((each) => each.includes('App Home')) ?? '{}');
    expect(line).toMatchObject({ verb: 'drop', userId: 'U0AGENT', error: { message: 'the ball is gone' } });
    expect(text).toContain(line.errorId);
  });

  it('does not wait for a verb that hangs', async () => {
    vi.useFakeTimers();
    const hanging = withHome('drop', () => new Promise(() => undefined));
    const shown = commandSet([...verbs, hanging]).home(caller);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(JSON.stringify((await shown).blocks)).toContain('/pay drop cannot be shown here now');
  });

  it('holds no more blocks than Slack takes, and cuts no verb and no menu for it', async () => {
    const many = ['one', 'two', 'three'].map((verb) => withHome(verb, async () => lines(90, verb)));
    const { blocks } = await commandSet([...verbs, ...many]).home(caller);
    assertBlocks('home', blocks);
    const text = JSON.stringify(blocks);
    for (const shown of ['one 20', 'two 20', 'three 20', '/pay lookup']) expect(text).toContain(shown);
    expect(text.split('more than fits here')).toHaveLength(4);
  });
});
