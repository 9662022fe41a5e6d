import { describe, expect, it } from 'vitest';
import { findBlockProblems, type Surface } from '../../../src/simulators/slack/assert-blocks.ts';
import {
  actions,
  button,
  confirm,
  input,
  mrkdwn,
  option,
  plain,
  section,
  select,
  textInput,
} from '../../slack/block-json.ts';

describe('the elements of a block', () => {
  const refused: [string, Surface, unknown, string][] = [
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
      'a number input that does not say which numbers',
      'modal',
      [input({ type: 'number_input', action_id: 'n' })],
      'is_decimal_allowed: is missing',
    ],
    [
      'a dispatched file input',
      'modal',
      [input({ type: 'file_input', action_id: 'f' }, { dispatch_action: true })],
      'not with a file_input',
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
      'exactly one of options, option_groups',
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
    [
      'an impossible date',
      'modal',
      [input({ type: 'datepicker', action_id: 'd', initial_date: '14.9.2026' })],
      'must look like',
    ],
  ];

  it.each(refused)('refuse %s', (_name, surface, blocks, problem) => {
    expect(findBlockProblems(surface, blocks).join('\n')).toContain(problem);
  });
});
