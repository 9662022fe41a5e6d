import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findBlockProblems,
  findViewProblems,
  type Surface,
} from '../../../src/simulators/slack/assert-blocks.ts';
import {
  actions,
  button,
  code,
  codeLines,
  confirmDialog,
  context,
  divider,
  fields,
  header,
  headline,
  modal,
  noticeLine,
  mrkdwn,
  plainText,
  quotation,
  richText,
  select,
  tableLines,
  textInput,
  words,
} from '../../../src/slack/kit/blocks.ts';

const outside = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('', ' ', '\u200B', '\uD800', '𝒜'.repeat(2000), 'x'.repeat(20_000), '<!here>'),
);

function taken(surface: Surface, blocks: unknown): void {
  expect(findBlockProblems(surface, blocks)).toEqual([]);
}

describe('the builders', () => {
  it('make blocks that Slack takes of any text, cut rather than refused', () => {
    expect.hasAssertions();
    fc.assert(
      fc.property(outside, outside, (one, two) => {
        taken('message', [header(one), divider(), richText([words(one)], [code(two)])]);
        taken('message', [context(plainText(one), mrkdwn(two)), codeLines([one, two])]);
        taken('message', [quotation(one, two), ...fields({ A: one, B: two, C: undefined })]);
        taken('message', [headline(`✅ ${one}`, [two]).block]);
        const confirm = confirmDialog({ title: one, text: two, confirm: one, deny: two });
        taken('message', [actions(button({ actionId: 'go', text: one, confirm }))]);
      }),
    );
  });

  it('make a modal that Slack takes of any text', () => {
    fc.assert(
      fc.property(outside, outside, (one, two) => {
        const view = modal({
          callbackId: 'c',
          title: one,
          submit: two,
          blocks: [
            noticeLine('warning', one),
            textInput({
              id: 'a',
              label: one,
              hint: two,
              placeholder: one,
              initial: two,
              maxLength: 50,
              focus: true,
            }),
            select({ id: 'b', label: two, choices: [{ text: one, value: 'v' }], initial: 'v' }),
          ],
        });
        expect(findViewProblems(view)).toEqual([]);
      }),
    );
  });
});

describe('fields', () => {
  it('tells at most six, leaves missing values out, and is no block without any', () => {
    const seven = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`L${index}`, `v${index}`]));
    const told = JSON.stringify(fields(seven));
    expect(told).toContain('v5');
    expect(told).not.toContain('v6');
    expect(JSON.stringify(fields({ A: undefined, B: '', C: 'c' }))).not.toMatch(/"[AB]"/);
    expect(fields({ A: undefined })).toEqual([]);
  });
});

describe('mrkdwn', () => {
  it('never links bare addresses and never ends inside a token', () => {
    const token = '<!date^1789393020^{time}|13:37>';
    expect(mrkdwn(token)).toEqual({ type: 'mrkdwn', text: token, verbatim: true });
    expect(mrkdwn(`at ${token}`, 12).text).toBe('at …');
    expect(mrkdwn('a &amp; b', 6).text).toBe('a …');
  });
});

describe('headline', () => {
  it('shows the sentence that is read aloud when outside words left a hole in it', () => {
    const { text, block } = headline('🔎 Looking up  …', []);
    expect(text).toBe('🔎 Looking up …');
    expect(JSON.stringify(block)).toContain('"🔎 Looking up …"');
  });

  it('says the same in text and block, and escapes only the text', () => {
    expect(headline('⚠️ Doubt', ['', '<A&B>'])).toEqual({
      text: '⚠️ Doubt · &lt;A&amp;B&gt;',
      block: richText([{ type: 'text', text: '⚠️ Doubt', style: { bold: true } }, words(' · <A&B>')]),
    });
  });
});

describe('tableLines', () => {
  it('aligns its columns and leaves no cell empty', () => {
    const rows = [
      ['1', 'Till'],
      ['22', ''],
    ];
    const block = tableLines(['Id', 'Label'], rows);
    taken('message', [block]);
    expect(JSON.stringify(block)).toMatch(/Id  Label.*1   Till.*22  –/);
  });

  it('is one Slack takes however large or uneven it is', () => {
    const cell = fc.oneof(fc.constantFrom('', 'x', 'y'.repeat(500)), fc.string({ unit: 'binary' }));
    const rows = fc.array(fc.array(cell, { maxLength: 25 }), { maxLength: 150 });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 25 }), rows, (head, rows) => {
        expect(findBlockProblems('message', [tableLines(head, rows)])).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('select', () => {
  it('keeps the first hundred choices', () => {
    const choices = Array.from({ length: 120 }, (_, index) => ({ text: `${index}`, value: `${index}` }));
    const menu = select({ id: 's', label: 'Pick', choices, initial: '119' });
    expect(findBlockProblems('modal', [menu])).toEqual([]);
    expect(JSON.stringify(menu)).toContain('"99"');
  });
});
