import { expect, it } from 'vitest';
import { candidateReferences } from '../../src/domain/candidate-references.ts';
import { actions } from '../../src/slack/kit/blocks.ts';
import { messageTexts } from '../../src/slack/message-texts.ts';
import { inAccount } from '../../src/slack/own-account.ts';
import { lookUpButton } from '../../src/slack/words/payment-words.ts';

function rich(...elements: object[]) {
  return { blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }] };
}

function text(words: string, bold = false) {
  return { type: 'text', text: words, ...(bold ? { style: { bold } } : {}) };
}

function refresh() {
  return { text: 'Paid', blocks: [actions(...lookUpButton('Look up', 'ORDER 17 B'))] };
}

const ofLagos = inAccount({ name: 'lagos', isFirst: false, isMixed: false }, refresh);
const cell = (words: string) => ({ type: 'raw_text', text: words });
const links =
  '<@U0AGENT01> in <#C0DESK0001|desk> <!date^1700000000^{time}|at 14:32> <https://x.test/INV-9|here>';
const nested = Array.from({ length: 5_000 }).reduce<object>(
  (inner) => ({ type: 'rich_text_section', elements: [inner] }),
  text('INV-1'),
);

it.each<[string, unknown, string[]]>([
  ['the message’s text', { text: 'see INV-1' }, ['INV-1']],
  [
    'a section',
    { blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'about *INV-2*' } }] },
    ['INV-2'],
  ],
  ['a small line', { blocks: [{ type: 'context', elements: [text('INV-3')] }] }, ['INV-3']],
  ['a table', { blocks: [{ type: 'table', rows: [[cell('INV-4'), cell('INV-5')]] }] }, ['INV-4', 'INV-5']],
  ['fields', { attachments: [{ fields: [{ title: 'Reference', value: 'SPRING' }] }] }, ['SPRING']],
  ['an attachment', { attachments: [{ fallback: 'INV-6', blocks: [text('INV-7')] }] }, ['INV-7', 'INV-6']],
  ['a word that is half bold', rich(text('INV-'), text('2041', true)), ['INV-2041']],
  ['code, to the letter', rich({ ...text('ORDER 17 B'), style: { code: true } }), ['ORDER 17 B']],
  ['what a button of the bot looks up', refresh(), ['ORDER 17 B']],
  ['what that button looks up in another account', ofLagos, ['ORDER 17 B']],
  ['no person, channel, date or link', { text: links }, []],
  [
    'no person or link in rich text',
    rich({ type: 'user', user_id: 'U1' }, { type: 'link', url: 'https://x/INV-9' }),
    [],
  ],
  ['no card number split by styles', rich(text('is 41111111'), text('11111111', true)), []],
  ['nothing nested too deeply', { blocks: [nested] }, []],
  ['nothing in malformed parts', { text: 7, blocks: 'x', attachments: [null, 1, { elements: 7 }] }, []],
  ['nothing in no message', undefined, []],
])('finds in a message %s', (_what, message, references) => {
  expect(candidateReferences(messageTexts(message))).toEqual(references);
});
