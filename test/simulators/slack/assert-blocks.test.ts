import { describe, expect, it } from 'vitest';
import {
  assertBlocks,
  findBlockProblems,
  findViewProblems,
  type Surface,
} from '../../../src/simulators/slack/assert-blocks.ts';

type Json = { [field: string]: unknown };

const plain = (text = 'x'): Json => ({ type: 'plain_text', text });
const mrkdwn = (text = 'x'): Json => ({ type: 'mrkdwn', text });
const section = (text = 'x'): Json => ({ type: 'section', text: mrkdwn(text) });
const header = (text: Json): Json => ({ type: 'header', text });
const context = (...elements: Json[]): Json => ({ type: 'context', elements });
const button = (extra: Json = {}): Json => ({ type: 'button', action_id: 'go', text: plain(), ...extra });
const actions = (...elements: Json[]): Json => ({ type: 'actions', elements });
const option = (value: string, extra: Json = {}): Json => ({ text: plain(), value, ...extra });
const select = (extra: Json = {}): Json => ({
  type: 'static_select',
  options: [option('a'), option('b')],
  ...extra,
});
const textInput = (extra: Json = {}): Json => ({ type: 'plain_text_input', action_id: 'a', ...extra });
const input = (element: Json, extra: Json = {}): Json => ({
  type: 'input',
  label: plain(),
  element,
  ...extra,
});
const run = (extra: Json): Json => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [extra] }],
});
const confirmed = (extra: Json): Json => {
  const confirm = { title: plain(), text: mrkdwn(), confirm: plain(), deny: plain(), ...extra };
  return actions(button({ confirm }));
};
const modal = (extra: Json = {}): Json => ({
  type: 'modal',
  title: plain(),
  blocks: [section()],
  ...extra,
});
const words = (length: number): string => 'x'.repeat(length);
const each = (count: number, make: (index: number) => Json): Json[] =>
  Array.from({ length: count }, (_, index) => make(index));

const overflow = (options: Json[]): Json => actions({ type: 'overflow', options });
const menu = (...options: Json[]): Json => input(select({ options }));
const options = (count: number): Json[] => each(count, (index) => option(`${index}`));
const dividers = (count: number): Json[] => each(count, () => ({ type: 'divider' }));
const buttons = (count: number): Json[] => each(count, (index) => button({ action_id: `${index}` }));
const sections = (length: number): Json[] =>
  each(Math.ceil(length / 3000), (index) => section(words(Math.min(3000, length - 3000 * index))));

type Most = { [what: string]: [most: number, make: (size: number) => Json | Json[]] };

/** Slack's documented limits: this many pass, and one more is refused. */
const most: Record<Surface, Most> = {
  message: {
    blocks: [50, dividers],
    'text of all blocks': [13_200, sections],
    'a section': [3000, (size) => section(words(size))],
    'a header': [150, (size) => header(plain(words(size)))],
    'elements of a context': [10, (size) => context(...each(size, () => plain()))],
    buttons: [25, (size) => actions(...buttons(size))],
    'a button': [75, (size) => actions(button({ text: plain(words(size)) }))],
    'what a button carries': [2000, (size) => actions(button({ value: words(size) }))],
    'an address': [3000, (size) => actions(button({ url: `http://${words(size - 7)}` }))],
    'an action id': [255, (size) => actions(button({ action_id: words(size) }))],
    'a block id': [255, (size) => ({ type: 'divider', block_id: words(size) })],
    'a dialog’s title': [100, (size) => confirmed({ title: plain(words(size)) })],
    'a dialog’s text': [300, (size) => confirmed({ text: plain(words(size)) })],
    'a dialog’s button': [30, (size) => confirmed({ deny: plain(words(size)) })],
    'entries of an overflow': [5, (size) => overflow(options(size))],
  },
  modal: {
    blocks: [100, dividers],
    'options of a menu': [100, (size) => menu(...options(size))],
    'an option': [75, (size) => menu(option('v', { text: plain(words(size)) }))],
    'what an option carries': [150, (size) => menu(option(words(size)))],
    'a placeholder': [150, (size) => input(textInput({ placeholder: plain(words(size)) }))],
    'the length of an input': [3000, (size) => input(textInput({ max_length: size }))],
    'what is typed at first': [8, (size) => input(textInput({ max_length: 8, initial_value: words(size) }))],
  },
  home: { blocks: [100, dividers] },
};

const runAt = '/0/elements/0/elements/0';
type Wrong = [what: string, at: string, block: unknown];

const wrong: Record<Surface, Wrong[]> = {
  message: [
    ['what is not a block', '/0', null],
    ['a block without a type', '/0/type', { text: plain() }],
    ['a block named like a part of every object', '/0/type', { type: 'constructor' }],
    ['an unknown field', '/0', { ...section(), txt: 1 }],
    ['an input', '/0/type', input(textInput())],
    ['empty text', '/0/text/text', section('')],
    ['blank text', '/0/text/text', section(' \n')],
    ['text that is no text object', '/0/text', { type: 'section', text: 'x' }],
    ['mrkdwn in a header', '/0/text/type', header(mrkdwn())],
    ['verbatim on plain text', '/0/text', header({ ...plain(), verbatim: true })],
    ['emoji on mrkdwn', '/0/text', { type: 'section', text: { ...mrkdwn(), emoji: true } }],
    ['a button in a context', '/0/elements/0/type', context(button())],
    ['rich text without parts', '/0/elements', { type: 'rich_text', elements: [] }],
    ['an empty run', `${runAt}/text`, run({ type: 'text', text: '' })],
    ['a run style as a word', `${runAt}/style`, run({ type: 'text', text: 'x', style: 'bold' })],
    ['a link in a sentence', `${runAt}/type`, run({ type: 'link', url: 'https://example.com' })],
    ['an address that acts', '/0/elements/0/url', actions(button({ url: 'javascript:alert(1)' }))],
    ['no buttons', '/0/elements', actions()],
    ['one action id twice in a block', '/0/elements', actions(button(), button())],
    ['a button of mrkdwn', '/0/elements/0/text/type', actions(button({ text: mrkdwn() }))],
    ['a button of another colour', '/0/elements/0/style', actions(button({ style: 'green' }))],
    ['a button that leads to a file', '/0/elements/0/url', actions(button({ url: 'file:///etc' }))],
    ['a dialog without its buttons', '/0/elements/0/confirm/deny', confirmed({ deny: undefined })],
    ['a text input among buttons', '/0/elements/0/type', actions(textInput())],
  ],
  modal: [
    // Kinds that some workspaces don't know, or that the bot never shows.
    ...['alert', 'table', 'markdown', 'image'].map((type): Wrong => [
      type,
      '/0/type',
      { type, text: plain() },
    ]),
    ['a kind of input that the bot never asks', '/0/element/type', input({ type: 'number_input' })],
    ['an input without a label', '/0/label', input(textInput(), { label: undefined })],
    ['a label of mrkdwn', '/0/label/type', input(textInput(), { label: mrkdwn() })],
    ['a button as input', '/0/element/type', input(button())],
    ['lengths the wrong way round', '/0/element', input(textInput({ min_length: 9, max_length: 8 }))],
    ['a menu without options', '/0/element/options', input({ type: 'static_select' })],
    ['a menu option of mrkdwn', '/0/element/options/0/text/type', menu(option('v', { text: mrkdwn() }))],
    ['a first choice that is no option', '/0/element', input(select({ initial_option: option('c') }))],
  ],
  home: [['an input without a label', '/0/label', input(textInput(), { label: undefined })]],
};

function expectAt(problems: readonly string[], at: string): void {
  expect(problems.map((problem) => problem.split(': ')[0])).toEqual([at]);
}

describe.each(['message', 'modal', 'home'] as const)('the blocks of a %s', (surface) => {
  it.each(Object.entries(most[surface]))('accepts this many and no more: %s', (_what, [size, make]) => {
    expect(findBlockProblems(surface, [make(size)].flat())).toEqual([]);
    expect(findBlockProblems(surface, [make(size + 1)].flat())).toHaveLength(1);
  });

  it.each(wrong[surface])('are refused: %s', (_what, at, block) => {
    expectAt(findBlockProblems(surface, [block]), `/blocks${at}`);
  });
});

describe('findBlockProblems', () => {
  it.each<[string, Surface, string, unknown]>([
    ['what is not a list', 'message', '/blocks', section()],
    ['a modal without blocks', 'modal', '/blocks', []],
    ['one block id twice', 'message', '/blocks', each(2, () => ({ type: 'divider', block_id: 'b' }))],
    ['two focused inputs', 'modal', '/blocks', each(2, () => input(textInput({ focus_on_load: true })))],
  ])('refuses %s', (_what, surface, at, blocks) => {
    expectAt(findBlockProblems(surface, blocks), at);
  });

  it('reports every problem at once', () => {
    const problems = findBlockProblems('message', [
      section(''),
      actions(button({ value: '' })),
      { type: 'x' },
    ]);
    expect(problems).toHaveLength(3);
    expect(() => assertBlocks('modal', [{ type: 'table' }, section('')])).toThrow(
      /of a modal:\n\/blocks\/0\/type.*"table"\n\/blocks\/1\/text\/text: is empty/,
    );
  });
});

describe('findViewProblems', () => {
  it('accepts a modal and a home', () => {
    const whole = { callback_id: words(255), private_metadata: words(3000) };
    const buttons = { title: plain(words(24)), submit: plain(words(24)), close: plain(words(24)) };
    expect(findViewProblems(modal({ ...whole, ...buttons }))).toEqual([]);
    expect(findViewProblems({ type: 'home', blocks: [section()] })).toEqual([]);
  });

  it.each<[string, string, unknown]>([
    ['what is no view', '', 'x'],
    ['another type', '/type', modal({ type: 'message' })],
    ['a modal without a title', '/title', modal({ title: undefined })],
    ['a title too long', '/title/text', modal({ title: plain(words(25)) })],
    ['a submit too long', '/submit/text', modal({ submit: plain(words(25)) })],
    ['a close too long', '/close/text', modal({ close: plain(words(25)) })],
    ['a private_metadata too long', '/private_metadata', modal({ private_metadata: words(3001) })],
    ['a callback_id too long', '/callback_id', modal({ callback_id: words(256) })],
    ['inputs without a submit', '', modal({ blocks: [input(textInput())] })],
    ['a bad block', '/blocks/0/text/text', modal({ blocks: [section('')] })],
    ['a title on a home', '', { type: 'home', title: plain(), blocks: [] }],
    ['a view over 250 kB', '/', modal({ blocks: each(100, () => section(words(2900))) })],
  ])('refuses %s', (_what, at, view) => {
    expectAt(findViewProblems(view), at);
  });
});
