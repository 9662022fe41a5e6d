import { describe, expect, it } from 'vitest';
import {
  assertBlocks,
  findBlockProblems,
  findViewProblems,
  type Surface,
} from '../../../src/simulators/slack/assert-blocks.ts';
import {
  actions,
  button,
  confirm,
  input,
  many,
  mrkdwn,
  modal,
  option,
  plain,
  rich,
  section,
  select,
  textInput,
  type Json,
} from '../../slack/block-json.ts';

describe('findBlockProblems', () => {
  const accepted: [string, Surface, Json[]][] = [
    ['no blocks at all', 'message', []],
    ['a section with the longest text', 'message', [section('x'.repeat(3000))]],
    [
      'a header, a divider and a context',
      'home',
      [
        { type: 'header', text: plain('x'.repeat(150)) },
        { type: 'divider' },
        { type: 'context', elements: [plain('a'), mrkdwn('b')] },
      ],
    ],
    [
      'buttons with every field',
      'message',
      [
        actions(
          button({ value: 'v'.repeat(2000), style: 'danger', confirm: confirm() }),
          button({ action_id: 'two', url: 'https://example.com' }),
        ),
      ],
    ],
    ['one action id in two blocks', 'message', [actions(button()), actions(button())]],
    [
      'rich text of every run',
      'message',
      [
        rich(
          { type: 'text', text: '\n', style: { bold: true } },
          { type: 'link', url: 'https://example.com' },
          { type: 'user', user_id: 'U1' },
          { type: 'date', timestamp: 1_789_393_020, format: '{time}' },
        ),
      ],
    ],
    [
      'inputs in a modal',
      'modal',
      [
        input(textInput({ min_length: 4, max_length: 8, placeholder: plain('code') }), {
          block_id: 'otp',
        }),
        input(select({ initial_option: option('b') })),
        input({ type: 'external_select', action_id: 'e', min_query_length: 2 }),
        input({ type: 'radio_buttons', action_id: 'r', options: [option('a', { text: mrkdwn('*a*') })] }),
      ],
    ],
  ];

  it.each(accepted)('takes %s', (_name, surface, blocks) => {
    expect(findBlockProblems(surface, blocks)).toEqual([]);
  });

  const refused: [string, Surface, unknown, string][] = [
    ['what is not a list', 'message', section(), '/blocks: must be a list'],
    ['what is not a block', 'message', [null], '/blocks/0: must be an object with a type'],
    ['a block without a type', 'message', [{ text: plain('x') }], '/blocks/0: must be'],
    ['an unknown block', 'message', [{ type: 'sections' }], '/blocks/0/type: "sections"'],
    ['a block named like a part of every object', 'message', [{ type: 'constructor' }], '/blocks/0/type'],
    ['an unknown field', 'message', [{ ...section(), txt: 1 }], '/blocks/0/txt: unknown field'],
    ['51 blocks in a message', 'message', many(51, { type: 'divider' }), 'at most 50'],
    ['101 blocks in a modal', 'modal', many(101, { type: 'divider' }), 'at most 100'],
    ['101 blocks in a home', 'home', many(101, { type: 'divider' }), 'at most 100'],
    ['an input in a message', 'message', [input(textInput())], '"input" is not allowed'],
    ['an input in a home', 'home', [input(textInput())], '"input" is not allowed'],
    ['an alert, which not every workspace knows', 'modal', [{ type: 'alert', text: plain('x') }], '"alert"'],
    ['a kind of block that the bot never shows', 'message', [{ type: 'image', alt_text: 'x' }], '"image"'],
    ['a table, which not every workspace knows', 'message', [{ type: 'table', rows: [] }], '"table"'],
    ['a kind of input that the bot never asks', 'modal', [input({ type: 'number_input' })], '"number_input"'],
    [
      'a markdown block, which not every workspace knows',
      'message',
      [{ type: 'markdown', text: 'x' }],
      '"markdown"',
    ],
    ['empty text', 'message', [section('')], '/blocks/0/text/text: is empty'],
    ['blank text', 'message', [section(' \n')], '/blocks/0/text/text: is empty'],
    ['text that is no text object', 'message', [{ type: 'section', text: 'x' }], '/blocks/0/text'],
    ['a section too long', 'message', [section('x'.repeat(3001))], 'at most 3000'],
    ['mrkdwn in a header', 'message', [{ type: 'header', text: mrkdwn('x') }], '"mrkdwn" is not allowed'],
    ['a header too long', 'message', [{ type: 'header', text: plain('x'.repeat(151)) }], 'at most 150'],
    [
      'verbatim on plain text',
      'message',
      [{ type: 'section', text: { ...plain('x'), verbatim: true } }],
      'verbatim',
    ],
    ['emoji on mrkdwn', 'message', [{ type: 'section', text: { ...mrkdwn('x'), emoji: true } }], 'emoji'],
    [
      'eleven context elements',
      'message',
      [{ type: 'context', elements: many(11, plain('x')) }],
      'at most 10',
    ],
    [
      'a button in a context',
      'message',
      [{ type: 'context', elements: [button()] }],
      '"button" is not allowed',
    ],
    ['rich text without parts', 'message', [{ type: 'rich_text', elements: [] }], 'at least 1'],
    ['an empty run', 'message', [rich({ type: 'text', text: '' })], 'non-empty'],
    [
      'a run style as a word',
      'message',
      [rich({ type: 'text', text: 'x', style: 'bold' })],
      '/style: must be an object',
    ],
    ['too much text in a message', 'message', many(5, section('x'.repeat(2700))), 'at most 13200 characters'],
  ];

  it.each(refused)('refuses %s', (_name, surface, blocks, problem) => {
    expect(findBlockProblems(surface, blocks).join('\n')).toContain(problem);
  });

  const refusedElements: [string, Surface, unknown, string][] = [
    ['no buttons', 'message', [actions()], 'at least 1'],
    [
      '26 buttons',
      'message',
      [actions(...Array.from({ length: 26 }, (_, i) => button({ action_id: `a${i}` })))],
      'at most 25',
    ],
    [
      'one action id twice in a block',
      'message',
      [actions(button(), button())],
      '/blocks/0/elements/1/action_id: same',
    ],
    ['an action id too long', 'message', [actions(button({ action_id: 'x'.repeat(256) }))], 'at most 255'],
    [
      'one block id twice',
      'message',
      [
        { ...section(), block_id: 'b' },
        { type: 'divider', block_id: 'b' },
      ],
      '/blocks/1/block_id: same',
    ],
    ['a block id too long', 'message', [{ type: 'divider', block_id: 'x'.repeat(256) }], 'at most 255'],
    ['a button text too long', 'message', [actions(button({ text: plain('x'.repeat(76)) }))], 'at most 75'],
    ['a button text of mrkdwn', 'message', [actions(button({ text: mrkdwn('x') }))], '"mrkdwn"'],
    ['a button value too long', 'message', [actions(button({ value: 'x'.repeat(2001) }))], 'at most 2000'],
    ['a button of another colour', 'message', [actions(button({ style: 'default' }))], 'primary, danger'],
    [
      'a script as address',
      'message',
      [actions(button({ url: 'javascript:alert(1)' }))],
      '/url: must look like',
    ],
    [
      'an address too long',
      'message',
      [actions(button({ url: `https://e.com/${'x'.repeat(3000)}` }))],
      'at most 3000',
    ],
    [
      'a dialog without its buttons',
      'message',
      [actions(button({ confirm: { title: plain('x'), text: plain('y') } }))],
      '/confirm/deny: is missing',
    ],
    [
      'a dialog title too long',
      'message',
      [actions(button({ confirm: confirm({ title: plain('x'.repeat(101)) }) }))],
      'at most 100',
    ],
    [
      'a dialog text too long',
      'message',
      [actions(button({ confirm: confirm({ text: plain('x'.repeat(301)) }) }))],
      'at most 300',
    ],
    [
      'a dialog button too long',
      'message',
      [actions(button({ confirm: confirm({ deny: plain('x'.repeat(31)) }) }))],
      'at most 30',
    ],
    ['an input element among buttons', 'message', [actions(textInput())], '"plain_text_input"'],
    ['an input without a label', 'modal', [{ type: 'input', element: textInput() }], '/label: is missing'],
    ['a label of mrkdwn', 'modal', [input(textInput(), { label: mrkdwn('x') })], '"mrkdwn"'],
    ['a button as input', 'modal', [input(button())], '"button" is not allowed'],
    [
      'lengths the wrong way round',
      'modal',
      [input(textInput({ min_length: 9, max_length: 8 }))],
      'min_length is more',
    ],
    ['a length over 3000', 'modal', [input(textInput({ max_length: 3001 }))], 'from 1 to 3000'],
    [
      'a placeholder too long',
      'modal',
      [input(textInput({ placeholder: plain('x'.repeat(151)) }))],
      'at most 150',
    ],
    [
      'two focused inputs',
      'modal',
      [input(textInput({ focus_on_load: true })), input(textInput({ focus_on_load: true }))],
      'at most one',
    ],
    [
      'a menu without options',
      'modal',
      [input({ type: 'static_select', action_id: 's' })],
      '/options: is missing',
    ],
    [
      '101 options',
      'modal',
      [input(select({ options: Array.from({ length: 101 }, (_, i) => option(`o${i}`)) }))],
      'at most 100',
    ],
    [
      'an option text too long',
      'modal',
      [input(select({ options: [option('v', { text: plain('x'.repeat(76)) })] }))],
      'at most 75',
    ],
    [
      'an option value too long',
      'modal',
      [input(select({ options: [option('v', { value: 'x'.repeat(151) })] }))],
      'at most 150',
    ],
    [
      'a menu option of mrkdwn',
      'modal',
      [input(select({ options: [option('v', { text: mrkdwn('x') })] }))],
      '"mrkdwn"',
    ],
    [
      'a first choice that is no option',
      'modal',
      [input(select({ initial_option: option('c') }))],
      'not one of its options',
    ],
    [
      'eleven radio buttons',
      'modal',
      [
        input({
          type: 'radio_buttons',
          action_id: 'r',
          options: Array.from({ length: 11 }, (_, i) => option(`o${i}`)),
        }),
      ],
      'at most 10',
    ],
    [
      'six entries of an overflow',
      'message',
      [
        actions({
          type: 'overflow',
          action_id: 'o',
          options: Array.from({ length: 6 }, (_, i) => option(`o${i}`)),
        }),
      ],
      'at most 5',
    ],
  ];

  it.each(refusedElements)('refuses %s', (_name, surface, blocks, problem) => {
    expect(findBlockProblems(surface, blocks).join('\n')).toContain(problem);
  });

  it('tells every problem at once', () => {
    const problems = findBlockProblems('message', [
      section(''),
      actions(button({ value: '' })),
      { type: 'x' },
    ]);
    expect(problems).toHaveLength(3);
  });
});

describe('assertBlocks', () => {
  it('throws one error that lists the problems, and nothing for good blocks', () => {
    expect(() => {
      assertBlocks('modal', [{ type: 'table' }, section('')]);
    }).toThrow(/of a modal:\n\/blocks\/0\/type.*\n\/blocks\/1\/text\/text: is empty/);
    assertBlocks('modal', [section()]);
  });
});

describe('findViewProblems', () => {
  it('takes a modal and a home', () => {
    expect(
      findViewProblems(modal({ callback_id: 'c', close: plain('Close'), notify_on_close: true })),
    ).toEqual([]);
    expect(findViewProblems({ type: 'home', blocks: [section()] })).toEqual([]);
  });

  const refused: [string, unknown, string][] = [
    ['what is no view', 'x', ': must be an object with a type'],
    ['another type', modal({ type: 'message' }), '/type: "message"'],
    ['a modal without a title', { type: 'modal', blocks: [section()] }, '/title: is missing'],
    ['a title too long', modal({ title: plain('x'.repeat(25)) }), '/title/text: at most 24'],
    ['a submit too long', modal({ submit: plain('x'.repeat(25)) }), '/submit/text: at most 24'],
    ['a close too long', modal({ close: plain('x'.repeat(25)) }), '/close/text: at most 24'],
    ['a private_metadata too long', modal({ private_metadata: 'x'.repeat(3001) }), 'at most 3000'],
    ['a callback_id too long', modal({ callback_id: 'x'.repeat(256) }), 'at most 255'],
    ['inputs without a submit', modal({ blocks: [input(textInput())] }), '/submit: is missing'],
    ['no blocks', modal({ blocks: [] }), '/blocks: needs at least 1'],
    ['a bad block', modal({ blocks: [section('')] }), '/blocks/0/text/text: is empty'],
    ['a title on a home', { type: 'home', title: plain('x'), blocks: [] }, '/title: unknown field'],
    ['a view over 250 kB', modal({ blocks: many(100, section('x'.repeat(2900))) }), 'bytes in a view'],
  ];

  it.each(refused)('refuses %s', (_name, view, problem) => {
    expect(findViewProblems(view).join('\n')).toContain(problem);
  });
});
